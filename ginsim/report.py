"""A run's folder as one HTML page: of a tournament, a sweep, a knock chart or a calibration.

The page holds nothing of the machine or the time it was made on: the same run gives the same
bytes.
"""

from collections.abc import Callable
from typing import Any

from ginsim.calibrate import CALIBRATION
from ginsim.errors import GinsimError
from ginsim.knock_chart import CHART
from ginsim.page import Page
from ginsim.places import Place, is_file, is_local
from ginsim.records import REPORT, read_json, write_text
from ginsim.sweep import SWEEP
from ginsim.tournament import MANIFEST, SUMMARY, plan_of
from ginsim.tournament_report import Run, tournament_page
from ginsim.tuning_report import calibration_page, chart_page, sweep_page


def _finished(folder: Place, result: str, command: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Manifest and *result* of a finished run; raises GinsimError if there is none."""
    manifest = read_json(folder / MANIFEST)
    again = f"go on with `ginsim {command} --resume {folder}`"
    if manifest.get("status") != "done":
        raise GinsimError(f"{folder}: is not finished; {again}")
    if not is_file(folder / result):
        raise GinsimError(f"{folder}: has no {result}; {again}")
    found = read_json(folder / result)
    if found.get("digest") != manifest.get("digest"):
        raise GinsimError(f"{folder}: {result} and {MANIFEST} are of different runs; {again}")
    return manifest, found


def _tournament(folder: Place) -> Page:
    manifest, summary = _finished(folder, SUMMARY, "tournament")
    return tournament_page(Run(manifest, summary, plan_of(manifest, folder / MANIFEST)))


def _sweep(folder: Place) -> Page:
    manifest, summary = _finished(folder, SWEEP, "sweep")
    return sweep_page(manifest, summary, plan_of(manifest, folder / MANIFEST).rules)


def _calibration(folder: Place) -> Page:
    return calibration_page(*_finished(folder, CALIBRATION, "calibrate"))


def _chart(folder: Place) -> Page:
    return chart_page(read_json(folder / CHART))


def page_of(folder: Place) -> Page:
    """Return the report of the run in *folder*; raises GinsimError if it is no finished run."""
    read: Callable[[Place], Page] = _tournament
    if is_file(folder / CHART):
        read = _chart
    elif is_file(folder / MANIFEST):
        manifest = read_json(folder / MANIFEST)
        read = _sweep if "sweep" in manifest else read
        read = _calibration if "calibrate" in manifest else read
    try:
        return read(folder)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise GinsimError(
            f"{folder}: its JSON files are not of a run of this version (at {error}); play it again"
        ) from None


def write_report(folder: Place, out: Place | None = None) -> tuple[Place, list[str]]:
    """Write the report of the run in *folder* to *out* (default: into it).

    Returns the file and the headline. Raises GinsimError if the run is none, is not finished,
    or the file cannot be written.
    """
    page = page_of(folder)
    file = out or folder / REPORT
    if is_local(file) and file.is_dir():
        raise GinsimError(f"{file}: is a folder; name a file, like {file / REPORT}")
    if is_local(file) and not file.parent.is_dir():
        raise GinsimError(f"{file}: there is no folder {file.parent}; make it first")
    write_text(file, page.html())
    return file, page.headline
