"""The strongest bot that the heuristics of the levels allow, one draw deep.

It judges a discard as the levels do, and looks closer: what each live out would save is
counted with the card that is then thrown; early on, outs weigh more than deadwood; loose
cards count for the neighbours that may yet come; an upcard is taken for what it makes of the
hand, not only for its meld. And it knocks by a chart, drawn from the engine by setting the
points of knocking now against those of playing on, by turn and deadwood: in its first two
turns with anything, then for two turns only with much deadwood, because a hand with little is
close to gin and undercuts the rival meanwhile, later with gin alone.
"""

from ginsim.bots.levels import WORTH_A_LOOK, danger, highest_points, near, outs
from ginsim.bots.yardsticks import fresh, knockable, makes_meld
from ginsim.cards import DECK, SUIT_MASK, Hand, count, lowest
from ginsim.jit import kernel
from ginsim.melds import best_discards, deadwood, meldable, of_ranks
from ginsim.view import BIG_GIN, View

KNOB_NAMES = (
    "save_early",  #: cost*100 taken off for each point a live out would save, early on
    "save_late",  #: the same, later
    "early_until",  #: own turns that count as early for save_early
    "link_weight",  #: cost taken off for each live card near a loose one
    "danger_weight",  #: cost of one chance in sixteen that the rival can meld the card
    "safe_weight",  #: cost taken off for each card near it that the rival threw or refused
    "take_margin",  #: points*100 by which an upcard must better the hand
    "open_turns",  #: own turns in which it knocks with anything
    "third_from",  #: knocks in its third turn with this deadwood or more (or gin)
    "fourth_from",  #: in its fourth
    "fifth_from",  #: in its fifth
    "end_stock",  #: with this many stock cards or fewer above the end, knocks with anything
    "close_out",  #: knocks with anything when this many points win the match
)
(
    SAVE_EARLY, SAVE_LATE, EARLY_UNTIL, LINK_WEIGHT, DANGER_WEIGHT, SAFE_WEIGHT, TAKE_MARGIN,
    OPEN_TURNS, THIRD_FROM, FOURTH_FROM, FIFTH_FROM, END_STOCK, CLOSE_OUT,
) = range(len(KNOB_NAMES))  # fmt: skip

NEVER = 11  #: a deadwood that no knock has

#: Tuned by experiments/master.py on its tuning seeds.
PARAMETERS = {
    "save_early": 8,
    "save_late": 4,
    "early_until": 4,
    "link_weight": 5,
    "danger_weight": 25,
    "safe_weight": 30,
    "take_margin": 100,
    "open_turns": 2,
    "third_from": 4,
    "fourth_from": 5,
    "fifth_from": 7,
    "end_stock": 0,
    "close_out": 8,
}


@kernel
def links(cards: Hand) -> Hand:
    """Cards that *cards* lack, of the rank of one of them or within two of it in its suit."""
    near_by = 0
    for suit in range(4):
        mask = cards >> 13 * suit & SUIT_MASK
        grown = (mask << 1 | mask >> 1 | mask << 2 | mask >> 2) & SUIT_MASK
        near_by |= grown << 13 * suit
    ranks = (cards | cards >> 13 | cards >> 26 | cards >> 39) & SUIT_MASK
    return (near_by | of_ranks(ranks)) & ~cards


@kernel
def savings(kept: Hand, left: int, chances: Hand) -> int:
    """Points that the outs *chances* would save *kept*, summed; *left* is its deadwood.

    An out saves what it melds and the highest card that is loose then, which is thrown.
    """
    saved = 0
    while chances:
        bit = chances & -chances
        chances ^= bit
        eleven = kept | bit
        saved += left - deadwood(eleven) + highest_points(eleven & ~meldable(eleven))
    return saved


@kernel
def worth(view: View, kept: Hand, left: int, drawable: Hand) -> int:
    """Hundredths of a point that *kept*, of deadwood *left*, is expected to leave in the end."""
    early = view.turn // 2 < view.knobs[EARLY_UNTIL]
    save = view.knobs[SAVE_EARLY] if early else view.knobs[SAVE_LATE]
    chances = outs(kept) & drawable
    price = 100 * left - save * savings(kept, left, chances)
    if view.knobs[LINK_WEIGHT]:
        loose = kept & ~meldable(kept)
        price -= view.knobs[LINK_WEIGHT] * count(links(loose) & drawable & ~chances)
    return price


@kernel
def risk(view: View, card: int) -> int:
    """Hundredths of a point that throwing *card* gives the rival."""
    spurned = view.rival_thrown | view.rival_refused
    return view.knobs[DANGER_WEIGHT] * danger(view, card) - view.knobs[SAFE_WEIGHT] * count(
        near(card) & spurned
    )


@kernel
def cheapest(view: View, hand: Hand, legal: Hand, least: int) -> tuple[int, int]:
    """Least cost of throwing one card of *legal* from eleven, and the card.

    *least* is the least deadwood that a discard leaves.
    """
    drawable = DECK & ~(hand | view.discards | view.rival_known)
    best, best_card = 1 << 40, -1
    while legal:
        card = lowest(legal)
        bit = legal & -legal
        legal ^= bit
        kept = hand ^ bit
        left = deadwood(kept)
        if left <= least + WORTH_A_LOOK:
            price = worth(view, kept, left, drawable) + risk(view, card)
            if price < best:
                best, best_card = price, card
    return best, best_card


def draw(view: View) -> int:
    """Take the upcard if it melds and what it makes of the hand is better by the margin."""
    if not makes_meld(view):
        return 0
    eleven = view.hand | 1 << view.upcard
    least, _ = best_discards(eleven, view.hand)
    if least == 0:
        return 1
    drawable = DECK & ~(eleven | view.discards | view.rival_known)
    now = worth(view, view.hand, deadwood(view.hand), drawable)
    after, _ = cheapest(view, eleven, view.hand, least)
    return now - after > view.knobs[TAKE_MARGIN]


def discard(view: View) -> int:
    """Throw the card that costs least; gin whenever it is there."""
    least, best = best_discards(view.hand, view.legal)
    if least == 0:
        return lowest(knockable(view, best))
    _, card = cheapest(view, view.hand, fresh(view), least)
    return card


def knock(view: View) -> int:
    """Knock by the chart; gin and big gin always."""
    if view.phase == BIG_GIN or view.kept_deadwood == 0:
        return 1
    if view.stock - view.stock_end <= view.knobs[END_STOCK]:
        return 1
    if view.score + view.knobs[CLOSE_OUT] >= view.target:
        return 1
    turn = view.turn // 2
    if turn < view.knobs[OPEN_TURNS]:
        return 1
    least = NEVER
    if turn == 2:
        least = view.knobs[THIRD_FROM]
    elif turn == 3:
        least = view.knobs[FOURTH_FROM]
    elif turn == 4:
        least = view.knobs[FIFTH_FROM]
    return view.kept_deadwood >= least
