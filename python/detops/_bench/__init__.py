# SPDX-License-Identifier: Apache-2.0
"""``python -m detops bench``: detops and what users run today, on the same arrays in one run."""
