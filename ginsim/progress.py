"""A progress bar with rounds a second and time left, on standard error."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bar

from ginsim.tournament import Progress


def _bar(*columns: ProgressColumn) -> Bar:
    """Return a bar of *columns* on standard error; nothing where that is no terminal."""
    return Bar(
        *columns,
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )


@contextmanager
def watching(pairs: int) -> Iterator[Callable[[Progress], None]]:
    """Yield a function that shows how far a run of *pairs* pairs has come."""
    with _bar(
        TextColumn("{task.completed:,.0f}/{task.total:,.0f} pairs"),
        BarColumn(),
        TextColumn("{task.fields[speed]:>10,} rounds/s"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    ) as bar:
        task = bar.add_task("", total=pairs, speed=0)

        def watch(progress: Progress) -> None:
            speed = round(progress.rounds / progress.seconds) if progress.seconds else 0
            bar.update(task, completed=progress.pairs_done, speed=speed)

        yield watch


@contextmanager
def counting(what: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function that shows how many of how many parts of *what* are done."""
    with _bar(
        TextColumn(what),
        BarColumn(),
        TextColumn("{task.completed:,.0f}/{task.total:,.0f}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    ) as bar:
        task = bar.add_task("", total=1)

        def watch(done: int, of: int) -> None:
            bar.update(task, completed=done, total=of)

        yield watch


@contextmanager
def naming() -> Iterator[Callable[[str, Progress], None]]:
    """Yield a function that shows what is played at the moment, and how far it has come."""
    with _bar(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f}/{task.total:,.0f} blocks"),
        TimeElapsedColumn(),
    ) as bar:
        task = bar.add_task("", total=1)

        def watch(what: str, progress: Progress) -> None:
            bar.update(
                task, description=what, completed=progress.blocks_done, total=progress.blocks
            )

        yield watch
