"""Rates clustered by pair, against plain sums over rows and published values."""

import math
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import t

from ginsim.bots import load
from ginsim.match import play
from ginsim.records import read_rounds
from ginsim.rules import preset
from ginsim.stats import (
    METRICS,
    PairCounts,
    holm,
    pair_counts,
    paired_difference,
    rate,
    ratio,
    undercut_by_deadwood,
)
from ginsim.tally import COUNTERS, INDEX, Tally, count_pairs, tally_of, turn_counts

PAIRS = 150
ROWS = play((load("easy"), load("normal")), preset("classic"), seed=4, pairs=PAIRS)


def tally_from(columns: dict[str, list[int]]) -> Tally:
    """Tally of made-up pairs: counter name to its value in each pair."""
    pairs = len(next(iter(columns.values())))
    counters = np.zeros((pairs, len(COUNTERS)), np.int64)
    for name, values in columns.items():
        counters[:, INDEX[name]] = values
    return tally_of(counters, np.zeros(202, np.int64))


def counted(rows: np.ndarray = ROWS, needed: int = 100) -> np.ndarray:
    counters = np.zeros((2, PAIRS, len(COUNTERS)), np.int64)
    count_pairs(rows, 0, needed, counters, np.zeros((PAIRS, 2), np.int64))
    return counters


def plain_counts(bot: int) -> dict[str, int]:
    """Counters of a bot by plain loops over the rows."""
    found = dict.fromkeys(COUNTERS, 0)
    for at, row in enumerate(ROWS):
        seat = bot ^ int(row["leg"])
        won, points = row["winner"] == seat, int(row["points"])
        knocked = row["knocker"] == seat
        outcome = ("knock", "gin", "big_gin", "undercut", "dead", "forfeit")[row["outcome"]]
        found["rounds"] += 1
        found["turns"] += int(row["turns"])
        found["rounds_won"] += won
        found["points"] += points if won else 0
        found["net_points"] += points if won else -points
        found["knocks"] += knocked
        found["gins"] += knocked and outcome == "gin"
        found["dead"] += outcome == "dead"
        found["undercuts_suffered"] += knocked and outcome == "undercut"
        found["undercuts_made"] += not knocked and outcome == "undercut"
        found["knock_deadwood"] += int(row["knock_deadwood"]) if knocked else 0
        last = at + 1 == len(ROWS) or ROWS[at + 1]["round"] == 0
        found["legs"] += last
        found["half_matches"] += 2 * (last and won)
    return found


@pytest.mark.parametrize("bot", [0, 1])
def test_counters_equal_plain_sums_over_the_rows(bot: int):
    sums = dict(zip(COUNTERS, counted()[bot].sum(axis=0).tolist(), strict=True))
    plain = plain_counts(bot)
    checked = [name for name, value in plain.items() if value]
    assert len(checked) > 12
    assert {name: sums[name] for name in checked} == {name: plain[name] for name in checked}


def test_every_round_ends_in_exactly_one_way_for_each_bot():
    for counters in counted():
        ways = ("gins", "knocks_won", "undercuts_made", "dead", "undercuts_suffered")
        ways += ("lost_to_knock", "lost_to_gin")
        total = sum(counters[:, INDEX[way]].sum() for way in ways)
        assert total == counters[:, INDEX["rounds"]].sum() == len(ROWS)


def test_tallies_of_parts_add_up_to_the_tally_of_the_whole():
    counters = counted()[0]
    turns = turn_counts(ROWS)
    whole, parts = tally_of(counters, turns), Tally()
    parts.add(tally_of(counters[:40], turns * 0))
    parts.add(tally_of(counters[40:], turns))
    assert parts.pairs == whole.pairs
    assert np.array_equal(parts.products, whole.products)
    assert np.array_equal(parts.turns, whole.turns)


def test_products_are_sums_over_pairs():
    counters = counted()[1]
    tally = tally_of(counters, turn_counts(ROWS))
    assert np.array_equal(tally.products, counters.T @ counters)


