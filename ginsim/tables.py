"""What a run, the bots and the rules look like on a terminal."""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from ginsim.bots import Bot
from ginsim.guard import TOO_SLOW
from ginsim.rules import FIELDS, PRESETS, Rules, to_dict
from ginsim.sprt import bounds
from ginsim.tournament import Verdict

RateJson = Mapping[str, Any]


def percent(rate: RateJson, digits: int = 1) -> str:
    """Share as ``64.1 ±1.7`` in per cent; no margin where there is none."""
    return _with_margin(rate, 100, digits)


def elo(rating: Mapping[str, Any]) -> str:
    """Rating as ``+104 ±9``."""
    if rating["low"] is None:
        return f"{rating['elo']:+.0f}"
    return f"{rating['elo']:+.0f} ±{(rating['high'] - rating['low']) / 2:.0f}"


def rare_percent(rate: RateJson) -> str:
    """Share of something rare, ``0.17 ±0.02`` in per cent."""
    return percent(rate, digits=2)


def mean(rate: RateJson, digits: int = 2) -> str:
    """Mean as ``7.12 ±0.05``."""
    return _with_margin(rate, 1, digits)


def _with_margin(rate: RateJson, scale: float, digits: int) -> str:
    if rate["value"] is None:
        return "-"
    value = f"{rate['value'] * scale:.{digits}f}"
    if rate["low"] is None:
        return value
    below, above = ((rate["value"] - rate["low"]), (rate["high"] - rate["value"]))
    if abs(below - above) > 0.1 * max(below, above):  # cut at 0 or 1, or Wilson's
        return f"{value} ({rate['low'] * scale:.{digits}f}-{rate['high'] * scale:.{digits}f})"
    return f"{value} ±{(below + above) / 2 * scale:.{digits}f}"


def _table(title: str, first: str, columns: Iterable[str]) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold", header_style="bold")
    table.add_column(first, no_wrap=True)
    for column in columns:
        table.add_column(column, justify="right")
    return table


def cross_table(summary: Mapping[str, Any]) -> Table:
    """Matches won by the row's bot against the column's, in per cent."""
    names = [bot["name"] for bot in summary["bots"]]
    cells = {
        (matchup[one], matchup[other]): matchup[f"{one}_metrics"]["matches_won"]
        for matchup in summary["matchups"]
        for one, other in (("first", "second"), ("second", "first"))
    }
    table = _table(
        "Matches won by row v column, %, with 95 % intervals clustered by pair",
        "",
        [*names, "all", "rating (Elo)"],
    )
    ratings = {rating["name"]: elo(rating) for rating in summary["ratings"]["bots"]}
    for bot in summary["bots"]:
        row = [
            percent(cells[bot["name"], other]) if (bot["name"], other) in cells else ""
            for other in names
        ]
        table.add_row(
            bot["name"], *row, percent(bot["metrics"]["matches_won"]), ratings[bot["name"]]
        )
    return table


def ratings_table(summary: Mapping[str, Any]) -> Table:
    """Bots by rating, the strongest first, with intervals and their share of matches won."""
    won = {bot["name"]: bot["metrics"]["matches_won"] for bot in summary["bots"]}
    table = _table(
        "Ratings, with 95 % intervals clustered by pair",
        "",
        ["rating (Elo)", "from", "to", "matches won, %"],
    )
    for rating in sorted(summary["ratings"]["bots"], key=lambda rating: -rating["elo"]):
        ends = ("-" if rating[end] is None else f"{rating[end]:+.0f}" for end in ("low", "high"))
        table.add_row(rating["name"], f"{rating['elo']:+.0f}", *ends, percent(won[rating["name"]]))
    return table


def played_bots_table(manifest: Mapping[str, Any]) -> Table:
    """Bots of a run as they were played: spec, source, parameters."""
    table = Table(title="Bots", title_justify="left", title_style="bold", header_style="bold")
    for column in ("bot", "source", "parameters"):
        table.add_column(column, no_wrap=column == "bot")
    for bot in manifest["bots"]:
        source = bot["source"]
        if bot["sha256"] is not None:
            source += f" (SHA-256 {bot['sha256'][:16]}…)"
        knobs = ", ".join(f"{knob}={value}" for knob, value in bot["parameters"].items())
        table.add_row(bot["name"], source, knobs or "none")
    return table


