"""All matchups of some bots, in blocks of pairs through joblib; progress and resume.

A block is a range of pairs of every matchup. It plays, writes its own Parquet file and
returns integer sums, so that memory does not grow with the run, and a run that was stopped
goes on with the blocks whose files are missing.
"""

import itertools
import platform
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import joblib
import numpy as np

from ginsim import records
from ginsim.bots import Bot, load_all
from ginsim.errors import GinsimError
from ginsim.guard import DECISION_LIMIT, Failure, Forfeit
from ginsim.jit import INTERPRETED, engine_version
from ginsim.match import play_chunks
from ginsim.records import Digest, matchup_name
from ginsim.rules import Rules, from_dict, to_dict, winning_score
from ginsim.sprt import LOOK_EVERY, Sprt, Stop, Walk
from ginsim.tally import (
    COUNTERS,
    TURN_BINS,
    Tally,
    count_pairs,
    products_of,
    tally_of,
    turn_counts,
)

#: Rows a block aims at: 1-5 s of play, some ten megabytes.
BLOCK_ROWS = 100_000
#: Rows of a mirrored pair, roughly; only for sizing blocks.
PAIR_ROWS = 18
MAX_PAIRS = 2_000_000_000
MAX_SEED = (1 << 62) - 1


@dataclass(frozen=True)
class Plan:
    """What is played. Bots are named, not held, so that a plan can travel to a process."""

    specs: tuple[str, ...]
    rules: Rules
    seed: int
    pairs: int
    mirrored: bool = True
    block_pairs: int = 0  #: pairs a block; 0 for a size that suits
    names: tuple[str, ...] = ()  #: what to call the bots; empty for their own names
    decision_limit: float = DECISION_LIMIT  #: seconds a decision may take; 0 for no limit
    #: Pairs of a matchup, by its name, that compiled bots from files play as plain Python.
    as_plain: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        """Check the numbers; raises GinsimError."""
        if len(self.specs) < 2:
            raise GinsimError(
                f"{len(self.specs)} bot is no tournament: name at least two (a bot may be twice)"
            )
        if not 1 <= self.pairs <= MAX_PAIRS:
            raise GinsimError(f"--pairs {self.pairs}: must be 1..{MAX_PAIRS:,}")
        if not 0 <= self.seed <= MAX_SEED:
            raise GinsimError(f"--seed {self.seed}: must be 0..{MAX_SEED}")
        if self.block_pairs < 0:
            raise GinsimError(f"--block {self.block_pairs}: must be 0 (fitting) or more pairs")
        if not (self.decision_limit == 0 or 0.001 <= self.decision_limit < 1e6):
            raise GinsimError(
                f"--decision-limit {self.decision_limit:g}: must be 0 (none) or 0.001 s and more"
            )

    def bots(self) -> list[Bot]:
        """Return the bots, as their files are now."""
        bots = load_all(self.specs)
        if not self.names:
            return bots
        return [replace(bot, name=name) for bot, name in zip(bots, self.names, strict=True)]

    def matchups(self) -> list[tuple[int, int]]:
        """Places of the two bots of each matchup."""
        return list(itertools.combinations(range(len(self.specs)), 2))

    def matchup_names(self) -> list[str]:
        """Names of the matchups, in the same order."""
        names = [bot.name for bot in self.bots()]
        return [matchup_name(names[a], names[b]) for a, b in self.matchups()]

    def block_size(self) -> int:
        """Pairs a block."""
        if self.block_pairs:
            return self.block_pairs
        fitting = BLOCK_ROWS // (PAIR_ROWS * len(self.matchups()))
        return max(1, min(fitting, -(-self.pairs // 16)))

    def blocks(self) -> int:
        """Return the number of blocks."""
        return -(-self.pairs // self.block_size())

    def pairs_of(self, block: int) -> tuple[int, int]:
        """First pair of a block, and the one behind its last."""
        first = block * self.block_size()
        return first, min(first + self.block_size(), self.pairs)

    def compiled(self) -> bool:
        """Whether every bot is compiled, so that threads serve; else processes."""
        return not INTERPRETED and all(bot.jit for bot in self.bots())


#: How many matches were forfeited, and the first, for each bot and reason of a matchup.
Forfeits = tuple[tuple[int, Forfeit], ...]


def both_forfeits(one: Forfeits, other: Forfeits) -> Forfeits:
    """*one* and *other* added up."""
    found: dict[tuple[int, str], tuple[int, Forfeit]] = {}
    for count, first in (*one, *other):
        key = first.failure.bot, first.failure.reason
        known, earliest = found.get(key, (0, first))
        found[key] = known + count, min(earliest, first)
    return tuple(found[key] for key in sorted(found))


@dataclass
class Totals:
    """What a run has counted so far. Totals add up in any order."""

    by_matchup: list[tuple[Tally, Tally]] = field(default_factory=list)
    by_bot: list[Tally] = field(default_factory=list)
    digests: list[Digest] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    #: Half matches of the first bot, summed over pairs, by 2 * matchup + leg; and their products.
    half_sums: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    half_products: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.int64))
    #: Forfeits of each matchup.
    forfeits: list[Forfeits] = field(default_factory=list)
    #: Of one block only, not added up: the half matches themselves, int64 [matchup, pair, leg].
    halves: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 2), np.int64))
    #: Of one block only: digests of its pairs, int64 [matchup, pair].
    pair_digests: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.int64))

    @staticmethod
    def empty(plan: Plan) -> "Totals":
        """Return nothing counted yet."""
        matchups = plan.matchups()
        return Totals(
            [(Tally(), Tally()) for _ in matchups],
            [Tally() for _ in plan.specs],
            [Digest() for _ in matchups],
            [0 for _ in matchups],
            np.zeros(2 * len(matchups), np.int64),
            np.zeros((2 * len(matchups), 2 * len(matchups)), np.int64),
            [() for _ in matchups],
        )

    def add(self, other: "Totals") -> None:
        """Add another block's totals."""
        for tallies, more in zip(self.by_matchup, other.by_matchup, strict=True):
            tallies[0].add(more[0])
            tallies[1].add(more[1])
        for at, tally in enumerate(other.by_bot):
            self.by_bot[at].add(tally)
        self.digests = [a + b for a, b in zip(self.digests, other.digests, strict=True)]
        self.rows = [a + b for a, b in zip(self.rows, other.rows, strict=True)]
        self.half_sums += other.half_sums
        self.half_products += other.half_products
        self.forfeits = [
            both_forfeits(a, b) for a, b in zip(self.forfeits, other.forfeits, strict=True)
        ]

    def digest(self) -> Digest:
        """Digest of all rows."""
        return sum(self.digests, Digest())