def test_the_interval_of_matches_won_is_that_of_the_pair_means():
    """With two legs in every pair a ratio is a mean, and its interval the textbook one."""
    counters = counted()[0]
    scores = counters[:, INDEX["half_matches"]] / 4
    found = rate(tally_of(counters, turn_counts(ROWS)), "matches_won")
    margin = t.ppf(0.975, PAIRS - 1) * scores.std(ddof=1) / math.sqrt(PAIRS)
    assert found.value == pytest.approx(scores.mean())
    assert found.high - found.value == pytest.approx(margin)
    assert found.value - found.low == pytest.approx(margin)


def test_the_interval_of_a_ratio_is_near_the_bootstrap_over_pairs():
    counters = counted()[0].astype(float)
    above, below = counters[:, INDEX["net_points"]], counters[:, INDEX["rounds"]]
    draws = np.random.default_rng(1).integers(0, PAIRS, (4000, PAIRS))
    spread = (above[draws].sum(axis=1) / below[draws].sum(axis=1)).std()
    found = rate(tally_of(counted()[0], turn_counts(ROWS)), "net_points")
    assert found.half_width() / t.ppf(0.975, PAIRS - 1) == pytest.approx(spread, rel=0.1)


def test_clustering_by_pair_is_wider_than_rows_where_legs_agree():
    """Legs that agree in a pair count once: ten pairs of twins are ten values, not twenty."""
    twins = tally_from({"undercuts_suffered": [2, 0] * 5, "plain_knocks": [2] * 10})
    assert rate(twins, "undercut").half_width() == pytest.approx(
        t.ppf(0.975, 9) * (0.25 / 9) ** 0.5
    )