def rating_note(summary: Mapping[str, Any]) -> str:
    """What the ratings are, and the advantage of a seat."""
    ratings = summary["ratings"]
    if ratings["separated"]:
        return (
            "Ratings are rough: few pairs, or bots that never lost to the others; a draw was added"
        )
    seat = ratings["seat"]
    note = "Ratings: Bradley-Terry, 0 = mean of these bots; strength need not be transitive."
    return note if seat is None else f"{note} Seat 0: {seat:+.0f}."


def forfeit_lines(summary: Mapping[str, Any], run: Any) -> list[str]:
    """Forfeits by bot and reason: how many matches, the first of them and how to see it."""
    forfeits, lines = summary["first_forfeits"], []
    for bot, reason in dict.fromkeys((one["bot"], one["reason"]) for one in forfeits):
        these = [one for one in forfeits if (one["bot"], one["reason"]) == (bot, reason)]
        count, first = sum(one["count"] for one in these), these[0]
        lines.append(f"{bot} forfeited {count:,} match{'' if count == 1 else 'es'}: {reason}")
        if first["what"]:
            lines.append(
                f"    first: {first['what']}, asked for {first['asked']} in turn {first['turn']} "
                f"with {first['hand']}"
            )
        lines.append(
            f"    see    ginsim replay {shlex.quote(str(run))} "
            f"--matchup {shlex.quote(first['matchup'])} "
            f"--pair {first['pair']} --leg {first['leg']} --round {first['round']}"
        )
    if any(one["reason"] == TOO_SLOW for one in forfeits):
        lines.append(
            "    too slow depends on the clock: another run may differ; see --decision-limit"
        )
    return lines


def verdict_lines(summary: Mapping[str, Any], verdict: Verdict) -> list[str]:
    """What a sequential test decided, in words."""
    test, stop = verdict.test, verdict.stop
    first = summary["matchups"][0]["first"]
    seen = percent(summary["matchups"][0]["first_metrics"]["matches_won"])
    lower, upper = bounds(test.alpha, test.beta)
    ground = f"LLR {stop.llr:.2f}, bounds {lower:.2f} and {upper:.2f}"
    if stop.accepted is None:
        return [
            f"Undecided after {stop.pairs:,} pairs ({ground}): {first} may win {test.low:g} or "
            f"{test.high:g} of its matches; play more with --pairs."
        ]
    taken, left = (test.high, test.low) if stop.accepted == "high" else (test.low, test.high)
    return [
        f"Decided after {stop.pairs:,} pairs ({ground}): {first} wins {taken:g} of its matches "
        f"rather than {left:g}.",
        f"The rate seen at the stop, {seen} %, is biased towards that bound: "
        "for a rate, play a fixed number of pairs on a fresh seed.",
    ]


#: Columns of the bot table: heading, metric, and how it is shown.
_BOT_COLUMNS = (
    ("points\na round", "net_points", mean),
    ("knocked\n% rounds", "knocks", percent),
    ("gin\n% rounds", "gin", percent),
    ("undercut\n% its knocks", "undercut", percent),
    ("dead\n% rounds", "dead", rare_percent),
    ("knock\ndeadwood", "knock_deadwood", mean),
    ("turns\na round", "turns", mean),
)


def bot_table(summary: Mapping[str, Any]) -> Table:
    """How each bot's rounds went, over all its matchups."""
    columns = list(_BOT_COLUMNS)
    if any(bot["metrics"]["forfeits"]["value"] for bot in summary["bots"]):
        columns.append(("forfeits\n% matches", "forfeits", percent))
    table = _table(
        "Rounds, with 95 % intervals clustered by pair", "", [heading for heading, _, _ in columns]
    )
    for bot in summary["bots"]:
        table.add_row(bot["name"], *(show(bot["metrics"][key]) for _, key, show in columns))
    return table


