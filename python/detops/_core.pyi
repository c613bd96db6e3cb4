# SPDX-License-Identifier: Apache-2.0
from typing import Any, Literal, Protocol, TypedDict, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

class _Dlpack(Protocol):
    def __dlpack__(self, *, stream: Any = ...) -> Any: ...
    def __dlpack_device__(self) -> tuple[Any, Any]: ...

class Device(TypedDict):
    name: str
    description: str
    usable: bool
    reason: str

class Implementation(TypedDict):
    name: str
    usable: bool
    reason: str

# An array of any library; nested lists count as NumPy's.
_Array = _Dlpack | ArrayLike
_ArrayT = TypeVar("_ArrayT", bound=_Dlpack)
_Numpy = NDArray[Any]
_IndexType = Any  # int32 or int64, as any library spells it; None is int64

__version__: str
__all__ = [
    "bbox_overlaps",
    "border_align",
    "devices",
    "generate_proposals",
    "implementations",
    "nms",
    "points_in_boxes",
    "poly_nms",
]

@overload
def bbox_overlaps(
    bboxes1: _Numpy,
    bboxes2: _Array,
    mode: Literal["iou", "iof"] | str = "iou",
    aligned: bool = False,
    offset: int = 0,
) -> NDArray[np.floating[Any]]: ...
@overload
def bbox_overlaps(
    bboxes1: _ArrayT,
    bboxes2: _Array,
    mode: Literal["iou", "iof"] | str = "iou",
    aligned: bool = False,
    offset: int = 0,
) -> _ArrayT: ...
@overload
def bbox_overlaps(
    bboxes1: ArrayLike,
    bboxes2: _Array,
    mode: Literal["iou", "iof"] | str = "iou",
    aligned: bool = False,
    offset: int = 0,
) -> NDArray[np.floating[Any]]: ...
@overload
def nms(
    boxes: _Numpy, scores: _Array, iou_threshold: float, dtype: _IndexType = None
) -> NDArray[np.signedinteger[Any]]: ...
@overload
def nms(
    boxes: _ArrayT, scores: _Array, iou_threshold: float, dtype: _IndexType = None
) -> _ArrayT: ...
@overload
def nms(
    boxes: ArrayLike, scores: _Array, iou_threshold: float, dtype: _IndexType = None
) -> NDArray[np.signedinteger[Any]]: ...
@overload
def poly_nms(
    dets: _Numpy,
    iou_threshold: float,
    scores: _Array | None = None,
    order: Literal["index", "score"] | str = "index",
    dtype: _IndexType = None,
) -> NDArray[np.signedinteger[Any]]: ...
@overload
def poly_nms(
    dets: _ArrayT,
    iou_threshold: float,
    scores: _Array | None = None,
    order: Literal["index", "score"] | str = "index",
    dtype: _IndexType = None,
) -> _ArrayT: ...
@overload
def poly_nms(
    dets: ArrayLike,
    iou_threshold: float,
    scores: _Array | None = None,
    order: Literal["index", "score"] | str = "index",
    dtype: _IndexType = None,
) -> NDArray[np.signedinteger[Any]]: ...
@overload
def border_align(
    input: _ArrayT,
    boxes: _Array,
    pool_size: int,
    layout: Literal["NCHW", "NHWC"] | str = "NCHW",
    return_argmax: Literal[False] = False,
    dtype: _IndexType = None,
) -> _ArrayT: ...
@overload
def border_align(
    input: _Numpy,
    boxes: _Array,
    pool_size: int,
    layout: Literal["NCHW", "NHWC"] | str = "NCHW",
    *,
    return_argmax: Literal[True],
    dtype: _IndexType = None,
) -> tuple[NDArray[np.floating[Any]], NDArray[np.signedinteger[Any]]]: ...
@overload
def border_align(
    input: _ArrayT,
    boxes: _Array,
    pool_size: int,
    layout: Literal["NCHW", "NHWC"] | str = "NCHW",
    *,
    return_argmax: Literal[True],
    dtype: _IndexType = None,
) -> tuple[_ArrayT, _ArrayT]: ...
@overload
def generate_proposals(
    scores: _ArrayT,
    bbox_deltas: _Array,
    img_size: _Array,
    anchors: _Array,
    variances: _Array,
    pre_nms_top_n: int = 6000,
    post_nms_top_n: int = 1000,
    nms_thresh: float = 0.5,
    min_size: float = 0.1,
    eta: float = 1.0,
    pixel_offset: bool = False,
    layout: Literal["NCHW", "NHWC"] | str = "NCHW",
    return_rois_num: Literal[True] = True,
    dtype: _IndexType = None,
) -> tuple[_ArrayT, _ArrayT, _ArrayT]: ...
@overload
def generate_proposals(
    scores: _ArrayT,
    bbox_deltas: _Array,
    img_size: _Array,
    anchors: _Array,
    variances: _Array,
    pre_nms_top_n: int = 6000,
    post_nms_top_n: int = 1000,
    nms_thresh: float = 0.5,
    min_size: float = 0.1,
    eta: float = 1.0,
    pixel_offset: bool = False,
    layout: Literal["NCHW", "NHWC"] | str = "NCHW",
    *,
    return_rois_num: Literal[False],
    dtype: _IndexType = None,
) -> tuple[_ArrayT, _ArrayT]: ...
@overload
def points_in_boxes(
    points: _Numpy, boxes: _Array, dtype: _IndexType = None
) -> NDArray[np.signedinteger[Any]]: ...
@overload
def points_in_boxes(points: _ArrayT, boxes: _Array, dtype: _IndexType = None) -> _ArrayT: ...
@overload
def points_in_boxes(
    points: ArrayLike, boxes: _Array, dtype: _IndexType = None
) -> NDArray[np.signedinteger[Any]]: ...
def devices() -> list[Device]: ...
def implementations() -> dict[str, list[Implementation]]: ...
def _address(object: Any) -> int: ...
def _address_of_result(array: Any, stream: int) -> int: ...
def _forget_thread_handles() -> None: ...
def _seconds_of_c_call(bboxes1: Any, bboxes2: Any, calls: int) -> float: ...
def _synchronize(cuda_id: int, stream: int) -> None: ...
def _take_device_path(always: bool) -> None: ...
