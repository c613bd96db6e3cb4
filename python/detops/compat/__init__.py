# SPDX-License-Identifier: Apache-2.0
"""Drop-ins with the signatures and conventions of torchvision.ops, mmcv.ops, SAHI, supervision,
paddle.vision.ops and OpenPCDet.

Change the import and nothing else: ``from detops.compat.mmcv import nms_quadri``. Where a peer's
convention differs from detops', the drop-in follows the peer, and its docstring says so.
"""
