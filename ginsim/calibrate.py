"""Calibration: parameters of the levels that make their match wins hit targets.

One level, the anchor, stays as it is. From there outwards, each target has one level that is
settled and one that is tuned: a sweep of its knob gives the curve of match wins, the curve
gives the value, and a run on deals that took no part in the choice says whether it hits. All
runs are sweeps and tournaments with logs of their own, so a calibration can be resumed.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import tomlkit

from ginsim import places, records
from ginsim.bots import level_table, levels, load
from ginsim.curve_fit import Curve, best_fit, value_interval
from ginsim.decisions import Blunders, blunders, watched
from ginsim.errors import GinsimError
from ginsim.jit import engine_version
from ginsim.places import Place
from ginsim.rules import Rules, from_dict, resolve, to_dict
from ginsim.stats import Rate
from ginsim.summary import metrics_json
from ginsim.sweep import FRESH, Sweep, parse_values, played_in
from ginsim.tournament import (
    MANIFEST,
    MAX_SEED,
    Plan,
    Progress,
    Totals,
    counted,
    manifest_of,
)

CALIBRATION = "calibration.json"
LEVELS_FILE = Path(__file__).parent / "levels.toml"
LEVELS = ("easy", "normal", "hard")
DEFAULT_TARGETS = ("hard/normal=0.65", "normal/easy=0.65")
#: The knob of each level that calibration may turn, and the values it tries.
DEFAULT_KNOBS = {
    "easy": "high_weight:0:240:30",
    "normal": "high_weight:0:160:20",
    "hard": "save_weight:0:8:1",
}
TRIES = 4  #: fresh runs that may be spent on one target
WATCHED_PAIRS = 40  #: pairs of which every decision is looked at for blunders
GUARDED = ("matches_won", "undercut", "gin", "turns", "knock_deadwood", "dead")

Watch = Callable[[str, Progress], None]


@dataclass(frozen=True)
class Target:
    """The share *rate* of its matches that *level* shall win against *against*."""

    level: str
    against: str
    rate: float

    @staticmethod
    def parse(words: str) -> "Target":
        """Target of ``normal/easy=0.65``; raises GinsimError."""
        found = re.fullmatch(r"(\w+)/(\w+)=(0?\.\d+)", words)
        if not found or not 0 < float(found[3]) < 1:
            raise GinsimError(f"--targets {words}: write LEVEL/LEVEL=RATE, like normal/easy=0.65")
        for name in found[1], found[2]:
            if name not in LEVELS:
                raise GinsimError(f"--targets {words}: {name!r} is none of {', '.join(LEVELS)}")
        if found[1] == found[2]:
            raise GinsimError(f"--targets {words}: a level wins half against itself")
        return Target(found[1], found[2], float(found[3]))

    def __str__(self) -> str:
        return f"{self.level}/{self.against}={self.rate:g}"


@dataclass(frozen=True)
class Knob:
    """The parameter that is turned to tune a level, and the values that are tried."""

    name: str
    values: tuple[int, ...]

    @staticmethod
    def parse(level: str, words: str) -> "Knob":
        """Knob of ``high_weight:0:160:20``; raises GinsimError."""
        name, _, values = words.partition(":")
        knob = Knob(name, parse_values(values))
        if name not in levels.KNOB_NAMES:
            raise GinsimError(
                f"--knob {level}={words}: {level} has no parameter {name!r} "
                f"(it has {', '.join(levels.KNOB_NAMES)})"
            )
        if len(knob.values) < 3:
            raise GinsimError(f"--knob {level}={words}: give three values or more to draw a curve")
        return knob


@dataclass(frozen=True)
class Calibration:
    """What is asked: targets, the level that stays, knobs, rules, and how much is played."""

    targets: tuple[Target, ...]
    rules: Rules
    anchor: str = "hard"
    knobs: Mapping[str, Knob] = field(
        default_factory=lambda: {
            level: Knob.parse(level, words) for level, words in DEFAULT_KNOBS.items()
        }
    )
    seed: int = 1
    pairs: int = 6_000  #: a value of a knob
    verify_pairs: int = 60_000
    within: float = 0.01  #: how far from its target the whole 95 % interval may reach

    def __post_init__(self) -> None:
        """Check the request; raises GinsimError."""
        if self.anchor not in LEVELS:
            raise GinsimError(f"--anchor {self.anchor}: must be one of {', '.join(LEVELS)}")
        if min(self.pairs, self.verify_pairs) < 100:
            raise GinsimError("--pairs and --verify-pairs: play at least 100")
        if not 0 < self.within < 0.5:
            raise GinsimError(f"--within {self.within}: must be between 0 and 0.5")
        if not 0 <= self.seed <= MAX_SEED - (TRIES + 1) * FRESH:
            raise GinsimError(f"--seed {self.seed}: must be 0 or more, with room for fresh seeds")
        self.order()

    def order(self) -> list[tuple[Target, str, str]]:
        """Targets in the order they are tuned, each with the level to tune and the settled one."""
        settled, left, found = {self.anchor}, list(self.targets), []
        while left:
            target = next((t for t in left if {t.level, t.against} & settled), None)
            if target is None:
                raise GinsimError(
                    f"--targets {left[0]}: no target links it to the anchor {self.anchor}; "
                    "add one, or name another --anchor"
                )
            left.remove(target)
            if {target.level, target.against} <= settled:
                raise GinsimError(
                    f"--targets {target}: both levels are settled by the other targets; "
                    "one knob cannot meet two targets: leave one out"
                )
            tuned = target.against if target.level in settled else target.level
            fixed = target.level if tuned == target.against else target.against
            found.append((target, tuned, fixed))
            settled.add(tuned)
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the request for a manifest."""
        return {
            "targets": [str(target) for target in self.targets],
            "rules": to_dict(self.rules),
            "anchor": self.anchor,
            "knobs": {
                level: {"name": knob.name, "values": list(knob.values)}
                for level, knob in self.knobs.items()
            },
            "seed": self.seed,
            "pairs": self.pairs,
            "verify_pairs": self.verify_pairs,
            "within": self.within,
        }


