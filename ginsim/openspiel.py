"""OpenSpiel's gin bot at a ginsim table. Needs the extra ``openspiel``.

OpenSpiel's bot is asked with a state of OpenSpiel's game. For each decision one is built from
the view, by OpenSpiel's own actions: the same cards in hand, the same upcard, the same
question. The cards that the view does not show are filled in any way: the bot does not see
them. It looks at its hand, the upcard and what it may do, so nothing else need be the same.
"""

from functools import cache
from types import ModuleType
from typing import Any

from ginsim.bots import Bot
from ginsim.cards import Card, Hand, cards_of
from ginsim.errors import GinsimError
from ginsim.melds import best_discards
from ginsim.view import DISCARD, OFFER, View

# OpenSpiel's actions behind the 52 cards (its card numbers are ginsim's).
DRAW_UPCARD, DRAW_STOCK, PASS, KNOCK = 52, 53, 54, 55


def pyspiel() -> ModuleType:
    """Return OpenSpiel's module; raises GinsimError if it is not installed."""
    try:
        import pyspiel as module  # noqa: PLC0415 - an extra
    except ModuleNotFoundError:
        raise GinsimError(
            "OpenSpiel is not installed: pip install 'ginsim[openspiel]' (here: '.[openspiel]')"
        ) from None
    return module  # type: ignore[no-any-return]


@cache
def game() -> Any:
    """OpenSpiel's gin rummy with its standard parameters."""
    return pyspiel().load_game("gin_rummy")


@cache
def _player(seat: int) -> Any:
    return pyspiel().make_simple_gin_rummy_bot(game().get_parameters(), seat)


def dealt(hands: tuple[Hand, Hand], upcard: Card) -> Any:
    """State of OpenSpiel's game with these hands of ten dealt, player 0's first, and *upcard*."""
    state = game().new_initial_state()
    for card in (*cards_of(hands[0]), *cards_of(hands[1]), upcard):
        state.apply_action(card)
    return state


def _others(seen: Hand, number: int) -> list[Card]:
    """*number* cards that are not among *seen*."""
    return [card for card in range(52) if not seen >> card & 1][:number]


def _mask(cards: list[Card]) -> Hand:
    return sum(1 << card for card in cards)


def to_draw(hand: Hand, upcard: Card, rival: Hand | None = None, stock: Hand = 0) -> Any:
    """State in which player 1, with *hand*, takes *upcard* or draws from the stock.

    Player 0 holds *rival*, or any ten cards: it drew the upcard and threw it. The cards of
    *stock* are left in the stock.
    """
    seen = hand | 1 << upcard | (rival or 0) | stock
    filler = _others(seen, 11)
    state = dealt((rival or _mask(filler[1:]), hand), filler[0])
    for action in (PASS, PASS, DRAW_STOCK, upcard, upcard):
        state.apply_action(action)
    return state


def to_discard(hand: Hand, drawn: Card, taken: bool, rival: Hand | None = None) -> Any:
    """State in which player 1, with *hand* of eleven, *drawn* among them, throws or knocks."""
    before = hand ^ 1 << drawn
    if taken:
        state = to_draw(before, drawn, rival)
        state.apply_action(DRAW_UPCARD)
        return state
    upcard = _others(hand | (rival or 0), 1)[0]
    state = to_draw(before, upcard, rival, 1 << drawn)
    state.apply_action(DRAW_STOCK)
    state.apply_action(drawn)
    return state


def _asked(state: Any) -> tuple[int, Any]:
    """Action of OpenSpiel's bot in *state*, and the bot, which may have more to say."""
    player = _player(state.current_player())
    player.restart()
    return int(player.step(state)), player


def draw(view: View) -> int:
    """Whether it takes the upcard."""
    if view.phase != OFFER:
        return int(_asked(to_draw(view.hand, view.upcard))[0] == DRAW_UPCARD)
    rival = _mask(_others(view.hand | 1 << view.upcard, 10))
    hands = (view.hand, rival) if view.starter else (rival, view.hand)
    state = dealt(hands, view.upcard)
    if not view.starter:
        state.apply_action(PASS)
    return int(_asked(state)[0] == DRAW_UPCARD)


def _throws(hand: Hand, drawn: Card, taken: bool) -> tuple[Card, bool]:
    """Card that OpenSpiel's bot throws from *hand* of eleven, and whether it knocks with it."""
    state = to_discard(hand, drawn, taken)
    action, player = _asked(state)
    if action != KNOCK:
        return action, False
    state.apply_action(action)
    return int(player.step(state)), True


def discard(view: View) -> int:
    """Card that it throws."""
    card, _ = _throws(view.hand, view.drawn, bool(view.known >> view.drawn & 1))
    if view.legal >> card & 1:
        return card
    # OpenSpiel allows throwing the card just taken; where the rules do not, the next best.
    _, best = best_discards(view.hand, view.legal)
    return max(cards_of(best), key=lambda one: one % 13)


def knock(view: View) -> int:
    """Whether it knocks. OpenSpiel's game has no big gin, so it never declares that."""
    if view.phase == DISCARD or view.hand.bit_count() == 11:
        return 0
    eleven = view.hand | 1 << view.upcard
    return int(_throws(eleven, view.drawn, bool(view.known >> view.drawn & 1))[1])


def simple_bot() -> Bot:
    """OpenSpiel's SimpleGinRummyBot as a ginsim bot, in plain Python."""
    game()
    return Bot(
        "openspiel", draw, discard, knock,
        about="SimpleGinRummyBot of OpenSpiel (Lanctot et al. 2019), asked through pyspiel",
        jit=False,
    )  # fmt: skip