def count_block(plan: Plan, block: int, chunks_of: Callable[[int], Iterator[np.ndarray]]) -> Totals:
    """Totals of one block; *chunks_of(matchup)* yields its rows, a few whole pairs at a time."""
    first, end = plan.pairs_of(block)
    totals = Totals.empty(plan)
    by_bot = np.zeros((len(plan.specs), end - first, len(COUNTERS)), np.int64)
    bot_turns = np.zeros((len(plan.specs), TURN_BINS), np.int64)
    totals.halves = np.zeros((len(plan.matchups()), end - first, 2), np.int64)
    totals.pair_digests = np.zeros((len(plan.matchups()), end - first), np.int64)
    for at, ((a, b), name) in enumerate(zip(plan.matchups(), plan.matchup_names(), strict=True)):
        counters = np.zeros((2, end - first, len(COUNTERS)), np.int64)
        turns = np.zeros(TURN_BINS, np.int64)
        for rows in chunks_of(at):
            count_pairs(rows, first, winning_score(plan.rules), counters, totals.halves[at])
            turns += turn_counts(rows)
            totals.digests[at] += records.digest(rows, name)
            pairs = np.unique(rows["pair"]) - first
            totals.pair_digests[at, pairs] = records.pair_digests(rows, name)
            totals.rows[at] += len(rows)
        totals.by_matchup[at] = (tally_of(counters[0], turns), tally_of(counters[1], turns))
        for side, bot in enumerate((a, b)):
            by_bot[bot] += counters[side]
            bot_turns[bot] += turns
    flat = totals.halves.transpose(1, 0, 2).reshape(end - first, -1)
    totals.half_sums, totals.half_products = flat.sum(axis=0), products_of(flat)
    totals.by_bot = [tally_of(by_bot[bot], bot_turns[bot]) for bot in range(len(plan.specs))]
    return totals


