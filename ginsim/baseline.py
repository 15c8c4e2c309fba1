"""The strength gate: what bots did once, pinned, and whether a change made one weaker.

A baseline holds the outcomes and digests of a tournament on committed seeds. The gate plays
the same tournament today. Equal digests pass with certainty. Where one differs, a sequential
test decides: against the old bot itself if today's code still plays it as recorded, else
against its recorded outcomes on the same deals and the same rivals.
"""

import base64
import getpass
import shlex
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from ginsim import records
from ginsim.bots import Bot, load, split_spec
from ginsim.errors import GinsimError
from ginsim.match import play
from ginsim.rules import from_dict, to_dict
from ginsim.sprt import (
    LOOK_EVERY,
    NO_REGRESSION,
    PAIR_SCORES,
    REGRESSION,
    UNDECIDED,
    Sprt,
    Stop,
    Walk,
    bounds,
)
from ginsim.stats import mean_interval
from ginsim.tournament import Plan, manifest_of, played

FORMAT = 1
#: The gate's own games use the seeds behind the baseline's.
FRESH = 1


@dataclass(frozen=True)
class Outcomes:
    """What was played, by matchup: half matches of the first bot and digests, pair by pair."""

    digests: list[str]
    halves: np.ndarray  #: int64 [matchup, pair, leg]: 0, 1 or 2
    pair_digests: np.ndarray  #: int64 [matchup, pair]


@dataclass(frozen=True)
class Baseline:
    """A pinned tournament: the plan, the bots' parameters then, its outcomes, who wrote it."""

    plan: Plan
    parameters: list[dict[str, int]]
    outcomes: Outcomes
    written: dict[str, Any] = field(default_factory=dict)


def outcomes_of(plan: Plan, jobs: int) -> Outcomes:
    """Play *plan* and keep its outcomes, nothing on disk."""
    halves, pair_digests, digests = [], [], None
    for block in played(plan, jobs, None, in_order=True):
        halves.append(block.halves)
        pair_digests.append(block.pair_digests)
        digests = (
            block.digests
            if digests is None
            else [a + b for a, b in zip(digests, block.digests, strict=True)]
        )
    return Outcomes(
        [str(digest) for digest in digests or []],
        np.concatenate(halves, axis=1),
        np.concatenate(pair_digests, axis=1),
    )


def _pack(values: np.ndarray, kind: str) -> str:
    return base64.b64encode(zlib.compress(values.astype(kind).tobytes(), 9)).decode()


def _unpack(text: str, kind: str, size: int) -> np.ndarray:
    """Array of *size* numbers; raises ValueError if *text* holds another number of them."""
    wanted = size * np.dtype(kind).itemsize
    unpacker = zlib.decompressobj()
    content = unpacker.decompress(base64.b64decode(text, validate=True), wanted + 1)
    if len(content) != wanted:
        raise ValueError(f"{len(content)} bytes where {wanted} are due")
    return np.frombuffer(content, dtype=kind).astype(np.int64)


def _author() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container's user may have no name
        return "unknown"


def write_baseline(path: Path, plan: Plan, jobs: int) -> Baseline:
    """Play *plan* and write its baseline to *path*."""
    manifest = manifest_of(plan, "")
    outcomes = outcomes_of(plan, jobs)
    baseline = Baseline(
        plan,
        [dict(bot.parameters) for bot in plan.bots()],
        outcomes,
        {
            "by": _author(),
            "when": datetime.now(UTC).isoformat(timespec="seconds"),
            **{key: manifest[key] for key in ("ginsim", "engine", "commit", "versions")},
        },
    )
    content = {
        "ginsim_baseline": FORMAT,
        "written": baseline.written,
        "rules": to_dict(plan.rules),
        "seed": plan.seed,
        "pairs": plan.pairs,
        "bots": [
            {"name": bot.name, "spec": spec, "parameters": parameters}
            for bot, spec, parameters in zip(
                plan.bots(), plan.specs, baseline.parameters, strict=True
            )
        ],
        "matchups": [
            {
                "name": name,
                "digest": outcomes.digests[at],
                "halves": _pack(outcomes.halves[at], "<u1"),
                "pair_digests": _pack(outcomes.pair_digests[at], "<u4"),
            }
            for at, name in enumerate(plan.matchup_names())
        ],
    }
    records.write_json(path, content)
    return baseline


