"""Bradley-Terry ratings against published values and against statsmodels on every match."""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
import statsmodels.api as sm
from statsmodels.tools.sm_exceptions import PerfectSeparationWarning

from ginsim.ratings import ELO, bradley_terry, is_separated
from ginsim.rules import preset
from ginsim.tournament import Plan, Totals, played

DATA = Path(__file__).parent / "data" / "strength-vectors.json"


def moments(halves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sums and sums of products of int [matchup, pair, leg] over pairs."""
    flat = halves.transpose(1, 0, 2).reshape(halves.shape[1], -1)
    return flat.sum(axis=0), flat.T @ flat


def test_three_engines_have_the_published_ratings():
    """Each result is played in both legs, so that no seat has an advantage."""
    vector = next(v for v in json.loads(DATA.read_text()) if v["kind"] == "bradley-terry")
    matchups = [(0, 1), (1, 2), (0, 2)]
    halves = []
    for first, second in matchups:
        wins, draws, losses = vector["wdl"][f"{first}-{second}"]
        results = [2] * wins + [1] * draws + [0] * losses
        halves.append([[result, result] for result in results])
    found = bradley_terry(["a", "b", "c"], matchups, 30, True, *moments(np.array(halves)))
    assert [r.elo for r in found.bots] == pytest.approx(vector["elo"], abs=0.01)
    assert found.seat == pytest.approx(0, abs=1e-6)


def test_ratings_and_errors_equal_statsmodels_on_every_match_clustered_by_pair():
    plan = Plan(("easy", "normal", "hard", "simple"), preset("classic"), seed=3, pairs=80)
    totals, parts = Totals.empty(plan), []
    for block in played(plan, 1, None, in_order=True):
        totals.add(block)
        parts.append(block.halves)
    halves = np.concatenate(parts, axis=1)
    design, won, groups = [], [], []
    for at, (first, second) in enumerate(plan.matchups()):
        for pair in range(plan.pairs):
            for leg in (0, 1):
                row = np.zeros(5)
                row[first], row[second], row[4] = 1, -1, 1 - 2 * leg
                design.append(np.delete(row, 3))
                won.append(halves[at, pair, leg] / 2)
                groups.append(pair)
    fit = sm.GLM(won, np.array(design), family=sm.families.Binomial()).fit(
        cov_type="cluster", cov_kwds={"groups": np.array(groups), "use_correction": False}
    )
    found = bradley_terry(
        list(plan.specs), plan.matchups(), 80, True, totals.half_sums, totals.half_products
    )
    against_last = [r.elo - found.bots[3].elo for r in found.bots[:3]]
    assert against_last == pytest.approx(fit.params[:3] * ELO, rel=1e-6)
    assert found.seat == pytest.approx(fit.params[3] * ELO, abs=1e-4)
    # The errors are around the mean of all bots, with n / (n - 1) for 80 pairs.
    spread = np.vstack([np.eye(3), np.zeros(3)]) - 1 / 4
    covariance = spread @ fit.cov_params()[:3, :3] @ spread.T * 80 / 79
    widths = [(r.high - r.low) / 2 for r in found.bots]
    assert widths == pytest.approx(1.959964 * ELO * np.sqrt(np.diag(covariance)), rel=1e-6)


def test_ratings_are_centred():
    halves = np.random.default_rng(1).integers(0, 3, (3, 50, 2))
    found = bradley_terry(list("abc"), [(0, 1), (0, 2), (1, 2)], 50, True, *moments(halves))
    assert sum(r.elo for r in found.bots) == pytest.approx(0, abs=1e-9)


def test_an_edge_of_the_seat_is_no_strength():
    """Two equal bots, seat 0 wins three of four: rating 0, seat 191 Elo."""
    halves = np.array([[[2, 0], [2, 0], [2, 0], [0, 2]] * 25])
    found = bradley_terry(["a", "b"], [(0, 1)], 100, True, *moments(halves))
    assert found.bots[0].elo == pytest.approx(0, abs=1e-6)
    assert found.seat == pytest.approx(190.85, abs=0.01)


def test_a_bot_that_won_all_gets_a_finite_rating_and_a_flag():
    halves = np.full((1, 20, 2), 2)
    found = bradley_terry(["a", "b"], [(0, 1)], 20, True, *moments(halves))
    assert found.separated
    assert 200 < found.bots[0].elo < 2000


@pytest.mark.parametrize(
    ("wins", "separated"),
    [([[5, 5], [5, 5], [5, 5]], False), ([[10, 0], [5, 5], [10, 0]], True)],
)
def test_separation_is_seen(wins: list[list[int]], separated: bool):
    assert is_separated([(0, 1), (1, 2), (0, 2)], np.array(wins), 3) == separated


def test_unmirrored_runs_have_ratings_without_a_seat():
    halves = np.random.default_rng(2).integers(0, 3, (1, 60, 2))
    halves[:, :, 1] = 0
    found = bradley_terry(["a", "b"], [(0, 1)], 60, False, *moments(halves))
    score = halves[0, :, 0].mean() / 2
    expected = 400 * np.log10(score / (1 - score))
    assert found.bots[0].elo - found.bots[1].elo == pytest.approx(expected, abs=1e-6)
    assert np.isnan(found.seat)


def test_no_warning_reaches_the_user():
    with warnings.catch_warnings():
        warnings.simplefilter("error", PerfectSeparationWarning)
        bradley_terry(["a", "b"], [(0, 1)], 20, True, *moments(np.full((1, 20, 2), 1)))
