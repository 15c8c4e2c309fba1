"""The game itself: one turn, one round, one match, a block of pairs. Ints in, rows out.

The engine knows no bot: it is passed six functions of a view, three a bot, and asks them.
All that changes during a match stands in one GAME record, made by the shell and reused. What
may be done and what it does are kernels of their own, which ``lockstep`` plays by as well.
"""

from typing import Any

import numpy as np
from numba import from_dtype, types

from ginsim.cards import DECK, count
from ginsim.jit import int64, kernel, kernel_of
from ginsim.melds import deadwood, default_spread, lay_off
from ginsim.rng import fold, shuffle, stream
from ginsim.rows import ROW_TYPE, STOCK, TURN_LIMIT
from ginsim.rules import (
    LOSER_STARTS,
    ONE_ROUND,
    ONE_SCORED_ROUND,
    STARTER_SEAT_0,
    TO_TARGET,
    UPCARD_OFFERED,
    Rules,
)
from ginsim.scoring import DEAD, FORFEIT, knock_limit, settle
from ginsim.view import (
    BIG_GIN,
    DISCARD,
    DRAW,
    KNOBS,
    KNOCK,
    OFFER,
    POLICY_TYPE,
    Policy,
    View,
)

GAME = np.dtype(
    [
        ("deck", np.int64, 52),  # cards in the order they are dealt and drawn
        ("next", np.int64),  # place in deck of the next stock card
        ("pile", np.int64, 4),  # discard pile, ten cards a word, 6 bits each, oldest lowest
        ("pile_size", np.int64),
        ("discards", np.int64),  # the pile's cards as a mask
        ("upcard", np.int64),  # its top card, -1 when empty
        ("starter", np.int64),  # seat that starts the round
        ("turn", np.int64),  # turns finished, both players counted
        ("limit", np.int64),  # this round's knock limit
        ("key", np.int64),  # stream of the round's decisions
        ("traced", np.int64),  # steps recorded in the trace
        # Which round this is, for who watches from outside:
        ("pair", np.int64),
        ("leg", np.int64),
        ("round", np.int64),
        # The open question, for who answers from elsewhere (lockstep):
        ("phase", np.int64),  # as View.phase, or lockstep.OVER
        ("seat", np.int64),  # who is asked, or who made the last turn
        ("drawn", np.int64),  # card drawn this turn, NO_CARD before the draw
        ("taken", np.int64),  # whether from the discard pile
        ("legal", np.int64),  # at DISCARD: cards that may be thrown
        ("exchanged", np.int64),  # cards swapped for drawn earlier this round, either way
        ("kept", np.int64),  # deadwood when asked to go out, else -1
        # By seat:
        ("hand", np.int64, 2),
        ("known", np.int64, 2),  # cards taken from the pile and still held
        ("thrown", np.int64, 2),  # cards thrown this round
        ("refused", np.int64, 2),  # upcards left lying this round
        ("pile_draws", np.int64, 2),
        ("swapped", np.int64, (2, 52)),  # by card: thrown when it was drawn, or the reverse
        ("score", np.int64, 2),
        ("knobs", np.int64, (2, KNOBS)),  # the bots' parameters
    ],
    align=True,
)
#: Rules as a record: one pointer for a kernel to pass on, read like the tuple.
RULES = np.dtype([(name, np.int64) for name in Rules._fields], align=True)
GAME_TYPE, RULES_TYPE = from_dtype(GAME), from_dtype(RULES)

# What a turn comes to.
PLAYING, KNOCKED, WENT_BIG, ILLEGAL = 0, 1, 2, 3

# Steps of a trace, each a row (step, seat, card).
PASS, TAKE, STOCK_DRAW, THROW, KNOCK_THROW, DECLARE_BIG, REFUSED_THROW, DEAL, GAVE_UP = range(9)
NO_STEP = -1

#: An answer, to any question, that gives up the match: for a bot that has none.
GIVE_UP = -(1 << 62)

