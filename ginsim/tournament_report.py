"""The report of a tournament: who is strongest and how sure, tables, plots, settings, digest."""

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from scipy.stats import t

from ginsim import plots, tables
from ginsim.page import Figure, Grid, Page, Section, facts, figure, grid, in_words
from ginsim.rules import PRESETS, Rules, describe, to_dict
from ginsim.sprt import Sprt, Stop
from ginsim.stats import holm
from ginsim.tournament import Plan, Verdict

Summary = Mapping[str, Any]

#: Chance, after Holm's correction, below which a result is no longer put down to chance.
ALPHA = 0.05
#: Stands for the run's folder in commands: the page says nothing of where it lay.
RUN = "RUN"


@dataclass(frozen=True)
class Run:
    """What a finished run's folder says of it."""

    manifest: Mapping[str, Any]
    summary: Summary
    plan: Plan


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _most(counts: Mapping[str, int]) -> str:
    """Return the two commonest of *counts* in words."""
    whole = sum(counts.values()) or 1
    first = sorted(counts.items(), key=lambda item: -item[1])[:2]
    return " and ".join(f"{key} ({_percent(count / whole)})" for key, count in first)


def _endings_alt(summary: Summary) -> str:
    told = [f"{bot['name']} mostly {_most(plots.endings(bot))}" for bot in summary["bots"]]
    return f"Stacked bars of how each bot's rounds end: {'; '.join(told)}."


def _knocks_alt(summary: Summary) -> str:
    told = []
    for bot in summary["bots"]:
        counts = dict(zip(bot["deadwood"], bot["knocks_by_deadwood"], strict=True))
        told.append(f"{bot['name']} most often with {_most(counts)}")
    return f"Lines: deadwood that bots knock with. {'; '.join(told)}."


def _undercut_alt(summary: Summary) -> str:
    told = []
    for bot in summary["bots"]:
        seen = [
            (rate["value"], label)
            for rate, label in zip(bot["undercut_by_deadwood"], bot["deadwood"], strict=True)
            if label != "0" and rate["value"] is not None and rate["weight"] >= plots.MIN_KNOCKS
        ]
        if seen:
            value, label = max(seen, key=lambda point: point[0])
            told.append(f"{bot['name']} at most {_percent(value)}, with {label}")
    return f"Lines: share of knocks undercut, by knock deadwood. {'; '.join(told) or 'No data'}."


def _length_alt(summary: Summary) -> str:
    told = []
    for bot in summary["bots"]:
        within = 0
        for turns, count in enumerate(bot["rounds_by_turns"]):
            within += count
            if 2 * within >= bot["rounds"]:
                told.append(f"{bot['name']} half of them within {turns} turns")
                break
    return f"Lines: how long rounds last. {'; '.join(told)}."


#: What the plots show, in words; a plot that is not here is called by its title.
_ALT: dict[str, Callable[[Summary], str]] = {
    "win_rate_matrix": lambda summary: (
        "Heat map of matches won, row against column; the table above holds its numbers."
    ),
    "ending_mix": _endings_alt,
    "knock_deadwood": _knocks_alt,
    "undercut_by_deadwood": _undercut_alt,
    "round_length": _length_alt,
}


def _figures(summary: Summary, names: Iterable[str]) -> list[Figure]:
    """Plots of *summary* called *names*, of those there are."""
    return [
        figure(
            name, partial(plots.PLOTS[name], summary), _ALT[name](summary) if name in _ALT else ""
        )
        for name in names
        if name in plots.PLOTS
    ]


# The headline


@dataclass(frozen=True)
class Duel:
    """Matches that one bot won against another, and how likely chance alone did it."""

    rival: str
    rate: Mapping[str, Any]
    p: float  #: two-sided, that both are equally strong; after Holm's correction

    def clear(self) -> bool:
        """Whether chance is ruled out."""
        return self.p < ALPHA


