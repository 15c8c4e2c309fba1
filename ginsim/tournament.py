"""All matchups of some bots, in blocks of pairs through joblib; progress and resume.

A block is a range of pairs of every matchup. It plays, writes its own Parquet file and
returns integer sums, so that memory does not grow with the run, and a run that was stopped
goes on with the blocks whose files are missing.
"""

import contextlib
import hashlib
import itertools
import json
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from pyarrow import ArrowException

from ginsim import locks, places, records
from ginsim.backends import Backend, spread
from ginsim.bots import Bot, load_all, split_spec
from ginsim.errors import GinsimError
from ginsim.guard import DECISION_LIMIT, Failure, Forfeit
from ginsim.jit import INTERPRETED, engine_version
from ginsim.match import play_chunks
from ginsim.places import Place
from ginsim.records import Digest, Part, matchup_name
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

#: Rows a block aims at where its speed is not known: some ten megabytes.
BLOCK_ROWS = 100_000
#: Else it aims at this much play; a block more is what a killed run loses, for each job.
BLOCK_SECONDS, MOST_BLOCK_ROWS = 2.0, 400_000
TRIAL_SECONDS = 0.2
#: Rows of a mirrored pair, roughly; only for sizing blocks.
PAIR_ROWS = 18
MAX_PAIRS = 2_000_000_000
MAX_SEED = (1 << 62) - 1
MAX_BOTS = 1000
MAX_BLOCKS = 1_000_000


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
    rivals: int = 0  #: the last so many bots meet all others and none of themselves; 0: all meet
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
        if len(self.specs) > MAX_BOTS:
            raise GinsimError(f"{len(self.specs)} bots: at most {MAX_BOTS:,}")
        if not 0 <= self.rivals < len(self.specs):
            raise GinsimError(
                f"{self.rivals} rivals among {len(self.specs)} bots: leave some to meet"
            )
        if self.block_pairs < 0:
            raise GinsimError(f"--block {self.block_pairs}: must be 0 (fitting) or more pairs")
        if self.block_pairs and self.blocks() > MAX_BLOCKS:
            raise GinsimError(
                f"--block {self.block_pairs}: makes {self.blocks():,} blocks of {self.pairs:,} "
                f"pairs; take a size that makes at most {MAX_BLOCKS:,}"
            )
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
        if self.rivals:
            met = len(self.specs) - self.rivals
            return list(itertools.product(range(met), range(met, len(self.specs))))
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


def play_block(plan: Plan, block: int, run: Place | None) -> Totals:
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
        records.write_part(
            path, tables, totals.digest(), run_key(plan), forfeits_json(totals.forfeits)
        )
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


def run_key(plan: Plan) -> str:
    """Return all that decides the rows of *plan*, in short, as JSON; it is stored with them."""
    bots = [(bot.name, dict(bot.parameters), bot.file_hash) for bot in plan.bots()]
    return json.dumps(
        {
            "engine": engine_version(),
            "rules": _short_hash(to_dict(plan.rules)),
            "bots": _short_hash(bots),
            "seed": plan.seed,
            "mirrored": plan.mirrored,
        }
    )


def _short_hash(content: Any) -> str:
    text = json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _check_key(part: Part, key: str, due: str) -> None:
    """Raise GinsimError, naming what differs, if *part* has the key of another run than *due*."""
    if key == due:
        return
    try:
        found, wanted = json.loads(key), json.loads(due)
        differ = [name for name in wanted if found[name] != wanted[name]]
    except (ValueError, TypeError, KeyError, RecursionError):
        differ = []
    raise GinsimError(
        f"{part.path}: was written with other {' and '.join(differ) or 'settings'} than "
        f"{MANIFEST} says; it belongs to another run: move it elsewhere"
    )


def recount_block(
    plan: Plan, block: int, run: Place, parts: Mapping[int, Part] | None = None
) -> Totals | None:
    """Totals of a block whose part lies in *run*, None if it must be played (again).

    A part counts if it can be read, holds exactly the pairs of its block in every matchup, and
    its rows have the digest that was stored with them. *parts* is ``parts_by_block``, if that
    is known. Raises GinsimError for a whole part of another run.
    """
    part = (parts_by_block(plan, run) if parts is None else parts).get(block)
    if part is None:
        return None
    first, end = plan.pairs_of(block)
    most = (end - first) * len(plan.matchups()) * 2 * plan.rules.round_limit
    try:
        stored = records.read_block(part, block, most)
        forfeits = forfeits_of(stored.forfeits)
    except (GinsimError, TypeError, ValueError):
        return None
    _check_key(part, stored.key, run_key(plan))
    try:
        rows = records.from_table(stored.table, [bot.name for bot in plan.bots()])
    except (GinsimError, ArrowException, ValueError, TypeError, KeyError):
        return None
    due = np.arange(*plan.pairs_of(block))
    if sorted(rows) != sorted(plan.matchups()) or any(
        not np.array_equal(np.unique(part["pair"]), due) for part in rows.values()
    ):
        return None
    totals = count_block(plan, block, lambda at: iter([rows[plan.matchups()[at]]]))
    totals.forfeits = forfeits
    return totals if totals.digest() == stored.digest else None


