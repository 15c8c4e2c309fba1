"""Sweeps: one or two parameters of a bot over many values, on the same deals for each.

Every value is a bot of its own that meets the same rivals, so a sweep is a tournament and
its log, resume and statistics are a tournament's. The best value is chosen on points a round,
the finer measure, and confirmed on matches with deals that took no part in the choice.
"""

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import t

from ginsim import places, records
from ginsim.bots import load, split_spec
from ginsim.errors import GinsimError
from ginsim.places import Place
from ginsim.rules import Rules, close_to, describe
from ginsim.stats import METRIC, Rate
from ginsim.summary import metrics_json, rate_json
from ginsim.tournament import (
    MANIFEST,
    MAX_SEED,
    Plan,
    Progress,
    Totals,
    check_same,
    manifest_of,
    plan_of,
    prepare_folder,
    run_tournament,
)

#: The word that asks for a knock chart in place of a parameter.
KNOCK_LIMIT = "knock_limit"
#: A confirming run's seed lies this far above the sweep's, where no tuning seed should lie.
FRESH = 1_000_000
#: Metrics of the curves: what a designer reads off a sweep.
CURVES = ("matches_won", "net_points", "undercut", "gin", "turns")
BY = ("net_points", "matches_won")
MOST_SETTINGS = 400

SWEEP = "sweep.json"
CURVE = "sweep.parquet"
CONFIRM = "confirm"

Setting = tuple[int, ...]


def parse_values(words: str) -> tuple[int, ...]:
    """Values of ``0:10`` (both ends), ``0:60:10`` (in steps) or ``0,2,5``.

    >>> parse_values("0:3"), parse_values("0:60:20"), parse_values("-1,5,2")
    ((0, 1, 2, 3), (0, 20, 40, 60), (-1, 5, 2))
    """
    whole = r"-?\d{1,9}"
    if re.fullmatch(rf"{whole}:{whole}(:\d{{1,9}})?", words):
        first, last, *step = (int(word) for word in words.split(":"))
        if step == [0] or last < first:
            raise GinsimError(f"--values {words}: write from:to or from:to:step, upwards")
        found = range(first, last + 1, *step)
        if len(found) > MOST_SETTINGS:
            raise GinsimError(f"--values {words}: {len(found):,} values; at most {MOST_SETTINGS}")
        return tuple(found)
    if re.fullmatch(rf"{whole}(,{whole})*", words):
        return tuple(dict.fromkeys(int(word) for word in words.split(",")))
    raise GinsimError(f"--values {words}: write 0:10, 0:60:10 or 0,2,5")


@dataclass(frozen=True)
class Sweep:
    """What is swept: *parameters* (one or two) of *bot*, against each of *versus*."""

    bot: str
    parameters: tuple[str, ...]
    values: tuple[tuple[int, ...], ...]
    versus: tuple[str, ...]
    rules: Rules
    seed: int
    pairs: int
    by: str = "net_points"  #: metric that chooses the best value

    def __post_init__(self) -> None:
        """Check that bot, parameters and values fit; raises GinsimError."""
        bot = load(self.bot)
        for name in self.parameters:
            if name not in bot.parameters:
                raise GinsimError(
                    f"{bot.name} has no parameter {name!r}{close_to(name, list(bot.parameters))} "
                    f"(it has {', '.join(bot.parameters) or 'none'}; knock_limit: a knock chart)"
                )
        if not 1 <= len(set(self.parameters)) == len(self.parameters) <= 2:
            raise GinsimError("sweep one parameter, or two different ones")
        if len(self.values) != len(self.parameters):
            raise GinsimError("give --values once for each parameter, like --values 0:10")
        if not self.versus:
            raise GinsimError("name a rival with --vs, like --vs easy")
        if len(self.settings()) > MOST_SETTINGS:
            raise GinsimError(f"{len(self.settings()):,} settings; at most {MOST_SETTINGS}")
        if self.by not in BY:
            raise GinsimError(f"--by {self.by}: choose the best by one of {', '.join(BY)}")
        if self.seed + FRESH > MAX_SEED:
            raise GinsimError(f"--seed {self.seed}: leave room for a confirming seed above it")

    def settings(self) -> list[Setting]:
        """Every combination of values, the last parameter fastest."""
        return list(itertools.product(*self.values))

    def current(self) -> Setting:
        """Return the values that the bot has as it is."""
        return tuple(load(self.bot).parameters[name] for name in self.parameters)

    def spec(self, setting: Setting) -> str:
        """Return the bot with the values of *setting*."""
        base, changes = split_spec(self.bot)
        own = [change for change in changes.split(",") if change]
        own += [f"{name}={value}" for name, value in zip(self.parameters, setting, strict=True)]
        return f"{base}@{','.join(own)}"

    def plan(self) -> Plan:
        """Return the tournament of all settings against all rivals."""
        return self._plan(self.settings(), self.seed)

    def confirming(self, best: Setting) -> Plan:
        """Return the tournament that confirms *best* beside the bot as it is, on fresh deals."""
        return self._plan(list(dict.fromkeys([best, self.current()])), self.seed + FRESH)

    def _plan(self, settings: Sequence[Setting], seed: int) -> Plan:
        specs = [self.spec(setting) for setting in settings]
        return Plan((*specs, *self.versus), self.rules, seed, self.pairs, rivals=len(self.versus))

    def to_json(self) -> dict[str, Any]:
        """Return the sweep for a manifest; the rules and the seed stand there already."""
        return {
            "bot": self.bot,
            "parameters": list(self.parameters),
            "values": [list(values) for values in self.values],
            "versus": list(self.versus),
            "by": self.by,
        }


