"""Knocking at 8 or 10 is nearly always worse than waiting a turn to get to 3 or 4."""

from pathlib import Path

from experiments.claims import PLACES, RESULTS, Claim, Contrast, run

CLAIM = Claim(
    "wait_a_turn",
    "Knocking at 8 or 10 is nearly always worse than waiting a turn to get to 3 or 4",
    seed=8_001_000,
    pairs=10_000,
    seconds=30,
    contrasts=(
        Contrast(
            "knocks with 4 or less rather than 10, normal",
            "normal@early_limit=4,late_limit=4",
            "normal@early_limit=10,late_limit=10",
        ),
        Contrast(
            "knocks with 4 or less rather than 8, normal",
            "normal@early_limit=4,late_limit=4",
            "normal@early_limit=8,late_limit=8",
        ),
        Contrast(
            "knocks with 4 or less rather than 10, hard",
            "hard@early_limit=4,late_limit=4",
            "hard@early_limit=10,late_limit=10",
            PLACES[:5],
        ),
    ),
    how="The limit holds for the whole round, so that a hand with more waits until it has less.",
)


def main(pairs: int | None = None, results: Path = RESULTS) -> None:
    run(CLAIM, pairs, results)
