# SPDX-License-Identifier: Apache-2.0
"""A LiDAR frame: which box holds each point, and how many points each box has.

python lidar.py [folder] simulates a sweep of a street, and draws it from above.
"""

import numpy as np
from numpy.typing import NDArray
from picture import Picture

import detops

Floats = NDArray[np.float64]
COLOURS = {"car": "#ffb454", "truck": "#ff6b6b", "cyclist": "#c792ea", "pedestrian": "#4fd6be"}
SIZES = {
    "car": (4.5, 1.9, 1.6),
    "truck": (9.0, 2.6, 3.2),
    "cyclist": (1.8, 0.7, 1.7),
    "pedestrian": (0.7, 0.7, 1.75),
}
STREET = [  # what, x, y in metres, heading in radians
    *(("car", x, -7.6, 0.0) for x in (-34.0, -27.5, -15.0, -9.0, 3.5, 16.5, 23.0, 36.0)),
    *(("car", x, 7.6, np.pi) for x in (-31.0, -19.0, -12.5, 8.0, 27.5, 34.0)),
    ("car", -22.0, -2.0, 0.03),
    ("car", 12.5, -1.8, 0.0),
    ("car", -14.0, 2.1, np.pi),
    ("car", 31.0, 2.0, 3.1),
    ("truck", 22.0, 2.3, np.pi),
    ("car", 0.5, 13.0, 1.45),
    ("cyclist", 8.0, -4.6, 0.1),
    ("cyclist", -7.0, 4.7, 3.3),
    ("pedestrian", 5.5, 10.6, 1.2),
    ("pedestrian", -4.0, -10.8, 0.4),
    ("pedestrian", -6.6, -11.6, 0.4),
    ("pedestrian", 19.0, 10.9, 2.0),
]
BUILDINGS = [  # centre, sizes and heading, as boxes have them
    (-25.0, 18.0, 5, 30, 8, 10, 0),
    (24.0, 18.0, 5, 34, 8, 10, 0),
    (-20.0, -18.5, 5, 36, 9, 10, 0),
    (22.0, -18.0, 5, 34, 8, 10, 0),
]
HEIGHT = 1.8  # of the sensor, above the ground


def boxes_of_street() -> Floats:
    """[T, 7]: the middle, the sizes, the heading."""
    return np.array([[x, y, SIZES[w][2] / 2, *SIZES[w], angle] for w, x, y, angle in STREET])


def distances(directions: Floats, box: Floats) -> Floats:
    """How far each ray from the sensor goes to a box; infinite where it passes."""
    c, s = np.cos(box[6]), np.sin(box[6])
    into = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])  # the frame of the box
    origin = into @ (np.array([0, 0, HEIGHT]) - box[:3])
    with np.errstate(divide="ignore"):
        slopes = 1 / (directions @ into.T)
    first, last = (-box[3:6] / 2 - origin) * slopes, (box[3:6] / 2 - origin) * slopes
    enters = np.minimum(first, last).max(1)
    leaves = np.maximum(first, last).min(1)
    return np.where((enters < leaves) & (enters > 0), enters, np.inf)


def sweep(rng: np.random.Generator, boxes: Floats) -> NDArray[np.float32]:
    """[M, 3]: where the rays of a turning sensor end."""
    elevation, azimuth = np.meshgrid(
        np.deg2rad(np.linspace(-24, 3, 48)), np.arange(0, 2 * np.pi, np.deg2rad(0.36))
    )
    flat = np.cos(elevation)
    directions = np.stack(
        [flat * np.cos(azimuth), flat * np.sin(azimuth), np.sin(elevation)], -1
    ).reshape(-1, 3)
    with np.errstate(divide="ignore"):
        ground = np.where(directions[:, 2] < 0, -HEIGHT / directions[:, 2], np.inf)
    solid = boxes - [0, 0, 0, 0.1, 0.1, 0.1, 0]  # inside of what is labelled
    things = [distances(directions, box) for box in [*solid, *np.array(BUILDINGS, float)]]
    far = np.min([ground, *things], axis=0) + rng.normal(0, 0.015, len(directions))
    seen = (far < 75) & (rng.random(len(far)) > 0.05)
    points = directions[seen] * far[seen, None] + [0, 0, HEIGHT]
    return np.asarray(points, np.float32)


def draw(points: NDArray[np.float32], boxes: Floats, box_of_point: NDArray[np.int64]) -> Picture:
    picture = Picture(1300, 650, "A LiDAR frame from above; each box and its points have a colour")
    picture.rectangle(0, 0, 1300, 650, rx=14, fill="#0b1524")

    def place(xy: Floats) -> Floats:
        return xy * [15, -15] + [650, 325]

    shown = (np.abs(points[:, 0]) < 42.5) & (np.abs(points[:, 1]) < 20.8)
    outside = shown & (box_of_point < 0)
    on_ground = points[:, 2] < 0.1
    for chosen, step, colour in ((on_ground, 4, "#3d5b8a"), (~on_ground, 2, "#8fa6c8")):
        picture.dots(place(points[outside & chosen, :2][::step].astype(float)), 1.7, colour)

    c, s = np.cos(boxes[:, 6]), np.sin(boxes[:, 6])
    along = np.stack([c, s], -1) * boxes[:, 3:4] / 2
    across = np.stack([-s, c], -1) * boxes[:, 4:5] / 2
    centre = boxes[:, :2]
    around = [centre - along - across, centre + along - across]
    around += [centre + along + across, centre - along + across]
    corners = place(np.stack(around, 1))
    front = place(np.stack([centre, centre + 1.25 * along], 1))
    for kind, colour in COLOURS.items():
        of_kind = np.array([what == kind for what, *_ in STREET])
        inside = shown & (box_of_point >= 0) & of_kind[box_of_point]
        picture.polygons(
            corners[of_kind], fill=colour, fill_opacity=0.14, stroke=colour, stroke_width=2.2
        )
        picture.lines(front[of_kind], stroke=colour, stroke_width=2.2)
        picture.dots(place(points[inside, :2].astype(float)), 2.6, colour)

    counts = np.bincount(box_of_point[box_of_point >= 0], minlength=len(boxes))
    for (x, y), along_y, count in zip(place(centre), np.abs(along[:, 1]) * 15, counts, strict=True):
        picture.text(
            x, y - 24 - along_y, str(count), font_size=15, fill="#e6edf7", text_anchor="middle"
        )
    picture.circle(650, 325, 6, fill="#fff")
    picture.circle(650, 325, 13, fill="none", stroke="#fff", stroke_width=1.5)
    for i, (kind, colour) in enumerate(COLOURS.items()):
        picture.circle(36 + 120 * i, 622, 7, fill=colour)
        picture.text(50 + 120 * i, 628, kind, font_size=17, fill="#e6edf7")
    note = f"{len(points)} points, {len(boxes)} boxes; a number is the points in a box"
    picture.text(1276, 628, note, font_size=17, fill="#e6edf7", text_anchor="end")
    return picture


boxes = boxes_of_street()
points = sweep(np.random.default_rng(0), boxes)

# The whole of what detops has to do: [M, 3] and [T, 7] to [M], -1 for no box.
box_of_point: NDArray[np.int64] = detops.points_in_boxes(points, boxes.astype(np.float32))

held = np.bincount(box_of_point[box_of_point >= 0], minlength=len(boxes))
print(len(points), "points,", held.min(), "to", held.max(), "each")  # 43148 points, 10 to 1720 each

draw(points, boxes, box_of_point).save("lidar.svg")
