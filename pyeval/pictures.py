"""Pictures on disk, each with the numbers that it drew as CSV beside it."""

import csv
import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from pyeval import figure_draw
from pyeval.figure_numbers import Rows
from warehouse.beside import file_beside
from warehouse.errors import UserError


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture to be drawn, and its numbers."""

    key: str  # file name
    title: str
    caption: str
    rows: Rows
    make: Callable

    def drawn(self, suffix: str) -> bytes:
        """The picture."""
        return figure_draw.draw(self.make, self.rows, suffix)

    def numbers(self) -> str:
        """What it draws, as CSV."""
        out = io.StringIO()
        writer = csv.DictWriter(out, list(self.rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        return out.getvalue()

    def write(self, path: Path) -> Path:
        """Draws it here, its numbers beside as CSV; returns their path.

        Raises:
            UserError: the name of the picture says no format that can be drawn.
        """
        check_picture(path)
        write(path, self.drawn(path.suffix[1:]))
        table = path.with_suffix(".csv")
        write(table, self.numbers().encode())
        return table


def write_figures(figures: Iterable[Figure], folder: Path, suffix: str) -> list[Path]:
    """Draws every figure into a folder, its numbers beside it as CSV; the pictures' paths.

    Raises:
        UserError: nothing to draw.
    """
    drawn = list(figures)
    if not drawn:
        raise UserError(
            "nothing to draw: a heat map needs two systems scored on one task of the papers. "
            "Make scores with: pyeval run MODEL MODEL"
        )
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{figure.key}.{suffix}" for figure in drawn]
    for figure, path in zip(drawn, paths, strict=True):
        figure.write(path)
    return paths


def check_picture(path: Path) -> None:
    """Refuses a file name that says no format, before any work is done.

    Raises:
        UserError: it ends in none of `figure_draw.FORMATS`.
    """
    if path.suffix[1:] not in figure_draw.FORMATS:
        said = " or ".join(f".{one}" for one in figure_draw.FORMATS)
        found = path.suffix or "nothing"
        raise UserError(f"a picture ends in {said}, and {path.name} in {found}")


def write(path: Path, content: bytes) -> None:
    """A file that is whole or absent."""
    with file_beside(path) as partial:
        partial.write_bytes(content)
