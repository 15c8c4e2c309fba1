"""Yardstick bots: the players that levels are measured against."""

from ginsim.cards import Hand, count, nth
from ginsim.jit import kernel
from ginsim.melds import best_discards, deadwood, meldable
from ginsim.rng import below
from ginsim.view import BIG_GIN, View

# Knobs of simple.
SIMPLE_KNOCKS_AT = 0  #: knocks with this deadwood or less


@kernel
def makes_meld(view: View) -> bool:
    """Whether the upcard would stand in any meld of the eleven cards, and cost no gin in hand."""
    upcard = 1 << view.upcard
    eleven = view.hand | upcard
    if not meldable(eleven) & upcard:
        return False
    if deadwood(view.hand) > 0:
        return True
    return best_discards(eleven, view.hand)[0] == 0


@kernel
def knockable(view: View, discards: Hand) -> Hand:
    """*discards* without the card just taken, with which one may not go out, if others are left."""
    others = discards & ~(view.known & 1 << view.drawn)
    return others if others else discards


@kernel
def fresh(view: View) -> Hand:
    """Legal discards that do not swap in circles, or all of them if there are no others."""
    others = view.legal & ~view.swapped
    return others if others else view.legal


def simple_draw(view: View) -> int:
    """Take the upcard if it would stand in any meld of the eleven cards."""
    return makes_meld(view)


def simple_discard(view: View) -> int:
    """Throw at random among the cards that leave least deadwood, not swapping in circles."""
    least, best = best_discards(view.hand, view.legal)
    if least == 0:
        best = knockable(view, best)
    elif best & view.swapped and view.legal & ~view.swapped:
        _, best = best_discards(view.hand, view.legal & ~view.swapped)
    return nth(best, below(view.key, count(best)))


def simple_knock(view: View) -> int:
    """Knock with the deadwood of the knob or less."""
    return view.phase == BIG_GIN or view.kept_deadwood <= view.knobs[SIMPLE_KNOCKS_AT]


def random_draw(view: View) -> int:
    """Take the upcard every other time, at random."""
    return below(view.key, 2)


def random_discard(view: View) -> int:
    """Throw any legal card, each as likely."""
    return nth(view.legal, below(view.key, count(view.legal)))


def random_knock(view: View) -> int:
    """Knock whenever it is legal."""
    return 1
