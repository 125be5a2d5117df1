"""Draws the rows of a stored run of bench_gpu.py under the roofs of its card, as SVG.

    python benchmarks/roofline.py RESULTS.json [--out FILE.svg]

Across: modular products per byte that the row must move (inputs, results, keys). Up: modular products per second.
Roofs: the bandwidth of a large copy, and the rate of chains of products for each arithmetic that occurs, both from the
same run. Williams, Waterman, Patterson, "Roofline: an insightful visual performance model" (2009).

Runs that were stored without products have them counted now, in the kernels that the compiler makes of the rows.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 860, 560, 80, 30, 50, 60
"""Of the drawing and its margins, in pixels."""

COLOURS = ("#2563eb", "#dc2626", "#16a34a", "#9333ea", "#ea580c")
CHARACTER, LINE = 6.8, 14.0
"""Width of a character and height of a line, in pixels."""

DECADE = 10.0


@dataclass(frozen=True)
class Point:
    """A row: products per byte, products per second, and the arithmetic of most of its products."""

    row: str
    intensity: float
    rate: float
    arithmetic: str


@dataclass(frozen=True)
class Roofs:
    """Bytes per second, and products per second by arithmetic."""

    bandwidth: float
    rates: Mapping[str, float]


def read_results(path: Path) -> dict[str, object]:
    """A stored run.

    Raises:
        ValueError: it is none; says why.
    """
    try:
        data: object = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"cannot read '{path}': {error.strerror}") from error
    except ValueError as error:
        raise ValueError(f"'{path}' is not JSON: {error}") from error
    if not isinstance(data, dict) or not {"rows", "bandwidth_tb_s", "device"} <= data.keys():
        raise ValueError(f"'{path}' is no stored run of bench_gpu.py")
    return cast("dict[str, object]", data)


def points(data: Mapping[str, object], count: Callable[[str], Mapping[str, int]]) -> list[Point]:
    """The rows that were timed.

    Args:
        count: products by arithmetic of a row that was stored without them.
    """
    found: list[Point] = []
    for row in cast("list[dict[str, object]]", data["rows"]):
        if "error" in row:
            continue
        name = cast(str, row["row"])
        products = cast("Mapping[str, int]", row.get("products") or count(name))
        total = sum(products.values())
        timed = "cold_us" if row.get("timed") == "cold" else "warm_us"
        seconds = cast(float, row[timed]) * 1e-6
        moved = cast(float, row["moved_mb"]) * 1e6
        if total:
            found.append(
                Point(name, total / moved, total / seconds, max(products, key=products.__getitem__))
            )
    return found


def roofs(data: Mapping[str, object], found: Sequence[Point]) -> Roofs:
    """What was measured in the same run, of the arithmetics that occur."""
    rates = cast("Mapping[str, float]", data.get("products_s", {}))
    names = dict.fromkeys(point.arithmetic for point in found)
    bandwidth = cast(float, data["bandwidth_tb_s"]) * 1e12
    return Roofs(bandwidth, {name: rates[name] for name in names if name in rates})


@dataclass(frozen=True)
class Axes:
    """Logarithmic axes: the least and largest value of each."""

    x: tuple[float, float]
    y: tuple[float, float]

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Where a value stands in the drawing, in pixels."""
        across = math.log(x / self.x[0]) / math.log(self.x[1] / self.x[0])
        up = math.log(y / self.y[0]) / math.log(self.y[1] / self.y[0])
        return (
            LEFT + across * (WIDTH - LEFT - RIGHT),
            HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM),
        )


def axes_of(found: Sequence[Point], limits: Roofs) -> Axes:
    """Axes that hold all points, the highest roof and its corner."""
    top = max([*(point.rate for point in found), *limits.rates.values()])
    xs = [point.intensity for point in found]
    right = max([*xs, *(rate / limits.bandwidth for rate in limits.rates.values())])
    return Axes(_decades(min(xs), right), _decades(min(point.rate for point in found), top))


def _decades(least: float, largest: float) -> tuple[float, float]:
    first = math.floor(math.log10(least / 1.5))
    last = max(first + 1, math.ceil(math.log10(largest * 1.5)))
    return DECADE**first, DECADE**last


def svg_text(title: str, found: Sequence[Point], limits: Roofs) -> str:
    """The `svg` element.

    Raises:
        ValueError: there is no row to draw.
    """
    if not found:
        raise ValueError("no row of the run has products and a time")
    axes = axes_of(found, limits)
    names = list(dict.fromkeys(point.arithmetic for point in found))
    colours = {name: COLOURS[k % len(COLOURS)] for k, name in enumerate(names)}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        _text(WIDTH / 2, 24, title, "middle", 'font-size="15"'),
        *_grid(axes),
        *_roofs(axes, limits, colours),
        *_points(axes, found, colours),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _grid(axes: Axes) -> list[str]:
    parts: list[str] = []
    for value in _ticks(axes.x):
        x, bottom = axes.at(value, axes.y[0])
        _, top = axes.at(value, axes.y[1])
        parts += [
            _line((x, bottom), (x, top), "#e5e7eb"),
            _text(x, bottom + 18, _short(value), "middle"),
        ]
    for value in _ticks(axes.y):
        left, y = axes.at(axes.x[0], value)
        right, _ = axes.at(axes.x[1], value)
        parts += [
            _line((left, y), (right, y), "#e5e7eb"),
            _text(left - 8, y + 4, _short(value), "end"),
        ]
    middle = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(_text(WIDTH / 2, HEIGHT - 16, "modular products per byte", "middle"))
    turned = f'transform="rotate(-90 20 {middle:.0f})"'
    return [*parts, _text(20, middle, "modular products per second", "middle", turned)]