def sweep_table(summary: Mapping[str, Any], versus: str | None) -> Table:
    """One rival's curve (None: over all rivals): a row a setting; ``*`` marks the best."""
    against = f"against {versus}" if versus else "over all rivals"
    table = _table(
        f"{summary['bot']} {against}, with 95 % intervals clustered by pair",
        ", ".join(summary["parameters"]),
        ["matches\nwon %", "points\na round", "undercut\n% its knocks", "gin\n% rounds",
         "turns\na round"],
    )  # fmt: skip
    shows = (percent, mean, percent, percent, mean)
    keys = ("matches_won", "net_points", "undercut", "gin", "turns")
    for entry in summary["curves"]:
        if entry["versus"] == versus:
            mark = "*" if entry["setting"] == summary["best"] else ""
            mark += " (as it is)" if entry["setting"] == summary["current"] else ""
            name = ", ".join(map(str, entry["setting"])) + mark
            cells = [show(entry["metrics"][key]) for show, key in zip(shows, keys, strict=True)]
            table.add_row(name, *cells)
    return table


def sweep_verdict(summary: Mapping[str, Any]) -> list[str]:
    """What a sweep found, in words: the best setting, and whether fresh deals confirm it."""
    names = summary["parameters"]
    best = ", ".join(f"{n}={v}" for n, v in zip(names, summary["best"], strict=True))
    by = {"net_points": "points a round", "matches_won": "match wins"}[summary["by"]]
    lines = [f"Best by {by}: {best} (chosen on these deals, so its figures on them flatter it)."]
    confirmed = summary.get("confirmed")
    if confirmed is None:
        return lines
    won = percent(confirmed["best"]["matches_won"])
    line = (
        f"On fresh deals (seed {confirmed['seed']}, {confirmed['pairs']:,} pairs) it wins {won} %"
    )
    if "gain" not in confirmed:
        return [*lines, line + " of its matches; it is what the bot has already."]
    gain = confirmed["gain"]
    sure = "better" if gain["low"] > 0 else "worse" if gain["high"] < 0 else "not surely better"
    now = ", ".join(f"{n}={v}" for n, v in zip(names, summary["current"], strict=True))
    return [
        *lines,
        line + f", the bot as it is ({now}) {percent(confirmed['current']['matches_won'])} %:",
        f"{percent(gain)} percentage points on the same deals, so {sure} than it is.",
    ]


def chart_table(chart: Mapping[str, Any], rival: str, score: str | None) -> Table:
    """One table of a knock chart: deadwood down, own turns across."""
    unit = "match wins, percentage points" if score else "points of the round"
    at = f" at {score}" if score else ""
    table = _table(
        f"{chart['bot']} against {rival}{at}: knocking now less playing on ({unit})",
        "deadwood",
        [f"turn {turn}" for turn in range(1, chart["turns"] + 1)],
    )
    marks = {"knock": "!", "wait": "-", "either": " "}
    cells: dict[int, list[str]] = {}
    for cell in chart["cells"]:
        if cell["rival"] == rival and cell["score"] == score:
            text = "."
            if cell["advice"] != "few":
                text = f"{cell['gain'] * (100 if score else 1):+.1f}{marks[cell['advice']]}"
            cells.setdefault(cell["deadwood"], []).append(text)
    for deadwood in sorted(cells, reverse=True):
        table.add_row(str(deadwood), *cells[deadwood])
    return table


CHART_NOTE = (
    "! knock, - wait: sure at 5 % over the whole table (Holm); unmarked: either; . too few rounds"
)


def calibration_table(found: Mapping[str, Any]) -> Table:
    """One row a target: what was turned, the value and its interval, what fresh deals say."""
    table = _table(
        "Levels tuned to their targets, with 95 % intervals clustered by pair",
        "target",
        ["tuned", "knob", "was", "now", "value (interval)", "lack of fit p", "verified %", "hit"],
    )
    for step in found["steps"]:
        ends = [
            beyond if end is None else f"{end:.0f}"
            for end, beyond in ((step["low"], "below"), (step["high"], "above"))
        ]
        table.add_row(
            step["target"],
            step["level"],
            step["knob"],
            str(step["before"]),
            str(step["setting"]),
            f"{step['exact']:.1f} ({ends[0]}..{ends[1]})",
            f"{step['lack_of_fit']:.3f}",
            percent(step["verified"], digits=2),
            "yes" if step["hit"] else "no",
        )
    return table


