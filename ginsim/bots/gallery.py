"""Known players of the EAAI 2021 Gin Rummy challenge, rebuilt from their published ideas.

Ideas, not programs: words, code and most numbers are ours. Each player's dict names its knobs
in order, with their values; costs are in hundredths of a point of deadwood. Scores are match
wins in percent against ``simple`` under ``eaai``, 5,000 mirrored pairs, +- 0.8; the values were
chosen on seeds 100 to 108.

All three take the upcard only if it melds and betters the hand, never pass up gin, and knock
with nothing else, but for the first turns of ``expected-deadwood``.
"""

import numpy as np

from ginsim.bots.levels import danger, highest_points, near, outs
from ginsim.cards import DECK, RANK_POINTS, Card, Hand, count, lowest, nth, points
from ginsim.jit import kernel
from ginsim.melds import best_discards, deadwood, meldable, of_ranks, suit_of
from ginsim.rng import below
from ginsim.view import View

# --- what the players share ---


def draw(view: View) -> int:
    """Take the upcard if it melds and lowers the deadwood after the best discard; for gin always.

    A finished hand is thus never broken, but may grow into big gin.
    """
    upcard = 1 << view.upcard
    eleven = view.hand | upcard
    if not meldable(eleven) & upcard:
        return 0
    after, _ = best_discards(eleven, view.hand)
    return after == 0 or after < deadwood(view.hand)


def gin_only_knock(view: View) -> int:
    """Knock with gin and big gin."""
    return view.kept_deadwood == 0


@kernel
def gin_throw(view: View) -> Card:
    """Card whose throwing leaves gin, -1 if there is none.

    Not the card just drawn if another will do: if taken, some rules forbid to go out with it.
    """
    least, best = best_discards(view.hand, view.legal)
    if least > 0:
        return -1
    others = best & ~(1 << view.drawn)
    return lowest(others) if others else lowest(best)


@kernel
def throwable(view: View) -> Hand:
    """Legal discards that do not swap in circles; all legal ones if there are no others."""
    fresh = view.legal & ~view.swapped
    return fresh if fresh else view.legal


@kernel
def drawable(view: View) -> Hand:
    """Cards that may come from the stock: not in hand, in the pile, or taken by the rival."""
    return DECK & ~(view.hand | view.discards | view.rival_known)


#: First knobs of both players that weigh what a card is worth to the rival.
DANGER_WEIGHT, SAFE_WEIGHT = range(2)


@kernel
def risk(view: View, card: Card) -> int:
    """Cost of what *card* may be worth to the rival."""
    spurned = near(card) & (view.rival_thrown | view.rival_refused)
    return view.knobs[DANGER_WEIGHT] * danger(view, card) - view.knobs[SAFE_WEIGHT] * count(spurned)


# --- early-low ---

#: A forty-line entry of the challenge, listed at 70.8 against simple; here 70.4 on seed 900. The
#: early rule pays against rivals that aim at gin: without it the player scores 72 against simple,
#: but 45 instead of 53 against hard (as of 2026-11).
EARLY_LOW = {
    "early_turns": 3,  # own turns during which isolated low cards go first
    "low_points": 5,  # a card of this many points or fewer is low
}
LOW_EARLY_TURNS, LOW_POINTS = range(len(EARLY_LOW))


@kernel
def isolated(hand: Hand) -> Hand:
    """Cards of *hand* that lie in no meld and that no single card would bring into one.

    >>> from ginsim.cards import parse, text
    >>> text(isolated(parse("AS 3S 5S 9S KH KD 2C 8D JD")))
    '9S 2C 8D'
    """
    s, c, d, h = suit_of(hand, 0), suit_of(hand, 1), suit_of(hand, 2), suit_of(hand, 3)
    paired = of_ranks((s & c) | (s & d) | (s & h) | (c & d) | (c & h) | (d & h))
    close = 0
    for suit in range(4):
        ranks = suit_of(hand, suit)
        close |= (ranks & (ranks << 1 | ranks << 2 | ranks >> 1 | ranks >> 2)) << 13 * suit
    return hand & ~(paired | close)


@kernel
def worth_at_most(most: int) -> Hand:
    """Every card of the deck that counts *most* points or fewer."""
    ranks = 0
    for rank in range(13):
        if RANK_POINTS[rank] <= most:
            ranks |= 1 << rank
    return of_ranks(ranks)


def early_low_discard(view: View) -> int:
    """Throw the highest isolated low card in the first turns, then the highest loose card.

    Among loose cards that count the same an isolated one goes first, else one at random.
    """
    card = gin_throw(view)
    if card >= 0:
        return card
    cards, lone = throwable(view), isolated(view.hand)
    _, best = best_discards(view.hand, cards)
    if best & lone:
        best &= lone
    low = cards & lone & worth_at_most(view.knobs[LOW_POINTS])
    if low and view.turn // 2 < view.knobs[LOW_EARLY_TURNS]:
        best = low & ~worth_at_most(highest_points(low) - 1)
    return nth(best, below(view.key, count(best)))


# --- one-away ---

#: SIGRA: Goldman, Knutson, Mahtab, Maloney, Mueller, Freedman, "Evaluating Gin Rummy Hands Using
#: Opponent Modeling and Myopic Meld Distance", AAAI 2021. Listed at 72.2 [69, 75]; here 76.1 on
#: seed 900, for two reasons: SIGRA fears hardly any card whose melds need one it has not seen
#: (without danger_weight and safe_weight 74 to 75), and it takes upcards that only pair, which
#: here cost two points more.
ONE_AWAY = {
    "danger_weight": 25,  # cost of one chance in sixteen that the rival can meld the card
    "safe_weight": 50,  # cost taken off for each card near it that the rival threw or refused
    "gain_weight": 120,  # share of the expected gain of one draw, in percent
}
AWAY_GAIN_WEIGHT = 2


