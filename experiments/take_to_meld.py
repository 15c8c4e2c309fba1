"""Take from the discard pile only what makes a meld."""

from pathlib import Path

from experiments.claims import RESULTS, TAKER, run
from experiments.trial import Claim, Contrast

CLAIM = Claim(
    "take_to_meld",
    "Take from the discard pile only what makes a meld",
    seed=8_008_000,
    pairs=10_000,
    seconds=30,
    contrasts=tuple(
        Contrast(
            f"rather than also what lowers the deadwood by {points} or more",
            f"{TAKER}@take_loose=0",
            f"{TAKER}@take_loose={points}",
        )
        for points in (1, 5, 8)
    ),
    how="`normal`, which takes only what melds, and the same that also takes upcards without a "
    "meld if the best throw then leaves less deadwood.",
)


def main(pairs: int | None = None, results: Path = RESULTS) -> None:
    run(CLAIM, pairs, results)
