"""Yardstick bots: the players that levels are measured against."""

from ginsim.cards import count, nth
from ginsim.jit import kernel
from ginsim.melds import best_discards, meldable
from ginsim.rng import below
from ginsim.view import BIG_GIN, View

# Knobs of simple.
SIMPLE_KNOCKS_AT = 0  #: knocks with this deadwood or less


@kernel
def makes_meld(view: View) -> bool:
    """Whether the upcard would stand in any meld of the eleven cards."""
    upcard = 1 << view.upcard
    return meldable(view.hand | upcard) & upcard != 0


def simple_draw(view: View) -> int:
    """Take the upcard if it would stand in any meld of the eleven cards."""
    return makes_meld(view)


def simple_discard(view: View) -> int:
    """Throw at random among the cards that leave least deadwood, not swapping in circles."""
    fresh = view.legal & ~view.swapped
    if fresh == 0:
        fresh = view.legal
    _, best = best_discards(view.hand, fresh)
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