def parts_by_block(plan: Plan, run: Place) -> dict[int, Part]:
    """Return the part that should hold each block; raises GinsimError for a file of no block."""
    parts = records.parts_of(run)
    for part in parts:
        if part.last >= plan.blocks():
            raise GinsimError(f"{part.path}: is no file of this run: move it elsewhere")
    return records.by_block(parts)


@dataclass(frozen=True)
class Errand:
    """What a worker needs to play blocks, wherever it is."""

    plan: Plan
    run: Place | None
    backend: Backend
    key: str

    def __call__(self, block: int) -> Totals:
        """Play *block*; raises GinsimError if this worker cannot play it as the others do."""
        if self.backend.remote():
            self.check_here()
        return play_block(self.plan, block, self.run)

    def check_here(self) -> None:
        """Refuse to play with other sources, or into a folder that only this worker sees."""
        name = platform.node()
        try:
            key = run_key(self.plan)
        except GinsimError as error:
            raise GinsimError(
                f"worker on {name}: {error} (bot files must be on every worker, at the same path)"
            ) from None
        if key != self.key:
            raise GinsimError(
                f"worker on {name}: has another version of ginsim or of a bot's file; "
                "install the same on every worker"
            )
        if self.run is not None and not places.is_file(self.run / MANIFEST):
            raise GinsimError(
                f"worker on {name}: sees no {self.run / MANIFEST}; workers on other machines "
                "need an --out on a shared disk, or a URL"
            )


def errand(plan: Plan, run: Place | None, backend: Backend) -> Errand:
    """Return what workers are sent to do; paths are made absolute for those elsewhere."""
    key = run_key(plan)
    if not backend.remote():
        return Errand(plan, run, backend, key)
    names = tuple(bot.name for bot in plan.bots())
    specs = tuple(map(_absolute, plan.specs))
    run = run.resolve() if isinstance(run, Path) else run
    return Errand(replace(plan, specs=specs, names=names), run, backend, key)


def _absolute(spec: str) -> str:
    base, changes = split_spec(spec)
    if ".py" not in base:
        return spec
    return str(Path(base).resolve()) + (f"@{changes}" if changes else "")


def played(
    plan: Plan,
    jobs: int,
    run: Place | None,
    blocks: Sequence[int] | None = None,
    *,
    in_order: bool = False,
    backend: Backend = Backend(),  # noqa: B008 - frozen
) -> Generator[Totals, None, None]:
    """Play *blocks* (default: all) on *jobs* jobs and yield each one's totals as it is done.

    With *in_order* they are yielded as listed; a caller that stops early keeps only those.
    """
    blocks = range(plan.blocks()) if blocks is None else blocks
    if not blocks:
        return
    warm_up(plan)
    # Pairs that must be played as plain Python need the alarm, which only this thread has.
    for block in [block for block in blocks if _has_plain_pairs(plan, block)]:
        yield play_block(plan, block, run)
    blocks = [block for block in blocks if not _has_plain_pairs(plan, block)]
    if not blocks:
        return
    yield from spread(
        errand(plan, run, backend),
        blocks,
        backend=backend,
        compiled=plan.compiled(),
        jobs=jobs,
        in_order=in_order,
    )


def counted(plan: Plan, jobs: int) -> Totals:
    """Play all of *plan* on *jobs* jobs, log nothing, and return its totals."""
    totals = Totals.empty(plan)
    for block in played(plan, jobs, None):
        totals.add(block)
    return totals


