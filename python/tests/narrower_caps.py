# SPDX-License-Identifier: Apache-2.0
"""Prints the values of DETOPS_CPU that leave this processor less than it has, the widest first."""

import detops

names = [
    i["name"].partition(":") for i in detops.implementations()["points_in_boxes"] if i["usable"]
]
print(*[name for device, _, name in names if device == "cpu" and name != "reference"][1:])
