"""What a player may know, as a tuple of ints, and the types the compiler needs for it.

A view is made for one decision of one player. It never holds the order of the stock or a
card of the rival that the rival did not take from the discard pile.
"""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

from numba import types

from ginsim.cards import DECK, Card, Hand, count
from ginsim.jit import kernel

KNOBS = 16  #: how many parameters a bot may have

# What is being asked (View.phase).
OFFER = 0  #: draw: take the first upcard, or pass without drawing
DRAW = 1  #: draw: take the upcard, or draw from the stock
DISCARD = 2  #: discard: which card of ``legal`` to throw
KNOCK = 3  #: knock: end the round with the ten cards of ``hand``, the discard already chosen
BIG_GIN = 4  #: knock: declare the eleven cards of ``hand`` as big gin


class View(NamedTuple):
    """One decision, seen by the player who makes it. All int64; hands are masks over cards.

    The rival always holds ten cards when this player decides, so that is no field.
    """

    key: int  #: stream of this decision; ``below(view.key, n)`` draws from it
    phase: int  #: OFFER, DRAW, DISCARD, KNOCK or BIG_GIN
    hand: int  #: own cards: 10 when drawing or knocking, 11 when discarding or at BIG_GIN
    upcard: int  #: top card of the discard pile, -1 when there is none
    drawn: int  #: card drawn this turn, -1 before the draw; in ``known`` if from the pile
    legal: int  #: at DISCARD: cards that may be thrown
    swapped: int  #: cards exchanged for ``drawn`` by this player earlier this round, either way
    discards: int  #: all cards of the discard pile
    pile0: int  #: their order: ten cards a word, 6 bits each, the oldest lowest (``pile_card``)
    pile1: int
    pile2: int
    pile3: int
    rival_known: int  #: cards the rival took from the pile and still holds
    rival_thrown: int  #: cards the rival has thrown this round
    rival_refused: int  #: upcards the rival left lying this round
    known: int  #: own cards that the rival saw this player take
    stock: int  #: cards left in the stock
    turn: int  #: turns finished this round, both players counted
    starter: int  #: 1 if this player started the round, else 0
    score: int  #: own points in the match
    rival_score: int
    kept_deadwood: int  #: at KNOCK: deadwood of ``hand``; 0 at BIG_GIN; else -1
    knock_limit: int  #: this round's (Oklahoma may lower it)
    stock_end: int  #: stock at which the hand dies
    gin_bonus: int
    undercut_bonus: int
    target: int  #: points that win the match; 1 where one scored round does
    knobs: tuple[int, ...]  #: the bot's own parameters, KNOBS of them


KNOBS_TYPE = types.UniTuple(types.int64, KNOBS)
VIEW_TYPE = types.NamedTuple([types.int64] * (len(View._fields) - 1) + [KNOBS_TYPE], View)
#: Signature of a bot's three functions, and the type of the value that the engine is passed.
POLICY_SIGNATURE = types.int64(VIEW_TYPE)
POLICY_TYPE = types.FunctionType(POLICY_SIGNATURE)

Policy: TypeAlias = Callable[[Any], int]


@kernel
def pile_card(view: View, at: int) -> Card:
    """Card number *at* (from 0, the oldest) of the discard pile; *at* is below its size."""
    word = view.pile0
    if at >= 30:
        word = view.pile3
    elif at >= 20:
        word = view.pile2
    elif at >= 10:
        word = view.pile1
    return word >> 6 * (at % 10) & 63


@kernel
def pile_size(view: View) -> int:
    """Cards in the discard pile."""
    return count(view.discards)


@kernel
def unseen(view: View) -> Hand:
    """Cards that may lie in the stock or in the rival's hand, those it took included."""
    return DECK & ~(view.hand | view.discards)
