"""Throw unmatched face cards first."""

from pathlib import Path

from experiments.claims import RESULTS, THROWER, run
from experiments.trial import Claim, Contrast

FIRST = f"{THROWER}@rule=2"
CLAIM = Claim(
    "faces_first",
    "Throw unmatched face cards first",
    seed=8_005_000,
    pairs=10_000,
    seconds=30,
    contrasts=(
        Contrast("rather than what normal throws", FIRST, f"{THROWER}@rule=0"),
        Contrast(
            "rather than keep them for three turns", f"{FIRST},turns=3", f"{THROWER}@rule=3,turns=3"
        ),
        Contrast(
            "rather than unmatched low cards, for three turns",
            f"{FIRST},turns=3",
            f"{THROWER}@rule=4,turns=3",
        ),
    ),
    how="`normal` that throws a card of ten points which fits no other (no pair, nothing within "
    "two in its suit) whenever it has one; only gin goes before.",
)


def main(pairs: int | None = None, results: Path = RESULTS) -> None:
    run(CLAIM, pairs, results)
