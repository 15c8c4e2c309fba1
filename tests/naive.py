"""Slow, plain twins of the kernels: pure Python, each written from its definition.

Nothing here is shared with the code under test but the encoding of cards (13 * suit + rank)
and of hands (one bit a card). A twin has the arguments and the result of its kernel.
"""

from collections.abc import Iterator
from functools import cache
from itertools import combinations

ALL_CARDS = range(52)
DECK = (1 << 52) - 1

# --- cards.py ---------------------------------------------------------------------------------


def cards(hand: int) -> list[int]:
    """Cards of *hand*, in card order."""
    return [card for card in ALL_CARDS if hand >> card & 1]


def mask(some_cards) -> int:
    return sum(1 << card for card in set(some_cards))


def card_points(card: int) -> int:
    return min(card % 13 + 1, 10)


def count(hand: int) -> int:
    return len(cards(hand))


def lowest(hand: int) -> int:
    return min(cards(hand))


def nth(hand: int, n: int) -> int:
    return sorted(cards(hand))[n]


@cache
def points(hand: int) -> int:
    return sum(card_points(card) for card in cards(hand))


# --- melds.py: what a meld is -----------------------------------------------------------------


def _all_sets() -> list[int]:
    """Three or four cards of one rank."""
    return [
        mask(13 * suit + rank for suit in suits)
        for rank in range(13)
        for size in (3, 4)
        for suits in combinations(range(4), size)
    ]


def _all_runs() -> list[int]:
    """Three or more neighbours of one suit, from the ace to the king."""
    return [
        mask(13 * suit + rank for rank in range(low, high + 1))
        for suit in range(4)
        for low in range(13)
        for high in range(low + 2, 13)
    ]


SETS = _all_sets()
RUNS = _all_runs()
MELDS = SETS + RUNS


def melds_in(hand: int) -> list[int]:
    """Every meld that lies within *hand*; they may share cards."""
    return [meld for meld in MELDS if meld & hand == meld]


def _disjoint(melds: list[int]) -> Iterator[tuple[int, ...]]:
    """Every choice of *melds*, none included, in which no card lies twice."""
    yield ()
    for at, meld in enumerate(melds):
        for more in _disjoint([other for other in melds[at + 1 :] if not other & meld]):
            yield (meld, *more)


@cache
def spreads(hand: int) -> list[tuple[int, ...]]:
    """Every way to meld *hand*, each as a tuple of melds."""
    return list(_disjoint(melds_in(hand)))


def union(melds) -> int:
    """Cards of all *melds*."""
    together = 0
    for meld in melds:
        together |= meld
    return together


def sets_of(spread) -> int:
    """Cards of the sets of *spread*."""
    return union(meld for meld in spread if meld in SETS)


def runs_of(spread) -> int:
    """Cards of the runs of *spread*."""
    return union(meld for meld in spread if meld in RUNS)


def loose(hand: int, spread) -> int:
    """Points of the cards of *hand* that *spread* leaves."""
    return points(hand & ~union(spread))


# --- melds.py: kernels ------------------------------------------------------------------------


def set_ranks(hand: int) -> int:
    ranks = [card % 13 for card in cards(hand)]
    return mask(rank for rank in ranks if ranks.count(rank) >= 3)


def of_ranks(ranks: int) -> int:
    wanted = cards(ranks)
    return mask(card for card in ALL_CARDS if card % 13 in wanted)


def run_cards(hand: int) -> int:
    return union(run for run in RUNS if run & hand == run)


def meldable(hand: int) -> int:
    return union(melds_in(hand))


@cache
def deadwood(hand: int) -> int:
    return min(loose(hand, spread) for spread in spreads(hand))


def best_discards(hand: int, legal: int) -> tuple[int, int]:
    left = {card: deadwood(hand - (1 << card)) for card in cards(legal)}
    least = min(left.values())
    return least, mask(card for card in left if left[card] == least)


def discards_within(hand: int, legal: int, limit: int) -> int:
    return mask(card for card in cards(legal) if deadwood(hand - (1 << card)) <= limit)


def is_meld(hand: int) -> bool:
    return hand in MELDS


def _neighbours(card: int, other: int) -> bool:
    return card // 13 == other // 13 and abs(card % 13 - other % 13) == 1


def beside(runs: int) -> int:
    held = cards(runs)
    return mask(
        card
        for card in ALL_CARDS
        if card not in held and any(_neighbours(card, other) for other in held)
    )


def fourths(sets: int) -> int:
    ranks = [card % 13 for card in cards(sets)]
    return mask(
        card for card in ALL_CARDS if card not in cards(sets) and ranks.count(card % 13) == 3
    )


def fits(card: int, meld: int) -> bool:
    """Whether *meld* with *card* added is still one meld."""
    return not meld >> card & 1 and is_meld(meld | 1 << card)