def play_block(plan: Plan, block: int, run: Path | None) -> Totals:
    """Play one block and write its part into *run* (None: nowhere)."""
    bots, matchups = plan.bots(), plan.matchups()
    names = [bot.name for bot in bots]
    tables = []
    forfeits: list[list[Forfeit]] = [[] for _ in matchups]
    matchup_names = plan.matchup_names()

    def chunks(at: int) -> Iterator[np.ndarray]:
        a, b = matchups[at]
        first, end = plan.pairs_of(block)
        for rows in play_chunks(
            (bots[a], bots[b]),
            plan.rules,
            plan.seed,
            first,
            end,
            mirrored=plan.mirrored,
            limit=plan.decision_limit,
            as_plain={pair for name, pair in plan.as_plain if name == matchup_names[at]},
            forfeits=forfeits[at],
        ):
            if run is not None:
                tables.append(records.to_table(rows, names, a, b))
            yield rows

    totals = count_block(plan, block, chunks)
    totals.forfeits = [both_forfeits((), tuple((1, one) for one in some)) for some in forfeits]
    if run is not None:
        path = records.part_path(run, block)
        records.write_part(path, tables, totals.digest(), forfeits_json(totals.forfeits))
    return totals


def forfeits_json(forfeits: list[Forfeits]) -> list[Any]:
    """*forfeits* as JSON, read by ``forfeits_of``."""
    return [
        [[count, *first[:3], *first.failure] for count, first in of_matchup]
        for of_matchup in forfeits
    ]


def forfeits_of(stored: list[Any]) -> list[Forfeits]:
    """Return the forfeits that ``forfeits_json`` wrote."""
    return [
        tuple(
            (count, Forfeit(pair, leg, round_, Failure(*failure)))
            for count, pair, leg, round_, *failure in of_matchup
        )
        for of_matchup in stored
    ]


def recount_block(plan: Plan, block: int, run: Path) -> Totals | None:
    """Totals of a block whose part lies in *run*, None if it must be played (again).

    A part counts if it can be read, holds exactly the pairs of its block in every matchup,
    and its rows have the digest that was stored with them.
    """
    path = records.part_path(run, block)
    if not path.exists():
        return None
    try:
        rows, stored = records.read_part(path, [bot.name for bot in plan.bots()])
        forfeits = forfeits_of(records.part_forfeits(path))
    except GinsimError:
        return None
    due = np.arange(*plan.pairs_of(block))
    if sorted(rows) != sorted(plan.matchups()) or any(
        not np.array_equal(np.unique(part["pair"]), due) for part in rows.values()
    ):
        return None
    totals = count_block(plan, block, lambda at: iter([rows[plan.matchups()[at]]]))
    totals.forfeits = forfeits
    return totals if totals.digest() == stored else None


def played(
    plan: Plan,
    jobs: int,
    run: Path | None,
    blocks: list[int] | None = None,
    *,
    in_order: bool = False,
) -> Generator[Totals, None, None]:
    """Play *blocks* (default: all) on *jobs* jobs and yield each one's totals as it is done.

    With *in_order* they are yielded as listed; a caller that stops early keeps only those.
    """
    warm_up(plan)
    blocks = list(range(plan.blocks())) if blocks is None else blocks
    # Pairs that must be played as plain Python need the alarm, which only this thread has.
    for block in [block for block in blocks if _has_plain_pairs(plan, block)]:
        yield play_block(plan, block, run)
    blocks = [block for block in blocks if not _has_plain_pairs(plan, block)]
    # In order: a few blocks at a time, so that stopping early leaves little to throw away, and
    # ever more, so that long runs do not wait for each other's last block.
    wave = 2 * jobs if in_order else max(1, len(blocks))
    with joblib.Parallel(
        n_jobs=jobs,
        backend="threading" if plan.compiled() else "loky",
        return_as="list" if in_order else "generator_unordered",
    ) as parallel:
        at = 0
        while at < len(blocks):
            yield from parallel(
                joblib.delayed(play_block)(plan, block, run) for block in blocks[at : at + wave]
            )
            at, wave = at + wave, min(2 * wave, 64)


def _has_plain_pairs(plan: Plan, block: int) -> bool:
    first, end = plan.pairs_of(block)
    return any(first <= pair < end for _, pair in plan.as_plain)


def warm_up(plan: Plan) -> None:
    """Compile all that the plan needs, once, before work fans out; its bots play nothing yet."""
    compiled = [bot.policies() for bot in plan.bots() if bot.jit]
    if compiled:
        play_block(Plan(("simple", "simple"), plan.rules._replace(round_limit=1), 0, 1), 0, None)