def sweep_of(manifest: Mapping[str, Any], path: Place) -> Sweep:
    """Return the sweep that a manifest describes; raises GinsimError if it is none."""
    plan = plan_of(dict(manifest), path)
    try:
        told = manifest["sweep"]
        sweep = Sweep(
            str(told["bot"]),
            tuple(str(name) for name in told["parameters"]),
            tuple(tuple(int(value) for value in values) for values in told["values"]),
            tuple(str(rival) for rival in told["versus"]),
            plan.rules,
            plan.seed,
            plan.pairs,
            str(told["by"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise GinsimError(f"{path}: is no manifest of a sweep (at {error})") from None
    return sweep


def match_contrast(
    plan: Plan, totals: Totals, weights: Sequence[float], confidence: float = 0.95
) -> Rate:
    """Weighted sum over matchups of their first bot's match wins, paired by deal.

    With weights 1 and -1 it is the difference of two bots that met the same rival: the deals
    are the same, so what they have in common cancels.
    """
    legs = 2 if plan.mirrored else 1
    by_leg = np.repeat(np.asarray(weights, np.float64), 2) / (2 * legs)
    value = float(by_leg @ totals.half_sums) / plan.pairs
    if plan.pairs < 2:
        return Rate(value, float("nan"), float("nan"), plan.pairs)
    squares = float(by_leg @ totals.half_products @ by_leg)
    variance = max(0.0, squares / plan.pairs - value**2) / (plan.pairs - 1)
    margin = float(t.ppf(0.5 + confidence / 2, plan.pairs - 1)) * variance**0.5
    return Rate(value, value - margin, value + margin, plan.pairs)


def _difference(plan: Plan, totals: Totals, one: int, other: int) -> Rate:
    """Match wins of bot *one* less those of bot *other*, over all rivals."""
    weights = [((first == one) - (first == other)) / plan.rivals for first, _ in plan.matchups()]
    return match_contrast(plan, totals, weights)


def curves_of(sweep: Sweep, totals: Totals) -> list[dict[str, Any]]:
    """Metrics of every setting: against each rival, and over all if there are several."""
    plan, settings = sweep.plan(), sweep.settings()
    now = settings.index(sweep.current()) if sweep.current() in settings else None
    found = []
    for at, (place, rival) in enumerate(plan.matchups()):
        metrics = metrics_json(totals.by_matchup[at][0])
        name = sweep.versus[rival - len(settings)]
        found.append({"setting": list(settings[place]), "versus": name, "metrics": metrics})
    for place, setting in enumerate(settings):
        entry: dict[str, Any] = {"setting": list(setting), "versus": None}
        entry["metrics"] = metrics_json(totals.by_bot[place])
        if now is not None and place != now:
            entry["against_current"] = rate_json(_difference(plan, totals, place, now))
        found.append(entry)
    return found


def best_of(sweep: Sweep, curves: Sequence[Mapping[str, Any]]) -> Setting:
    """Return the setting with the highest ``sweep.by`` over all rivals, the first of equals."""
    over_all = [entry for entry in curves if entry["versus"] is None]
    best = max(over_all, key=lambda entry: entry["metrics"][sweep.by]["value"] or 0.0)
    return tuple(best["setting"])


def confirmation(sweep: Sweep, best: Setting, totals: Totals) -> dict[str, Any]:
    """What the confirming run found of *best*, and of the bot as it is if that is another."""
    plan = sweep.confirming(best)
    found: dict[str, Any] = {
        "seed": plan.seed,
        "pairs": plan.pairs,
        "digest": str(totals.digest()),
        "best": metrics_json(totals.by_bot[0]),
        "versus": [
            {"versus": sweep.versus[rival - (len(plan.specs) - plan.rivals)],
             "matches_won": metrics_json(totals.by_matchup[at][0])["matches_won"]}
            for at, (bot, rival) in enumerate(plan.matchups())
            if bot == 0
        ],
    }  # fmt: skip
    if best != sweep.current():
        found["current"] = metrics_json(totals.by_bot[1])
        found["gain"] = rate_json(_difference(plan, totals, 0, 1))
    return found


def curve_frame(summary: Mapping[str, Any]) -> pd.DataFrame:
    """Curves as a table: the parameters, versus, metric, value, low, high, weight."""
    rows = [
        dict(zip(summary["parameters"], entry["setting"], strict=True))
        | {"versus": entry["versus"] or "all", "metric": key}
        | rate
        for entry in summary["curves"]
        for key, rate in entry["metrics"].items()
        if key in METRIC
    ]
    return pd.DataFrame(rows)


def run_sweep(
    sweep: Sweep,
    run: Place,
    manifest: dict[str, Any],
    *,
    jobs: int,
    resume: bool = False,
    confirm: bool = True,
    watch: Callable[[Progress], None] = lambda progress: None,
) -> dict[str, Any]:
    """Play *sweep* into *run* (its confirming run into ``run/confirm``); returns its summary.

    The summary is written as sweep.json, its curves also as sweep.parquet.
    """
    totals, manifest = run_tournament(
        sweep.plan(), run, manifest, jobs=jobs, resume=resume, watch=watch
    )
    curves = curves_of(sweep, totals)
    best = best_of(sweep, curves)
    summary = sweep.to_json() | {
        "rules": describe(sweep.rules),
        "seed": sweep.seed,
        "pairs": sweep.pairs,
        "rounds": sum(totals.rows),
        "digest": str(totals.digest()),
        "current": list(sweep.current()),
        "best": list(best),
        "curves": curves,
    }
    if confirm:
        confirming = played_in(
            sweep.confirming(best), run / CONFIRM, jobs=jobs, resume=resume, watch=watch
        )
        summary["confirmed"] = confirmation(sweep, best, confirming)
    records.write_json(run / SWEEP, summary)
    frame = curve_frame(summary)
    places.write_whole(run / CURVE, lambda path: frame.to_parquet(path, index=False))
    return summary


def played_in(
    plan: Plan,
    folder: Place,
    *,
    jobs: int,
    resume: bool,
    watch: Callable[[Progress], None],
    each: Callable[[Totals], None] = lambda block: None,
) -> Totals:
    """Play *plan* into *folder*, a part of a larger run; with *resume*, go on with what lies there.

    Raises GinsimError if what lies there was played by other bots or another engine.
    """
    again = resume and places.is_file(folder / MANIFEST)
    if again:
        manifest = records.read_json(folder / MANIFEST)
        found = plan_of(manifest, folder / MANIFEST)
        check_same(manifest, found, folder)
        if found != replace(plan, block_pairs=found.block_pairs):
            raise GinsimError(f"{folder}: holds another run than the one to go on with; start anew")
    else:
        prepare_folder(folder, overwrite=True)
        manifest = manifest_of(plan, "")
    return run_tournament(plan, folder, manifest, jobs=jobs, resume=again, watch=watch, each=each)[
        0
    ]


def sweep_manifest(sweep: Sweep, preset: str) -> dict[str, Any]:
    """Return the manifest of a sweep that begins."""
    return manifest_of(sweep.plan(), preset) | {"sweep": sweep.to_json()}


assert {*CURVES, *BY} <= set(METRIC), "a curve names no metric"
