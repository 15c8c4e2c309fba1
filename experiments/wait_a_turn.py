"""Knocking at 8 or 10 is nearly always worse than waiting a turn to get to 3 or 4."""

from pathlib import Path

from experiments.claims import NORMAL, RESULTS, run
from experiments.trial import Claim, Contrast, Held

CLAIM = Claim(
    "wait_a_turn",
    "Knocking at 8 or 10 is nearly always worse than waiting a turn to get to 3 or 4",
    seed=8_001_000,
    pairs=10_000,
    seconds=30,
    contrasts=(
        Contrast(
            "knocks with 4 or less rather than 10, normal",
            f"{NORMAL},early_limit=4,late_limit=4",
            f"{NORMAL},early_limit=10,late_limit=10",
        ),
        Contrast(
            "knocks with 4 or less rather than 8, normal",
            f"{NORMAL},early_limit=4,late_limit=4",
            f"{NORMAL},early_limit=8,late_limit=8",
        ),
    ),
    held=tuple(
        Held(
            f"waits at 8 to 10 for 4 or less, own turns {first} to {last}",
            f"{NORMAL},early_limit=4,late_limit=4",
            (first, last),
            (8, 10),
            knocks=False,
        )
        for first, last in ((1, 2), (3, 5), (6, 9))
    ),
    how="In whole matches the limit holds for the whole round.",
)


def main(pairs: int | None = None, results: Path = RESULTS) -> None:
    run(CLAIM, pairs, results)
