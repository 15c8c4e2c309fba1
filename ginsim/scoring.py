"""Settlement: who scores what when a round ends."""

from ginsim.jit import kernel
from ginsim.rules import Rules

# How a round ends. DEAD and FORFEIT have no knock to settle.
KNOCK, GIN, BIG_GIN, UNDERCUT, DEAD, FORFEIT = 0, 1, 2, 3, 4, 5
OUTCOMES = ("knock", "gin", "big_gin", "undercut", "dead", "forfeit")


@kernel
def settle(rules: Rules, cards: int, knocker: int, defender: int) -> tuple[int, int]:
    """Outcome and points of a knock, positive for the knocker, negative for the defender.

    *cards* is how many the knocker shows (11 is big gin); *knocker* and *defender* are the
    deadwoods, the defender's after layoffs, which gin does not allow. Equal deadwood where
    a tie is no undercut is a knock worth 0.
    """
    if knocker == 0 and cards == 11:
        return BIG_GIN, rules.big_gin_bonus + defender
    if knocker == 0:
        return GIN, rules.gin_bonus + defender
    if knocker < defender:
        return KNOCK, defender - knocker
    if knocker == defender and not rules.tie:
        return KNOCK, 0
    return UNDERCUT, -(knocker - defender + rules.undercut_bonus)


@kernel
def knock_limit(rules: Rules, upcard_rank: int) -> int:
    """Knock limit of a round whose first upcard has *upcard_rank* (0 the ace .. 12 the king)."""
    if not rules.oklahoma:
        return rules.knock_limit
    if upcard_rank == 0 and rules.oklahoma_ace:
        return 0
    return min(rules.knock_limit, upcard_rank + 1, 10)
