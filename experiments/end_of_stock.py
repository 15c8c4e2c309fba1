"""A safe knock at 8-9 beats waiting for gin when the stock runs out."""

from pathlib import Path

from experiments.claims import BOTS, NORMAL, RESULTS, run
from experiments.trial import Claim, Contrast, Held

KNOCKER = f"{BOTS}/knocker.py:knocker"
KNOCKS = f"{KNOCKER}@knock_from=8,knock_to=9,stock_left"
CLAIM = Claim(
    "end_of_stock",
    "A safe knock at 8-9 beats waiting for gin when the stock runs out",
    seed=8_004_000,
    pairs=10_000,
    seconds=30,
    contrasts=(
        Contrast("with 8 or 9, last 2 stock cards", f"{KNOCKS}=2", KNOCKER),
        Contrast("with 8 or 9, last 6 stock cards", f"{KNOCKS}=6", KNOCKER),
        Contrast(
            "with 8 or 9, last 6, if the rival holds no card it took", f"{KNOCKS}=6,safe=1", KNOCKER
        ),
    ),
    held=(
        Held(
            "knocks with 8 or 9, own turns 11 to 14",
            f"{NORMAL},early_limit=0,late_limit=0,end_stock=-1",
            (11, 14),
            (8, 9),
            knocks=True,
        ),
    ),
    how="`normal` that waits for gin, but knocks with that deadwood once so many stock cards or "
    "fewer are left above the end; v gin alone to the end.",
)


def main(pairs: int | None = None, results: Path = RESULTS) -> None:
    run(CLAIM, pairs, results)