def p_equal(rate: Mapping[str, Any], pairs: int) -> float:
    """How likely equal bots are to come out as unequal as *rate* of *pairs* pairs, or more.

    >>> round(p_equal({"value": 0.55, "low": 0.50, "high": 0.60}, 1000), 2)
    0.05
    """
    value, low, high = rate["value"], rate["low"], rate["high"]
    if value is None or low is None or value == 0.5:
        return 1.0
    if value in (0, 1):  # every match of every pair went one way
        return float(2 * 0.5**pairs)
    error = (high - low) / 2 / float(t.ppf(0.975, pairs - 1))
    return float(2 * t.sf(abs(value - 0.5) / error, pairs - 1)) if error else 0.0


def strongest(summary: Summary) -> tuple[str, list[Duel]]:
    """Return the bot of the highest rating, and its duels with the others, the closest first."""
    best = max(summary["ratings"]["bots"], key=lambda rating: rating["elo"])["name"]
    rivals, rates = [], []
    for matchup in summary["matchups"]:
        for side, other in (("first", "second"), ("second", "first")):
            if matchup[side] == best:
                rivals.append(matchup[other])
                rates.append(matchup[f"{side}_metrics"]["matches_won"])
    _, adjusted = holm([p_equal(rate, summary["pairs"]) for rate in rates], ALPHA)
    duels = [
        Duel(rival, rate, float(p)) for rival, rate, p in zip(rivals, rates, adjusted, strict=True)
    ]
    return best, sorted(duels, key=lambda duel: duel.rate["value"])


def headline(run: Run) -> list[str]:
    """Who is strongest and how sure that is, in sentences."""
    summary = run.summary
    if "sprt" in run.manifest:  # a rate at a sequential stop is biased: the verdict counts
        return tables.verdict_lines(summary, _verdict(run.manifest["sprt"]))
    best, duels = strongest(summary)
    bots = {bot["name"]: bot for bot in summary["bots"]}
    won = f"It won {tables.percent(bots[best]['metrics']['matches_won'])} % of its matches"
    closest = f"{tables.percent(duels[0].rate)} % against {duels[0].rival}"
    above = [duel.rival for duel in duels if duel.clear() and duel.rate["value"] < 0.5]
    unclear = [duel for duel in duels if not duel.clear()]
    if above:
        lines = [
            f"{best} has the highest rating of these {len(bots)} bots, but loses to "
            f"{in_words(above)}.",
            f"{won}, {closest}: strength is not transitive here, so read the cross table rather "
            "than the ratings.",
        ]
    elif all(duel.rate["value"] == 0.5 for duel in duels):
        lines = [f"All {len(bots)} bots came out exactly equal, each with half of its matches."]
    elif unclear:
        lines = [
            f"{best} leads, but this run cannot tell it from "
            f"{in_words([duel.rival for duel in unclear])}.",
            f"{won}{f', {closest}' if len(bots) > 2 else ''}. {_odds(unclear, len(duels))}",
            _pairs_to_settle(summary, unclear),
        ]
    elif len(bots) == 2:
        lines = [f"{best} is stronger than {duels[0].rival}.", f"{won}. {_odds(duels, 1)}"]
    else:
        lines = [
            f"{best} is the strongest of these {len(bots)} bots.",
            f"{won}, and more than half against each of the others: least, {closest}. "
            f"{_odds(duels, len(duels))}",
        ]
    return [*lines, *_cautions(summary)]


def _verdict(told: Mapping[str, Any]) -> Verdict:
    """Return the verdict of a sequential test as the manifest tells it."""
    test = Sprt(*(told[name] for name in ("low", "high", "alpha", "beta")))
    stop = Stop(told["pairs"], told["llr"], told["accepted"], tuple(told["counts"]))
    return Verdict(test, stop, told["cap"])


def _odds(duels: Sequence[Duel], of: int) -> str:
    """How likely chance alone made the least clear of *duels*, out of *of* comparisons."""
    corrected = f" (corrected for {of} comparisons)" if of > 1 else ""
    return (
        "Equal bots come out at least that far apart with a chance of "
        f"{chance(max(duel.p for duel in duels))}{corrected}."
    )


def chance(p: float) -> str:
    """Chance in words.

    >>> chance(0.3), chance(0.0123), chance(1e-9)
    ('30 %', '1.2 %', 'less than 1 in 1,000')
    """
    if p < 0.001:
        return "less than 1 in 1,000"
    return f"{100 * p:.0f} %" if p >= 0.1 else f"{100 * p:.1f} %"