def openings(spread, unseen: int) -> int:
    """Number of cards of *unseen* that can be laid on *spread*, one after another."""
    reached = 0
    for meld in spread:
        grown, before = meld, 0
        while grown != before:
            before = grown
            for card in cards(unseen):
                if fits(card, grown):
                    grown |= 1 << card
        reached |= grown & ~meld
    return count(reached)


def default_spread(hand: int, unseen: int) -> tuple[int, int]:
    best = min(
        spreads(hand),
        key=lambda spread: (loose(hand, spread), openings(spread, unseen), sets_of(spread)),
    )
    return sets_of(best), runs_of(best)


def least_spreads(hand: int) -> list[tuple[int, ...]]:
    """Every spread that leaves *hand* with its least deadwood."""
    return [spread for spread in spreads(hand) if loose(hand, spread) == deadwood(hand)]


def layoffs(defender: int, spread) -> set[int]:
    """Every set of cards that *defender* can lay off on *spread*, laying them one by one."""
    laid_on = {(0, tuple(spread))}
    todo = list(laid_on)
    while todo:
        laid, table = todo.pop()
        for card in cards(defender & ~laid):
            for at, meld in enumerate(table):
                if fits(card, meld):
                    grown = (*table[:at], meld | 1 << card, *table[at + 1 :])
                    after = (laid | 1 << card, grown)
                    if after not in laid_on:
                        laid_on.add(after)
                        todo.append(after)
    return {laid for laid, _ in laid_on}


def lay_off(defender: int, spread) -> tuple[int, set[int]]:
    """Least deadwood after the best layoff, and every set of laid cards that reaches it."""
    left = {laid: deadwood(defender & ~laid) for laid in layoffs(defender, spread)}
    least = min(left.values())
    return least, {laid for laid in left if left[laid] == least}


# --- rng.py -----------------------------------------------------------------------------------

_WORD = 2**64


def splitmix64(seed: int) -> Iterator[int]:
    """Outputs of SplitMix64 as published: http://prng.di.unimi.it/splitmix64.c."""
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) % _WORD
        yield mix(state)


def mix(z: int) -> int:
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % _WORD
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % _WORD
    return z ^ (z >> 31)


def output(state: int, n: int) -> int:
    return mix((state + (n + 1) * 0x9E3779B97F4A7C15) % _WORD)


def fold(key: int, label: int) -> int:
    return output(key, label) // 2


def stream(seed: int, pair: int, round_: int) -> int:
    key = seed
    for label in (0, pair, round_):
        key = fold(key, label)
    return key


def attempts(key: int, at: int) -> Iterator[int]:
    """32-bit words tried for draw *at*: the high halves of outputs at, at + 64, at + 128, .."""
    while True:
        yield output(key, at) >> 32
        at += 64


def below(key: int, n: int, at: int = 0) -> int:
    """Number w * n // 2**32 of the first accepted word w (Lemire 2019).

    The words of one number stand n apart in w * n % 2**32. Of each number 2**32 // n words
    reach 2**32 % n there, whatever the number; a word below that would favour its number.
    """
    for word in attempts(key, at):
        share, into = divmod(word * n, 2**32)
        if into >= 2**32 % n:
            return share
    raise AssertionError("unreachable")


def shuffle(key: int, length: int) -> list[int]:
    deck = list(range(length))
    for last in reversed(range(1, length)):
        other = below(key, last + 1, at=last)
        deck[last], deck[other] = deck[other], deck[last]
    return deck


def hash_rows(rows: list[list[int]], key: int) -> list[tuple[int, int]]:
    """Two hashes a row: cell after cell is mixed into a word that starts from *key*."""
    gamma, hashes = 0x9E3779B97F4A7C15, []
    for row in rows:
        word = mix((key + gamma) % _WORD)
        for cell in row:
            word = mix(((word ^ cell % _WORD) + gamma) % _WORD)
        hashes.append((mix((word + gamma) % _WORD) // 2, mix(word ^ 0xBF58476D1CE4E5B9) // 2))
    return hashes


# --- scoring.py -------------------------------------------------------------------------------


def settle(rules, shown: int, knocker: int, defender: int) -> tuple[str, int]:
    """Name of the outcome and the points, positive for the knocker."""
    if knocker == 0 and shown == 11:
        return "big_gin", defender + rules.big_gin_bonus
    if knocker == 0:
        return "gin", defender + rules.gin_bonus
    undercut = defender < knocker or (defender == knocker and rules.tie == 1)
    if undercut:
        return "undercut", -(abs(knocker - defender) + rules.undercut_bonus)
    return "knock", abs(knocker - defender)


def knock_limit(rules, upcard_rank: int) -> int:
    """Oklahoma: the upcard's points (a court card 10) if lower than the limit, the ace gin only."""
    limit = rules.knock_limit
    if rules.oklahoma:
        limit = min(limit, card_points(upcard_rank))
        if rules.oklahoma_ace and upcard_rank == 0:
            limit = 0
    return limit
