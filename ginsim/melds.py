"""Melds: least deadwood, the knocker's spread, and the defender's joint layoff.

A meld is a set (3 or 4 of a rank) or a run (3 or more neighbours of a suit, ace low only).
A way to meld a hand is written as two masks: ``sets``, the cards that lie in sets (at most
one set a rank, so the mask says which), and ``runs``, the cards that lie in runs. Two runs
that touch count as one longer run; no layoff tells them apart.

Least deadwood rests on two facts. Once the sets are chosen, every card of a maximal run of
three or more can be melded, so the rest is a table lookup a suit. And ten or eleven cards
have at most three ranks that can form a set, so trying every choice is cheap.
"""

import numpy as np

from ginsim.cards import RANK_POINTS, SUIT_MASK, Hand, count, lowest, points
from ginsim.jit import int64, kernel


def _in_runs(mask: int) -> int:
    """Cards of a suit mask that lie in its maximal runs of three or more."""
    members = 0
    for low in range(11):
        three = 7 << low
        if mask & three == three:
            members |= three
    return members


_ALL_SUIT_MASKS = range(1 << 13)

#: Cards of a suit mask that some run of three or more holds.
RUN_CARDS = np.array([_in_runs(mask) for mask in _ALL_SUIT_MASKS], dtype=np.int16)

#: Points of a suit mask's cards that no run holds.
LOOSE_POINTS = np.array(
    [
        sum(int(RANK_POINTS[rank]) for rank in range(13) if (mask & ~_in_runs(mask)) >> rank & 1)
        for mask in _ALL_SUIT_MASKS
    ],
    dtype=np.int16,
)


@kernel
def suit_of(hand: Hand, suit: int) -> int:
    """13-bit mask of the ranks that *hand* holds in *suit*."""
    return hand >> 13 * suit & SUIT_MASK


@kernel
def set_ranks(hand: Hand) -> int:
    """13-bit mask of the ranks of which *hand* holds three or four."""
    s, c, d, h = suit_of(hand, 0), suit_of(hand, 1), suit_of(hand, 2), suit_of(hand, 3)
    return (s & c & (d | h)) | (d & h & (s | c))


@kernel
def of_ranks(ranks: int) -> Hand:
    """Return the four cards of each rank in the 13-bit mask *ranks*."""
    return ranks | ranks << 13 | ranks << 26 | ranks << 39


@kernel
def run_cards(hand: Hand) -> Hand:
    """Cards of *hand* that some run within it holds."""
    members = 0
    for suit in range(4):
        members |= int64(RUN_CARDS[suit_of(hand, suit)]) << 13 * suit
    return members


@kernel
def meldable(hand: Hand) -> Hand:
    """Cards of *hand* that some meld within it holds (not all of them at once)."""
    return run_cards(hand) | (hand & of_ranks(set_ranks(hand)))


@kernel
def _without_runs(s: int, c: int, d: int, h: int) -> int:
    """Points left in four suit masks once every run is melded."""
    return (
        int64(LOOSE_POINTS[s])
        + int64(LOOSE_POINTS[c])
        + int64(LOOSE_POINTS[d])
        + int64(LOOSE_POINTS[h])
    )


@kernel
def _least(s: int, c: int, d: int, h: int, ranks: int) -> int:
    """Least deadwood of four suit masks when only *ranks* may still form sets."""
    if ranks == 0:
        return _without_runs(s, c, d, h)
    bit = ranks & -ranks
    rest, keep = ranks ^ bit, ~bit
    no_set = _least(s, c, d, h, rest)
    least = min(no_set, _least(s & keep, c & keep, d & keep, h & keep, rest))
    if s & c & d & h & bit:  # a set of three leaves one of the four to a run
        least = min(least, _least(s, c & keep, d & keep, h & keep, rest))
        least = min(least, _least(s & keep, c, d & keep, h & keep, rest))
        least = min(least, _least(s & keep, c & keep, d, h & keep, rest))
        least = min(least, _least(s & keep, c & keep, d & keep, h, rest))
    return least


@kernel
def deadwood(hand: Hand) -> int:
    """Fewest points *hand* (any 0-11 cards) can be left with, over all ways to meld it.

    >>> from ginsim.cards import parse
    >>> int(deadwood(parse("AS 2S 3S KH KD KC 5D 7C")))
    12
    """
    s, c, d, h = suit_of(hand, 0), suit_of(hand, 1), suit_of(hand, 2), suit_of(hand, 3)
    return _least(s, c, d, h, (s & c & (d | h)) | (d & h & (s | c)))


@kernel
def best_discards(hand: Hand, legal: Hand) -> tuple[int, Hand]:
    """Least deadwood of *hand* after throwing one card of *legal*, and the cards that leave it.

    A card that no meld of the hand can hold always counts in full, so of those only the
    highest matter and none needs a new search.

    >>> from ginsim.cards import parse, text
    >>> hand = parse("JS JH JD 8C 7S 7H 7D 4S 3D 2S AC")
    >>> left, cards = best_discards(hand, hand)
    >>> int(left), text(int(cards))
    (10, '8C')
    """
    least, best = 1 << 30, int64(0)
    melding = meldable(hand)
    stray = legal & ~melding
    if stray:
        whole = deadwood(hand)
        while stray:
            bit = stray & -stray
            stray ^= bit
            left = whole - RANK_POINTS[lowest(bit) % 13]
            if left < least:
                least, best = left, int64(0)
            if left == least:
                best |= bit
    rest = legal & melding
    while rest:
        bit = rest & -rest
        rest ^= bit
        left = deadwood(hand ^ bit)
        if left < least:
            least, best = left, int64(0)
        if left == least:
            best |= bit
    return least, best