def calibration_of(told: Mapping[str, Any], path: Place) -> Calibration:
    """Return the request that a manifest describes; raises GinsimError if it is none."""
    try:
        return Calibration(
            tuple(Target.parse(words) for words in told["targets"]),
            from_dict(told["rules"]),
            str(told["anchor"]),
            {
                str(level): Knob(str(knob["name"]), tuple(int(v) for v in knob["values"]))
                for level, knob in told["knobs"].items()
            },
            int(told["seed"]),
            int(told["pairs"]),
            int(told["verify_pairs"]),
            float(told["within"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, GinsimError):
            raise
        raise GinsimError(f"{path}: is no manifest of a calibration (at {error})") from None


def requested(
    targets: Sequence[str],
    preset: str,
    changes: Sequence[str],
    anchor: str,
    knobs: Sequence[str],
    seed: int,
    pairs: int,
    verify_pairs: int,
    within: float,
) -> Calibration:
    """Return the request that the words of a command make; raises GinsimError."""
    chosen = dict(DEFAULT_KNOBS)
    for words in knobs:
        level, _, knob = words.partition("=")
        if level not in LEVELS or not knob:
            raise GinsimError(f"--knob {words}: write LEVEL=NAME:FROM:TO:STEP")
        chosen[level] = knob
    return Calibration(
        tuple(Target.parse(words) for words in targets or DEFAULT_TARGETS),
        resolve(preset, list(changes)),
        anchor,
        {level: Knob.parse(level, words) for level, words in chosen.items()},
        seed,
        pairs,
        verify_pairs,
        within,
    )


def check_calibration_folder(run: Place, overwrite: bool) -> None:
    """Refuse a folder that holds anything else, or a calibration and not *overwrite*."""
    if places.is_file(run):
        raise GinsimError(f"{run}: is a file; name another folder with --out")
    if not [name for name in places.names(run) if not places.half_written(name)]:
        return
    if not (places.is_file(run / MANIFEST) and "calibrate" in records.read_json(run / MANIFEST)):
        raise GinsimError(f"{run}: holds other files than a calibration; name another --out")
    if not overwrite:
        raise GinsimError(
            f"{run}: holds a calibration already; add --overwrite to replace it, go on with "
            f"`ginsim calibrate --resume {run}`, or name another --out"
        )


def begin(
    calibration: Calibration, run: Place, *, write: bool = True, levels: Path | None = None
) -> None:
    """Make or clear the folder of a calibration and write its manifest.

    *write* and *levels* say what the command does with the result; resuming keeps to them.
    """
    places.make_folder(run)
    for name in (*LEVELS, "plots"):
        places.remove_folder(run / name)
    for name in (records.REPORT, CALIBRATION):
        places.remove(run / name)
    plan = Plan(LEVELS, calibration.rules, calibration.seed, calibration.pairs)
    told = {key: manifest_of(plan, "")[key] for key in ("ginsim", "engine", "command", "commit")}
    records.write_json(
        run / MANIFEST,
        told
        | {
            "calibrate": calibration.to_json(),
            "status": "running",
            "write": write,
            "levels": None if levels is None else str(levels.resolve()),
        },
    )


def finish(run: Place) -> None:
    """Note in the manifest of *run* that it is done."""
    records.write_json(run / MANIFEST, records.read_json(run / MANIFEST) | {"status": "done"})


def command_of(found: Mapping[str, Any]) -> str:
    """Return the command that finds the same again, without folders of this machine."""
    usual = to_dict(Rules())
    rules = [f"--rule {name}={value}" for name, value in found["rules"].items()
             if value != usual[name]]  # fmt: skip
    knobs = [
        f"--knob {step['level']}={step['knob']}:"
        + ",".join(str(value) for value in found["knobs"][step["level"]]["values"])
        for step in found["steps"]
    ]
    words = [
        *("ginsim calibrate --targets", *found["targets"], f"--anchor {found['anchor']}"),
        *(*knobs, *rules, f"--seed {found['seed']}", f"--pairs {found['pairs']}"),
        *(f"--verify-pairs {found['verify_pairs']}", f"--within {found['within']}"),
    ]
    return " ".join(words)


class OutOfReachError(GinsimError):
    """A target that no value of the knob meets."""


def with_knob(level: str, knob: str, value: int) -> str:
    """Return the spec of *level* with *knob* set."""
    return f"{level}@{knob}={value}"


def own_rate(target: Target, tuned: str) -> float:
    """Share of its matches that the tuned level shall win."""
    return target.rate if tuned == target.level else 1 - target.rate


@dataclass
class _Halves:
    """Collects half matches by pair, int64 [pair, value], from the blocks of a run."""

    blocks: list[np.ndarray] = field(default_factory=list)

    def add(self, block: Totals) -> None:
        self.blocks.append(block.halves.sum(axis=2).T)

    def all(self) -> np.ndarray:
        return np.concatenate(self.blocks)


def tune(
    calibration: Calibration,
    target: Target,
    tuned: str,
    fixed: str,
    run: Place,
    *,
    jobs: int,
    resume: bool,
    watch: Watch,
) -> dict[str, Any]:
    """Tune level *tuned* against the spec *fixed*: sweep, fit, choose, verify on fresh deals.

    Raises OutOfReachError, with the range that can be reached, if no value meets the target.
    """
    knob, goal = calibration.knobs[tuned], own_rate(target, tuned)
    sweep = Sweep(
        tuned, (knob.name,), (knob.values,), (fixed,), calibration.rules,
        calibration.seed, calibration.pairs, by="matches_won",
    )  # fmt: skip
    halves = _Halves()
    totals = played_in(
        sweep.plan(), run / tuned / "sweep", jobs=jobs, resume=resume, each=halves.add,
        watch=lambda progress: watch(f"{target}: sweep of {tuned} {knob.name}", progress),
    )  # fmt: skip
    values, won = np.array(knob.values), _sorted_pairs(halves.all())
    now = load(tuned).parameters[knob.name]
    curve, p = best_fit(values, won)
    exact = curve.value_at(goal, now)
    step: dict[str, Any] = {
        "target": str(target),
        "level": tuned,
        "against": fixed,
        "goal": goal,
        "knob": knob.name,
        "before": now,
        "played": [
            {"setting": int(value), **rate_json_of(totals, at)} for at, value in enumerate(values)
        ],
        "curve": _curve_json(curve),
        "lack_of_fit": p,
        "seed": calibration.seed,
        "pairs": calibration.pairs,
        "digest": str(totals.digest()),
    }
    if exact is None:
        raise OutOfReachError(_out_of_reach(target, tuned, knob, curve))
    low, high = value_interval(values, won, curve, goal, now, calibration.seed)
    step |= {"exact": exact, "low": low, "high": high}
    return step | _verified(
        calibration, target, tuned, fixed, step, curve, run, jobs, resume, watch
    )


def _sorted_pairs(halves: np.ndarray) -> np.ndarray:
    """Rows in an order that does not depend on which block was done first."""
    return halves[np.lexsort(halves.T[::-1])]


def rate_json_of(totals: Totals, matchup: int) -> dict[str, Any]:
    """Match wins of the first bot of a matchup, as JSON."""
    won: dict[str, Any] = metrics_json(totals.by_matchup[matchup][0])["matches_won"]
    return won


def _curve_json(curve: Curve) -> dict[str, Any]:
    """Return the fitted curve at some forty values, with its interval."""
    values = np.linspace(curve.low, curve.high, 41)
    rates, bounds = curve.rate(values), curve.interval(values)
    return {
        "degree": len(curve.params) - 1,
        "values": values.round(6).tolist(),
        "rates": rates.round(6).tolist(),
        "low": bounds[:, 0].round(6).tolist(),
        "high": bounds[:, 1].round(6).tolist(),
    }


def reach(curve: Curve) -> tuple[float, float]:
    """Least and greatest match wins that the values played can bring."""
    rates = curve.rate(curve.fine())
    return float(rates.min()), float(rates.max())


def _out_of_reach(target: Target, tuned: str, knob: Knob, curve: Curve) -> str:
    least, most = reach(curve)
    if tuned == target.against:
        least, most = 1 - most, 1 - least
    return (
        f"{target}: out of reach. With {tuned}'s {knob.name} at "
        f"{knob.values[0]}..{knob.values[-1]}, {target.level} wins {least:.3f} to {most:.3f} "
        f"of its matches against {target.against}. Name a target in that range, or another "
        f"knob with --knob {tuned}=NAME:FROM:TO:STEP; nothing was written"
    )


def _verified(
    calibration: Calibration,
    target: Target,
    tuned: str,
    fixed: str,
    step: Mapping[str, Any],
    curve: Curve,
    run: Place,
    jobs: int,
    resume: bool,
    watch: Watch,
) -> dict[str, Any]:
    """Play the chosen value on fresh deals; shift it and play on fresher ones while it misses.

    Each miss moves the curve by what was seen beside what it said, weighted by precision.
    """
    knob, goal = calibration.knobs[tuned], step["goal"]
    precision, shift = _precision(curve, step["exact"]), 0.0
    tries: list[dict[str, Any]] = []
    totals = None
    for attempt in range(TRIES):
        chosen = _nearest(curve, goal, shift, step["exact"], [t["setting"] for t in tries])
        seed = calibration.seed + (attempt + 1) * FRESH
        spec = with_knob(tuned, knob.name, chosen)
        plan = Plan((spec, fixed), calibration.rules, seed, calibration.verify_pairs)
        totals = played_in(
            plan,
            run / tuned / f"verify-{attempt + 1}", jobs=jobs, resume=resume,
            watch=lambda progress: watch(f"{target}: {tuned} verified on fresh deals", progress),
        )  # fmt: skip
        seen = rate_json_of(totals, 0)
        hit = goal - calibration.within <= seen["low"] <= seen["high"] <= goal + calibration.within
        tries.append(
            {"setting": chosen, "names": [bot.name for bot in plan.bots()], "seed": seed,
             "pairs": calibration.verify_pairs, "digest": str(totals.digest()),
             "hit": bool(hit), **seen}
        )  # fmt: skip
        if hit:
            break
        told = float(curve.rate(np.array([chosen]))[0])
        error = (seen["high"] - seen["low"]) / 2 / 1.96
        gained = 1 / max(error, 1e-9) ** 2
        residual = math.log(seen["value"] / (1 - seen["value"])) - math.log(told / (1 - told))
        gained *= (told * (1 - told)) ** 2  # from rates to log odds
        shift = (shift * precision + residual * gained) / (precision + gained)
        precision += gained
    assert totals is not None
    last = tries[-1]
    return {
        "setting": last["setting"],
        "hit": last["hit"],
        "verified": rate_json_for(target, tuned, last),
        "tries": tries,
        "guards": {
            tuned: _guarded(totals, 0),
            target.level if tuned == target.against else target.against: _guarded(totals, 1),
        },
    }


def _precision(curve: Curve, value: float) -> float:
    """One over the variance of the curve's log odds at *value*."""
    powers = curve.powers(np.array([value]))
    return float(1 / max((powers @ curve.covariance @ powers.T).item(), 1e-12))


def _nearest(curve: Curve, goal: float, shift: float, near: float, tried: Sequence[int]) -> int:
    """Whole value, not one *tried*, that by the shifted curve comes nearest to *goal*."""
    values = np.array(
        [v for v in range(math.ceil(curve.low), math.floor(curve.high) + 1) if v not in tried]
    )
    rates = curve.rate(values)
    odds = np.log(rates / (1 - rates)) + shift
    distance = np.abs(1 / (1 + np.exp(-odds)) - goal)
    closest = values[distance <= distance.min() + 1e-12]
    return int(closest[np.argmin(np.abs(closest - near))])


def rate_json_for(target: Target, tuned: str, seen: Mapping[str, Any]) -> dict[str, Any]:
    """Rate of the target's first level, from that of the tuned one."""
    value = {key: seen[key] for key in ("value", "low", "high", "weight")}
    if tuned == target.level:
        return value
    return value | {"value": 1 - value["value"], "low": 1 - seen["high"], "high": 1 - seen["low"]}


def _guarded(totals: Totals, side: int) -> dict[str, Any]:
    metrics = metrics_json(totals.by_matchup[0][side])
    return {key: metrics[key] for key in GUARDED}


def guard_rails(specs: Mapping[str, str], rules: Rules, seed: int) -> dict[str, dict[str, int]]:
    """Count the blunders of each level in real matches against the level beside it."""
    found = {}
    names = list(specs)
    for at, name in enumerate(names):
        rival = names[at + 1] if at + 1 < len(names) else names[at - 1]
        bots = load(specs[name]), load(specs[rival])
        counts: Blunders = blunders(bots[0], watched(bots, rules, seed, WATCHED_PAIRS), 0, rules)
        found[name] = counts._asdict()
    return found


def calibrate(
    calibration: Calibration,
    run: Place,
    *,
    jobs: int,
    resume: bool = False,
    watch: Watch = lambda what, progress: None,
) -> dict[str, Any]:
    """Tune all levels into *run*; returns what was found, also written as calibration.json.

    Raises OutOfReachError if a target cannot be met by its knob.
    """
    specs = {level: level for level in LEVELS}
    steps = []
    for target, tuned, fixed in calibration.order():
        step = tune(
            calibration, target, tuned, specs[fixed], run, jobs=jobs, resume=resume, watch=watch
        )
        steps.append(step)
        specs[tuned] = with_knob(tuned, step["knob"], step["setting"])
    found = calibration.to_json() | {
        "engine": engine_version(),
        "steps": steps,
        "specs": specs,
        "hit": all(step["hit"] for step in steps),
        "blunders": guard_rails(specs, calibration.rules, calibration.seed + FRESH),
    }
    records.write_json(run / CALIBRATION, found)
    return found


def write_levels(found: Mapping[str, Any], file: Path = LEVELS_FILE) -> None:
    """Write the values that *found* chose into *file*, with where they come from."""
    try:
        table = tomlkit.parse(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise GinsimError(f"{file}: cannot be read ({error})") from None
    provenance = tomlkit.table()
    provenance["how"] = command_of(found)
    provenance["on"] = datetime.now(UTC).date().isoformat()
    provenance["anchor"] = found["anchor"]
    provenance["seed"] = found["seed"]
    provenance["rules"] = found["rules"]
    checks = tomlkit.aot()
    for step in found["steps"]:
        table[step["level"]][step["knob"]] = step["setting"]
        last, rate = step["tries"][-1], step["verified"]
        check = tomlkit.table()
        check["target"] = step["target"]
        check["bots"] = [step["level"], step["against"].partition("@")[0]]
        check["called"] = last["names"]  # names are part of a digest
        check["knob"] = f"{step['knob']}={step['setting']}"
        check["won"] = round(rate["value"], 4)
        check["interval"] = [round(rate["low"], 4), round(rate["high"], 4)]
        check["seed"], check["pairs"], check["digest"] = last["seed"], last["pairs"], last["digest"]
        checks.append(check)
    provenance["verified"] = checks
    table["provenance"] = provenance
    records.write_text(file, tomlkit.dumps(table))


@dataclass(frozen=True)
class Check:
    """Whether one verified target of levels.toml still holds."""

    target: str
    recorded: str  #: digest when it was verified
    today: str
    won: Rate

    def same(self) -> bool:
        """Whether every round is still played alike."""
        return self.recorded == self.today


def check_levels(*, jobs: int, provenance: Mapping[str, Any] | None = None) -> list[Check]:
    """Play again the runs that verified the levels; equal digests mean equal levels.

    *provenance* is that of levels.toml unless another is given.

    Raises GinsimError if levels.toml does not say how it was verified.
    """
    found = []
    try:
        provenance = level_table()["provenance"] if provenance is None else provenance
        for entry in provenance["verified"]:
            target = Target.parse(entry["target"])
            tuned = str(entry["bots"][0]).partition("@")[0]
            plan = Plan(
                tuple(entry["bots"]),
                from_dict(provenance["rules"]),
                entry["seed"],
                entry["pairs"],
                names=tuple(entry["called"]),
            )
            totals = counted(plan, jobs)
            seen = rate_json_for(target, tuned, rate_json_of(totals, 0))
            found.append(
                Check(entry["target"], entry["digest"], str(totals.digest()), Rate(**seen))
            )
    except (KeyError, TypeError) as error:
        raise GinsimError(
            f"levels.toml does not say how it was verified (at {error}); run ginsim calibrate"
        ) from None
    return found
