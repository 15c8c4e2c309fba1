"""Against a rival who draws from the pile a lot knock early, against one who does not wait."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from experiments.claims import NORMAL, RESULTS, TAKER, cell, play_all, report
from experiments.trial import Cell, Claim
from experiments.verdicts import judged
from ginsim.stats import rate

EARLY = f"{NORMAL},early_limit=10,late_limit=10"
LATE = {
    "with 4 or less": f"{NORMAL},early_limit=4,late_limit=4",
    "with gin": f"{NORMAL},early_limit=0,late_limit=0",
}
GIN = ",early_limit=0,late_limit=0"
#: Who takes every upcard that lowers its deadwood, and who takes none but for gin.
RIVALS = {
    "normal": (f"{TAKER}@take_loose=1", f"{TAKER}@take_loose=-1"),
    "one that waits for gin": (f"{TAKER}@take_loose=1{GIN}", f"{TAKER}@take_loose=-1{GIN}"),
}
RULES = ("classic", "frapper")

CLAIM = Claim(
    "pile_drawer",
    "Against a rival who draws from the pile a lot knock early, against one who draws from the "
    "stock wait",
    seed=8_010_000,
    pairs=10_000,
    seconds=30,
    effect="matches won, early or late as claimed",
)


def cells_of(pairs: int) -> list[Cell]:
    """Early v a pile drawer, late v a stock drawer, and the difference between the two."""
    both = [spec for pair in RIVALS.values() for spec in pair]
    played = play_all(
        (
            (spec, rival, rules)
            for spec in (EARLY, *LATE.values())
            for rival in both
            for rules in RULES
        ),
        CLAIM.seed,
        pairs,
    )
    cells = []
    for late, limit in LATE.items():
        tried: dict[str, Sequence[tuple[int, str, int]]] = {
            f"knock early rather than {late}, v a pile drawer": [(1, EARLY, 0), (-1, limit, 0)],
            f"{late} rather than early, v a stock drawer": [(1, limit, 1), (-1, EARLY, 1)],
            f"early rather than {late} gains more v a pile drawer": [
                (1, EARLY, 0), (-1, limit, 0), (1, limit, 1), (-1, EARLY, 1),
            ],
        }  # fmt: skip
        for label, terms in tried.items():
            for name, kinds in RIVALS.items():
                for rules in RULES:
                    played_terms = [(w, played[spec, kinds[k], rules]) for w, spec, k in terms]
                    cells.append(cell(label, name, rules, played_terms))
    return cells


def draws(pairs: int) -> str:
    """How many of its draws each kind of rival takes from the pile, as a sentence."""
    both = RIVALS["normal"]
    played = play_all(((spec, "normal", "classic") for spec in both), CLAIM.seed, pairs)
    said = []
    for spec in both:
        tally = played[spec, "normal", "classic"].tally()
        share = 2 * rate(tally, "pile_draws").value / rate(tally, "turns").value
        said.append(f"`{spec}` {100 * share:.0f} %")
    return f"Draws from the pile against `normal`: {', '.join(said)}. "


def main(pairs: int | None = None, results: Path = RESULTS) -> None:
    pairs = pairs or CLAIM.pairs
    how = (
        draws(min(pairs, 1_000))
        + f"`{EARLY}` v "
        + ", ".join(f"`{late}`" for late in LATE.values())
        + ". Either rival knocks as `normal`, or waits for gin."
    )
    claim = replace(CLAIM, how=how)
    report(claim, judged(cells_of(pairs)), pairs, results)