def fitted(plan: Plan) -> Plan:
    """*plan* in blocks of some two seconds, by a short trial of its bots; rows do not change."""
    if plan.block_pairs or plan.pairs * len(plan.matchups()) * PAIR_ROWS < BLOCK_ROWS:
        return plan
    warm_up(plan)
    pairs, start = 0, time.perf_counter()
    while time.perf_counter() - start < TRIAL_SECONDS:
        play_block(replace(plan, pairs=pairs + 1, block_pairs=1), pairs, None)
        pairs += 1
    by_time = round(pairs * BLOCK_SECONDS / (time.perf_counter() - start))
    by_rows = MOST_BLOCK_ROWS // (PAIR_ROWS * len(plan.matchups()))
    size = max(1, min(by_time, by_rows, -(-plan.pairs // 16)))
    return replace(plan, block_pairs=max(size, -(-plan.pairs // MAX_BLOCKS)))


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
        "rivals": plan.rivals,
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


def plan_of(manifest: dict[str, Any], path: Place) -> Plan:
    """Return the plan that a manifest describes; raises GinsimError if it is none."""
    try:
        whole = {name: manifest[name] for name in ("seed", "pairs", "block_pairs")}
        whole["rivals"] = manifest.get("rivals", 0)  # older runs have none
        if any(isinstance(value, bool) or not isinstance(value, int) for value in whole.values()):
            raise GinsimError("seed, pairs, block_pairs and rivals must be whole numbers")
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


def check_same(manifest: dict[str, Any], plan: Plan, path: Place) -> None:
    """Refuse to go on with a run that today's engine or bots would play differently.

    *path* is the run's folder. A bot's file is executed only if it is the one that was played.
    """
    if manifest.get("engine") != engine_version():
        raise GinsimError(
            f"{path}: was played by engine {manifest.get('engine')}, this is "
            f"{engine_version()}; check out its commit, or start a new run"
        )
    for was, spec in zip(manifest["bots"], plan.specs, strict=True):
        _check_bot_file(was, spec, path)
    now = manifest_of(plan, "")
    for was, today in zip(manifest["bots"], now["bots"], strict=True):
        if {**was, "source": ""} != {**today, "source": ""}:
            raise GinsimError(
                f"{path}: bot {today['name']!r} has changed since; start a new run for it"
            )


def check_given(given: Plan, test: Sprt | None, manifest: dict[str, Any], run: Place) -> None:
    """Refuse to go on with *run* as another plan than its own, naming what differs."""
    own = plan_of(manifest, run / MANIFEST)
    sequential = sequential_test(manifest, own, run / MANIFEST)
    pairs = sequential[1].pairs if sequential else own.pairs
    differ = [
        name
        for name, asked, had in (
            ("bots", given.specs, own.specs),
            ("rules", given.rules, own.rules),
            ("seed", given.seed, own.seed),
            ("pairs", given.pairs, pairs),
            ("mirroring", given.mirrored, own.mirrored),
            ("block size", given.block_pairs, own.block_pairs),
            ("test", test or (sequential and sequential[0]), sequential and sequential[0]),
        )
        if asked != had
    ]
    if differ:
        raise GinsimError(
            f"{run}: was started with other {' and '.join(differ)}; --resume takes them from the "
            "run: leave them out, or start a new run"
        )


def _check_bot_file(was: Mapping[str, Any], spec: str, run: Place) -> None:
    """Raise GinsimError unless a manifest's bot is built in, or its file is as it was played."""
    base, changes = split_spec(spec)
    while changes:  # there may be an @ behind another
        base, changes = split_spec(base)
    if ".py" not in base:
        return
    file = Path(base if base.endswith(".py") else base.rpartition(":")[0])
    if not file.is_file():
        return  # to load it will say so
    if isinstance(run, Path) and file.resolve().is_relative_to(run.resolve()):
        raise GinsimError(f"{run}: nothing in a run folder is executed, so not {str(file)!r}")
    if hashlib.sha256(file.read_bytes()).hexdigest() != was.get("sha256"):
        raise GinsimError(
            f"{run}: bot {was.get('name')!r} has changed since: {str(file)!r} is not the file that "
            "was played; start a new run for it"
        )


MANIFEST = "manifest.json"
SUMMARY = "summary.json"


def check_folder(run: Place, overwrite: bool) -> None:
    """Refuse a folder in use for a new run, unless *overwrite* and it holds one."""
    if places.is_file(run):
        raise GinsimError(f"{run}: is a file; name another folder with --out")
    held = [n for n in places.names(run) if n != locks.LOCK and not places.half_written(n)]
    if not held or (held == ["rounds"] and not places.names(records.rounds_folder(run))):
        return
    if MANIFEST not in held:
        raise GinsimError(f"{run}: holds other files than a run; name another --out")
    if not overwrite:
        raise GinsimError(
            f"{run}: holds a run already; add --overwrite to replace it, go on with "
            f"`ginsim tournament --resume {run}`, or name another --out"
        )


def prepare_folder(run: Place, overwrite: bool) -> None:
    """Make the folder of a new run; refuse one in use unless *overwrite* and it is a run."""
    check_folder(run, overwrite)
    for name in (records.REPORT, SUMMARY, MANIFEST):
        places.remove(run / name)
    for name in ("rounds", "plots", "confirm"):
        places.remove_folder(run / name)
    remove_half_written(run)
    try:
        places.make_folder(records.rounds_folder(run))
    except GinsimError as error:
        raise GinsimError(f"{error}; name another --out") from None


def remove_half_written(run: Place) -> int:
    """Remove what a killed run left half written; returns how many files that were."""
    found = [
        folder / name
        for folder in (run, records.rounds_folder(run), run / "plots")
        for name in places.names(folder)
        if places.half_written(name)
    ]
    for path in found:
        places.remove(path)
    return len(found)


@dataclass(frozen=True)
class Progress:
    """How far a run has come, for who watches."""

    blocks_done: int
    blocks: int
    pairs_done: int
    rounds: int
    seconds: float


@dataclass
class Found:
    """What lay in the folder of a run that goes on."""

    blocks: int
    whole: int = 0
    torn: int = 0
    half_written: int = 0

    def to_json(self) -> dict[str, int]:
        """Return the counts as JSON."""
        return asdict(self) | {"missing": self.blocks - self.whole - self.torn}

    def __str__(self) -> str:
        """Say what was found and is done about it, in one line."""
        missing = self.blocks - self.whole - self.torn
        if missing + self.torn == 0:
            done = f"all {self.blocks} blocks whole, none to play"
        else:
            done = f"{self.whole} of {self.blocks} blocks whole (kept)"
            done += f", {self.torn} torn (played again)" if self.torn else ""
            done += f", {missing} missing (played now)" if missing else ""
        removed = f"; {self.half_written} half-written files removed" if self.half_written else ""
        return f"found {done}{removed}"


def found_blocks(plan: Plan, run: Place, found: Found) -> Iterator[tuple[int, Totals | None]]:
    """Each block with its totals, if its part lies whole in *run*; torn parts are removed.

    Counts into *found* what there is. A part of several blocks is torn if one of them is.
    """
    found.half_written = remove_half_written(run)
    parts, torn = parts_by_block(plan, run), set()
    for part in {part for part in parts.values() if part.last > part.first}:
        blocks = range(part.first, part.last + 1)
        if any(recount_block(plan, block, run, parts) is None for block in blocks):
            places.remove(part.path)
            torn |= set(blocks)
    # Files of one block that a merged one stood in for are back, if that was torn.
    parts = parts_by_block(plan, run) if torn else parts
    for block in range(plan.blocks()):
        totals = recount_block(plan, block, run, parts)
        if totals is not None:
            found.whole += 1
        elif block in parts or block in torn:
            found.torn += 1
            if block in parts:
                places.remove(parts[block].path)
        yield block, totals


def check_complete(plan: Plan, run: Place) -> None:
    """Raise GinsimError unless each block of a finished run has its part."""
    parts = parts_by_block(plan, run)
    missing = [block for block in range(plan.blocks()) if block not in parts]
    if missing:
        raise GinsimError(
            f"{records.part_path(run, missing[0])}: was played but is not there "
            f"({len(missing)} such blocks): removed meanwhile, or written on another machine?"
        )


def run_tournament(
    plan: Plan,
    run: Place,
    manifest: dict[str, Any],
    *,
    jobs: int,
    resume: bool = False,
    watch: Callable[[Progress], None] = lambda progress: None,
    tell: Callable[[Found], None] = lambda found: None,
    each: Callable[[Totals], None] = lambda block: None,
    backend: Backend = Backend(),  # noqa: B008 - frozen
) -> tuple[Totals, dict[str, Any]]:
    """Play *plan* into *run*, whose manifest is written first and again at the end.

    With *resume*, blocks whose parts lie whole in *run* are counted, not played, and *tell* is
    called with what was found. *each* is given the totals of each block, in no order. Returns
    the totals and the finished manifest.
    """
    records.write_json(run / MANIFEST, manifest)
    totals, pairs_done = Totals.empty(plan), 0
    missing: Sequence[int] = range(plan.blocks())
    if resume:
        found = Found(plan.blocks())
        missing = left = []
        for block, block_totals in found_blocks(plan, run, found):
            if block_totals is None:
                left.append(block)
            else:
                totals.add(block_totals)
                each(block_totals)
                pairs_done += block_totals.by_matchup[0][0].pairs
        tell(found)
    warm_up(plan)
    start, rounds = time.perf_counter(), 0
    for done, block_totals in enumerate(played(plan, jobs, run, missing, backend=backend), 1):
        totals.add(block_totals)
        each(block_totals)
        pairs_done += block_totals.by_matchup[0][0].pairs
        rounds += sum(block_totals.rows)
        elapsed = time.perf_counter() - start
        blocks_done = plan.blocks() - len(missing) + done
        watch(Progress(blocks_done, plan.blocks(), pairs_done, rounds, elapsed))
    seconds = time.perf_counter() - start
    check_complete(plan, run)
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


def sequential_test(manifest: dict[str, Any], plan: Plan, path: Place) -> tuple[Sprt, Plan] | None:
    """Test and plan of a sequential run, to go on with it; None if *manifest* is of another."""
    if "sprt" not in manifest:
        return None
    try:
        told = manifest["sprt"]
        test = Sprt(**{name: float(told[name]) for name in ("low", "high", "alpha", "beta")})
        cap = told.get("cap", plan.pairs)
        if type(cap) is not int:
            raise GinsimError("cap must be a whole number")
        return test, sequential_plan(replace(plan, pairs=cap))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise GinsimError(f"{path}: is no manifest of a sequential run ({error})") from None


def _in_order(
    plan: Plan,
    jobs: int,
    run: Place,
    resume: bool,
    tell: Callable[[Found], None],
    backend: Backend,
) -> Generator[Totals, None, None]:
    """All blocks in order; with *resume*, those whose parts lie whole in *run* are counted."""
    if not resume:
        yield from played(plan, jobs, run, in_order=True, backend=backend)
        return
    found = Found(plan.blocks())
    whole = {block for block, totals in found_blocks(plan, run, found) if totals is not None}
    tell(found)
    parts = parts_by_block(plan, run)
    missing = [block for block in range(plan.blocks()) if block not in whole]
    rest = played(plan, jobs, run, missing, in_order=True, backend=backend)
    with contextlib.closing(rest):
        for block in range(plan.blocks()):
            totals = recount_block(plan, block, run, parts) if block in whole else next(rest)
            if totals is None:
                raise GinsimError(f"{parts[block].path}: has changed meanwhile; resume again")
            yield totals


def run_sequential(
    plan: Plan,
    run: Place,
    manifest: dict[str, Any],
    test: Sprt,
    *,
    jobs: int,
    resume: bool = False,
    watch: Callable[[Progress], None] = lambda progress: None,
    tell: Callable[[Found], None] = lambda found: None,
    backend: Backend = Backend(),  # noqa: B008 - frozen
) -> tuple[Plan, Totals, dict[str, Any], Verdict]:
    """Play two bots until *test* decides on the first one's match wins, at most plan.pairs.

    The test looks at the end of each block, in pair order, so the stop is the same for any
    number of jobs, also when the run goes on with *resume*. Returns the plan that was played,
    its totals, manifest and the verdict.
    """
    plan = sequential_plan(plan)
    manifest = manifest | {
        "pairs": plan.pairs,
        "blocks": plan.blocks(),
        "block_pairs": plan.block_size(),
        "sprt": asdict(test),
    }
    records.write_json(run / MANIFEST, manifest)
    totals, walk = Totals.empty(plan), Walk(test)
    warm_up(plan)
    start = time.perf_counter()
    stop = Stop(0, 0.0, None, ())
    blocks = _in_order(plan, jobs, run, resume, tell, backend)
    for block, found in enumerate(blocks):
        totals.add(found)
        stop = walk.look(found.halves[0].sum(axis=1) / 4)
        elapsed = time.perf_counter() - start
        watch(Progress(block + 1, plan.blocks(), stop.pairs, sum(totals.rows), elapsed))
        if stop.accepted:
            break
    blocks.close()
    kept = replace(plan, pairs=stop.pairs)
    for part in records.parts_of(run):
        if part.first >= kept.blocks():
            places.remove(part.path)  # a block in flight when the test decided
    check_complete(kept, run)
    verdict = Verdict(test, stop, plan.pairs)
    seconds = time.perf_counter() - start
    manifest = manifest | {"pairs": kept.pairs, "blocks": kept.blocks()}
    finished = finished_manifest(manifest, kept, totals, seconds, sum(totals.rows), jobs)
    finished |= {"sprt": verdict.to_json()}
    records.write_json(run / MANIFEST, finished)
    return kept, totals, finished, verdict
