"""normal, with one more rule for its discards: what rule guides say, each to be had or not.

A rule adds to the cost of a throw (hundredths of a point of deadwood, as in bots/levels.py)
during the first ``turns`` own turns. Two bots that differ in ``rule`` alone differ in nothing
else. The high_weight of normal, by which calibration holds it back, is 0 to begin with. Rules
that settle what is otherwise equal throw dice where even they see no difference.
"""

from ginsim.bots import Bot, levels, load
from ginsim.bots.gallery import isolated
from ginsim.bots.levels import WORTH_A_LOOK, cost, live, near, risk
from ginsim.bots.yardsticks import fresh, knockable
from ginsim.cards import RANK_POINTS, SUIT_MASK, Hand, count, lowest
from ginsim.jit import kernel
from ginsim.melds import best_discards, deadwood, meldable, of_ranks
from ginsim.rng import below, fold
from ginsim.view import View

RULE, WEIGHT, TURNS = range(len(levels.KNOB_NAMES), len(levels.KNOB_NAMES) + 3)

NONE = 0  #: normal itself, not held back
EVEN = 1  #: normal, but dice settle what is equal
FACE_FIRST = 2  #: cards of ten points that fit no other go first, of these any
FACE_LAST = 3  #: cards of ten points that fit no other are kept
LOW_FIRST = 4  #: cards that fit no other go first, of these the lowest
USED = 5  #: keeps cards that fit another, by rank or by suit
DOUBLE = 6  #: the same, and twice as much if they fit others both ways
MIDDLE = 7  #: keeps cards by the runs of three they may lie in: 1 for A and K .. 3 for 3 to J
ENDS = 8  #: the reverse
BESIDE_TAKEN = 9  #: keeps cards next to one that the rival took
THROWN_SUIT = 10  #: throws cards of suits that the rival threw, the more the better
THROWN_RANK = 11  #: throws cards of ranks that the rival threw

FIRST = 100_000  #: a cost that goes before all others
DICE = 16  #: below every weight that is used


@kernel
def _runs(rank: int) -> int:
    return min(rank + 1, 13 - rank, 3)


@kernel
def _uses(hand: Hand, card: int) -> int:
    """How many ways *card* fits other cards of *hand*: by rank, and by suit within two."""
    others = hand & ~(1 << card)
    ranks = others >> 13 * (card // 13) & SUIT_MASK
    bit = 1 << card % 13
    close = (bit << 1 | bit << 2 | bit >> 1 | bit >> 2) & ranks
    return int((others & of_ranks(bit)) != 0) + int(close != 0)


@kernel
def _extra(view: View, card: int) -> int:
    """Cost that the rule adds to throwing *card*."""
    rule, weight = view.knobs[RULE], view.knobs[WEIGHT]
    dice = below(fold(view.key, card), DICE)
    if rule == EVEN:
        return dice
    if rule in (FACE_FIRST, FACE_LAST, LOW_FIRST):
        if not isolated(view.hand) >> card & 1:
            return 0
        height = RANK_POINTS[card % 13]
        if rule == LOW_FIRST:
            return dice - FIRST * (11 - height)
        return 0 if height < 10 else FIRST if rule == FACE_LAST else dice - FIRST
    if rule == USED:
        return dice + weight * min(_uses(view.hand, card), 1)
    if rule == DOUBLE:
        return dice + weight * _uses(view.hand, card)
    if rule == MIDDLE:
        return dice + weight * _runs(card % 13)
    if rule == ENDS:
        return dice - weight * _runs(card % 13)
    if rule == BESIDE_TAKEN:
        return weight * int((near(card) & view.rival_known) != 0)
    if rule == THROWN_SUIT:
        return -weight * count(view.rival_thrown & SUIT_MASK << 13 * (card // 13))
    if rule == THROWN_RANK:
        return -weight * count(view.rival_thrown & of_ranks(1 << card % 13))
    return 0


@kernel
def _cheapest(view: View, legal: Hand, least: int) -> int:
    """Discard of *legal* that costs least, as ``levels.cheapest`` with the rule's share.

    A rule may want a card out of a finished meld, which ``levels.cheapest`` never throws.
    """
    drawable, melded = live(view), meldable(view.hand)
    ruled = view.turn // 2 < view.knobs[TURNS]
    best, best_card = 1 << 40, -1
    while legal:
        card = lowest(legal)
        bit = legal & -legal
        legal ^= bit
        kept = view.hand ^ bit
        left = deadwood(kept)
        if left <= least + WORTH_A_LOOK:
            price = cost(view, kept, left, drawable) + risk(view, card)
            if not melded & bit:
                price -= view.knobs[levels.HIGH_WEIGHT] * RANK_POINTS[card % 13]
            if ruled:
                price += _extra(view, card)
            if price < best:
                best, best_card = price, card
    return best_card


def _discard(view: View) -> int:
    least, best = best_discards(view.hand, view.legal)
    if least == 0:
        return lowest(knockable(view, best))
    return _cheapest(view, fresh(view), least)


_normal = load("normal@high_weight=0")
thrower = Bot(
    "thrower",
    levels.draw,
    _discard,
    levels.knock,
    {**_normal.parameters, "rule": NONE, "weight": 0, "turns": 1_000},
    "normal, with one more rule for its discards",
)
