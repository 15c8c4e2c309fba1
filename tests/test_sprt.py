"""The sequential test and Elo figures, against published values and by their own laws."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from ginsim.errors import GinsimError
from ginsim.sprt import (
    MIN_PAIRS,
    PAIR_SCORES,
    Sprt,
    Walk,
    bounds,
    elo_of,
    elo_to_score,
    llr,
    llr_bayeselo,
    llr_normalized,
)

VECTORS = json.loads((Path(__file__).parent / "data" / "strength-vectors.json").read_text())


def vectors(kind: str) -> list[Any]:
    found = [pytest.param(v, id=v["id"]) for v in VECTORS if v["kind"] == kind]
    assert found, kind
    return found


def test_every_kind_of_vector_is_tested_somewhere():
    here = {"llr", "llr-cutechess-bayeselo-jeffreys", "elo", "interval", "multiplicity", "bounds"}
    assert {v["kind"] for v in VECTORS} - here == {"bradley-terry"}  # tests/test_ratings.py


@pytest.mark.parametrize("vector", vectors("llr"))
def test_llr_has_the_published_value(vector: dict[str, Any]):
    counts = vector["counts_low_to_high"]
    if vector["model"] == "normalized":
        value = llr_normalized(counts, vector["elo0"], vector["elo1"])
    else:
        scores = np.linspace(0, 1, len(counts))
        value = llr(
            counts, elo_to_score(vector["elo0"]), elo_to_score(vector["elo1"]), scores, prior=0
        )
    assert value == pytest.approx(vector["recomputed"], abs=2e-6)
    rounding = 0.005 if vector["id"] != "penta-n-3-all-wins" else 0.03
    assert value == pytest.approx(vector["published"], abs=max(rounding, 1e-6))


@pytest.mark.parametrize("vector", vectors("llr-cutechess-bayeselo-jeffreys"))
def test_llr_of_bayeselo_has_cutechess_value(vector: dict[str, Any]):
    value = llr_bayeselo(vector["w"], vector["l"], vector["d"], vector["elo0"], vector["elo1"])
    assert value == pytest.approx(vector["recomputed"], abs=2e-6)


@pytest.mark.parametrize("vector", vectors("elo"))
def test_elo_figures_have_the_published_values(vector: dict[str, Any]):
    found, right = elo_of(vector["counts_low_to_high"]), vector["recomputed"]
    assert found.score == pytest.approx(right["score"], abs=1e-6)
    assert found.variance == pytest.approx(right["var"], abs=1e-6)
    assert found.elo == pytest.approx(right["elo"], abs=1e-5)
    assert found.elo_error == pytest.approx(right["err"], abs=1e-5)
    assert found.normalized == pytest.approx(right["nelo"], abs=1e-5)
    assert found.normalized_error == pytest.approx(right["nerr"], abs=1e-5)
    assert found.superiority == pytest.approx(right["los"], abs=1e-5)


def test_bounds_have_the_published_values():
    vector = next(v for v in VECTORS if v["kind"] == "bounds")
    for alpha, beta, low, high in vector["cases"]:
        assert bounds(alpha, beta) == pytest.approx((low, high), abs=1e-5)


def test_wilson_intervals_have_newcombes_values():
    vector = next(v for v in VECTORS if v["kind"] == "interval")
    for hits, n, low, high in vector["cases"]:
        assert proportion_confint(hits, n, 0.05, "wilson") == pytest.approx((low, high), abs=5e-5)


def test_holm_rejects_what_was_published():
    vector = next(v for v in VECTORS if v["kind"] == "multiplicity")
    for method, rejected in vector["rejected"].items():
        found, *_ = multipletests(vector["p"], vector["alpha"], method)
        assert found.sum() == rejected, method


@given(st.lists(st.integers(0, 10**9), min_size=5, max_size=5))
def test_llr_is_finite_for_any_counts(counts: list[int]):
    value = llr(counts, 0.46, 0.50)
    assert math.isfinite(value)


@given(st.lists(st.integers(0, 5000), min_size=5, max_size=5))
def test_llr_changes_sign_with_the_hypotheses(counts: list[int]):
    assert llr(counts, 0.46, 0.50) == pytest.approx(-llr(counts, 0.50, 0.46), abs=1e-6)


@given(st.lists(st.integers(0, 5000), min_size=5, max_size=5))
def test_llr_mirrors_with_the_scores(counts: list[int]):
    assert llr(counts, 0.46, 0.50) == pytest.approx(-llr(counts[::-1], 0.50, 0.54), abs=1e-6)


@pytest.mark.parametrize("counts", [[0, 0, 0, 0, 10**6], [10**6, 0, 0, 0, 0], [0, 0, 10**6, 0, 0]])
def test_extreme_scores_decide_without_a_crash(counts: list[int]):
    value = llr(counts, 0.46, 0.50)
    won = counts[0] == 0
    assert Sprt().verdict(value, sum(counts)) == ("high" if won else "low")


def test_the_law_has_the_mean_it_should():
    """The likelihood ratio of a mean against the observed mean is never positive."""
    counts = np.array([10, 20, 40, 20, 10])
    observed = float(counts @ PAIR_SCORES / counts.sum())
    for mean in (0.3, 0.45, 0.55, 0.7):
        assert llr(counts, observed, mean, prior=0) < 0


def test_nothing_is_decided_before_fifty_pairs():
    assert Sprt().verdict(100.0, MIN_PAIRS - 1) is None
    assert Sprt().verdict(100.0, MIN_PAIRS) == "high"


@pytest.mark.parametrize("text", ["0.5", "a:b", "0.5:0.4", "0:1", "0.4:0.5:0.6", "-1:0.5"])
def test_bounds_that_make_no_sense_are_refused(text: str):
    with pytest.raises(GinsimError, match="bounds "):
        Sprt.parse(text)


def simulated_pairs(rate: float, runs: int, pairs: int, seed: int) -> np.ndarray:
    """Pair scores of two independent legs won at *rate*, [run, pair]."""
    legs = np.random.default_rng(seed).random((runs, pairs, 2)) < rate
    return legs.sum(axis=2) / 2


@pytest.mark.parametrize(("rate", "right"), [(0.50, "high"), (0.46, "low")])
def test_error_rates_stay_near_those_asked_for(rate: float, right: str):
    """At alpha = beta = 0.05, 300 runs err on 15 by the bounds; 35 is four deviations above."""
    wrong = 0
    for scores in simulated_pairs(rate, 300, 3000, seed=11):
        walk = Walk(Sprt(0.46, 0.50, 0.05, 0.05))
        stops = (walk.look(scores[at : at + 50]) for at in range(0, 3000, 50))
        wrong += next(stop.accepted for stop in stops if stop.accepted) != right
    assert wrong <= 35


def test_the_length_is_that_of_theory():
    """2 ln(1 / alpha) v / width**2 pairs, v the variance of a pair's score.

    That is 1,080 for independent legs (v = 1/8) at width 0.04 and alpha = beta = 0.001, and
    the 650 of statistics.md for mirrored legs, whose v is about 0.075.
    """
    lengths = []
    for scores in simulated_pairs(0.50, 60, 6000, seed=5):
        walk = Walk(Sprt())
        stops = (walk.look(scores[at : at + 50]) for at in range(0, 6000, 50))
        lengths.append(next(stop.pairs for stop in stops if stop.accepted))
    assert np.mean(lengths) == pytest.approx(1080, rel=0.15)
