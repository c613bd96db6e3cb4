# SPDX-License-Identifier: Apache-2.0
"""What the examples beside it draw with: shapes, written as SVG."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from html import escape
from pathlib import Path
from typing import Any


class Picture:
    """Shapes in user units, y down. Styles are SVG's, with _ for -: stroke_width=2."""

    def __init__(self, width: float, height: float, title: str) -> None:
        self._lines = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
            'font-family="Helvetica, Arial, sans-serif">',
            f"<title>{escape(title)}</title>",
        ]

    def group(self, **attributes: Any) -> None:
        """What follows, until end(), has these attributes."""
        self._lines.append(f"<g{_written(attributes)}>")

    def end(self) -> None:
        self._lines.append("</g>")

    def scene(self, gradient: str, draw: Callable[[Picture], None]) -> None:
        """Draws the background of each panel, of 640 by 640 units; url(#gradient) is a fill."""
        self._lines.append(f'<defs>{gradient}<clipPath id="panel">')
        self.rectangle(0, 0, 640, 640, rx=14)
        self._lines.append("</clipPath>")
        self.group(id="scene")
        draw(self)
        self.end()
        self._lines.append("</defs>")

    def panel(self, x: float, caption: str, draw: Callable[[Picture], None]) -> None:
        """Draws on the scene."""
        self.group(transform=f"translate({x} 5)", clip_path="url(#panel)")
        self._lines.append('<use href="#scene"/>')
        draw(self)
        self.rectangle(16, 16, 26 + 11.6 * len(caption), 40, rx=20, fill="#0b1a2b", opacity=0.82)
        self.text(34, 43, caption, font_size=21, fill="#fff")
        self.end()

    def rectangle(self, x: float, y: float, w: float, h: float, **style: Any) -> None:
        box = {"x": _number(x), "y": _number(y), "width": _number(w), "height": _number(h)}
        self._lines.append(f"<rect{_written(box | style)}/>")

    def circle(self, x: float, y: float, r: float, **style: Any) -> None:
        place = {"cx": _number(x), "cy": _number(y), "r": _number(r)}
        self._lines.append(f"<circle{_written(place | style)}/>")

    def polygons(self, shapes: Iterable[Iterable[Any]], **style: Any) -> None:
        """Closed, all in one style."""
        paths = (
            "M" + "L".join(f"{_number(x)} {_number(y)}" for x, y in shape) + "z" for shape in shapes
        )
        self._lines.append(f'<path d="{"".join(paths)}"{_written(style)}/>')

    def lines(self, shapes: Iterable[Iterable[Any]], **style: Any) -> None:
        """Open, all in one style."""
        paths = ("M" + "L".join(f"{_number(x)} {_number(y)}" for x, y in shape) for shape in shapes)
        self._lines.append(f'<path fill="none" d="{"".join(paths)}"{_written(style)}/>')

    def dots(self, places: Iterable[Any], diameter: float, colour: str, **style: Any) -> None:
        """At whole units, each once: a cloud stays a small file."""
        rounded = sorted({(round(float(x)), round(float(y))) for x, y in places})
        path = "".join(f"M{x} {y}h0" for x, y in rounded)
        self.path(path, stroke=colour, stroke_width=diameter, stroke_linecap="round", **style)

    def path(self, path: str, **style: Any) -> None:
        self._lines.append(f'<path d="{path}"{_written(style)}/>')

    def text(self, x: float, y: float, text: str, **style: Any) -> None:
        place = {"x": _number(x), "y": _number(y)}
        self._lines.append(f"<text{_written(place | style)}>{escape(text)}</text>")

    def save(self, name: str) -> None:
        """Into the folder that the program's argument names, or else the current one."""
        folder = Path(*sys.argv[1:2])
        (folder / name).write_text("\n".join([*self._lines, "</svg>", ""]))


def _number(value: float) -> str:
    return f"{round(float(value), 1):g}"


def _written(attributes: dict[str, Any]) -> str:
    return "".join(f' {name.replace("_", "-")}="{value}"' for name, value in attributes.items())