def _commit() -> str | None:
    """Git commit of the sources, None outside a checkout."""
    try:
        answer = subprocess.run(
            ["git", "rev-parse", "HEAD"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip() or None if answer.returncode == 0 else None


def manifest_of(plan: Plan, rules_name: str) -> dict[str, Any]:
    """What a run is: enough to play it again, and to refuse one that differs."""
    return {
        "ginsim": version("ginsim"),
        "engine": engine_version(),
        "command": shlex.join(["ginsim", *sys.argv[1:]]),
        "commit": _commit(),
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "numba", "pyarrow", "joblib")},
        },
        "preset": rules_name,
        "rules": to_dict(plan.rules),
        "bots": [
            {
                "name": bot.name,
                "spec": spec,
                "source": bot.source if bot.source == "built-in" else Path(bot.source).name,
                "sha256": bot.file_hash,
                "parameters": dict(bot.parameters),
            }
            for bot, spec in zip(plan.bots(), plan.specs, strict=True)
        ],
        "seed": plan.seed,
        "pairs": plan.pairs,
        "mirrored": plan.mirrored,
        "decision_limit": plan.decision_limit,
        "as_plain": [list(one) for one in plan.as_plain],
        "block_pairs": plan.block_size(),
        "blocks": plan.blocks(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "status": "running",
    }


def finished_manifest(
    manifest: dict[str, Any], plan: Plan, totals: Totals, seconds: float, rounds: int, jobs: int
) -> dict[str, Any]:
    """*manifest* with what the finished run has counted; *rounds* were played in *seconds*."""
    return manifest | {
        "status": "done",
        "rows": sum(totals.rows),
        "digest": str(totals.digest()),
        "matchups": [
            {"name": name, "rows": rows, "digest": str(digest)}
            for name, rows, digest in zip(
                plan.matchup_names(), totals.rows, totals.digests, strict=True
            )
        ],
        "jobs": jobs,
        "seconds": round(seconds, 3),
        "rounds_per_second": round(rounds / seconds) if seconds else None,
    }


def plan_of(manifest: dict[str, Any], path: Path) -> Plan:
    """Return the plan that a manifest describes; raises GinsimError if it is none."""
    try:
        whole = {name: manifest[name] for name in ("seed", "pairs", "block_pairs")}
        if any(isinstance(value, bool) or not isinstance(value, int) for value in whole.values()):
            raise GinsimError("seed, pairs and block_pairs must be whole numbers")
        if not isinstance(manifest["mirrored"], bool):
            raise GinsimError("mirrored must be true or false")
        return Plan(
            tuple(str(bot["spec"]) for bot in manifest["bots"]),
            from_dict(manifest["rules"]),
            mirrored=manifest["mirrored"],
            decision_limit=float(manifest.get("decision_limit", DECISION_LIMIT)),
            as_plain=tuple((str(name), int(pair)) for name, pair in manifest.get("as_plain", [])),
            **whole,
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, GinsimError):
            raise GinsimError(f"{path}: {error}") from None
        raise GinsimError(f"{path}: is no manifest of a run (at {error})") from None


def check_same(manifest: dict[str, Any], plan: Plan, path: Path) -> None:
    """Refuse to go on with a run that today's engine or bots would play differently."""
    now = manifest_of(plan, "")
    if manifest.get("engine") != now["engine"]:
        raise GinsimError(
            f"{path}: was played by engine {manifest.get('engine')}, this is {now['engine']}; "
            "check out its commit, or start a new run"
        )
    for was, today in zip(manifest["bots"], now["bots"], strict=True):
        if {**was, "source": ""} != {**today, "source": ""}:
            raise GinsimError(
                f"{path}: bot {today['name']!r} has changed since; start a new run for it"
            )


MANIFEST = "manifest.json"
SUMMARY = "summary.json"


def prepare_folder(run: Path, overwrite: bool) -> None:
    """Make the folder of a new run; refuse one in use unless *overwrite* and it is a run."""
    if run.exists() and not run.is_dir():
        raise GinsimError(f"{run}: is a file; name another folder with --out")
    rounds = records.rounds_folder(run)
    if run.is_dir() and any(path != rounds or any(rounds.iterdir()) for path in run.iterdir()):
        if not (run / MANIFEST).is_file():
            raise GinsimError(f"{run}: holds other files than a run; name another --out")
        if not overwrite:
            raise GinsimError(
                f"{run}: holds a run already; add --overwrite to replace it, go on with "
                f"`ginsim tournament --resume {run}`, or name another --out"
            )
        for name in ("rounds", "plots"):
            shutil.rmtree(run / name, ignore_errors=True)
        for name in (SUMMARY, MANIFEST):
            (run / name).unlink(missing_ok=True)
    try:
        rounds.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GinsimError(f"{run}: cannot be made ({error.strerror}); name another --out") from None


