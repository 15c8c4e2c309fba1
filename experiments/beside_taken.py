"""Do not throw next to what the rival took."""

from pathlib import Path

from experiments.claims import RESULTS, THROWER, like, run
from experiments.trial import Claim, Contrast

HARD = f"{THROWER}@{like('hard', danger_weight=0, safe_weight=0)}"

CLAIM = Claim(
    "beside_taken",
    "Do not throw next to what the rival took",
    seed=8_009_000,
    pairs=10_000,
    seconds=30,
    contrasts=(
        Contrast(
            "unless that costs a point, by normal",
            f"{THROWER}@rule=9,weight=100",
            f"{THROWER}@rule=0",
        ),
        Contrast(
            "unless that costs three points, by normal",
            f"{THROWER}@rule=9,weight=300",
            f"{THROWER}@rule=0",
        ),
        Contrast(
            "unless that costs a point, by hard without its own caution",
            f"{HARD},rule=9,weight=100",
            f"{HARD},rule=0",
        ),
    ),
    how="Keeps cards of the rank, or beside it in suit, of a card that the rival took from the "
    "pile and still holds; v the same bot without the rule.",
)


def main(pairs: int | None = None, results: Path = RESULTS) -> None:
    run(CLAIM, pairs, results)
