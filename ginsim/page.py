"""A page of HTML that opens from disk and prints well: no script, nothing fetched.

A page is a list of sections, a section has words, commands, tables (those that a terminal
shows) and plots as SVG. The page's shape and style are in ``report.html.jinja``.
"""

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from matplotlib.axes import Axes
from rich.table import Table

from ginsim import plots


@dataclass(frozen=True)
class Grid:
    """A table as the page shows it; ``numbers`` says which columns are numbers."""

    title: str
    columns: list[str]
    numbers: list[bool]
    rows: list[list[str]]

    def style(self) -> str:
        """Return the classes that say how the page sets it."""
        many_columns, few_rows = len(self.columns) > 9, len(self.rows) <= 12
        return " ".join(["dense"] * many_columns + ["whole"] * few_rows)


@dataclass(frozen=True)
class Figure:
    """A plot as SVG for the page, and what it shows in words for who cannot see it."""

    name: str
    svg: Markup
    alt: str


@dataclass(frozen=True)
class Section:
    """A part of the page under a heading, shown in the order of the fields."""

    title: str
    words: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    tables: list[Grid] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)


@dataclass(frozen=True)
class Page:
    """A report: the title, what it rests on, what came out in a few sentences, and the rest."""

    title: str
    about: list[str]
    headline: list[str]
    sections: list[Section]
    digest: str = ""

    def html(self) -> str:
        """Return the page as HTML."""
        environment = Environment(
            loader=FileSystemLoader(Path(__file__).parent),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        return environment.get_template("report.html.jinja").render(page=self)


def grid(table: Table) -> Grid:
    """Return a terminal's table for the page, cell by cell."""
    columns = [[str(cell) for cell in column.cells] for column in table.columns]
    return Grid(
        str(table.title or ""),
        [str(column.header) for column in table.columns],
        [column.justify == "right" for column in table.columns],
        [list(row) for row in zip(*columns, strict=True)],
    )


def figure(name: str, draw: Callable[[], Axes], alt: str = "") -> Figure:
    """Return the plot that *draw* draws, its text kept as text; *alt* defaults to its title."""
    file = io.StringIO()
    with plots.own_style(), matplotlib.rc_context({"svg.fonttype": "none"}):
        ax = draw()
        whole = ax.get_figure(root=True)
        assert whole is not None
        whole.savefig(file, format="svg", metadata=dict(plots.FORMATS["svg"]))
    said = alt or f"Plot: {ax.get_title(loc='left')}. The tables beside it hold its numbers."
    return Figure(name, _inline(file.getvalue(), name), said)


def _inline(svg: str, name: str) -> Markup:
    """*svg* as an element of an HTML page: ids of its own, no name spaces, no metadata."""
    root = ElementTree.fromstring(svg)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.endswith(("}metadata", "}style")):
                parent.remove(child)  # the page has that style for all its plots
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        attributes = {key.rpartition("}")[2]: value for key, value in element.attrib.items()}
        element.attrib.clear()
        for key, value in attributes.items():
            own = value.replace("url(#", f"url(#{name}-")
            if key == "id" or (key == "href" and value.startswith("#")):
                own = f"#{name}-{value[1:]}" if key == "href" else f"{name}-{value}"
            element.set(key, own)
    points = float(root.attrib.pop("width").removesuffix("pt"))
    del root.attrib["height"], root.attrib["version"]
    root.set("style", f"--width: {points * 4 / 3:.0f}px")
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def facts(title: str, values: Mapping[str, str]) -> Grid:
    """Return a table of names and values."""
    return Grid(title, ["", ""], [False, False], [list(item) for item in values.items()])


def in_words(names: Sequence[str]) -> str:
    """Return a list as a sentence has it.

    >>> in_words(["easy", "normal", "hard"])
    'easy, normal and hard'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
