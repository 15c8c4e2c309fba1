"""A finished run's log read back in flat memory: counted again, and merged into larger files.

Both go block by block, so a log may be larger than memory.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pyarrow import ArrowException

from ginsim import places, records
from ginsim.errors import GinsimError
from ginsim.places import Place
from ginsim.records import Part
from ginsim.summary import summary_of
from ginsim.tournament import (
    MANIFEST,
    Plan,
    Totals,
    check_same,
    parts_by_block,
    plan_of,
    recount_block,
    remove_half_written,
)

#: Bytes a merged file aims at: large enough for fast scans, small enough to copy about.
AIM_BYTES = 128 * 1024 * 1024


def _finished(run: Place) -> tuple[Plan, str]:
    """Plan and digest of a run that is done; raises GinsimError if it is not."""
    manifest = records.read_json(run / MANIFEST)
    plan = plan_of(manifest, run / MANIFEST)
    check_same(manifest, plan, run)
    if manifest.get("status") != "done" or not isinstance(manifest.get("digest"), str):
        raise GinsimError(f"{run}: is not finished; `ginsim tournament --resume {run}` does so")
    return plan, manifest["digest"]


def _counted(plan: Plan, run: Place) -> Iterator[Totals]:
    """Totals of each block of *run*; raises GinsimError at the first that is not whole."""
    parts = parts_by_block(plan, run)
    for block in range(plan.blocks()):
        totals = recount_block(plan, block, run, parts)
        if totals is None:
            path = parts[block].path if block in parts else records.part_path(run, block)
            raise GinsimError(
                f"{path}: is {'torn' if block in parts else 'missing'}; mend the run with "
                f"`ginsim tournament --resume {run}`"
            )
        yield totals


def recounted(run: Place) -> dict[str, Any]:
    """Summary of *run*, counted again from its log, which must have the manifest's digest."""
    plan, digest = _finished(run)
    totals = Totals.empty(plan)
    for block in _counted(plan, run):
        totals.add(block)
    if str(totals.digest()) != digest:
        raise GinsimError(f"{run}: its log has digest {totals.digest()}, not {digest!r} as told")
    return summary_of(plan, totals)


@dataclass(frozen=True)
class Compacted:
    """What ``compact`` did."""

    files_before: int
    bytes_before: int
    files: int
    bytes: int
    digest: str


def _size(parts: Sequence[Part]) -> int:
    return sum(places.size(part.path) for part in parts)


def compact(run: Place, aim: int = AIM_BYTES) -> Compacted:
    """Merge the files of a finished *run* into files of some *aim* bytes.

    A merged file is written whole and read back block by block, and only then are its
    originals removed. Stopped at any time, nothing is lost: done again, it goes on.
    """
    plan, told = _finished(run)
    remove_half_written(run)
    _remove_covered(run)
    before = records.parts_of(run)
    size_before = _size(before)
    parts_by_block(plan, run)  # refuses files of no block
    for group in _groups(before, aim):
        _merge(plan, run, group)
    after = records.parts_of(run)
    digest = sum(
        (
            records.read_digest(part, block)
            for part in after
            for block in range(part.first, part.last + 1)
        ),
        records.Digest(),
    )
    if str(digest) != told:
        raise GinsimError(f"{run}: its log has digest {digest}, not {told!r} as the manifest tells")
    return Compacted(len(before), size_before, len(after), _size(after), str(digest))


def _groups(parts: Sequence[Part], aim: int) -> Iterator[list[Part]]:
    """Neighbouring parts that together have some *aim* bytes; none alone."""
    group: list[Part] = []
    size = 0
    for part in parts:
        more = places.size(part.path)
        if group and (size + more > aim or part.first != group[-1].last + 1):
            if len(group) > 1:
                yield group
            group, size = [], 0
        group.append(part)
        size += more
    if len(group) > 1:
        yield group


def _merge(plan: Plan, run: Place, group: Sequence[Part]) -> None:
    first, last = group[0].first, group[-1].last
    blocks = {block: part for part in group for block in range(part.first, part.last + 1)}
    merged = Part(records.part_path(run, first, last), first, last)
    digests: dict[int, records.Digest] = {}

    def stored() -> Iterator[records.Block]:
        for block, part in blocks.items():
            found = _whole(plan, run, part, block)
            digests[block] = found.digest
            yield found

    records.write_merged(merged.path, stored())
    for block, digest in digests.items():
        if _whole(plan, run, merged, block).digest != digest:
            raise GinsimError(f"{merged.path}: did not read back as written; nothing was removed")
    for part in group:
        places.remove(part.path)


def _whole(plan: Plan, run: Place, part: Part, block: int) -> records.Block:
    """``records.read_block`` of a block whose rows have the digest stored with them."""
    try:
        found = records.read_block(part, block)
        if _digest(plan, found.table) == found.digest:
            return found
    except (GinsimError, ArrowException, ValueError, TypeError, KeyError):
        pass
    raise GinsimError(f"{part.path}: is torn; mend the run with `ginsim tournament --resume {run}`")


def _digest(plan: Plan, table: Any) -> records.Digest:
    """Digest of the rows in *table*."""
    names = [bot.name for bot in plan.bots()]
    found = records.from_table(table, names).items()
    return sum(
        (records.digest(rows, records.matchup_name(names[a], names[b])) for (a, b), rows in found),
        records.Digest(),
    )


def _remove_covered(run: Place) -> None:
    """Remove files whose blocks lie in a merged file that reads back whole."""
    kept = {part.path.name for part in records.parts_of(run)}
    manifest = records.read_json(run / MANIFEST)
    plan = plan_of(manifest, run / MANIFEST)
    covered = [
        name
        for name in places.names(records.rounds_folder(run))
        if name not in kept and not name.startswith((".", "_"))
    ]
    if not covered:
        return
    for part in records.parts_of(run):
        for block in range(part.first, part.last + 1):
            if part.last > part.first and recount_block(plan, block, run, {block: part}) is None:
                raise GinsimError(
                    f"{part.path}: is torn; mend the run with `ginsim tournament --resume {run}`"
                )
    for name in covered:
        places.remove(records.rounds_folder(run) / name)