@dataclass(frozen=True)
class Progress:
    """How far a run has come, for who watches."""

    blocks_done: int
    blocks: int
    pairs_done: int
    rounds: int
    seconds: float


def run_tournament(
    plan: Plan,
    run: Path,
    manifest: dict[str, Any],
    *,
    jobs: int,
    resume: bool = False,
    watch: Callable[[Progress], None] = lambda progress: None,
) -> tuple[Totals, dict[str, Any]]:
    """Play *plan* into *run*, whose manifest is written first and again at the end.

    With *resume*, blocks whose parts lie whole in *run* are counted, not played. Returns the
    totals and the finished manifest.
    """
    records.write_json(run / MANIFEST, manifest)
    totals, missing, pairs_done = Totals.empty(plan), [], 0
    for block in range(plan.blocks()):
        found = recount_block(plan, block, run) if resume else None
        if found is None:
            missing.append(block)
        else:
            totals.add(found)
            pairs_done += found.by_matchup[0][0].pairs
    warm_up(plan)
    start, rounds = time.perf_counter(), 0
    for done, block_totals in enumerate(played(plan, jobs, run, missing), 1):
        totals.add(block_totals)
        pairs_done += block_totals.by_matchup[0][0].pairs
        rounds += sum(block_totals.rows)
        elapsed = time.perf_counter() - start
        blocks_done = plan.blocks() - len(missing) + done
        watch(Progress(blocks_done, plan.blocks(), pairs_done, rounds, elapsed))
    seconds = time.perf_counter() - start
    finished = finished_manifest(manifest, plan, totals, seconds, rounds, jobs)
    records.write_json(run / MANIFEST, finished)
    return totals, finished


@dataclass(frozen=True)
class Verdict:
    """How a sequential tournament ended."""

    test: Sprt
    stop: Stop
    cap: int  #: pairs it might have played

    def to_json(self) -> dict[str, Any]:
        """Return the verdict for the manifest."""
        return asdict(self.test) | asdict(self.stop) | {"cap": self.cap}


def sequential_plan(plan: Plan) -> Plan:
    """*plan* in blocks that end where a sequential test looks; raises GinsimError if unfit."""
    if len(plan.specs) != 2 or not plan.mirrored:
        raise GinsimError("--sprt compares two bots over mirrored pairs: name just two")
    return replace(plan, block_pairs=LOOK_EVERY)


def run_sequential(
    plan: Plan,
    run: Path,
    manifest: dict[str, Any],
    test: Sprt,
    *,
    jobs: int,
    watch: Callable[[Progress], None] = lambda progress: None,
) -> tuple[Plan, Totals, dict[str, Any], Verdict]:
    """Play two bots until *test* decides on the first one's match wins, at most plan.pairs.

    The test looks at the end of each block, in pair order, so the stop is the same for any
    number of jobs. Returns the plan that was played, its totals, manifest and the verdict.
    """
    plan = sequential_plan(plan)
    manifest = manifest | {"block_pairs": plan.block_size(), "sprt": asdict(test)}
    records.write_json(run / MANIFEST, manifest)
    totals, walk = Totals.empty(plan), Walk(test)
    warm_up(plan)
    start = time.perf_counter()
    stop = Stop(0, 0.0, None, ())
    blocks = played(plan, jobs, run, in_order=True)
    for block, found in enumerate(blocks):
        totals.add(found)
        stop = walk.look(found.halves[0].sum(axis=1) / 4)
        elapsed = time.perf_counter() - start
        watch(Progress(block + 1, plan.blocks(), stop.pairs, sum(totals.rows), elapsed))
        if stop.accepted:
            break
    blocks.close()
    kept = replace(plan, pairs=stop.pairs)
    for path in records.rounds_folder(run).glob("part-*.parquet"):
        if path not in [records.part_path(run, block) for block in range(kept.blocks())]:
            path.unlink()  # a block in flight when the test decided
    verdict = Verdict(test, stop, plan.pairs)
    seconds = time.perf_counter() - start
    manifest = manifest | {"pairs": kept.pairs, "blocks": kept.blocks()}
    finished = finished_manifest(manifest, kept, totals, seconds, sum(totals.rows), jobs)
    finished |= {"sprt": verdict.to_json()}
    records.write_json(run / MANIFEST, finished)
    return kept, totals, finished, verdict
