"""With 5 or less knock rather than wait for gin."""

from pathlib import Path

from experiments.claims import PLACES, RESULTS, Claim, Contrast, run

CLAIM = Claim(
    "five_or_gin",
    "With 5 or less knock rather than wait for gin",
    seed=8_003_000,
    pairs=10_000,
    seconds=30,
    contrasts=(
        Contrast(
            "by normal",
            "normal@early_limit=5,late_limit=5",
            "normal@early_limit=0,late_limit=0",
        ),
        Contrast(
            "by hard",
            "hard@early_limit=5,late_limit=5",
            "hard@early_limit=0,late_limit=0",
            PLACES[:5],
        ),
        Contrast("by simple", "knock-at-5", "gin-only"),
    ),
    how="Knocks with 5 or less all round long; v knocks with gin alone, but for the end of the "
    "stock and the match, where both do as their level does.",
)


def main(pairs: int | None = None, results: Path = RESULTS) -> None:
    run(CLAIM, pairs, results)
