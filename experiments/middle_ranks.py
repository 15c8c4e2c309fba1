"""Middle ranks are worth more than ends."""

from pathlib import Path

from experiments.claims import PLAIN, RESULTS, THROWER, run
from experiments.trial import Claim, Contrast

CLAIM = Claim(
    "middle_ranks",
    "Middle ranks are worth more than ends",
    seed=8_007_000,
    pairs=10_000,
    seconds=30,
    contrasts=(
        Contrast(
            "kept where deadwood is equal (T and J rather than Q and K)",
            f"{THROWER}@{PLAIN},rule=7,weight=25",
            f"{THROWER}@{PLAIN},rule=8,weight=25",
        ),
        Contrast(
            "kept at half a point for each run of three, by normal",
            f"{THROWER}@rule=7,weight=50",
            f"{THROWER}@rule=1",
        ),
        Contrast(
            "kept at a point for each run of three, by normal",
            f"{THROWER}@rule=7,weight=100",
            f"{THROWER}@rule=1",
        ),
    ),
    how="A rank lies in one run of three (ace, king), two (deuce, queen) or three (3 to J). Where "
    "deadwood is equal: the middle kept v the ends kept. At a price: v ranks all alike.",
)


def main(pairs: int | None = None, results: Path = RESULTS) -> None:
    run(CLAIM, pairs, results)