def read_baseline(path: Path) -> Baseline:
    """Baseline in *path*, read as data; raises GinsimError in one line if it is none."""
    content = records.read_json(path)
    if content.get("ginsim_baseline") != FORMAT:
        raise GinsimError(f"{path}: is no baseline of format {FORMAT}")
    try:
        pairs, seed = content["pairs"], content["seed"]
        if not all(type(value) is int for value in (pairs, seed)):
            raise GinsimError("pairs and seed must be whole numbers")
        plan = Plan(
            tuple(str(bot["spec"]) for bot in content["bots"]),
            from_dict(content["rules"]),
            seed,
            pairs,
        )
        parameters = [
            {str(knob): int(value) for knob, value in bot["parameters"].items()}
            for bot in content["bots"]
        ]
        matchups = content["matchups"]
        if [str(m["name"]) for m in matchups] != plan.matchup_names():
            raise GinsimError("its matchups are not those of its bots")
        outcomes = Outcomes(
            [str(m["digest"]) for m in matchups],
            np.stack([_unpack(m["halves"], "<u1", 2 * pairs) for m in matchups]).reshape(
                len(matchups), pairs, 2
            ),
            np.stack([_unpack(m["pair_digests"], "<u4", pairs) for m in matchups]),
        )
        return Baseline(plan, parameters, outcomes, dict(content["written"]))
    except (KeyError, TypeError, AttributeError, ValueError, zlib.error) as error:
        raise GinsimError(f"{path}: is no baseline ({type(error).__name__}: {error})") from None


@dataclass(frozen=True)
class Difference:
    """The first place where today's play parts from the recorded one."""

    matchup: str
    pair: int
    leg: int | None = None
    round_: int | None = None
    recorded: dict[str, int] | None = None  #: its row then, if the old bot can be played
    today: dict[str, int] | None = None


@dataclass(frozen=True)
class Candidate:
    """A bot that plays otherwise than recorded, and what the test says of it."""

    bot: str
    method: str
    verdict: str
    rule: str
    pairs: int
    rate: float
    low: float
    high: float
    llr: float
    bounds: tuple[float, float]
    counts: dict[str, int]
    difference: Difference


@dataclass(frozen=True)
class Report:
    """What the gate found."""

    verdict: str
    same: list[str]
    different: list[str]
    candidates: list[Candidate]
    commands: dict[str, str]

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Gate:
    """A gate in the making: the baseline, today's bots by spec, and how to test."""

    baseline: Baseline
    path: Path
    today: tuple[str, ...]
    test: Sprt
    cap: int
    jobs: int

    def old_specs(self) -> tuple[str, ...]:
        """The recorded bots as today's code would play them."""

        def old(spec: str, parameters: dict[str, int]) -> str:
            base, _ = split_spec(spec)
            known = load(base).parameters
            changes = [f"{k}={v}" for k, v in parameters.items() if k in known]
            return f"{base}@{','.join(changes)}" if changes else base

        plan = self.baseline.plan
        return tuple(map(old, plan.specs, self.baseline.parameters))


def regress(gate: Gate) -> Report:
    """Compare today's bots with the baseline, and test those that play otherwise."""
    plan = gate.baseline.plan
    now = outcomes_of(_as_recorded(gate, gate.today), gate.jobs)
    then = gate.baseline.outcomes
    different = [a != b for a, b in zip(now.digests, then.digests, strict=True)]
    names = plan.matchup_names()
    candidates = []
    if any(different):
        reproduced = _reproduced(gate)
        changed = _changed_bots(plan, different)
        candidates = [_judge(gate, bot, different, now, reproduced) for bot in changed]
    verdicts = [candidate.verdict for candidate in candidates]
    verdict = next((v for v in (REGRESSION, UNDECIDED) if v in verdicts), NO_REGRESSION)
    return Report(
        verdict,
        [name for name, differs in zip(names, different, strict=True) if not differs],
        [name for name, differs in zip(names, different, strict=True) if differs],
        candidates,
        _commands(gate),
    )