def guard_table(found: Mapping[str, Any]) -> Table:
    """Guard rails: how each level plays, and its blunders, of decisions watched one by one."""
    table = _table(
        "Guard rails: how the levels play when verified, and blunders among decisions watched",
        "level",
        ["undercut\n% its knocks", "gin\n% rounds", "turns\na round", "knock\ndeadwood",
         "gin\npassed up", "melds\nbroken", "decided\nby dice"],
    )  # fmt: skip
    for level, counts in found["blunders"].items():
        guards = next((s["guards"][level] for s in found["steps"] if level in s["guards"]), None)
        if guards is None:
            continue  # no target is about this level
        table.add_row(
            level,
            percent(guards["undercut"]),
            percent(guards["gin"]),
            mean(guards["turns"]),
            mean(guards["knock_deadwood"]),
            f"{counts['gins_passed']} of {counts['gins']}",
            f"{counts['melds_broken']} of {counts['discards']:,}",
            f"{counts['dice']} of {counts['decisions']:,}",
        )
    return table


def bots_table(bots: Sequence[Bot]) -> Table:
    """Return the built-in bots: what they do and their parameters."""
    table = Table(header_style="bold")
    for column in ("bot", "what it does", "parameters"):
        table.add_column(column, no_wrap=column == "bot")
    for bot in bots:
        shown = ", ".join(f"{knob}={value}" for knob, value in bot.parameters.items() if value)
        table.add_row(bot.name, bot.about, shown)
    return table


OURS = "*"


def presets_table() -> Table:
    """All presets, one row a field; ``*`` marks a choice that is ginsim's own."""
    table = _table("Rules by preset (* = the source is silent: ginsim's choice)", "field", PRESETS)
    for name in FIELDS:
        table.add_row(
            name,
            *(
                f"{to_dict(preset.rules)[name]}{OURS if name in preset.ours else ''}"
                for preset in PRESETS.values()
            ),
        )
    return table


def rules_table(rules: Rules, ours: frozenset[str], title: str) -> Table:
    """One set of rules: field, value, and the rule in words."""
    table = Table(title=title, title_justify="left", title_style="bold", header_style="bold")
    table.add_column("field", no_wrap=True)
    table.add_column("value", no_wrap=True)
    table.add_column("the rule in words")
    for name, field in FIELDS.items():
        value = getattr(rules, name)
        table.add_row(name, field.show(value) + (OURS if name in ours else ""), field.say(value))
    return table


def bench_table(found: Sequence[Mapping[str, Any]]) -> Table:
    """Rounds a second a bot, on one job and on several."""
    jobs = found[0].get("jobs")
    columns = ["rounds/s, 1 job"] + ([f"{jobs} jobs", "ratio"] if jobs else [])
    table = _table("Speed of each bot against itself, rows to memory", "bot", columns)
    for row in found:
        cells = [f"{row['rounds_per_second']:,}"]
        if jobs:
            cells += [f"{row['jobs_rounds_per_second']:,}", f"{row['ratio']:.2f}"]
        table.add_row(row["bot"], *cells)
    return table


def peers_table(found: Sequence[Mapping[str, Any]]) -> Table:
    """Hands a second of several programs, and how many times as fast ginsim is."""
    columns = ["version", "bot against itself", "hands/s", "ginsim is faster"]
    table = _table("Hands a second, one core, taking turns in one run", "program", columns)
    for row in found:
        times = row["ginsim_is_times_as_fast"]
        speed = f"{row['hands_per_second']:,}"
        cells = (row["version"], row["bot"], speed, f"{times:,} times" if times != 1 else "")
        table.add_row(row["program"], *cells)
    return table


def env_table(found: Sequence[Mapping[str, Any]]) -> Table:
    """Steps a second of the vector environment."""
    title = f"VectorGin, {found[0]['tables']:,} tables, random legal actions, one core"
    table = _table(title, "observation", ["opponent", "steps/s"])
    for row in found:
        rival = row["opponent"] or "none: self-play"
        table.add_row(row["observation"], rival, f"{row['steps_per_second']:,}")
    return table


class _Console(Console):
    """A console that leaves a closed pipe to the caller."""

    def on_broken_pipe(self) -> None:
        """Raise, instead of leaving with exit code 1, which means a failed check."""
        raise BrokenPipeError


def print_tables(*tables: Table | str) -> None:
    """Print tables and lines to standard output, wide enough when it is no terminal."""
    console = _Console(width=None if Console().is_terminal else 160, highlight=False)
    for table in tables:
        console.print(table)