@kernel
def one_away(kept: Hand, draws: Hand) -> int:
    """Points of loose cards of *kept* that each of *draws* would bring into a meld, summed.

    >>> from ginsim.cards import DECK, parse
    >>> hand = parse("5S 6S KH KD 2C")  # 4S and 7S meld 11 points, KS and KC 20
    >>> int(one_away(hand, DECK & ~hand))
    62
    """
    loose = kept & ~meldable(kept)
    gain = 0
    chances = outs(kept) & draws
    while chances:
        bit = chances & -chances
        chances ^= bit
        gain += points(meldable(kept | bit) & loose)
    return gain


def one_away_discard(view: View) -> int:
    """Throw for least deadwood, less what one draw is expected to meld, plus risk."""
    card = gin_throw(view)
    if card >= 0:
        return card
    draws = drawable(view)
    cards, unseen = throwable(view), max(count(draws), 1)
    least = 1 << 40
    while cards:
        bit = cards & -cards
        cards ^= bit
        kept, thrown = view.hand ^ bit, lowest(bit)
        gain = view.knobs[AWAY_GAIN_WEIGHT] * one_away(kept, draws) // unseen
        price = 100 * deadwood(kept) - gain + risk(view, thrown)
        if price < least:
            least, card = price, thrown
    return card


# --- expected-deadwood ---

#: MARJJ, winner of the challenge: Ahmed, Leppo, Lesniewski, Patel, Perez, Blum, "A Heuristic
#: Evaluation Function for Hand Strength Estimation in Gin Rummy", AAAI 2021. Listed at
#: 78.2 [76.5, 79.8]; here 78.1 on seed 900. Draws, first weight, reach and knocks are theirs;
#: their weight fades by a tenth a turn, which here scores 75.
EXPECTED_DEADWOOD = {
    "danger_weight": 60,  # as for one-away
    "safe_weight": 75,  # as for one-away
    "draws": 7,  # how many of the best draws are averaged
    "future_weight": 1800,  # percent: weight of that mean in the first turn, beside 100 for now
    "future_decay": 60,  # percent of that weight that stays from one own turn to the next
    "reach": 5,  # discards that leave more than this above the least are not looked at
    "early_turns": 3,  # own turns during which early_limit holds
    "early_limit": 10,  # knocks with this deadwood or less in early_turns
    "late_limit": 0,  # knocks with this deadwood or less after them
}
(
    EXPECTED_DRAWS,
    EXPECTED_WEIGHT,
    EXPECTED_DECAY,
    EXPECTED_REACH,
    EXPECTED_EARLY_TURNS,
    EXPECTED_EARLY_LIMIT,
    EXPECTED_LATE_LIMIT,
) = range(2, len(EXPECTED_DEADWOOD))

MOST_DEADWOOD = 100  #: of ten cards


@kernel
def count_draws(kept: Hand, draws: Hand, found: np.ndarray) -> None:
    """Fill *found* (int64, MOST_DEADWOOD + 1 long): draws by the least deadwood they leave.

    Each of *draws* is added to the ten cards *kept*, and the best card is thrown for it. A draw
    that melds nothing is thrown again, or kept for the best card that the hand can spare.
    """
    found[:] = 0
    left = deadwood(kept)
    spared, _ = best_discards(kept, kept)
    chances = outs(kept) & draws
    others = draws & ~chances
    for rank in range(13):
        cards = count(others & of_ranks(1 << rank))
        if cards:
            found[min(left, spared + RANK_POINTS[rank])] += cards
    while chances:
        bit = chances & -chances
        chances ^= bit
        eleven = kept | bit
        after, _ = best_discards(eleven, eleven)
        found[after] += 1


@kernel
def mean_of_best(found: np.ndarray, number: int) -> int:
    """Hundredths of a point: mean of the *number* least values counted in *found*, 0 of none."""
    total, taken = 0, 0
    for value in range(len(found)):
        cards = min(found[value], number - taken)
        total += cards * value
        taken += cards
        if taken >= number:
            break
    return 100 * total // taken if taken > 0 else 0


def expected_deadwood_discard(view: View) -> int:
    """Throw for least deadwood, plus the weighted mean after the best draws, plus risk."""
    card = gin_throw(view)
    if card >= 0:
        return card
    weight = view.knobs[EXPECTED_WEIGHT]
    for _ in range(view.turn // 2):
        weight = weight * view.knobs[EXPECTED_DECAY] // 100
    cards, draws = throwable(view), drawable(view)
    least_left, _ = best_discards(view.hand, cards)
    found = np.empty(MOST_DEADWOOD + 1, dtype=np.int64)
    least = 1 << 40
    while cards:
        bit = cards & -cards
        cards ^= bit
        kept, thrown = view.hand ^ bit, lowest(bit)
        left = deadwood(kept)
        if left <= least_left + view.knobs[EXPECTED_REACH]:
            count_draws(kept, draws, found)
            mean = mean_of_best(found, view.knobs[EXPECTED_DRAWS])
            price = 100 * left + weight * mean // 100 + risk(view, thrown)
            if price < least:
                least, card = price, thrown
    return card


def expected_deadwood_knock(view: View) -> int:
    """Knock with gin and big gin; with the early limit or less in the first turns."""
    limit = view.knobs[EXPECTED_LATE_LIMIT]
    if view.turn // 2 < view.knobs[EXPECTED_EARLY_TURNS]:
        limit = view.knobs[EXPECTED_EARLY_LIMIT]
    return view.kept_deadwood <= max(limit, 0)
