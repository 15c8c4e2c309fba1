"""The three levels: one family of heuristics, told apart by what each looks at.

A discard is judged by what it leaves: deadwood, less a share of what the cards still to be
drawn promise, plus the danger of handing the rival a meld. A level that does not look at the
discard pile counts outs that are long gone; one that does not look at the rival sees no
danger. No level plays at random, passes up gin, or searches deeper than its own next draw.

Knobs are ints, named here in order; their values stand in ``levels.toml``. Costs are in
hundredths of a point of deadwood.
"""

import numpy as np

from ginsim.bots.yardsticks import fresh, knockable, makes_meld
from ginsim.cards import DECK, RANK_POINTS, SUIT_MASK, Hand, count, lowest
from ginsim.jit import int64, kernel
from ginsim.melds import (
    RUN_CARDS,
    best_discards,
    deadwood,
    meldable,
    of_ranks,
    suit_of,
)
from ginsim.view import BIG_GIN, View

KNOB_NAMES = (
    "sees_pile",  #: 1: cards in the discard pile are no outs
    "sees_rival",  #: 1: cards the rival took are no outs; danger and the score count
    "out_weight",  #: cost taken off for each live out
    "save_weight",  #: cost taken off for each point that one live out would save
    "high_weight",  #: cost taken off for each point of an unmatched card: high ones go first
    "danger_weight",  #: cost of one chance in sixteen that the rival can meld the card
    "safe_weight",  #: cost taken off for each card near it that the rival threw or refused
    "take_margin",  #: points*100 by which an upcard must better the hand; -1: any meld will do
    "early_turns",  #: own turns during which early_limit holds
    "early_limit",  #: knocks with this deadwood or less in early_turns
    "late_limit",  #: knocks with this deadwood or less after them
    "end_stock",  #: with this many stock cards or fewer above the end, knocks at any limit
    "close_out",  #: knocks at any limit when this many points win the match
)
(
    SEES_PILE,
    SEES_RIVAL,
    OUT_WEIGHT,
    SAVE_WEIGHT,
    HIGH_WEIGHT,
    DANGER_WEIGHT,
    SAFE_WEIGHT,
    TAKE_MARGIN,
    EARLY_TURNS,
    EARLY_LIMIT,
    LATE_LIMIT,
    END_STOCK,
    CLOSE_OUT,
) = range(len(KNOB_NAMES))

#: Discards that leave this many points more than the best one are not looked at further.
WORTH_A_LOOK = 12


def _run_outs(mask: int) -> int:
    """Ranks that a suit mask lacks and that would lie in a run with it."""
    outs = 0
    for rank in range(13):
        bit = 1 << rank
        if not mask & bit and int(RUN_CARDS[mask | bit]) & bit:
            outs |= bit
    return outs


RUN_OUTS = np.array([_run_outs(mask) for mask in range(1 << 13)], dtype=np.int16)


@kernel
def outs(hand: Hand) -> Hand:
    """Cards that *hand* lacks and that would stand in a meld with it."""
    s, c, d, h = suit_of(hand, 0), suit_of(hand, 1), suit_of(hand, 2), suit_of(hand, 3)
    pairs = (s & c) | (s & d) | (s & h) | (c & d) | (c & h) | (d & h)
    runs = (
        int64(RUN_OUTS[s])
        | int64(RUN_OUTS[c]) << 13
        | int64(RUN_OUTS[d]) << 26
        | int64(RUN_OUTS[h]) << 39
    )
    return runs | (of_ranks(pairs) & ~hand)


@kernel
def live(view: View) -> Hand:
    """Cards that this player believes it may still draw, as far as it looks."""
    gone = view.hand
    if view.knobs[SEES_PILE]:
        gone |= view.discards
    if view.knobs[SEES_RIVAL]:
        gone |= view.rival_known
    return DECK & ~gone


@kernel
def highest_points(cards: Hand) -> int:
    """Points of the highest of *cards*, 0 if there are none."""
    ranks = (cards | cards >> 13 | cards >> 26 | cards >> 39) & SUIT_MASK
    top = 0
    while ranks:
        top = int64(RANK_POINTS[lowest(ranks)])
        ranks &= ranks - 1
    return top


