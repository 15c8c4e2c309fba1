"""What a run found, as plain JSON: rates with intervals, and the counts behind the plots.

A summary depends only on the rows and on why matches were forfeited, so two runs with one
digest have the same summary (but that being too slow depends on the clock).
"""

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ginsim.match import explained
from ginsim.ratings import bradley_terry
from ginsim.rules import describe
from ginsim.stats import METRICS, Rate, rate, undercut_by_deadwood
from ginsim.tally import DEADWOOD_BINS, Tally
from ginsim.tournament import Plan, Totals

#: How a round can end for a bot: key in the summary, and the counter behind it.
ENDINGS = {
    "gin": "gins",
    "knock won": "knocks_won",
    "undercut made": "undercuts_made",
    "dead": "dead",
    "undercut suffered": "undercuts_suffered",
    "lost to knock": "lost_to_knock",
    "lost to gin": "lost_to_gin",
}


def finite_json(values: Mapping[str, Any]) -> dict[str, Any]:
    """*values* as JSON: a number that cannot be said is null."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in values.items()
    }


def rate_json(value: Rate) -> dict[str, Any]:
    """Return *value* as JSON."""
    return finite_json(value._asdict())


def deadwood_labels() -> list[str]:
    """Return labels of the deadwood bins: 0 .. 10 and all above."""
    return [str(d) for d in range(DEADWOOD_BINS - 1)] + [f"{DEADWOOD_BINS - 1}+"]


def metrics_json(tally: Tally) -> dict[str, Any]:
    """Every metric of ``stats.METRICS``, by key."""
    return {metric.key: rate_json(rate(tally, metric.key)) for metric in METRICS}


def bot_json(name: str, tally: Tally) -> dict[str, Any]:
    """One bot over all its matchups, clustered by pair across them: they share their deals."""
    turns = [int(n) for n in tally.turns]
    while len(turns) > 1 and turns[-1] == 0:
        turns.pop()
    return {
        "name": name,
        "rounds": tally.total("rounds"),
        "matches": tally.total("legs"),
        "metrics": metrics_json(tally),
        "endings": {key: tally.total(counter) for key, counter in ENDINGS.items()},
        "deadwood": deadwood_labels(),
        "knocks_by_deadwood": [tally.total(f"knocks_at_{d}") for d in range(DEADWOOD_BINS)],
        "undercut_by_deadwood": [rate_json(r) for r in undercut_by_deadwood(tally)],
        "rounds_by_turns": turns,
    }


def _forfeits(plan: Plan, totals: Totals) -> list[dict[str, Any]]:
    """For each matchup, bot and reason: how many matches were forfeited, and the first."""
    bots, found = plan.bots(), []
    for (a, b), name, forfeits in zip(
        plan.matchups(), plan.matchup_names(), totals.forfeits, strict=True
    ):
        both = bots[a], bots[b]
        for count, first in forfeits:
            pair, leg, round_, failure = explained(both, plan.rules, plan.seed, first)
            found.append(
                {
                    "matchup": name,
                    "bot": both[failure.bot].name,
                    "reason": failure.reason,
                    "count": count,
                    "pair": pair,
                    "leg": leg,
                    "round": round_,
                    "turn": failure.turn + 1 if failure.turn >= 0 else None,
                    "what": failure.what,
                    "asked": failure.asked,
                    "hand": failure.hand,
                }
            )
    return found


def summary_of(plan: Plan, totals: Totals) -> dict[str, Any]:
    """Return the summary of a run: its bots, its matchups and its digest."""
    names = [bot.name for bot in plan.bots()]
    matchups = []
    for at, (a, b) in enumerate(plan.matchups()):
        first, second = totals.by_matchup[at]
        matchups.append(
            {
                "name": plan.matchup_names()[at],
                "first": names[a],
                "second": names[b],
                "rows": totals.rows[at],
                "digest": str(totals.digests[at]),
                "first_metrics": metrics_json(first),
                "second_metrics": metrics_json(second),
            }
        )
    ratings = bradley_terry(
        names,
        plan.matchups(),
        plan.pairs,
        plan.mirrored,
        totals.half_sums,
        totals.half_products,
    )
    return {
        "rules": describe(plan.rules),
        "pairs": plan.pairs,
        "mirrored": plan.mirrored,
        "seed": plan.seed,
        "rounds": sum(totals.rows),
        "matches": plan.pairs * (2 if plan.mirrored else 1) * len(matchups),
        "digest": str(totals.digest()),
        "bots": [bot_json(name, tally) for name, tally in zip(names, totals.by_bot, strict=True)],
        "matchups": matchups,
        "first_forfeits": _forfeits(plan, totals),
        "ratings": {
            "bots": [finite_json(asdict(rating)) for rating in ratings.bots],
            **finite_json({"seat": ratings.seat, "separated": ratings.separated}),
        },
    }