@kernel
def discards_within(hand: Hand, legal: Hand, limit: int) -> Hand:
    """Cards of *legal* whose throwing leaves *hand* with *limit* deadwood or less."""
    within = 0
    rest = legal
    while rest:
        bit = rest & -rest
        rest ^= bit
        if deadwood(hand ^ bit) <= limit:
            within |= bit
    return within


@kernel
def is_meld(hand: Hand) -> bool:
    """Whether the cards of *hand* are one set or one run.

    >>> from ginsim.cards import parse
    >>> bool(is_meld(parse("QS KS AS"))), bool(is_meld(parse("AC AD AH")))
    (False, True)
    """
    cards = count(hand)
    if cards < 3:
        return False
    if hand == hand & of_ranks(1 << lowest(hand) % 13):
        return True
    low = lowest(hand)
    return low % 13 + cards <= 13 and hand == ((1 << cards) - 1) << low


@kernel
def beside(runs: Hand) -> Hand:
    """Cards that lengthen a run of *runs* by one, at either end (suits do not wrap)."""
    grown = 0
    for suit in range(4):
        run = suit_of(runs, suit)
        grown |= ((run << 1 | run >> 1) & SUIT_MASK & ~run) << 13 * suit
    return grown


@kernel
def fourths(sets: Hand) -> Hand:
    """Cards that complete the sets of three in *sets* to four."""
    return of_ranks(set_ranks(sets)) & ~sets


@kernel
def openings(sets: Hand, runs: Hand, unseen: Hand) -> int:
    """How many cards of *unseen* could be laid off on a spread, chains included."""
    reach = fourths(sets) & unseen
    grown = runs
    step = beside(grown) & unseen
    while step:
        reach |= step
        grown |= step
        step = beside(grown) & unseen
    return count(reach)


@kernel
def _spread_among(rest: Hand, ranks: int, sets: Hand, unseen: Hand) -> tuple[int, int]:
    """Best (cost, sets) over the sets that *ranks* can still form from the cards *rest*."""
    if ranks == 0:
        runs = run_cards(rest)
        return points(rest & ~runs) * 64 + openings(sets, runs, unseen), sets
    bit = ranks & -ranks
    ranks ^= bit
    best_cost, best_sets = _spread_among(rest, ranks, sets, unseen)
    held = rest & of_ranks(bit)
    left_out = int64(0)  # the card of four that the set does without; 0: none
    others = held if count(held) == 4 else int64(0)
    while True:
        meld = held ^ left_out
        cost, chosen = _spread_among(rest ^ meld, ranks, sets | meld, unseen)
        if cost < best_cost or (cost == best_cost and chosen < best_sets):
            best_cost, best_sets = cost, chosen
        if others == 0:
            return best_cost, best_sets
        left_out = others & -others
        others ^= left_out


@kernel
def default_spread(hand: Hand, unseen: Hand) -> tuple[int, int]:
    """Spread that a knocker lays down when none is chosen, as (sets, runs).

    Least deadwood; among equals the one on which the fewest cards of *unseen* (all that the
    knocker does not hold and that are not in the discard pile) could be laid off, chains
    included; then the lowest ``sets`` mask.
    """
    _, sets = _spread_among(hand, set_ranks(hand), int64(0), unseen)
    return sets, run_cards(hand & ~sets)


@kernel
def _lay_off(hand: Hand, runs: Hand, fourth: Hand, kept: Hand) -> tuple[int, int]:
    """Least deadwood of *hand* and the cards laid off, when *kept* cards stay.

    Runs come first: a card that fits a run opens the next one there, so laying it on a set
    instead never helps. Among equals the fewest cards are laid off.
    """
    ready = hand & beside(runs) & ~kept
    on_run = ready != 0
    if not on_run:
        ready = hand & fourth & ~kept
        if ready == 0:
            return deadwood(hand), 0
    card = ready & -ready
    least, laid = _lay_off(hand, runs, fourth, kept | card)
    after, more = _lay_off(hand ^ card, runs | card if on_run else runs, fourth, kept)
    if after < least or (after == least and count(more) + 1 < count(laid)):
        return after, more | card
    return least, laid


@kernel
def lay_off(defender: Hand, sets: Hand, runs: Hand) -> tuple[int, int]:
    """Least deadwood the *defender* can be left with against a spread, and the cards laid off.

    Own melds and layoffs are chosen together: own melds may be broken, and layoffs chain.

    >>> from ginsim.cards import parse, text
    >>> runs, sets = parse("4C 5C 6C"), parse("9S 9D 9H KS KD KC")
    >>> left, laid = lay_off(parse("3C 2C AD 7D JH QH KH 8S 6S 8D"), sets, runs)
    >>> int(left), text(int(laid))
    (30, '2C 3C')
    """
    return _lay_off(defender, runs, fourths(sets), int64(0))
