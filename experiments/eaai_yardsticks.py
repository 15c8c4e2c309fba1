"""Does the engine reproduce the published figures of `simple` and knock-at-K under `eaai`?

Reference: 204,715 rounds of simple v simple and mirrored matches of knock-at-K v simple, on
the EAAI challenge's own program, which fixes the defender's melds before it lays off. Its
figures have intervals of 1-2 points on matches won. The joint layoff lowers the defender in
1.6 % of knocks, so undercuts should be up by about 0.15 points of rounds.
"""

import json
from pathlib import Path
from typing import Any

from ginsim.rules import preset
from ginsim.stats import Rate, rate, ratio, undercut_by_deadwood
from ginsim.tally import Tally
from ginsim.tournament import Plan, counted

RESULTS = Path(__file__).parents[1] / "results" / "eaai-yardsticks"
SEED = 20_261_130
SECONDS = 20
PAIRS_SIMPLE = 20_000
PAIRS_K = 20_000

#: Published figures of simple v simple; shares of rounds in per cent.
SIMPLE = {
    "gin, % of rounds": 2.12,
    "knock won, % of rounds": 93.41,
    "undercut, % of rounds": 4.31,
    "dead, % of rounds": 0.16,
    "turns a round": 12.51,
    "draws from the pile, %": 16.4,
    "rounds a match": 10.24,
    "points a decided round": 16.24,
    "knock deadwood": 7.12,
    "defender's deadwood": 21.43,
    "dealt deadwood": 56.6,
    "starter wins, % of decided": 50.25,
}
UNDERCUT_BY_DEADWOOD = (0.4, 0.4, 0.6, 1.1, 1.1, 1.9, 3.4, 5.3, 6.0, 8.2)
#: Published figures of knock-at-K v simple, K = 0..10.
MATCHES_WON = (67.0, 64.4, 61.0, 58.4, 55.7, 54.2, 52.5, 51.9, 48.9, 48.8, 50.4)
ROUNDS_WON = (37.6, 38.1, 38.5, 39.0, 39.7, 40.9, 42.4, 44.0, 45.7, 47.8, 50.2)
UNDERCUTS = (33.4, 28.5, 24.5, 21.3, 17.4, 14.3, 10.9, 8.4, 6.3, 5.0, 4.4)


def matchup(a: str, b: str, pairs: int, seed: int = SEED) -> tuple[Tally, Tally]:
    """Tallies of the two bots over mirrored pairs under eaai."""
    plan = Plan((a, b), preset("eaai"), seed, pairs)
    totals = counted(plan, 2)
    return totals.by_matchup[0]


def simple_figures(pairs: int, seed: int = SEED) -> dict[str, Rate]:
    """Figures of simple v simple, by the names of SIMPLE, shares in per cent.

    Both seats are one bot, so the share of rounds that anybody ended so is twice one copy's.
    """
    first, _ = matchup("simple", "simple", pairs, seed)

    def of(above: str, below: str, scale: float = 1.0) -> Rate:
        return ratio(first, above, below, scale=scale)

    return {
        "gin, % of rounds": of("gins", "rounds", 200),
        "knock won, % of rounds": of("knocks_won", "rounds", 200),
        "undercut, % of rounds": of("undercuts_suffered", "rounds", 200),
        "dead, % of rounds": of("dead", "rounds", 100),
        "turns a round": of("turns", "rounds"),
        "draws from the pile, %": of("pile_draws", "turns", 200),
        "rounds a match": of("rounds", "legs"),
        "points a decided round": of("points", "decided", 2),
        "knock deadwood": of("knock_deadwood", "plain_knocks"),
        "defender's deadwood": of("defender_deadwood", "plain_knocks"),
        "dealt deadwood": of("dealt_deadwood", "rounds"),
        "starter wins, % of decided": of("won_started", "decided", 200),
    } | {
        f"undercut % of knocks at {d}": value._replace(
            value=100 * value.value, low=100 * value.low, high=100 * value.high
        )
        for d, value in enumerate(undercut_by_deadwood(first)[:11])
        if d
    }


def knock_at(limit: int, pairs: int, seed: int = SEED) -> dict[str, float]:
    """Matches won, its margin, rounds won and undercuts of both sides' knocks, in per cent."""
    bot, simple = matchup(f"knock-at-{limit}", "simple", pairs, seed)
    won = rate(bot, "matches_won")
    suffered = bot.total("undercuts_suffered") + simple.total("undercuts_suffered")
    knocks = bot.total("plain_knocks") + simple.total("plain_knocks")
    return {
        "matches_won": 100 * won.value,
        "margin": 100 * won.half_width(),
        "rounds_won": 100 * rate(bot, "rounds_won").value,
        "undercuts": 100 * suffered / knocks,
    }


def table(figures: dict[str, Rate], by_limit: list[dict[str, float]]) -> str:
    """Both comparisons as Markdown."""
    lines = ["# simple v simple", "| | published | ginsim | 95 % |", "|---|---|---|---|"]
    published = SIMPLE | {
        f"undercut % of knocks at {d}": value for d, value in enumerate(UNDERCUT_BY_DEADWOOD, 1)
    }
    for name, value in figures.items():
        lines.append(
            f"| {name} | {published[name]:g} | {value.value:.2f} | ±{value.half_width():.2f} |"
        )
    lines += [
        "",
        "# knock-at-K v simple (published → ginsim)",
        "| K | matches won % | rounds won % | undercut % of knocks |",
        "|---|---|---|---|",
    ]
    for limit, found in enumerate(by_limit):
        lines.append(
            f"| {limit} | {MATCHES_WON[limit]} → {found['matches_won']:.1f} ±{found['margin']:.1f} "
            f"| {ROUNDS_WON[limit]} → {found['rounds_won']:.1f} "
            f"| {UNDERCUTS[limit]} → {found['undercuts']:.1f} |"
        )
    return "\n".join(lines) + "\n"


def headline(summary: dict[str, Any]) -> str:
    """Largest gap to a published share of matches won."""
    gaps = [
        abs(found["matches_won"] - published)
        for found, published in zip(summary["knock_at"], MATCHES_WON, strict=True)
    ]
    return f"matches won by knock-at-K at most {max(gaps):.1f} points of 100 from the published"


def main() -> None:
    """Play both comparisons and write table.md and summary.json."""
    figures = simple_figures(PAIRS_SIMPLE)
    by_limit = [knock_at(limit, PAIRS_K) for limit in range(11)]
    RESULTS.mkdir(parents=True, exist_ok=True)
    content: dict[str, Any] = {
        "seed": SEED,
        "pairs": {"simple": PAIRS_SIMPLE, "knock-at-K": PAIRS_K},
        "simple": {name: value._asdict() for name, value in figures.items()},
        "knock_at": by_limit,
    }
    (RESULTS / "summary.json").write_text(json.dumps(content, indent=1) + "\n")
    text = table(figures, by_limit)
    (RESULTS / "table.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
