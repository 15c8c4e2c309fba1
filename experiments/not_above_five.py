"""Never knock above 5 before the tenth turn."""

from pathlib import Path

from experiments.claims import NORMAL, RESULTS, run
from experiments.trial import Claim, Contrast, Held

CLAIM = Claim(
    "not_above_five",
    "Never knock above 5 before the tenth turn",
    seed=8_002_000,
    pairs=10_000,
    seconds=30,
    contrasts=(
        Contrast(
            "tenth turn of both players, later with 4 or less",
            f"{NORMAL},early_turns=5,early_limit=5,late_limit=4",
            f"{NORMAL},early_turns=5,early_limit=10,late_limit=4",
        ),
        Contrast(
            "tenth own turn, later with anything",
            f"{NORMAL},early_turns=10,early_limit=5,late_limit=10",
            f"{NORMAL},early_turns=10,early_limit=10,late_limit=10",
        ),
    ),
    held=tuple(
        Held(
            f"waits at 6 to 10 for 5 or less, own turns {first} to {last}",
            f"{NORMAL},early_limit=5,late_limit=5",
            (first, last),
            (6, 10),
            knocks=False,
        )
        for first, last in ((1, 2), (3, 5), (6, 9))
    ),
    how="`normal` that knocks with 5 or less before that turn; v with anything (10 or less).",
)


def main(pairs: int | None = None, results: Path = RESULTS) -> None:
    run(CLAIM, pairs, results)
