"""Verdicts on cells and claims, and how they are said."""

from collections.abc import Sequence
from dataclasses import replace

from experiments.trial import (
    DEPENDS,
    FAILS,
    HOLDS,
    NO_DIFFERENCE,
    SHARE,
    UNDECIDED,
    Cell,
    Unit,
)
from ginsim.stats import Rate, holm

ALPHA = 0.05  #: of all cells of a claim together


def judged(cells: Sequence[Cell]) -> list[Cell]:
    """*cells* with p-values adjusted over all of them, and a verdict each."""
    _, adjusted = holm([one.p for one in cells], ALPHA)
    return [
        replace(one, adjusted=float(p), verdict=verdict_of(one.effect, float(p), one.unit))
        for one, p in zip(cells, adjusted, strict=True)
    ]


def verdict_of(effect: Rate, adjusted: float, unit: Unit = SHARE) -> str:
    """Verdict of one cell.

    >>> verdict_of(Rate(0.03, 0.02, 0.04, 9), 0.001), verdict_of(Rate(0.004, 0.001, 0.007, 9), 0.01)
    ('holds', 'no difference')
    """
    if effect.low > -unit.margin and effect.high < unit.margin:
        return NO_DIFFERENCE
    if adjusted < ALPHA:
        return HOLDS if effect.value > 0 else FAILS
    return UNDECIDED


def overall(cells: Sequence[Cell]) -> str:
    """Verdict on a claim: what all cells say, what most say unopposed, or that it depends."""
    share = {
        verdict: sum(one.verdict == verdict for one in cells) / len(cells)
        for verdict in (HOLDS, FAILS, NO_DIFFERENCE, UNDECIDED)
    }
    if share[HOLDS] and share[FAILS]:
        return DEPENDS
    for verdict, part in share.items():
        if part == 1:
            return verdict
    for verdict in (HOLDS, FAILS):
        if share[verdict] >= 0.5:
            return f"mostly {verdict}"
        if share[verdict]:
            return DEPENDS
    return NO_DIFFERENCE if share[NO_DIFFERENCE] >= 0.5 else UNDECIDED


def where(cells: Sequence[Cell], against: str = "v") -> str:
    """For which rivals and rules each verdict was found, contrast by contrast."""
    said = []
    for contrast in dict.fromkeys(one.contrast for one in cells):
        own = [one for one in cells if one.contrast == contrast]
        parts = [
            f"{verdict} {against} {_places(own, verdict)}"
            for verdict in dict.fromkeys(one.verdict for one in own)
        ]
        said.append((f"{contrast}: " if contrast else "") + "; ".join(parts))
    return ". ".join(said)


def _places(cells: Sequence[Cell], verdict: str) -> str:
    """Rivals of the cells with *verdict*, with their rules where not all of them say so."""
    if len(cells) > 1 and all(one.verdict == verdict for one in cells):
        return "all"
    said = {one.rules: set[bool]() for one in cells}  # under which rules all, or none, say so
    for one in cells:
        said[one.rules].add(one.verdict == verdict)
    if len(said) > 1 and all(len(answers) == 1 for answers in said.values()):
        return f"all ({', '.join(rules for rules, answers in said.items() if True in answers)})"
    named = []
    for rival in dict.fromkeys(one.rival for one in cells):
        own = [one for one in cells if one.rival == rival]
        rules = [one.rules for one in own if one.verdict == verdict]
        if len(rules) == len(own):
            named.append(rival)
        elif rules:
            named.append(f"{rival} ({', '.join(rules)})")
    return ", ".join(named)


def rules_of(cells: Sequence[Cell]) -> str:
    """Which rules the cells were played under; rivals named where not all were.

    >>> one = Cell("", "easy", "classic", Rate(0, 0, 0, 1), None, 1)
    >>> rules_of([one, replace(one, rival="hard"), replace(one, rules="eaai")])
    'classic; eaai (easy)'
    """
    rivals = dict.fromkeys(one.rival for one in cells)
    said = []
    for rules in dict.fromkeys(one.rules for one in cells):
        own = dict.fromkeys(one.rival for one in cells if one.rules == rules)
        said.append(rules if len(own) == len(rivals) else f"{rules} ({', '.join(own)})")
    return "; ".join(said)


def sentence_of(cells: Sequence[Cell]) -> str:
    """Verdict in one sentence, with the range of effects."""
    counts = [
        f"{verdict} in {sum(one.verdict == verdict for one in cells)}"
        for verdict in (HOLDS, FAILS, NO_DIFFERENCE, UNDECIDED)
        if any(one.verdict == verdict for one in cells)
    ]
    ranges = []
    for unit in dict.fromkeys(one.unit for one in cells):
        values = [unit.scale * one.effect.value for one in cells if one.unit == unit]
        ranges.append(f"from {min(values):+.1f} to {max(values):+.1f} {unit.name}")
    return (
        f"{overall(cells)}, for these bots: {', '.join(counts)} of {len(cells)} cells; effects "
        + " and ".join(ranges)
    )


def ranges(cells: Sequence[Cell]) -> str:
    """Range of the values of each kind, in one sentence."""
    said = []
    for kind in dict.fromkeys(one.contrast for one in cells):
        values = [100 * one.effect.value for one in cells if one.contrast == kind]
        said.append(f"{kind}: {min(values):.2f} to {max(values):.2f} %")
    return "; ".join(said)
