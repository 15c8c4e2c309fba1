"""Settlement: the sentences of the rules, and the twin over all deadwoods."""

import naive
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ginsim import scoring
from ginsim.rules import Rules, preset

many = settings(deadline=None, max_examples=300)
CLASSIC = preset("classic")
COURT = (9, 10, 11, 12)  #: ranks of ten points: T J Q K


def settled(rules: Rules, shown: int, knocker: int, defender: int) -> tuple[str, int]:
    outcome, points = scoring.settle(rules, shown, knocker, defender)
    return scoring.OUTCOMES[outcome], int(points)


def test_a_lower_knocker_scores_the_difference():
    assert settled(CLASSIC, 10, 7, 30) == ("knock", 23)
    assert settled(CLASSIC, 10, 7, 8) == ("knock", 1)


def test_a_lower_defender_undercuts_for_the_difference_and_25():
    assert settled(CLASSIC, 10, 8, 3) == ("undercut", -30)
    assert settled(CLASSIC, 10, 8, 0) == ("undercut", -33)


def test_equal_deadwood_is_an_undercut_worth_the_bonus():
    assert settled(CLASSIC, 10, 5, 5) == ("undercut", -25)


def test_equal_deadwood_scores_nothing_where_a_tie_is_nothing():
    assert settled(preset("openspiel"), 10, 5, 5) == ("knock", 0)


def test_gin_scores_25_and_the_defenders_deadwood():
    assert settled(CLASSIC, 10, 0, 37) == ("gin", 62)


@pytest.mark.parametrize("name", ["classic", "openspiel"])
def test_gin_is_never_undercut(name):
    assert settled(preset(name), 10, 0, 0) == ("gin", 25)


def test_big_gin_scores_31_and_the_defenders_deadwood():
    assert settled(preset("big-gin"), 11, 0, 63) == ("big_gin", 94)
    assert settled(preset("big-gin"), 11, 0, 0) == ("big_gin", 31)


def test_each_bonus_is_the_one_of_the_rules():
    rules = CLASSIC._replace(gin_bonus=20, undercut_bonus=10, big_gin_bonus=50)
    assert settled(rules, 10, 0, 4) == ("gin", 24)
    assert settled(rules, 11, 0, 4) == ("big_gin", 54)
    assert settled(rules, 10, 4, 4) == ("undercut", -10)
    assert settled(rules, 10, 4, 9) == ("knock", 5)


@many
@given(
    st.integers(0, 100),
    st.integers(0, 100),
    st.sampled_from([10, 11]),
    st.tuples(*[st.integers(0, 1000)] * 3),
    st.integers(0, 1),
)
def test_settle_agrees_with_its_twin(knocker, defender, shown, bonuses, tie):
    gin, undercut, big = bonuses
    rules = CLASSIC._replace(gin_bonus=gin, undercut_bonus=undercut, big_gin_bonus=big, tie=tie)
    assert settled(rules, shown, knocker, defender) == naive.settle(rules, shown, knocker, defender)


def test_outcomes_are_named_in_the_order_of_their_numbers():
    names = [name.upper() for name in scoring.OUTCOMES]
    assert [getattr(scoring, name) for name in names] == list(range(6))


# --- the knock limit ---


def test_without_oklahoma_the_upcard_does_not_change_the_limit():
    assert {int(scoring.knock_limit(CLASSIC, rank)) for rank in range(13)} == {10}


def test_under_oklahoma_the_points_of_the_upcard_are_the_limit():
    rules = CLASSIC._replace(oklahoma=1)
    limits = [int(scoring.knock_limit(rules, rank)) for rank in range(13)]
    assert limits == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10]


def test_oklahoma_never_raises_the_limit():
    rules = CLASSIC._replace(oklahoma=1, knock_limit=5)
    assert [int(scoring.knock_limit(rules, rank)) for rank in (0, 3, 4, 5, 12)] == [1, 4, 5, 5, 5]


@pytest.mark.parametrize("rank", COURT)
def test_under_oklahoma_a_court_card_means_10_even_where_the_limit_is_higher(rank):
    assert scoring.knock_limit(CLASSIC._replace(oklahoma=1, knock_limit=12), rank) == 10


def test_an_ace_as_upcard_may_mean_gin_only():
    rules = CLASSIC._replace(oklahoma=1, oklahoma_ace=1)
    assert [int(scoring.knock_limit(rules, rank)) for rank in (0, 1, 12)] == [0, 2, 10]


def test_straight_gin_keeps_its_limit_of_0_under_oklahoma():
    rules = CLASSIC._replace(oklahoma=1, knock_limit=0)
    assert {int(scoring.knock_limit(rules, rank)) for rank in range(13)} == {0}


@many
@given(st.integers(0, 100), st.integers(0, 12), st.integers(0, 1), st.integers(0, 1))
def test_knock_limit_agrees_with_its_twin(limit, rank, oklahoma, ace):
    rules = CLASSIC._replace(knock_limit=limit, oklahoma=oklahoma, oklahoma_ace=ace)
    assert scoring.knock_limit(rules, rank) == naive.knock_limit(rules, rank)