def test_a_share_without_spread_gets_the_interval_of_wilson():
    """Newcombe 1998, Table I: 0 of 20 has the score interval 0 to 0.1611."""
    none = tally_from({"dead": [0] * 20, "rounds": [10] * 20})
    found = rate(none, "dead")
    assert (found.value, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(0.1611, abs=5e-5)
    all_won = tally_from({"half_matches": [4] * 20, "legs": [2] * 20})
    found = rate(all_won, "matches_won")
    assert (found.value, found.high) == (1.0, 1.0)
    assert found.low == pytest.approx(1 - 0.1611, abs=5e-5)


def test_the_interval_of_a_rare_thing_rests_on_what_was_counted_not_on_all_pairs():
    """No undercut in 20 knocks is 0 to 0.1611, however many pairs had no such knock."""
    rare = tally_from({"undercuts_suffered": [0] * 500, "plain_knocks": [1] * 20 + [0] * 480})
    assert rate(rare, "undercut").high == pytest.approx(0.1611, abs=5e-5)


def test_a_mean_without_spread_has_no_width():
    """Two copies of a bot: no net points in any pair, and a mean is no share."""
    even = tally_from({"net_points": [0] * 20, "rounds": [10] * 20})
    assert rate(even, "net_points")[:3] == (0.0, 0.0, 0.0)


def test_two_equal_bots_have_exactly_half_without_spread():
    even = tally_from({"half_matches": [2] * 50, "legs": [2] * 50})
    assert rate(even, "matches_won")[:3] == (0.5, 0.5, 0.5)


def test_nothing_counted_gives_no_rate():
    empty = tally_from({"rounds": [3, 4]})
    assert math.isnan(rate(empty, "undercut").value)


def test_one_pair_gives_a_value_and_no_interval():
    found = rate(tally_from({"half_matches": [3], "legs": [2]}), "matches_won")
    assert found.value == 0.75
    assert math.isnan(found.low)


def test_shares_lie_between_zero_and_one():
    rare = tally_from({"dead": [1] + [0] * 9, "rounds": [5] * 10})
    found = rate(rare, "dead")
    assert 0 == found.low < found.value < found.high


@pytest.mark.parametrize("metric", [m.key for m in METRICS])
def test_every_metric_lies_in_its_interval(metric: str):
    tally = tally_of(counted()[0], turn_counts(ROWS))
    found = rate(tally, metric)
    assert found.low <= found.value <= found.high


def test_undercuts_by_deadwood_add_up_to_all_undercuts():
    tally = tally_of(counted()[0], turn_counts(ROWS))
    rates = undercut_by_deadwood(tally)
    undercuts = sum(round(r.value * r.weight) for r in rates if r.weight)
    assert undercuts == tally.total("undercuts_suffered") > 100
    assert rates[0].value == 0.0, "gin cannot be undercut"


def test_confidence_widens_the_interval():
    tally = tally_of(counted()[0], turn_counts(ROWS))
    wide = ratio(tally, "gins", "rounds", confidence=0.99)
    narrow = ratio(tally, "gins", "rounds", confidence=0.5)
    assert wide.half_width() > narrow.half_width() > 0


def test_counts_from_the_log_equal_those_of_the_run(finished_run: dict[str, Any]):
    log, plan = read_rounds(finished_run["path"]), finished_run["plan"]
    for at, bot in enumerate(plan.bots()):
        found = pair_counts(log, bot.name, plan.rules).tally()
        assert found.pairs == plan.pairs
        assert np.array_equal(found.products, finished_run["totals"].by_bot[at].products)
        assert np.array_equal(found.turns, finished_run["totals"].by_bot[at].turns)


def test_counts_are_the_same_from_arrow_and_for_one_rival(finished_run: dict[str, Any]):
    log, plan = read_rounds(finished_run["path"]), finished_run["plan"]
    one = log[log["matchup"] == "easy v hard"]
    table = pa.Table.from_pandas(one, preserve_index=False)
    at = plan.matchup_names().index("easy v hard")
    for bot, side in (("easy", 0), ("hard", 1)):
        tally = finished_run["totals"].by_matchup[at][side]
        for source in (one, table):
            found = pair_counts(source, bot, plan.rules).tally()
            assert np.array_equal(found.sums, tally.sums)


def made_up(scores: np.ndarray) -> PairCounts:
    counters = np.zeros((len(scores), len(COUNTERS)), np.int64)
    counters[:, INDEX["half_matches"]], counters[:, INDEX["legs"]] = scores, 2
    return PairCounts(np.arange(len(scores)), counters, np.zeros(202, np.int64))


def test_a_paired_difference_is_the_mean_of_the_pairs_differences():
    draw = np.random.default_rng(3)
    first, second = draw.integers(0, 5, 400), draw.integers(0, 5, 400)
    gaps = (first - second) / 4
    found = paired_difference(made_up(first), made_up(second), "matches_won")
    assert found.value == pytest.approx(gaps.mean())
    margin = t.ppf(0.975, 399) * gaps.std(ddof=1) / 20
    assert found.high - found.value == pytest.approx(margin)


def test_what_two_bots_share_cancels_in_their_difference(finished_run: dict[str, Any]):
    """hard and normal met the same rivals on the same deals: the paired interval is shorter."""
    log, rules = read_rounds(finished_run["path"]), finished_run["plan"].rules
    against = {
        bot: pair_counts(log[log["matchup"] == name], bot, rules)
        for bot, name in (("normal", "normal v simple"), ("hard", "hard v simple"))
    }
    paired = paired_difference(against["hard"], against["normal"], "turns")
    apart = [rate(counts.tally(), "turns").half_width() for counts in against.values()]
    assert paired.half_width() < math.hypot(*apart)
    itself = paired_difference(against["hard"], against["hard"], "turns")
    assert itself[:3] == (0.0, 0.0, 0.0)


def test_pairs_that_only_one_played_are_left_out():
    first, second = made_up(np.array([4, 4, 0])), made_up(np.array([4, 0]))
    found = paired_difference(first, second, "matches_won")
    assert (found.value, found.weight) == (0.5, 2)


def test_holm_adjusts_by_rank():
    """Holm 1979: the smallest of three p-values is tripled, the next doubled."""
    rejected, adjusted = holm([0.01, 0.04, 0.03], 0.05)
    assert rejected.tolist() == [True, False, False]
    assert adjusted.tolist() == pytest.approx([0.03, 0.06, 0.06])


def test_a_hundred_thousand_pairs_are_counted_in_one_go():
    """The kernels see arrays: copies of one pair, a hundred thousand times."""
    pair = ROWS[ROWS["pair"] == 0]
    rows = np.tile(pair, 100_000)
    rows["pair"] = np.repeat(np.arange(100_000), len(pair))
    counters = np.zeros((2, 100_000, len(COUNTERS)), np.int64)
    count_pairs(rows, 0, 100, counters, np.zeros((100_000, 2), np.int64))
    assert (counters[0] == counters[0][0]).all()
    assert rate(tally_of(counters[0], turn_counts(rows)), "turns").half_width() == 0