@kernel
def saving(hand: Hand, left: int, chances: Hand) -> int:
    """Points that the outs *chances* would save *hand*, summed; *left* is its deadwood.

    An out saves what it melds and the highest loose card, which is thrown for it.
    """
    spare = highest_points(hand & ~meldable(hand))
    saved = 0
    while chances:
        bit = chances & -chances
        chances ^= bit
        saved += left - deadwood(hand | bit) + spare
    return saved


@kernel
def weight_in_rival(view: View, card: int) -> int:
    """How likely the rival holds *card*, in quarters: 4 if it took it, 1 if unseen, else 0."""
    bit = 1 << card
    if view.rival_known & bit:
        return 4
    return 0 if (view.hand | view.discards) & bit else 1


@kernel
def danger(view: View, card: int) -> int:
    """Chances in sixteen, summed over melds, that the rival can meld *card*."""
    rank, total, squares = card % 13, 0, 0
    for suit in range(4):
        other = 13 * suit + rank
        if other != card:
            weight = weight_in_rival(view, other)
            total += weight
            squares += weight * weight
    chances = (total * total - squares) // 2
    below2 = weight_in_rival(view, card - 2) if rank >= 2 else 0
    below1 = weight_in_rival(view, card - 1) if rank >= 1 else 0
    above1 = weight_in_rival(view, card + 1) if rank <= 11 else 0
    above2 = weight_in_rival(view, card + 2) if rank <= 10 else 0
    return chances + below2 * below1 + below1 * above1 + above1 * above2


@kernel
def near(card: int) -> Hand:
    """Cards of the same rank as *card*, and its neighbours in suit."""
    rank, bit = card % 13, 1 << card
    cards = of_ranks(1 << rank) & ~bit
    if rank > 0:
        cards |= bit >> 1
    if rank < 12:
        cards |= bit << 1
    return cards


@kernel
def cost(view: View, kept: Hand, left: int, drawable: Hand) -> int:
    """Hundredths of a point that *kept*, of deadwood *left*, is expected to leave in the end."""
    price = 100 * left
    chances = outs(kept) & drawable
    if view.knobs[OUT_WEIGHT]:
        price -= view.knobs[OUT_WEIGHT] * count(chances)
    if view.knobs[SAVE_WEIGHT]:
        price -= view.knobs[SAVE_WEIGHT] * saving(kept, left, chances)
    return price


@kernel
def risk(view: View, card: int) -> int:
    """Hundredths of a point that throwing *card* gives the rival, as far as this player looks."""
    if not view.knobs[SEES_RIVAL]:
        return 0
    spurned = view.rival_thrown | view.rival_refused
    return view.knobs[DANGER_WEIGHT] * danger(view, card) - view.knobs[SAFE_WEIGHT] * count(
        near(card) & spurned
    )


@kernel
def cheapest(view: View, legal: Hand, least: int) -> int:
    """Discard of *legal* that costs least; *least* is the least deadwood a discard leaves."""
    drawable, melded = live(view), meldable(view.hand)
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
                price -= view.knobs[HIGH_WEIGHT] * RANK_POINTS[card % 13]
            if price < best:
                best, best_card = price, card
    return best_card


def draw(view: View) -> int:
    """Take the upcard if it melds and betters the hand by the margin."""
    if not makes_meld(view):
        return 0
    margin = view.knobs[TAKE_MARGIN]
    if margin < 0:
        return 1
    before = deadwood(view.hand)
    after, _ = best_discards(view.hand | 1 << view.upcard, view.hand)
    if after == 0:
        return 1
    return 100 * (before - after) > margin


def discard(view: View) -> int:
    """Throw the card that leaves the least cost; gin whenever it is there."""
    least, best = best_discards(view.hand, view.legal)
    if least == 0:
        return lowest(knockable(view, best))
    return cheapest(view, fresh(view), least)


def knock(view: View) -> int:
    """Knock by the turn, the stock and the score; gin and big gin always."""
    if view.phase == BIG_GIN or view.kept_deadwood == 0:
        return 1
    if view.stock - view.stock_end <= view.knobs[END_STOCK]:
        return 1
    if view.score + view.knobs[CLOSE_OUT] >= view.target:
        return 1
    limit = view.knobs[LATE_LIMIT]
    if view.turn // 2 < view.knobs[EARLY_TURNS]:
        limit = view.knobs[EARLY_LIMIT]
    return view.kept_deadwood <= limit