def _ticks(limits: tuple[float, float]) -> list[float]:
    first, last = (round(math.log10(limit)) for limit in limits)
    return [DECADE**power for power in range(first, last + 1)]


def _short(value: float) -> str:
    return f"{value:g}" if 1e-3 <= value < 1e4 else f"1e{round(math.log10(value))}"


def _roofs(axes: Axes, limits: Roofs, colours: Mapping[str, str]) -> list[str]:
    highest = max(limits.rates.values(), default=axes.y[1])
    # The slope goes up to the highest roof, and is cut where it leaves the drawing below.
    left = max(axes.x[0], axes.y[0] / limits.bandwidth)
    right = min(axes.x[1], highest / limits.bandwidth)
    parts: list[str] = []
    if left < right:
        start, end = (axes.at(x, limits.bandwidth * x) for x in (left, right))
        parts.append(_line(start, end, "#111827", 2))
    label = f"copy {limits.bandwidth / 1e12:.2f} TB/s"
    middle = math.sqrt(left * right)
    x, y = axes.at(middle, limits.bandwidth * middle)
    parts.append(_text(x - 10, y, label, "end"))
    for name, rate in limits.rates.items():
        corner = min(axes.x[1], max(axes.x[0], rate / limits.bandwidth))
        start, end = axes.at(corner, rate), axes.at(axes.x[1], rate)
        parts.append(_line(start, end, colours[name], 2))
        parts.append(_text(end[0], end[1] - 6, f"{name} {rate / 1e12:.2f}e12/s", "end"))
    return parts


def _points(axes: Axes, found: Sequence[Point], colours: Mapping[str, str]) -> list[str]:
    parts: list[str] = []
    places = {point: axes.at(point.intensity, point.rate) for point in found}
    taken = [Box(x - 6, y - 6, x + 6, y + 6) for x, y in places.values()]
    for point, (x, y) in sorted(places.items(), key=lambda item: item[1]):
        facts = f"{point.row}: {point.intensity:.3g} products per byte, {point.rate:.3g} per second"
        parts.append(
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{colours[point.arithmetic]}">'
            f"<title>{escape(facts)}</title></circle>"
        )
        # The nearest place beside the point that is clear of points and other labels.
        boxes = list(_beside(x, y, len(point.row) * CHARACTER))
        box = next((b for b in boxes if not any(b.meets(other) for other in taken)), boxes[0])
        taken.append(box)
        if abs(box.top + LINE / 2 - y) > LINE / 2:
            end = box.left if box.left > x else box.right
            parts.append(_line((x, y), (end, box.top + LINE / 2), "#9ca3af"))
        parts.append(_text(box.left, box.bottom - 3, point.row, "start"))
    return parts


@dataclass(frozen=True)
class Box:
    """A rectangle of the drawing, in pixels."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Box) -> bool:
        """Whether two have a point in common."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )


def _beside(x: float, y: float, width: float) -> Iterator[Box]:
    """Places for a label inside of the drawing, right and left of a point, further and further up or down."""
    for step in range(24):
        for off in (step * LINE / 2, -step * LINE / 2):
            for left in (x + 8, x - 8 - width):
                if left > LEFT and left + width < WIDTH:
                    yield Box(left, y + off - LINE / 2, left + width, y + off + LINE / 2)
    yield Box(x + 8, y - LINE / 2, x + 8 + width, y + LINE / 2)


def _line(start: tuple[float, float], end: tuple[float, float], colour: str, width: int = 1) -> str:
    return (
        f'<line x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}" '
        f'stroke="{colour}" stroke-width="{width}"/>'
    )


def _text(x: float, y: float, text: str, anchor: str, more: str = "") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#111827" {more}>'
        f"{escape(text)}</text>"
    )


def count_in_kernels(row: str) -> Mapping[str, int]:
    """Products of a row by arithmetic, in the kernels that the compiler makes of it now."""
    from gpu.products import count_products
    from gpu.stages import kernel_stage, polynomial_stage
    from gpu_rows import FOLDER

    text = (FOLDER / f"{row}.mlir").read_text(encoding="utf-8")
    return count_products(kernel_stage(polynomial_stage(text), None, {}))


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Draw a stored run under its roofs.")
    parser.add_argument("results", type=Path, metavar="RESULTS.json")
    parser.add_argument("--out", type=Path, metavar="FILE.svg", help="else standard output")
    options = parser.parse_args(argv)
    try:
        data = read_results(options.results)
        found = points(data, count_in_kernels)
        title = f"{data['device']}, commit {str(data.get('commit', 'unknown'))[:9]}"
        text = svg_text(title, found, roofs(data, found))
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if options.out is None:
        sys.stdout.write(text)
    else:
        options.out.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
