"""A rival's thrown suit is safe."""

from pathlib import Path

from experiments.claims import RESULTS, THROWER, like, run
from experiments.trial import Claim, Contrast

HARD = f"{THROWER}@{like('hard', danger_weight=0, safe_weight=0)}"
SUIT = f"{THROWER}@rule=10,weight=50"
CLAIM = Claim(
    "thrown_suit",
    "A rival's thrown suit is safe",
    seed=8_011_000,
    pairs=10_000,
    seconds=30,
    contrasts=(
        Contrast("rather than no look at it, by normal", SUIT, f"{THROWER}@rule=0"),
        Contrast("rather than the same rank, by normal", SUIT, f"{THROWER}@rule=11,weight=50"),
        Contrast(
            "rather than no look at it, by hard without its own caution",
            f"{HARD},rule=10,weight=50",
            f"{HARD},rule=0",
        ),
    ),
    how="Half a point of deadwood is spent to throw a suit for each card of it that the rival "
    "threw; v the same bot without the rule, and v the same price paid for ranks.",
)


def main(pairs: int | None = None, results: Path = RESULTS) -> None:
    run(CLAIM, pairs, results)
