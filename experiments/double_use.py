"""Keep cards that serve two combinations."""

from pathlib import Path

from experiments.claims import PLAIN, RESULTS, THROWER, run
from experiments.trial import Claim, Contrast

CLAIM = Claim(
    "double_use",
    "Keep cards that serve two combinations",
    seed=8_006_000,
    pairs=10_000,
    seconds=30,
    contrasts=(
        Contrast(
            "where deadwood is equal, by a player that counts no outs",
            f"{THROWER}@{PLAIN},rule=6,weight=30",
            f"{THROWER}@{PLAIN},rule=5,weight=30",
        ),
        Contrast(
            "at the price of a point, by a player that counts no outs",
            f"{THROWER}@{PLAIN},rule=6,weight=100",
            f"{THROWER}@{PLAIN},rule=5,weight=100",
        ),
        Contrast(
            "at the price of a point, by normal, which counts live outs",
            f"{THROWER}@rule=6,weight=100",
            f"{THROWER}@rule=5,weight=100",
        ),
    ),
    how="Both bots keep cards that fit another (a pair, or within two in its suit); one values a "
    "card that fits both ways twice, the other once.",
)


def main(pairs: int | None = None, results: Path = RESULTS) -> None:
    run(CLAIM, pairs, results)