# Labels below a round's key, and a round number that no match reaches.
DEAL_LABEL, DECISION_LABEL = 0, 1
FIRST_STARTER_LABEL = 1 << 40

NO_CARD = -1
LAST_CARD = 51


def records(dtype: np.dtype[Any], size: int, compiled: bool) -> Any:
    """Zeroed records, with fields as attributes where plain Python is to read them."""
    array = np.zeros(size, dtype)
    return array if compiled else array.view(np.recarray)


def rules_record(rules: Rules, compiled: bool = True) -> Any:
    """*rules* as the record that kernels take."""
    record = records(RULES, 1, compiled)
    record[0] = tuple(rules)
    return record[0]


@kernel
def note(trace: np.ndarray, game: Any, step: int, seat: int, card: int) -> None:
    """Append a step to *trace*, and NO_STEP behind it, while there is room for both."""
    at = game.traced
    if at + 1 < trace.shape[0]:
        trace[at, 0], trace[at, 1], trace[at, 2] = step, seat, card
        trace[at + 1, 0] = NO_STEP
        game.traced = at + 1


@kernel
def lay_upcard(game: Any, card: int) -> None:
    """Put *card* on top of the discard pile."""
    size = game.pile_size
    game.pile[size // 10] |= card << 6 * (size % 10)
    game.pile_size = size + 1
    game.discards |= 1 << card
    game.upcard = card


@kernel
def lift_upcard(game: Any) -> int:
    """Take the top card off the discard pile and return it."""
    card = int64(game.upcard)
    size = game.pile_size - 1
    game.pile[size // 10] ^= card << 6 * (size % 10)
    game.pile_size = size
    game.discards ^= 1 << card
    game.upcard = NO_CARD
    if size > 0:
        game.upcard = game.pile[(size - 1) // 10] >> 6 * ((size - 1) % 10) & 63
    return card


@kernel
def deal(game: Any, starter: int) -> None:
    """Deal ten each from the deck, alternately from the starter, and turn the 21st card."""
    for seat in range(2):
        game.hand[seat] = game.known[seat] = game.thrown[seat] = 0
        game.refused[seat] = game.pile_draws[seat] = 0
        for card in range(52):
            game.swapped[seat, card] = 0
    for word in range(4):
        game.pile[word] = 0
    game.pile_size = 0
    game.discards = 0
    game.turn = 0
    game.starter = starter
    for at in range(20):
        game.hand[starter ^ (at & 1)] |= 1 << game.deck[at]
    lay_upcard(game, game.deck[20])
    game.next = 21


@kernel
def stock(game: Any) -> int:
    """Cards left in the stock."""
    return int64(52 - game.next)


@kernel
def knobs_of(game: Any, seat: int) -> tuple[int, ...]:
    """Return the parameters of the bot at *seat*, as the view carries them."""
    k = game.knobs
    return (
        k[seat, 0], k[seat, 1], k[seat, 2], k[seat, 3], k[seat, 4], k[seat, 5], k[seat, 6],
        k[seat, 7], k[seat, 8], k[seat, 9], k[seat, 10], k[seat, 11], k[seat, 12],
        k[seat, 13], k[seat, 14], k[seat, 15],
    )  # fmt: skip


@kernel
def see(
    rules: Any, game: Any, seat: int, phase: int, drawn: int, legal: int, swapped: int, kept: int
) -> View:
    """Return the view of *seat* for one decision."""
    rival = 1 - seat
    return View(
        fold(game.key, (game.turn * 2 + seat) * 8 + phase),
        phase,
        game.hand[seat],
        game.upcard,
        drawn,
        legal,
        swapped,
        game.discards,
        game.pile[0],
        game.pile[1],
        game.pile[2],
        game.pile[3],
        game.known[rival],
        game.thrown[rival],
        game.refused[rival],
        game.known[seat],
        stock(game),
        game.turn,
        int64(seat == game.starter),
        game.score[seat],
        game.score[rival],
        kept,
        game.limit,
        rules.stock_end,
        rules.gin_bonus,
        rules.undercut_bonus,
        rules.target if rules.match_end == TO_TARGET else 1,
        knobs_of(game, seat),
    )


@kernel
def gave_up(game: Any, trace: np.ndarray, seat: int, phase: int, reply: int) -> bool:
    """Whether *reply* gives up the match; if so it is noted, with the phase for a card."""
    if reply != GIVE_UP:
        return False
    note(trace, game, GAVE_UP, seat, phase)
    return True


@kernel
def leave_upcard(game: Any, seat: int) -> None:
    """Note the upcard as one that *seat* left lying."""
    game.refused[seat] |= 1 << game.upcard


@kernel
def draw_card(game: Any, trace: np.ndarray, seat: int, take: bool) -> int:
    """Move the upcard or the top of the stock into the hand of *seat*, and return it."""
    if take:
        card = lift_upcard(game)
        game.known[seat] |= 1 << card
        game.pile_draws[seat] += 1
        note(trace, game, TAKE, seat, card)
    else:
        card = game.deck[game.next]
        game.next += 1
        note(trace, game, STOCK_DRAW, seat, card)
    game.hand[seat] |= 1 << card
    return card


@kernel
def throw(game: Any, seat: int, drawn: int, card: int) -> None:
    """Move *card* from the hand of *seat* to the discard pile."""
    bit = 1 << card
    game.hand[seat] ^= bit
    game.known[seat] &= ~bit
    game.thrown[seat] |= bit
    game.swapped[seat, drawn] |= bit
    game.swapped[seat, card] |= 1 << drawn
    lay_upcard(game, card)


@kernel
def may_go_big(rules: Any, game: Any, seat: int) -> bool:
    """Whether *seat* holds eleven cards that it may declare as big gin."""
    return bool(rules.big_gin and deadwood(game.hand[seat]) == 0)


@kernel
def legal_discards(rules: Any, game: Any, seat: int, drawn: int, taken: bool) -> int:
    """Cards that *seat* may throw, *drawn* having been *taken* from the pile or not."""
    legal = game.hand[seat]
    if taken and not rules.discard_taken:
        legal &= ~(1 << drawn)
    return int64(legal)


@kernel
def is_card_of(cards: int, card: int) -> bool:
    """Whether *card*, any int, is a card and one of *cards*."""
    return 0 <= card <= LAST_CARD and bool(cards >> card & 1)


@kernel
def may_knock(rules: Any, game: Any, kept: int, card: int, drawn: int, taken: bool) -> bool:
    """Whether one may knock by throwing *card*, being left with *kept* deadwood."""
    return kept <= game.limit and bool(rules.knock_taken or not taken or card != drawn)


@kernel
def finish_turn(
    discard: Policy,
    knock: Policy,
    rules: Any,
    game: Any,
    trace: np.ndarray,
    seat: int,
    drawn: int,
    taken: bool,
) -> int:
    """Play a turn on once *drawn* is in hand: big gin, discard, knock. Returns a status."""
    if may_go_big(rules, game, seat):
        reply = knock(see(rules, game, seat, BIG_GIN, drawn, 0, 0, 0))
        if gave_up(game, trace, seat, BIG_GIN, reply):
            return ILLEGAL
        if reply:
            note(trace, game, DECLARE_BIG, seat, NO_CARD)
            return WENT_BIG

    legal = legal_discards(rules, game, seat, drawn, taken)
    swapped = game.swapped[seat, drawn]
    card = discard(see(rules, game, seat, DISCARD, drawn, legal, swapped, -1))
    if not is_card_of(legal, card):
        if not gave_up(game, trace, seat, DISCARD, card):
            note(trace, game, REFUSED_THROW, seat, card)
        return ILLEGAL
    throw(game, seat, drawn, card)

    kept = deadwood(game.hand[seat])
    if may_knock(rules, game, kept, card, drawn, taken):
        reply = knock(see(rules, game, seat, KNOCK, drawn, 0, swapped, kept))
        if gave_up(game, trace, seat, KNOCK, reply):
            return ILLEGAL
        if reply:
            note(trace, game, KNOCK_THROW, seat, card)
            return KNOCKED
    note(trace, game, THROW, seat, card)
    return PLAYING


@kernel
def turn_ends_round(rules: Any, game: Any, status: int) -> bool:
    """Whether the round is over after a turn that came to *status*."""
    return bool(
        status != PLAYING or stock(game) <= rules.stock_end or game.turn >= rules.turn_limit
    )


@kernel
def record_open(game: Any, row: Any) -> None:
    """Write into *row* what is known once the cards are dealt, and blanks for the rest."""
    row.starter = game.starter
    row.outcome = DEAD
    row.dead_reason = -1
    row.winner = -1
    row.points = 0
    row.knocker = -1
    row.knock_deadwood = -1
    row.defender_deadwood_before = -1
    row.defender_deadwood = -1
    row.laid_off = 0
    row.layoffs = 0
    row.spread_sets = 0
    row.spread_runs = 0
    row.dealt_deadwood_0 = deadwood(game.hand[0])
    row.dealt_deadwood_1 = deadwood(game.hand[1])
    row.score_before_0 = game.score[0]
    row.score_before_1 = game.score[1]


@kernel
def record_knock(rules: Any, game: Any, knocker: int, cards: int, row: Any) -> None:
    """Settle a knock of *cards* cards by *knocker* and write it into *row*."""
    hand, defender = game.hand[knocker], game.hand[1 - knocker]
    sets, runs = default_spread(hand, DECK & ~(hand | game.discards))
    left = deadwood(hand)
    before = deadwood(defender)
    after, laid = before, int64(0)
    if left > 0:
        after, laid = lay_off(defender, sets, runs)
    outcome, points = settle(rules, cards, left, after)
    row.outcome = outcome
    row.knocker = knocker
    if points != 0:
        row.winner = knocker if points > 0 else 1 - knocker
    row.points = abs(points)
    row.knock_deadwood = left
    row.defender_deadwood_before = before
    row.defender_deadwood = after
    row.laid_off = count(laid)
    row.layoffs = laid
    row.spread_sets = sets
    row.spread_runs = runs


@kernel
def record_end(rules: Any, game: Any, seat: int, status: int, row: Any) -> None:
    """Write into *row* how the round ended, *seat* having made the last turn."""
    row.turns = game.turn
    row.stock_left = stock(game)
    row.pile_draws_0 = game.pile_draws[0]
    row.pile_draws_1 = game.pile_draws[1]
    if status == ILLEGAL:
        row.outcome = FORFEIT
        row.winner = 1 - seat
    elif status == PLAYING:
        row.dead_reason = STOCK if stock(game) <= rules.stock_end else TURN_LIMIT
    else:
        record_knock(rules, game, seat, 10 if status == KNOCKED else 11, row)


@kernel
def begin_round(rules: Any, game: Any, trace: np.ndarray, row: Any) -> None:
    """Deal game.deck, game.starter's cards first, and open *row*."""
    deal(game, game.starter)
    game.limit = knock_limit(rules, game.deck[20] % 13)
    record_open(game, row)
    note(trace, game, DEAL, game.starter, game.upcard)


@kernel
def offer_upcard(
    draw0: Policy, draw1: Policy, rules: Any, game: Any, trace: np.ndarray
) -> tuple[int, int]:
    """Offer the first upcard to the starter, then to the dealer.

    Returns who makes the first turn and how: the answer to the offer, 0 if both passed.
    """
    seat = game.starter
    for _ in range(2):
        draw = draw0 if seat == 0 else draw1
        reply = draw(see(rules, game, seat, OFFER, NO_CARD, 0, 0, -1))
        if gave_up(game, trace, seat, OFFER, reply) or reply:
            return seat, reply
        leave_upcard(game, seat)
        note(trace, game, PASS, seat, game.upcard)
        seat = 1 - seat
    return seat, 0


@kernel
def play_round(
    draw0: Policy,
    discard0: Policy,
    knock0: Policy,
    draw1: Policy,
    discard1: Policy,
    knock1: Policy,
    rules: Any,
    game: Any,
    trace: np.ndarray,
    row: Any,
) -> None:
    """Play the round that was begun to its end and write it into *row*.

    The six functions belong to seats 0 and 1; so do game.knobs and the scores before the
    round, in game.score. game.key is the stream of the bots' decisions.
    """
    seat, ask, reply, status = game.starter, True, 0, PLAYING
    if rules.upcard == UPCARD_OFFERED:
        seat, reply = offer_upcard(draw0, draw1, rules, game, trace)
        ask = False
    while True:
        draw, discard, knock = draw1, discard1, knock1
        if seat == 0:
            draw, discard, knock = draw0, discard0, knock0
        if ask:
            reply = draw(see(rules, game, seat, DRAW, NO_CARD, 0, 0, -1))
            if not gave_up(game, trace, seat, DRAW, reply) and not reply:
                leave_upcard(game, seat)
        ask = True
        if reply == GIVE_UP:
            status = ILLEGAL
            break
        taken = reply != 0
        card = draw_card(game, trace, seat, taken)
        status = finish_turn(discard, knock, rules, game, trace, seat, card, taken)
        game.turn += 1
        if turn_ends_round(rules, game, status):
            break
        seat = 1 - seat
    record_end(rules, game, seat, status, row)


@kernel
def next_starter(rules: Any, starter: int, scored: bool, winner: int) -> int:
    """Seat that starts the next round, the last one having been *scored* by *winner* or not."""
    if not scored:
        return starter
    return 1 - winner if rules.next_starter == LOSER_STARTS else 1 - starter


@kernel
def match_over(rules: Any, game: Any, scored: bool, rounds: int) -> bool:
    """Whether the match ends after *rounds* rounds, the last one *scored* or not."""
    if rounds >= rules.round_limit or rules.match_end == ONE_ROUND:
        return True
    if rules.match_end == ONE_SCORED_ROUND:
        return scored
    return bool(max(game.score[0], game.score[1]) >= rules.target)


@kernel
def first_starter(rules: Any, seed: int, pair: int) -> int:
    """Seat that starts the first round of both legs of a pair."""
    if rules.first_starter == STARTER_SEAT_0:
        return 0
    return stream(seed, pair, FIRST_STARTER_LABEL) & 1


@kernel
def open_match(rules: Any, game: Any, seed: int, pair: int) -> None:
    """Begin a match: no points, and who starts the first round."""
    game.score[0] = game.score[1] = 0
    game.traced = 0
    game.starter = first_starter(rules, seed, pair)


@kernel
def shuffle_deck(key: int, starter: int, deck: np.ndarray) -> None:
    """Shuffle the cards of the round of *key* into *deck*, in the order they are dealt and drawn.

    A seat is dealt the same cards whoever starts. So the bots swap hands between the legs of a
    pair even where the winner of a round deals the next and the legs' starters part.
    """
    shuffle(fold(key, DEAL_LABEL), deck)
    if starter == 1:
        for at in range(0, 20, 2):
            deck[at], deck[at + 1] = deck[at + 1], deck[at]


@kernel
def open_round(
    rules: Any,
    game: Any,
    seed: int,
    pair: int,
    round_: int,
    decks: np.ndarray,
    trace: np.ndarray,
    row: Any,
) -> None:
    """Deal round number *round_* of the match that stands in *game*, and open its *row*."""
    key = stream(seed, pair, round_)
    if round_ < len(decks):
        for at in range(52):
            game.deck[at] = decks[round_, at]
    else:
        shuffle_deck(key, game.starter, game.deck)
    # Folding can be undone; with the key itself mixed in it cannot, so that no bot can work back
    # from its random stream to the deal.
    game.key = fold(key, DECISION_LABEL) ^ key
    begin_round(rules, game, trace, row)


@kernel
def close_round(rules: Any, game: Any, rounds: int, row: Any) -> bool:
    """Count the points of *row*, the last of *rounds* rounds; returns whether the match is over.

    If it is not, game.starter is who starts the next round.
    """
    if row.outcome == FORFEIT:
        return True
    scored = row.points > 0
    if scored:
        game.score[row.winner] += row.points
    if match_over(rules, game, scored, rounds):
        return True
    game.starter = next_starter(rules, game.starter, scored, row.winner)
    return False


@kernel
def play_match(
    draw0: Policy,
    discard0: Policy,
    knock0: Policy,
    draw1: Policy,
    discard1: Policy,
    knock1: Policy,
    rules: Any,
    game: Any,
    seed: int,
    pair: int,
    leg: int,
    decks: np.ndarray,
    trace: np.ndarray,
    rows: np.ndarray,
) -> int:
    """Play one match into the first of *rows*; returns how many rounds it took.

    Decisions are keyed by seat, not by leg: with the bots swapped, seat 0 still draws the
    same random numbers, so two copies of one bot play both legs alike and sum to zero.
    """
    open_match(rules, game, seed, pair)
    rounds = 0
    while True:
        row = rows[rounds]
        row.pair, row.leg, row.round = pair, leg, rounds
        game.pair, game.leg, game.round = pair, leg, rounds
        open_round(rules, game, seed, pair, rounds, decks, trace, row)
        play_round(draw0, discard0, knock0, draw1, discard1, knock1, rules, game, trace, row)
        rounds += 1
        if close_round(rules, game, rounds, row):
            return rounds


@kernel
def seat_knobs(game: Any, knobs: np.ndarray, first: int) -> None:
    """Give seat 0 the parameters of bot *first* and seat 1 those of the other."""
    for knob in range(KNOBS):
        game.knobs[0, knob] = knobs[first, knob]
        game.knobs[1, knob] = knobs[1 - first, knob]


_POLICIES = (POLICY_TYPE,) * 6
_GRID = types.int64[:, ::1]


@kernel_of(
    types.UniTuple(types.int64, 2)(
        *_POLICIES, RULES_TYPE, _GRID, GAME_TYPE,
        types.int64, types.int64, types.int64, types.boolean, _GRID, _GRID, ROW_TYPE[::1],
    )
)  # fmt: skip
def play_pairs(
    draw_a: Policy,
    discard_a: Policy,
    knock_a: Policy,
    draw_b: Policy,
    discard_b: Policy,
    knock_b: Policy,
    rules: Any,
    knobs: np.ndarray,
    game: Any,
    seed: int,
    first: int,
    end: int,
    mirrored: bool,
    decks: np.ndarray,
    trace: np.ndarray,
    rows: np.ndarray,
) -> tuple[int, int]:
    """Play pairs first..end-1 of bots a and b into *rows* (ROW records).

    Leg 0 seats a at 0; leg 1, played if *mirrored*, seats b there on the same deals. Stops
    early, between pairs, when *rows* may not hold another whole pair. *knobs* is int64
    [2, KNOBS], bot a first; *game* is a GAME record to work in. *decks*, int64 [n, 52], gives
    the cards of rounds 0..n-1 of every match in place of the keyed deals. *trace*, int64
    [n, 3], receives the steps of the last match played; empty for none. Returns the pair to
    go on with and the number of rows filled.
    """
    filled = 0
    for pair in range(first, end):
        if len(rows) - filled < 2 * rules.round_limit:
            return pair, filled
        for leg in range(2 if mirrored else 1):
            seat_knobs(game, knobs, leg)
            draw0, discard0, knock0 = draw_a, discard_a, knock_a
            draw1, discard1, knock1 = draw_b, discard_b, knock_b
            if leg == 1:
                draw0, discard0, knock0 = draw_b, discard_b, knock_b
                draw1, discard1, knock1 = draw_a, discard_a, knock_a
            filled += play_match(
                draw0, discard0, knock0, draw1, discard1, knock1,
                rules, game, seed, pair, leg, decks, trace, rows[filled:],
            )  # fmt: skip
    return end, filled