def _changed_bots(plan: Plan, different: Sequence[bool]) -> list[int]:
    """Bots that play otherwise: those in no matchup that came out as recorded.

    If that leaves a matchup unexplained, both its bots count.
    """
    proven = {
        bot
        for pair, differs in zip(plan.matchups(), different, strict=True)
        if not differs
        for bot in pair
    }
    found = set()
    for pair, differs in zip(plan.matchups(), different, strict=True):
        if differs:
            found |= set(pair) - proven or set(pair)
    return sorted(found)


def _reproduced(gate: Gate) -> list[bool]:
    """Whether today's code plays the recorded bots of each matchup as recorded."""
    digests = outcomes_of(_as_recorded(gate, gate.old_specs()), gate.jobs).digests
    return [a == b for a, b in zip(digests, gate.baseline.outcomes.digests, strict=True)]


def _as_recorded(gate: Gate, specs: tuple[str, ...]) -> Plan:
    """Plan of the baseline for other bots under the recorded names, which digests contain."""
    names = tuple(bot.name for bot in gate.baseline.plan.bots())
    return replace(gate.baseline.plan, specs=specs, names=names)


def _judge(
    gate: Gate, bot: int, different: Sequence[bool], now: Outcomes, reproduced: Sequence[bool]
) -> Candidate:
    """Test one bot: against its old self where that can be played, else against the record."""
    plan = gate.baseline.plan
    own = [at for at, pair in enumerate(plan.matchups()) if bot in pair]
    at = next(at for at in own if different[at])
    can_play = all(reproduced[m] for m in own)
    difference = _first_difference(gate, at, now, can_play)
    if can_play:
        scores: Iterable[np.ndarray] = _played_scores(gate, bot)
        values, test = PAIR_SCORES, gate.test
        method = "played against its recorded self on fresh deals"
    else:
        changed = set(_changed_bots(plan, different))
        steady = [m for m in own if not (set(plan.matchups()[m]) & changed - {bot})]
        scores, values = _recorded_scores(gate, bot, steady or own, now)
        test = Sprt(
            0.5 + (gate.test.low - 0.5) / 2,
            0.5 + (gate.test.high - 0.5) / 2,
            gate.test.alpha,
            gate.test.beta,
        )
        rivals = ", ".join(plan.matchup_names()[m] for m in steady or own)
        method = (
            f"today's outcomes against the recorded ones, same deals: {rivals}; at most the "
            f"{plan.pairs:,} recorded pairs: a longer baseline decides more"
        )
        if not steady:
            method += " (whose other bots play otherwise too)"
    return _candidate(gate, bot, method, test, scores, values, difference)


def _candidate(
    gate: Gate,
    bot: int,
    method: str,
    test: Sprt,
    scores: Iterable[np.ndarray],
    values: np.ndarray,
    difference: Difference,
) -> Candidate:
    """Walk *scores* in pair order to the first decision, and say what it is."""
    walk, stop = Walk(test, values), Stop(0, 0.0, None, ())
    seen: list[np.ndarray] = []
    for part in scores:
        seen.append(part)
        stop = walk.look(part)
        if stop.accepted:
            break
    rate = mean_interval(np.concatenate(seen))
    verdict = {"high": NO_REGRESSION, "low": REGRESSION, None: UNDECIDED}[stop.accepted]
    return Candidate(
        gate.baseline.plan.bots()[bot].name,
        method,
        verdict,
        f"mean pair score {test.low:g} (regression) against {test.high:g} (none), "
        f"alpha {test.alpha:g}, beta {test.beta:g}, a look every {LOOK_EVERY} pairs",
        stop.pairs,
        rate.value,
        rate.low,
        rate.high,
        stop.llr,
        bounds(test.alpha, test.beta),
        {f"{v:.3g}": int(n) for v, n in zip(values.tolist(), stop.counts, strict=True) if n},
        difference,
    )


