"""Hands to test on: strategies for random and meld-dense hands, and the cases of tests/data."""

import json
from pathlib import Path

import naive
from hypothesis import strategies as st

from ginsim.cards import hand_of, parse

DATA = Path(__file__).parent / "data"


def cases(name: str) -> list[dict]:
    """Lines of a file of tests/data, whose README names the sources."""
    return [json.loads(line) for line in (DATA / name).read_text().splitlines()]


def rule_cases(op: str) -> list[tuple[str, dict, dict]]:
    """(id, input, expected) of the cases of rules.jsonl that ask *op*."""
    return [
        (case["id"], case["input"], case["expected"])
        for case in cases("rules.jsonl")
        if case["input"]["op"] == op
    ]


def melds_of(words: list[str]) -> list[int]:
    """Melds of a spread written one word list a meld."""
    return [parse(meld) for meld in words]


@st.composite
def _band(draw, least: int) -> list[int]:
    """All suits of 4 to 7 neighbouring ranks (*least* or more): sets and runs overlap."""
    ranks = draw(st.integers(least, 7))
    low = draw(st.integers(0, 13 - ranks))
    return [13 * suit + rank for suit in range(4) for rank in range(low, low + ranks)]


@st.composite
def _two_suits(draw) -> list[int]:
    """Two suits: long runs, and chains of layoffs on them."""
    first, second = draw(st.permutations(range(4)))[:2]
    return [13 * suit + rank for suit in (first, second) for rank in range(13)]


@st.composite
def _some_of(draw, pool, least: int, most: int) -> int:
    cards = draw(pool)
    size = draw(st.integers(least, most))
    return hand_of(draw(st.permutations(cards))[:size])


def random_hands(least: int, most: int):
    """Hands of *least* to *most* cards of the whole deck."""
    return _some_of(st.just(list(range(52))), least, most)


def dense_hands(least: int, most: int):
    """Hands of *least* to *most* cards, full of melds that share cards."""
    return _some_of(st.one_of(_band(4), _two_suits()), least, most)


def hands(least: int, most: int):
    """Hands of *least* to *most* cards, two of three of them dense."""
    return st.one_of(random_hands(least, most), dense_hands(least, most), dense_hands(least, most))


@st.composite
def _two_of(draw, pool, size: int) -> tuple[int, int]:
    cards = draw(st.permutations(draw(pool)))
    return hand_of(cards[:size]), hand_of(cards[size : 2 * size])


@st.composite
def _knocks(draw) -> tuple[int, int]:
    """A knocker with two or three melds of a band, and a defender who can often lay off on them."""
    band = draw(_band(4))
    melds = [meld for meld in naive.MELDS if set(naive.cards(meld)) <= set(band)]
    spread: list[int] = []
    for meld in draw(st.lists(st.sampled_from(melds), min_size=2, max_size=6)):
        together = naive.union(spread) | meld
        if not naive.union(spread) & meld and naive.count(together) <= 10:
            spread.append(meld)
    near = [card for card in range(52) if band[0] - 3 <= card % 13 <= band[-1] % 13 + 3]
    others = draw(st.permutations([card for card in near if not naive.union(spread) >> card & 1]))
    missing = 10 - naive.count(naive.union(spread))
    knocker = naive.union(spread) | hand_of(others[:missing])
    rest = others[missing:]
    if draw(st.booleans()):  # the cards that fit a meld come first
        rest.sort(key=lambda card: not any(naive.fits(card, meld) for meld in spread))
    return knocker, hand_of(rest[:10])


def deals():
    """(knocker, defender): two disjoint hands of ten, most of them dense."""
    wide = _two_of(st.just(list(range(52))), 10)
    dense = st.one_of(_two_of(_band(5), 10), _two_of(_two_suits(), 10))
    return st.one_of(wide, dense, _knocks(), _knocks())


any_cards = st.integers(0, (1 << 52) - 1)  #: any set of cards at all
suit_orders = st.permutations(range(4))


def resuited(hand: int, order: list[int]) -> int:
    """*hand* with its suits exchanged: suit s becomes suit order[s]."""
    return hand_of(13 * order[card // 13] + card % 13 for card in range(52) if hand >> card & 1)
