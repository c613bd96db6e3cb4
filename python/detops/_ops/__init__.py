# SPDX-License-Identifier: Apache-2.0
"""The public functions, one file per operator: signature, types, docs. `_core` does the rest."""