def _pairs_to_settle(summary: Summary, open_: Sequence[Duel]) -> str:
    """How many pairs would settle the closest open duel, if the rate seen is the true one."""
    needed = []
    for duel in open_:
        rate = duel.rate
        if rate["low"] is None or rate["value"] <= 0.5:
            return "Play more pairs to find out which is stronger, if either is."
        margin = (rate["high"] - rate["low"]) / 2
        # 2.8 standard errors off 50 % are found in four runs of five; a margin is 1.96 of them.
        needed.append(summary["pairs"] * (2.8 / 1.96 * margin / abs(rate["value"] - 0.5)) ** 2)
    most = max(needed)
    if most > 1_000_000:
        return "If there is a difference, it is too small to be found by a million pairs."
    digits = 10 ** max(0, len(str(int(most))) - 2)
    rounded = -(-int(most) // digits) * digits
    return (
        f"If the rates seen are the true ones, a run of {rounded:,} pairs a matchup would settle "
        "it four times in five."
    )


def _cautions(summary: Summary) -> list[str]:
    """Reasons to trust the headline less, as one sentence; none if there are none."""
    reasons = []
    if not summary["mirrored"]:
        reasons.append("deals were not mirrored, so a lucky seat counts in full")
    if summary["pairs"] < plots.FEW_PAIRS:
        reasons.append(f"fewer than {plots.FEW_PAIRS} pairs were played, so intervals are rough")
    if summary["first_forfeits"]:
        reasons.append("some matches were forfeited, which says nothing of how well a bot plays")
    return [f"Caution: {'; '.join(reasons)}."] if reasons else []


# Sections


def _forfeits(run: Run) -> Section | None:
    """Who forfeited, if anybody did."""
    lines = tables.forfeit_lines(run.summary, RUN)
    if not lines:
        return None
    told = [line.partition("; see ") for line in lines]
    return Section(
        "Forfeits",
        words=[f"{line}." for line, _, _ in told]
        + [f"Its first in each matchup ({RUN}: this run's folder):"],
        commands=[command for _, _, command in told],
    )


def _matches(run: Run) -> Section:
    summary = run.summary
    return Section(
        "Matches won",
        [tables.rating_note(summary)],
        tables=[grid(tables.cross_table(summary)), grid(tables.ratings_table(summary))],
        figures=_figures(summary, ["win_rate_matrix"]),
    )


def _rounds(run: Run) -> Section:
    return Section(
        "Rounds",
        ["Over all matchups of a bot."],
        tables=[grid(tables.bot_table(run.summary))],
        figures=_figures(run.summary, ["ending_mix", "round_length"]),
    )


def _knocks(run: Run) -> Section:
    names = ["knock_deadwood", "undercut_by_deadwood"]
    return Section("Knocks and undercuts", figures=_figures(run.summary, names))


def _other_plots(run: Run) -> Section | None:
    """Plots that no section above shows."""
    found = _figures(run.summary, [name for name in plots.PLOTS if name not in _ALT])
    return Section("More plots", figures=found) if found else None


def _reading(run: Run) -> Section:
    del run
    return Section(
        "How to read it",
        [
            "Strength is matches won, never rounds: a bot may win few rounds and most matches. "
            "Read the cross table along a row. A drawn match counts as half a win.",
            "After ± or in brackets stands a 95 % interval: were the run repeated with other "
            "seeds, 95 of 100 such intervals would hold the true value. Intervals of two bots "
            "that overlap may still differ; the cross table compares them on equal deals.",
            "A pair is two matches on the same deals with the seats swapped. The two are not "
            "independent, so every interval is reckoned over pairs (clustered).",
            "Ratings put all bots on one scale (Bradley-Terry; 100 Elo points are 64 % of "
            "matches, 200 are 76 %). They hold among these bots only.",
            "An undercut rate is the share of a bot's knocks without gin on which the defender "
            "ended as low or lower, after laying off.",
        ],
    )


def played_by(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return which program played, as facts."""
    told = {
        "ginsim": f"{manifest['ginsim']}, engine {manifest['engine']}",
        "commit": manifest["commit"] or "not known",
    }
    if "versions" in manifest:
        told["versions"] = ", ".join(f"{name} {of}" for name, of in manifest["versions"].items())
    return told


def _settings(run: Run) -> Section:
    plan = run.plan
    legs = "each deal twice, the seats swapped" if plan.mirrored else "each deal once, not mirrored"
    told = {
        "pairs": f"{plan.pairs:,} a matchup, {legs}",
        "seed": str(plan.seed),
        "matches": f"{run.summary['matches']:,}",
        "rounds": f"{run.summary['rounds']:,}",
    }
    return Section(
        "Settings",
        tables=[
            facts("Run", told | played_by(run.manifest)),
            grid(tables.played_bots_table(run.manifest)),
            rules_grid(plan.rules),
        ],
    )


def rules_grid(rules: Rules) -> Grid:
    """Return *rules* in words; ``*`` marks where the preset's source and the user are silent."""
    preset = PRESETS[describe(rules).partition(",")[0]]
    as_preset, values = to_dict(preset.rules), to_dict(rules)
    ours = frozenset(name for name in preset.ours if values[name] == as_preset[name])
    title = f"Rules: {describe(rules)} (* = ginsim's choice, the source is silent)"
    return grid(tables.rules_table(rules, ours, title))


def rules_options(rules: Rules) -> list[str]:
    """Return the words of a command that ask for *rules*."""
    preset, *changes = describe(rules).split(", ")
    words = ["--rules", preset] if preset != "classic" else []
    for change in changes:
        words += ["--rule", change]
    return words


def portable(spec: str, bot: Mapping[str, Any]) -> str:
    """Return *spec*, without the folder of a file that only this machine has."""
    return str(bot["source"]) if Path(spec).is_absolute() else spec


def command_of(run: Run) -> str:
    """Return the command that plays the run again, on any machine."""
    plan, words = run.plan, ["ginsim", "tournament"]
    words += [portable(s, b) for s, b in zip(plan.specs, run.manifest["bots"], strict=True)]
    words += ["--pairs", str(plan.pairs), "--seed", str(plan.seed)]
    words += rules_options(plan.rules)
    words += [] if plan.mirrored else ["--no-mirror"]
    if "sprt" in run.manifest:
        test = run.manifest["sprt"]
        words[words.index("--pairs") + 1] = str(test["cap"])
        words += ["--sprt", f"{test['low']:g}:{test['high']:g}"]
    return shlex.join(words)


SAME_DIGEST = (
    "The rows do not depend on the machine, the jobs or the order of play: the same command must "
    "print the same digest."
)


def reproduction(
    manifest: Mapping[str, Any], command: str, digests: Sequence[Sequence[str]]
) -> Section:
    """Return how to play it again, and what must come out: the digest of each part."""
    words, commit = [SAME_DIGEST], manifest.get("commit")
    if any(bot["sha256"] is not None for bot in manifest.get("bots", [])):
        words.append("Bots from files must be the same to the byte: compare their SHA-256.")
    return Section(
        "How to reproduce it",
        words,
        commands=([f"git checkout {commit}"] if commit else []) + [command],
        tables=[Grid("Digests", ["", "digest"], [False, False], [[*pair] for pair in digests])],
    )


def _reproduce(run: Run) -> Section:
    told = [*run.manifest["matchups"], {"name": "all"} | dict(run.manifest)]
    digests = [[f"{one['name']}, {one['rows']:,} rows", one["digest"]] for one in told]
    return reproduction(run.manifest, command_of(run), digests)


#: What a page may show, in this order; a function that returns None has nothing to show.
SECTIONS: tuple[Callable[[Run], Section | None], ...] = (
    _forfeits,
    _matches,
    _rounds,
    _knocks,
    _other_plots,
    _reading,
    _settings,
    _reproduce,
)


def tournament_page(run: Run) -> Page:
    """Return the report of a tournament."""
    return Page(
        f"Tournament of {in_words([bot['name'] for bot in run.summary['bots']])}",
        [f"{plots.played(run.summary)}; played on {run.manifest['started'][:10]}"],
        headline(run),
        [section for make in SECTIONS if (section := make(run)) is not None],
        run.summary["digest"],
    )
