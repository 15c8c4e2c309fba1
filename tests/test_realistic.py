"""Figures that a correct simulator reproduces (strength figures of the EAAI challenge's program).

The full comparison is experiments/eaai_yardsticks.py; here its functions run at modest size on
a fixed seed. Margins: three half widths of our 95 % interval, and what the sources allow.
"""

import pytest

from experiments.eaai_yardsticks import (
    MATCHES_WON,
    ROUNDS_WON,
    SIMPLE,
    UNDERCUTS,
    knock_at,
    simple_figures,
)

#: The joint layoff moves about 0.15 % of rounds from knocks to undercuts; others are rounding.
ALLOWED = {"knock won, % of rounds": 0.2, "undercut, % of rounds": 0.2}
FIGURES = simple_figures(pairs=4500, seed=77)


@pytest.mark.parametrize("name", SIMPLE)
def test_simple_against_itself_has_the_published_figures(name: str):
    found = FIGURES[name]
    margin = 3 * found.half_width() + ALLOWED.get(name, 0.05)
    assert found.value == pytest.approx(SIMPLE[name], abs=margin)
    assert margin < 0.25 * SIMPLE[name] or name == "dead, % of rounds"


@pytest.mark.parametrize("limit", [0, 2, 4, 6, 8])
def test_knock_at_k_against_simple_has_the_published_rates(limit: int):
    """Published match rates are good to 1-2 points; allowed: 2, and 1.5 of our half widths."""
    found = knock_at(limit, pairs=1500, seed=77)
    assert found["matches_won"] == pytest.approx(MATCHES_WON[limit], abs=2 + 1.5 * found["margin"])
    assert found["rounds_won"] == pytest.approx(ROUNDS_WON[limit], abs=1.5)
    assert found["undercuts"] == pytest.approx(UNDERCUTS[limit], abs=1.5)


def test_waiting_wins_matches_though_it_loses_rounds():
    """Rounds won and matches won point opposite ways: strength is matches."""
    patient, hasty = knock_at(0, 1500, seed=78), knock_at(8, 1500, seed=78)
    assert patient["rounds_won"] < hasty["rounds_won"] - 4
    assert patient["matches_won"] > hasty["matches_won"] + 10
