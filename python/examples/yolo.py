# SPDX-License-Identifier: Apache-2.0
"""What a YOLO model puts out, to boxes: decode, drop what is unsure, suppress class by class.

python yolo.py [folder] makes such an output for a street, and draws it before and after.
"""

import numpy as np
from numpy.typing import NDArray
from picture import Picture

import detops

Floats = NDArray[np.float32]
COLOURS = {"person": "#ff4f6d", "bicycle": "#8b5cf6", "car": "#0a84ff", "dog": "#f59e0b"}
CLASSES = {"person": 0, "bicycle": 1, "car": 2, "dog": 16}  # COCO's numbers, of 80
STREET: list[tuple[str, float, float, float, float]] = [  # x1 y1 x2 y2, back to front
    ("car", 308, 318, 396, 374),
    ("car", 206, 326, 284, 380),
    ("car", 430, 322, 586, 412),
    ("person", 84, 300, 124, 416),
    ("person", 148, 304, 188, 420),
    ("bicycle", 196, 434, 330, 530),
    ("person", 226, 380, 286, 512),
    ("car", 362, 430, 628, 584),
    ("person", 28, 408, 92, 590),
    ("dog", 104, 522, 186, 592),
]


def decode(output: Floats, sure: float) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Corners [N, 4], scores [N] and classes [N] of one image."""
    predictions = output[0].T
    predictions = predictions[predictions[:, 4:].max(1) > sure]
    centre, size = predictions[:, :2], predictions[:, 2:4]
    corners = np.hstack([centre - size / 2, centre + size / 2])
    return corners, predictions[:, 4:].max(1), predictions[:, 4:].argmax(1)


def suppress(
    corners: Floats, scores: Floats, classes: NDArray[np.int64], iou_threshold: float
) -> NDArray[np.int64]:
    """The indices kept, best first. A person does not suppress the bicycle below."""
    kept = np.empty(0, np.int64)
    for c in np.unique(classes):
        own = np.flatnonzero(classes == c)
        kept = np.append(kept, own[detops.nms(corners[own], scores[own], iou_threshold)])
    return kept[np.argsort(-scores[kept], kind="stable")]


# What follows makes the output and the picture; the calls are at the end.
def model_output(rng: np.random.Generator) -> Floats:
    """[1, 84, 8400]: cx, cy, w, h and 80 scores, for the cells of three grids on 640 x 640 pixels.

    Many cells near an object find it, none of them quite; the others have scores near nothing.
    """
    rows = []
    for stride in (8, 16, 32):
        x, y = np.meshgrid(np.arange(stride / 2, 640, stride), np.arange(stride / 2, 640, stride))
        cells = np.stack([x.ravel(), y.ravel()], 1)
        row = np.zeros((len(cells), 84))
        row[:, :4] = np.hstack([cells, rng.uniform(2, 6, (len(cells), 2)) * stride])
        row[:, 4:] = rng.uniform(0, 0.02, (len(cells), 80))
        for what, x1, y1, x2, y2 in STREET:
            centre, size = np.array([x1 + x2, y1 + y2]) / 2, np.array([x2 - x1, y2 - y1])
            away = np.abs((cells - centre) / size).max(1)
            fits = np.exp(-0.5 * (np.log2(np.sqrt(size.prod()) / stride / 5) / 0.7) ** 2)
            score = 0.95 * fits * np.exp(-8 * away**2) + rng.normal(0, 0.03, len(cells))
            near = (away < 0.45) & (score > 0.2) & (score > row[:, 4:].max(1))
            row[near, 4:] = rng.uniform(0, 0.02, (near.sum(), 80))
            error = rng.normal(0, 1, (near.sum(), 4)) * (0.01 + 0.15 * away[near, None])
            row[near, :2] = centre + error[:, :2] * size
            row[near, 2:4] = size * np.exp(error[:, 2:])
            row[near, 4 + CLASSES[what]] = np.clip(score[near], 0, 0.97)
        rows.append(row)
    return np.concatenate(rows).T[None].astype(np.float32)


def draw_street(picture: Picture) -> None:
    picture.rectangle(0, 0, 640, 640, fill="url(#gradient)")
    skyline = [(0, 150, 84), (70, 96, 96), (160, 176, 70), (224, 60, 108), (326, 132, 90)]
    skyline += [(410, 84, 118), (522, 160, 128)]
    for i, (x, top, width) in enumerate(skyline):
        picture.rectangle(x, top, width, 310 - top, fill=("#b9c7d8", "#a9b9cd", "#c6d2df")[i % 3])
        for wx in range(x + 12, x + width - 14, 22):
            for wy in range(top + 14, 300, 28):
                picture.rectangle(wx, wy, 10, 14, fill="#e9f0f7")
    picture.rectangle(0, 306, 640, 60, fill="#8fb38a")
    picture.rectangle(0, 356, 640, 284, fill="#c9cbd0")
    picture.polygons([[(190, 346), (640, 346), (640, 640), (60, 640)]], fill="#6d7480")
    dashes = [
        [(415, 352), (419, 352), (416, 372), (411, 372)],
        [(409, 388), (415, 388), (410, 420), (402, 420)],
    ]
    dashes += [
        [(399, 440), (408, 440), (400, 490), (388, 490)],
        [(384, 515), (396, 515), (382, 600), (365, 600)],
    ]
    picture.polygons(dashes, fill="#e8eaee")
    shapes = {"car": draw_car, "person": draw_person, "bicycle": draw_bicycle, "dog": draw_dog}
    for i, (what, x1, y1, x2, y2) in enumerate(STREET):
        scale = f"translate({x1} {y1}) scale({(x2 - x1) / 100:.3f} {(y2 - y1) / 100:.3f})"
        picture.group(transform=scale)
        shapes[what](picture, i)
        picture.end()


# Each in a square of 100 by 100.
def draw_car(picture: Picture, number: int) -> None:
    paint = ("#7a8899", "#b4543f", "#2f6f73", "#f0f2f4", "#d8a13a", "#3d5a9e", "#394657", "#a8323e")
    picture.path(
        "M3 88Q0 62 8 52L20 46Q28 6 36 4H66Q74 6 84 42L95 50Q100 60 98 88Z", fill=paint[number % 8]
    )
    picture.path("M27 44Q33 14 38 12H49V44ZM54 12H64Q70 14 77 44H54Z", fill="#22303f")
    for x in (23, 78):
        picture.path(f"M{x - 10} 84a10 16 0 1 0 20 0a10 16 0 1 0 -20 0z", fill="#1b2028")
        picture.path(f"M{x - 4} 84a4 7 0 1 0 8 0a4 7 0 1 0 -8 0z", fill="#c9ced6")
    picture.path("M1 62h7v8h-8zM93 60h6v9h-6z", fill="#ffd97a")


def draw_person(picture: Picture, number: int) -> None:
    clothes = ("#2b4a78", "#c2553d", "#4d7c57", "#7b5aa6", "#3a3f4b")
    picture.path("M30 56L24 98H44L50 66L58 98H78L70 56Z", fill="#2a3140")
    picture.path(
        "M22 24Q50 12 78 24L96 56L84 60L72 40V60H28V40L16 60L4 56Z", fill=clothes[number % 5]
    )
    picture.path("M34 9a16 9 0 1 0 32 0a16 9 0 1 0 -32 0z", fill="#e5b48f")


def draw_bicycle(picture: Picture, _: int) -> None:
    for x in (22, 78):
        wheel = f"M{x - 21} 70a21 29 0 1 0 42 0a21 29 0 1 0 -42 0z"
        picture.path(wheel, fill="none", stroke="#1f2630", stroke_width=4)
    frame = [[(22, 70), (38, 26), (68, 26), (48, 70), (22, 70)], [(38, 26), (48, 70)]]
    frame += [[(78, 70), (66, 12), (76, 6)], [(32, 16), (44, 16)]]
    picture.lines(frame, stroke="#e0453a", stroke_width=4, stroke_linejoin="round")


def draw_dog(picture: Picture, _: int) -> None:
    picture.path(
        "M4 30Q-2 12 6 8Q10 22 22 32H66L70 14L78 4L84 14L99 22Q100 32 92 34L82 38L78 60V98H68V66"
        "H32V98H22V62Q10 52 4 30Z",
        fill="#8a5a33",
    )
    picture.path("M70 14L66 30L76 24ZM88 17h4v5h-4z", fill="#3c2716")


def draw(
    corners: Floats, classes: NDArray[np.int64], kept: NDArray[np.int64], cells: int
) -> Picture:
    names = {number: name for name, number in CLASSES.items()}

    def draw_candidates(picture: Picture) -> None:
        for (x1, y1, x2, y2), c in zip(corners[::-1], classes[::-1], strict=True):
            thin = {"stroke_width": 1.6, "stroke_opacity": 0.4, "fill_opacity": 0.015}
            colour = COLOURS[names[int(c)]]
            picture.rectangle(x1, y1, x2 - x1, y2 - y1, fill=colour, stroke=colour, rx=2, **thin)

    def draw_kept(picture: Picture) -> None:
        for (x1, y1, x2, y2), c in zip(corners[kept[::-1]], classes[kept[::-1]], strict=True):
            name = names[int(c)]
            thick = {"stroke": COLOURS[name], "stroke_width": 3.2, "fill_opacity": 0.08}
            picture.rectangle(x1, y1, x2 - x1, y2 - y1, fill=COLOURS[name], rx=2, **thick)
            picture.rectangle(x1 - 1.6, y1 - 20, 8 * len(name) + 8, 20, fill=COLOURS[name])
            picture.text(x1 + 4, y1 - 5, name, font_size=14.5, fill="#fff")

    picture = Picture(1300, 650, "YOLO output on a street, before and after suppression")
    picture.scene(
        '<linearGradient id="gradient" x2="0" y2="1"><stop stop-color="#8fc3ee"/>'
        '<stop offset="0.6" stop-color="#e8f3fb"/></linearGradient>',
        draw_street,
    )
    picture.panel(2, f"{len(corners)} candidates of {cells}", draw_candidates)
    picture.panel(658, f"{len(kept)} boxes kept", draw_kept)
    return picture


output = model_output(np.random.default_rng(0))
corners, scores, classes = decode(output, sure=0.25)
kept = suppress(corners, scores, classes, iou_threshold=0.45)
print(len(corners), "candidates,", len(kept), "kept")  # 336 candidates, 10 kept

draw(corners, classes, kept, output.shape[2]).save("yolo.svg")
