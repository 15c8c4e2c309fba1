"""With 5 or less knock rather than wait for gin."""

from pathlib import Path

from experiments.claims import NORMAL, RESULTS, run
from experiments.trial import Claim, Contrast, Held

CLAIM = Claim(
    "five_or_gin",
    "With 5 or less knock rather than wait for gin",
    seed=8_003_000,
    pairs=10_000,
    seconds=30,
    contrasts=(
        Contrast(
            "by normal",
            f"{NORMAL},early_limit=5,late_limit=5",
            f"{NORMAL},early_limit=0,late_limit=0",
        ),
        Contrast("by simple", "knock-at-5", "gin-only"),
    ),
    held=tuple(
        Held(
            f"knocks with 1 to 5, own turns {first} to {last}",
            f"{NORMAL},early_limit=0,late_limit=0",
            (first, last),
            (1, 5),
            knocks=True,
        )
        for first, last in ((1, 2), (3, 5), (6, 9))
    ),
    how="Knocks with 5 or less all round long; v knocks with gin alone, but for the end of the "
    "stock and the match, where both do as their level does.",
)


def main(pairs: int | None = None, results: Path = RESULTS) -> None:
    run(CLAIM, pairs, results)
