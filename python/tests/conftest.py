# SPDX-License-Identifier: Apache-2.0
import os

# JAX would take most of a GPU's memory from the other libraries.
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
