# SPDX-License-Identifier: Apache-2.0
"""Oriented boxes from above: the boats of a marina, which lie side by side at an angle.

python aerial.py [folder] makes what a detector finds, and draws it before and after.
"""

import numpy as np
from numpy.typing import NDArray
from picture import Picture

import detops

Floats = NDArray[np.float64]
PIERS = [  # where it begins, its angle, its length, the length of boats beside it
    ((70.0, 96.0), 0.42, 560.0, 62.0),
    ((28.0, 262.0), 0.42, 640.0, 70.0),
    ((10.0, 436.0), 0.42, 500.0, 56.0),
]


def corners_of(centre: Floats, length: Floats, width: Floats, angle: Floats) -> Floats:
    """[N, 4, 2], with the bow between the second and the third."""
    along = np.stack([np.cos(angle), np.sin(angle)], -1) * length[:, None] / 2
    across = np.stack([-np.sin(angle), np.cos(angle)], -1) * width[:, None] / 2
    around = [centre - along - across, centre + along - across]
    return np.stack([*around, centre + along + across, centre - along + across], 1)


def marina(rng: np.random.Generator) -> tuple[Floats, Floats, Floats, Floats]:
    """Centre [N, 2], length, width and angle of the boats on both sides of each pier."""
    boats = []
    for begin, angle, reach, size in PIERS:
        for side in (1, -1):
            at = 14.0
            while at < reach - 20:
                width = rng.uniform(0.24, 0.32) * size
                length = size * rng.uniform(0.8, 1.05)
                lies = angle + side * 1.1 + rng.normal(0, 0.015)
                out = np.array([np.cos(lies), np.sin(lies)]) * (length / 2 + 10)
                centre = np.array(begin) + np.array([np.cos(angle), np.sin(angle)]) * at + out
                if rng.random() < 0.88 and (abs(centre - 320) < 305).all():  # some berths are free
                    boats.append([*centre, length, width, lies])
                at += width / np.sin(1.1) + rng.uniform(2.0, 3.5)
    x, y, length, width, lies = np.array(boats).T
    return np.stack([x, y], -1), length, width, lies


def detections(
    rng: np.random.Generator, centre: Floats, length: Floats, width: Floats, angle: Floats
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Corners [M, 4, 2] and scores [M]: every boat several times, the better the nearer."""
    boat = np.repeat(np.arange(len(length)), rng.integers(4, 12, len(length)))
    wrong = np.minimum(rng.gamma(2, 0.5, len(boat)), 2.0)  # how far off each is
    error = rng.normal(0, 1, (len(boat), 5)) * wrong[:, None]
    scores = np.clip(0.97 - 0.16 * wrong + rng.normal(0, 0.02, len(boat)), 0.05, 0.99)
    corners = corners_of(
        centre[boat] + error[:, :2] * width[boat, None] * 0.07,
        length[boat] * np.exp(0.04 * error[:, 2]),
        width[boat] * np.exp(0.05 * error[:, 3]),
        angle[boat] + 0.04 * error[:, 4],
    )
    return corners.astype(np.float32), scores.astype(np.float32)


def draw_marina(picture: Picture, hulls: Floats) -> None:
    picture.rectangle(0, 0, 640, 640, fill="url(#gradient)")
    waves = []
    for x, y in np.random.default_rng(1).uniform(0, 640, (130, 2)):
        waves.append([(x, y), (x + 7, y - 3), (x + 14, y), (x + 21, y - 3)])
    picture.lines(waves, stroke="#fff", stroke_opacity=0.13, stroke_width=1.6)
    for (x, y), angle, reach, _ in PIERS:
        turned = f"translate({x} {y}) rotate({np.rad2deg(angle):.1f})"
        picture.group(transform=turned)
        picture.rectangle(-120, -6, reach + 132, 12, fill="#b78a5c")
        planks = [[(at, -6), (at, 6)] for at in np.arange(-116, reach + 10, 8)]
        picture.lines(planks, stroke="#8f673f", stroke_width=1)
        picture.end()
    for i, (a, b, c, d) in enumerate(hulls):
        bow = (b + c) / 2
        left, right = a + 0.62 * (b - a), d + 0.62 * (c - d)
        round_bow = f"Q{b[0]:.1f} {b[1]:.1f} {bow[0]:.1f} {bow[1]:.1f}Q{c[0]:.1f} {c[1]:.1f} "
        hull = f"M{a[0]:.1f} {a[1]:.1f}L{left[0]:.1f} {left[1]:.1f}{round_bow}"
        hull += f"{right[0]:.1f} {right[1]:.1f}L{d[0]:.1f} {d[1]:.1f}z"
        picture.path(hull, fill="#fdfdfb", stroke="#33475b", stroke_opacity=0.35, stroke_width=1)
        inner = [(0.12, 0.22), (0.5, 0.22), (0.5, 0.78), (0.12, 0.78)]
        deck = [a + u * (b - a) + v * (d - a) for u, v in inner]
        picture.polygons(
            [deck], fill=("#2c6e8f", "#c7a069", "#d9dfe5", "#b5483c", "#35506b")[i % 5]
        )


def draw(hulls: Floats, corners: NDArray[np.float32], kept: NDArray[np.int64]) -> Picture:
    picture = Picture(1300, 650, "Boats as oriented boxes, before and after suppression")
    picture.scene(
        '<linearGradient id="gradient" x2="0.6" y2="1"><stop stop-color="#1f7a9c"/>'
        '<stop offset="1" stop-color="#0d4a6e"/></linearGradient>',
        lambda picture: draw_marina(picture, hulls),
    )
    thin = {"stroke": "#ff9f1c", "stroke_width": 1.1, "stroke_opacity": 0.6, "fill": "none"}
    thick = {"stroke": "#39ff9f", "stroke_width": 2.4, "fill": "#39ff9f", "fill_opacity": 0.07}
    picture.panel(
        2, f"{len(corners)} oriented boxes", lambda picture: picture.polygons(corners, **thin)
    )
    picture.panel(
        658, f"{len(kept)} boats kept", lambda picture: picture.polygons(corners[kept], **thick)
    )
    return picture


rng = np.random.default_rng(0)
boats = marina(rng)
corners, scores = detections(rng, *boats)

kept: NDArray[np.int64] = detops.poly_nms(corners, 0.3, scores=scores)
print(len(corners), "boxes,", len(kept), "kept")  # 918 boxes, 120 kept

# The upright boxes around them overlap more than the boats do, and 24 boats would be lost.
upright = np.hstack([corners.min(1), corners.max(1)])
print("as upright boxes:", len(detops.nms(upright, scores, 0.3)))  # as upright boxes: 96

draw(corners_of(*boats), corners, kept).save("aerial.svg")
