"""Cards and hands: a card is 0..51, a hand is an int with one bit a card.

Card = 13 * suit + rank, suits S C D H and ranks A23456789TJQK in this order, so that the
cards of a suit are neighbours and ``hand >> 13 * suit & 8191`` is its 13-bit suit mask.
"""

from collections.abc import Iterable, Iterator
from typing import TypeAlias

import numpy as np

from ginsim.errors import GinsimError
from ginsim.jit import int64, kernel

Card: TypeAlias = int  #: 0..51
Hand: TypeAlias = int  #: bit mask over cards 0..51; any set of cards, not only a hand

RANKS = "A23456789TJQK"
SUITS = "SCDH"
SUIT_MASK = (1 << 13) - 1
DECK: Hand = (1 << 52) - 1

#: Points of a card by rank: the ace 1, court cards 10.
RANK_POINTS = np.array([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10], dtype=np.int64)
#: Points of every 13-bit suit mask.
SUIT_POINTS = np.array(
    [sum(min(rank + 1, 10) for rank in range(13) if mask >> rank & 1) for mask in range(1 << 13)],
    dtype=np.int16,
)


@kernel
def count(hand: Hand) -> int:
    """Return the number of cards in *hand*."""
    cards = 0
    while hand:
        hand &= hand - 1
        cards += 1
    return cards


@kernel
def lowest(hand: Hand) -> Card:
    """First card of a non-empty *hand*, in card order."""
    return count((hand & -hand) - 1)


@kernel
def nth(hand: Hand, n: int) -> Card:
    """Card number *n* (from 0) of *hand*, in card order; *hand* holds more than *n* cards."""
    for _ in range(n):
        hand &= hand - 1
    return lowest(hand)


@kernel
def points(hand: Hand) -> int:
    """Points of all cards in *hand*, melded or not."""
    total = 0
    for suit in range(4):
        total += int64(SUIT_POINTS[hand >> 13 * suit & SUIT_MASK])
    return total


def cards_of(hand: Hand) -> Iterator[Card]:
    """Yield the cards of *hand* in card order.

    >>> list(cards_of(parse("2S AS")))
    [0, 1]
    """
    hand = int(hand)
    while hand:
        low = hand & -hand
        yield low.bit_length() - 1
        hand ^= low


def hand_of(cards: Iterable[Card]) -> Hand:
    """Return the hand that holds *cards*."""
    hand = 0
    for card in cards:
        hand |= 1 << int(card)
    return hand


def card_text(card: Card) -> str:
    """Rank and suit of *card*.

    >>> card_text(0), card_text(51)
    ('AS', 'KH')
    """
    return RANKS[card % 13] + SUITS[card // 13]


def text(hand: Hand) -> str:
    """Cards of *hand* in card order, separated by blanks; parses back.

    >>> text(parse("kh 2s As"))
    'AS 2S KH'
    """
    return " ".join(card_text(card) for card in cards_of(hand))


def parse_card(word: str) -> Card:
    """Return the card that *word* names: a rank, then a suit, in either case; 10 is T.

    Raises GinsimError, naming the word, when it is no card.

    >>> card_text(parse_card("10d"))
    'TD'
    """
    rank, suit = word[:-1].upper().replace("10", "T"), word[-1:].upper()
    if len(rank) != 1 or rank not in RANKS or len(suit) != 1 or suit not in SUITS:
        raise GinsimError(
            f"{word!r} is no card: write a rank of {RANKS} and a suit of {SUITS}, like AS or TD"
        )
    return 13 * SUITS.index(suit) + RANKS.index(rank)


def parse_cards(words: str) -> list[Card]:
    """Return the cards of *words* in the order written: ``AS 2S`` or ``As2s``.

    Raises GinsimError on a word that is no card and on a card named twice.
    """
    cards: list[Card] = []
    for word in words.replace(",", " ").split():
        step = 2 if len(word) > 3 and len(word) % 2 == 0 else len(word)
        cards += [parse_card(word[at : at + step]) for at in range(0, len(word), step)]
    for at, card in enumerate(cards):
        if card in cards[:at]:
            raise GinsimError(f"{card_text(card)} stands twice in {words.strip()!r}: name it once")
    return cards


def parse(words: str) -> Hand:
    """Hand that holds the cards of *words*.

    >>> count(parse("AS 2S 3S KH KD KC 5D 7C"))
    8
    """
    return hand_of(parse_cards(words))