def _played_scores(gate: Gate, bot: int) -> Iterator[np.ndarray]:
    """Pair scores of today's bot against its old self on fresh deals, up to the cap."""
    duel = Plan(
        (gate.today[bot], gate.old_specs()[bot]),
        gate.baseline.plan.rules,
        gate.baseline.plan.seed + FRESH,
        gate.cap,
        block_pairs=LOOK_EVERY,
    )
    for block in played(duel, gate.jobs, None, in_order=True):
        yield block.halves[0].sum(axis=1) / 4


def _recorded_scores(
    gate: Gate, bot: int, matchups: Sequence[int], now: Outcomes
) -> tuple[Iterator[np.ndarray], np.ndarray]:
    """Scores (1 + today - recorded) / 2, averaged over *matchups*, and the values they have."""
    plan, then = gate.baseline.plan, gate.baseline.outcomes
    gain = np.zeros(plan.pairs, np.int64)
    for at in matchups:
        sign = 1 if plan.matchups()[at][0] == bot else -1
        gain += sign * (now.halves[at].sum(axis=1) - then.halves[at].sum(axis=1))
    most = 4 * len(matchups)
    values = np.arange(-most, most + 1) / (2 * most) + 0.5
    scores = gain / (2 * most) + 0.5
    parts = [scores[at : at + LOOK_EVERY] for at in range(0, plan.pairs, LOOK_EVERY)]
    return iter(parts), values


def _rows(plan: Plan, specs: Sequence[str], at: int, pair: int) -> np.ndarray:
    first, second = plan.matchups()[at]
    bots: tuple[Bot, Bot] = (load(specs[first]), load(specs[second]))
    return play(bots, plan.rules, plan.seed, 1, first=pair)


def _first_difference(gate: Gate, at: int, now: Outcomes, can_play: bool) -> Difference:
    """First pair of matchup *at* that differs; its first differing round if both can be played."""
    plan = gate.baseline.plan
    pairs = np.flatnonzero(now.pair_digests[at] != gate.baseline.outcomes.pair_digests[at])
    pair = int(pairs[0]) if len(pairs) else 0
    name = plan.matchup_names()[at]
    today = _rows(plan, gate.today, at, pair)
    if not can_play:
        return Difference(name, pair, today=_as_dict(today[0]))
    old = _rows(plan, gate.old_specs(), at, pair)
    length = min(len(old), len(today))
    unlike = np.flatnonzero(old[:length] != today[:length])
    first = int(unlike[0]) if len(unlike) else length - 1
    return Difference(
        name,
        pair,
        int(today[first]["leg"]),
        int(today[first]["round"]),
        _as_dict(old[first]),
        _as_dict(today[first]),
    )


def _as_dict(row: Any) -> dict[str, int]:
    return {name: int(row[name]) for name in row.dtype.names}


def _commands(gate: Gate) -> dict[str, str]:
    """Commands that play the comparison again, go on with it, or accept today's bots."""
    plan = gate.baseline.plan
    again = ["ginsim", "regress", str(gate.path)]
    again += ["--bounds", f"{gate.test.low:g}:{gate.test.high:g}"]
    again += ["--alpha", f"{gate.test.alpha:g}", "--beta", f"{gate.test.beta:g}"]
    for bot, spec, was in zip(plan.bots(), gate.today, plan.specs, strict=True):
        if spec != was:
            again += ["--candidate", f"{bot.name}={spec}"]
    accept = ["ginsim", "baseline", "write", str(gate.path), *gate.today]
    accept += ["--pairs", str(plan.pairs), "--seed", str(plan.seed)]
    standard = to_dict(type(plan.rules)())
    for name, value in to_dict(plan.rules).items():
        if value != standard[name]:
            accept += ["--rule", f"{name}={value}"]
    return {
        "reproduce": shlex.join([*again, "--pairs", str(gate.cap)]),
        "resume": shlex.join([*again, "--pairs", str(4 * gate.cap)]),
        "accept": shlex.join(accept),
    }
