# SPDX-License-Identifier: Apache-2.0
"""Tables of pandas and pyarrow, and polygons of shapely and GeoPandas."""

from __future__ import annotations

import numpy as np
import pytest
import scenes
from frameworks import require

import detops

RNG = np.random.default_rng(11)
BOXES, DETS = scenes.boxes(RNG, 12), scenes.quads(RNG, 40)
SCORES = RNG.random(12, dtype=np.float32)
CORNERS, QUAD_SCORES = DETS[:, :8], DETS[:, 8]
EXPECTED = detops.poly_nms(DETS, 0.1)


def same(dets, scores=None):
    np.testing.assert_array_equal(detops.poly_nms(dets, 0.1, scores), EXPECTED)


# --- tables ---


@pytest.mark.parametrize("dtype", ["float32", "float64", "Float32", "Float64", "float[pyarrow]"])
def test_pandas(dtype):
    pandas = require("pandas")
    if "pyarrow" in dtype:
        require("pyarrow")
    table = pandas.DataFrame(DETS).astype(dtype)
    same(table)
    same(table.iloc[:, :8], table[8])
    with pytest.raises(ValueError, match=r"poly_nms: dets has shape \(40, 7\)"):
        detops.poly_nms(table.iloc[:, :7], 0.1)


def test_pandas_integers_are_exact():
    pandas = require("pandas")
    table = pandas.DataFrame({"a": [0, 2**24 + 1], "b": 0, "c": 5, "d": 5})
    for dtype in ("Int64", "UInt64", "int64"):
        with pytest.raises(TypeError, match=r"beyond 2\*\*24"):
            detops.nms(table.astype(dtype), [1, 2], 0.5)
    assert detops.nms(table.astype("Int32") // 2**20, [1, 2], 0.5).tolist() == [1, 0]


def test_pandas_refusals_name_the_row_or_the_type():
    pandas = require("pandas")
    table = pandas.DataFrame(DETS).astype("Float32")
    table.iloc[3, 2] = pandas.NA
    with pytest.raises(TypeError, match="poly_nms: dets has a missing value in row 3; drop"):
        detops.poly_nms(table, 0.1)
    names = pandas.DataFrame({"a": ["1", "2"]}, dtype="string")
    with pytest.raises(TypeError, match="dets has a column of dtype string; pass numbers alone"):
        detops.poly_nms(names, 0.1)
    with pytest.raises(TypeError, match="boxes has dtype bool"):
        detops.nms(pandas.DataFrame(BOXES > 0).astype("boolean"), SCORES, 0.5)
    assert detops.nms(pandas.DataFrame(), pandas.Series(dtype="Float64"), 0.5).tolist() == []


def test_pandas_columns_of_arrows_lists():
    pandas, pa = require("pandas"), require("pyarrow")

    def column(values):
        rows = pa.FixedSizeListArray.from_arrays(pa.array(values.ravel()), values.shape[1])
        return pandas.Series(rows, dtype=pandas.ArrowDtype(rows.type))

    same(column(DETS))
    same(column(CORNERS), QUAD_SCORES)
    table = pandas.DataFrame({"corners": column(CORNERS), "score": QUAD_SCORES})
    same(table)
    same(table[["corners"]], table["score"])
    missing = column(DETS)
    missing[7] = None
    with pytest.raises(TypeError, match="poly_nms: dets has a missing value in row 7; drop"):
        detops.poly_nms(missing, 0.1)
    any_length = pandas.Series([[1.0] * 9], dtype=pandas.ArrowDtype(pa.list_(pa.float32())))
    with pytest.raises(TypeError, match="dets has Arrow's type list.*; pass numbers, or a Fixed"):
        detops.poly_nms(any_length, 0.1)


def test_pyarrow():
    pa = require("pyarrow")
    flat = pa.array(DETS.ravel())
    rows = pa.FixedSizeListArray.from_arrays(flat, 9)
    same(rows)
    same(pa.chunked_array([rows[:15], rows[15:]]))
    same(pa.Tensor.from_numpy(DETS))
    same(pa.Tensor.from_numpy(np.asfortranarray(DETS)))
    same(pa.table({str(i): DETS[:, i] for i in range(9)}))
    points = pa.FixedSizeListArray.from_arrays(pa.array(CORNERS.ravel()), 2)
    same(pa.FixedSizeListArray.from_arrays(points, 4), pa.array(QUAD_SCORES))
    same(pa.FixedSizeListArray.from_arrays(points, 4), pa.array(QUAD_SCORES.astype("f8")))
    assert detops.poly_nms(rows[:0], 0.1).tolist() == []


def test_pyarrow_nulls_are_refused():
    pa = require("pyarrow")
    of_four = pa.list_(pa.float32(), 4)
    for rows in ([[0, 0, 1, 1], None], [[0, 0, 1, 1], [0, 0, None, 1]]):
        with pytest.raises(TypeError, match="nms: boxes has a null in row 1; drop"):
            detops.nms(pa.array(rows, of_four), [1, 2], 0.5)
    with pytest.raises(TypeError, match="nms: scores has a null in row 0"):
        detops.nms(BOXES[:2], pa.array([None, 1.0]), 0.5)
    for column in (pa.array([[0.0, 0, 1, 1]]), pa.array(["a"]), pa.table({"a": ["b"]})):
        with pytest.raises(TypeError, match="boxes has Arrow's type .*; pass numbers, or a Fixed"):
            detops.nms(column, [1], 0.5)


# --- polygons ---


def polygons(shapely):
    return [shapely.Polygon(corners) for corners in CORNERS.reshape(-1, 4, 2)]


def test_shapely():
    shapely = require("shapely")
    same(polygons(shapely), QUAD_SCORES)
    same(np.array(polygons(shapely)), QUAD_SCORES)
    same(tuple(polygons(shapely)), QUAD_SCORES)
    with_z = [shapely.force_3d(p, 7.0) for p in polygons(shapely)]
    same(with_z, QUAD_SCORES)


def test_geopandas():
    shapely, geopandas = require("shapely"), require("geopandas")
    series = geopandas.GeoSeries(polygons(shapely))
    same(series, QUAD_SCORES)
    same(series.values, QUAD_SCORES)  # a GeometryArray
    same(require("pandas").Series(series.values), QUAD_SCORES)
    frame = geopandas.GeoDataFrame({"score": QUAD_SCORES}, geometry=series)
    same(frame.geometry, frame["score"])
    same(frame, frame["score"])
    assert detops.poly_nms(series[:0], 0.1, scores=[]).tolist() == []


def test_other_polygons_are_refused_with_their_row():
    shapely = require("shapely")
    good = polygons(shapely)[:3]
    others = {
        "a polygon of 3 corners": shapely.Polygon([(0, 0), (1, 0), (1, 1)]),
        "a polygon of 5 corners": shapely.Polygon([(0, 0), (1, 0), (2, 1), (1, 1), (0, 1)]),
        "a polygon of 4 corners with holes": shapely.box(0, 0, 9, 9).difference(
            shapely.box(3, 3, 4, 4)
        ),
        "a polygon of 0 corners": shapely.Polygon(),
        "a MultiPolygon": shapely.MultiPolygon(good[:2]),
        "a Point": shapely.Point(1, 2),
        "None": None,
    }
    for shown, other in others.items():
        with pytest.raises(ValueError) as error:
            detops.poly_nms([*good, other], 0.1, scores=np.ones(4))
        assert str(error.value) == (
            f"poly_nms: dets has {shown} in row 3; expected polygons of four corners, as "
            "minimum_rotated_rectangle is"
        )
    with pytest.raises(ValueError, match="poly_nms: dets has a Point in row 0"):
        detops.poly_nms([others["a Point"], *good], 0.1, scores=np.ones(4))
