"""The rules, sentence by sentence, on dealt decks; the worked examples; the cases of faults."""

import hands
import numpy as np
import pytest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from scripted import (
    Played,
    discards_asked,
    knocks_asked,
    outcome,
    phases,
    plain_bot,
    play,
    play_bots,
    rules_of,
    stacked,
    text_of,
)

from ginsim import engine, match, records
from ginsim.bots import load
from ginsim.cards import hand_of, parse, parse_card, text
from ginsim.errors import GinsimError
from ginsim.melds import best_discards, deadwood, is_meld
from ginsim.replay import deck_of, replay, Where
from ginsim.rng import below, shuffle
from ginsim.rows import ROW
from ginsim.rules import PRESETS, STARTER_SEAT_0, TO_TARGET, preset, with_overrides
from ginsim.showdown import lay_off_order, melds_of, showdown
from ginsim.tournament import Plan, Totals, manifest_of, played as blocks_played, prepare_folder
from ginsim.tournament import run_tournament
from ginsim.verify import Finished, referee
from ginsim.view import BIG_GIN, DISCARD, DRAW, KNOCK, OFFER

CLASSIC = rules_of("classic")
OPENS = ("frapper", "big-gin", "tutorial", "table")  #: presets whose upcard opens the pile
OFFERS = ("classic", "eaai", "openspiel")
TO_100 = ("classic", "frapper", "big-gin", "tutorial", "eaai")

#: Three melds and two loose cards after a draw of the nine of hearts; the king goes.
GOES_OUT = "AS 2S 3S 5D 6D 7D 9S 9C"
#: Three melds of a defender to whom nothing of GOES_OUT's spread is of use.
MELDED = "TH JH QH KS KD KH 2C 2D 2H"
#: Ten cards without a meld or a card that melds with the upcard 9H, and ten more.
LOOSE = "AS 3S 5S 7S 9S JS KS 2D 4D 6D"
OTHERS = "2C 4C 6C 8C TC QC AH 3H 5H 7H"


def passed(*turns: str) -> tuple[str, ...]:
    """*turns* after both have passed the upcard."""
    return ("pass", "pass", *turns)


def knocked(loose: str, defender: str, rules=CLASSIC) -> Played:
    """The starter knocks with the card *loose* against *defender*."""
    deck = stacked(f"{GOES_OUT} {loose} KC", defender, "4H", "9H")
    start = () if rules.upcard else ("pass", "pass")
    return play(deck, *start, "draw KC knock", rules=rules)


# --- the deal ---


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("seed", range(4))
def test_ten_cards_are_dealt_alternately_from_the_non_dealer(name, seed):
    played = play_bots((plain_bot(), plain_bot()), preset(name)._replace(round_limit=1), seed=seed)
    deck, starter = deck_of(seed, 0, 0), played.row["starter"]
    dealt = {}
    for asked in played.asked:
        dealt.setdefault(asked.seat, asked.view.hand)
    first = {seat: hand & hand_of(deck[:20]) for seat, hand in dealt.items()}
    assert first == {starter: hand_of(deck[0:20:2]), 1 - starter: hand_of(deck[1:20:2])}
    assert sorted(deck) == list(range(52))


@pytest.mark.parametrize("name", PRESETS)
def test_the_21st_card_is_the_upcard_and_31_are_in_the_stock(name):
    played = play(stacked(LOOSE, OTHERS, "9H"), rules=rules_of(name))
    view = played.to_act.view
    assert (view.upcard, view.discards, view.stock) == (parse_card("9H"), parse("9H"), 31)


def test_the_stock_is_drawn_in_the_order_of_the_deck():
    deck = stacked(LOOSE, OTHERS, "9H", "KD KC KH QD")
    played = play(deck, *passed("draw KD", "draw KC", "draw KH", "draw QD"))
    draws = [card for step, _, card in played.steps if step == "draw"]
    assert text_of(draws) == "KD KC KH QD"
    assert draws == deck[21:25]


def test_players_take_turns():
    played = play(stacked(LOOSE, OTHERS, "9H", "KD KC KH"), *passed("draw KD", "draw KC"))
    assert phases(played) == [
        (0, OFFER), (1, OFFER), (0, DISCARD), (1, DRAW), (1, DISCARD), (0, DRAW),
    ]  # fmt: skip


# --- knock and gin ---


def test_a_knock_at_ten_is_offered_and_at_eleven_is_not():
    ten, eleven = "AS 2S 3S 5D 6D 7D 9S 9C 8H KC", "AS 2S 3S 5D 6D 7D 9S 9C 8H 3C"
    at_ten = play(stacked(f"{ten[:-5]} KC QD", OTHERS.replace("8C", "8H"), "4H", "9D"), "pass")
    assert not knocks_asked(at_ten)
    for loose, limit, offered in (("TC", 10, True), ("TC", 9, False), ("JC", 10, True)):
        deck = stacked(f"{GOES_OUT} {loose} KC", MELDED + " 8H", "4H", "9H")
        played = play(deck, *passed("draw KC"), rules=rules_of("classic", knock_limit=limit))
        assert bool(knocks_asked(played)) is offered
    del eleven


