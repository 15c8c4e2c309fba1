"""Many tables at once: each holds an open question, takes an answer and asks the next.

For who cannot be called a decision at a time: a network that answers in batches, a learner.
What may be done and what it does are the engine's kernels; here is only the order of the
questions, which the GAME record keeps between them. Played by the same bots, tables leave the
same rows as ``engine.play_pairs``.
"""

from typing import Any

import numpy as np
from numba import types

from ginsim.cards import count, nth
from ginsim.engine import (
    DECLARE_BIG,
    GAME_TYPE,
    ILLEGAL,
    KNOCK_THROW,
    KNOCKED,
    NO_CARD,
    PASS,
    PLAYING,
    REFUSED_THROW,
    RULES_TYPE,
    THROW,
    WENT_BIG,
    close_round,
    draw_card,
    gave_up,
    is_card_of,
    leave_upcard,
    legal_discards,
    may_go_big,
    may_knock,
    note,
    open_match,
    open_round,
    record_end,
    seat_knobs,
    see,
    throw,
    turn_ends_round,
)
from ginsim.jit import kernel, kernel_of
from ginsim.melds import deadwood
from ginsim.rng import below, fold
from ginsim.rows import ROW_TYPE
from ginsim.rules import UPCARD_OFFERED
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
    pile_card,
    pile_size,
)

#: GAME.phase of a table whose round is over: nothing is asked.
OVER = -1

# Columns of places, int64 [tables, PLACE_COLUMNS]: the match at each table.
PAIR, LEG, ROUND, DONE, TASK = 0, 1, 2, 3, 4
PLACE_COLUMNS = 5

#: A view's numbers before its knobs, and all of them: columns of what ``look`` writes.
VIEW_NUMBERS = len(View._fields) - 1
VIEW_COLUMNS = VIEW_NUMBERS + KNOBS


# --- the order of the questions ---


@kernel
def ask(game: Any, phase: int, legal: int, exchanged: int, kept: int) -> None:
    """Put the question of *phase* to game.seat, with what only that question shows."""
    game.phase = phase
    game.legal = legal
    game.exchanged = exchanged
    game.kept = kept


@kernel
def ask_draw(game: Any, seat: int, phase: int) -> None:
    """Ask *seat* about the upcard."""
    game.seat = seat
    game.drawn = NO_CARD
    ask(game, phase, 0, 0, -1)


@kernel
def ask_discard(rules: Any, game: Any) -> None:
    """Ask game.seat for a discard."""
    legal = legal_discards(rules, game, game.seat, game.drawn, game.taken != 0)
    ask(game, DISCARD, legal, game.swapped[game.seat, game.drawn], -1)


@kernel
def begin_turn(rules: Any, game: Any, trace: np.ndarray, take: bool) -> None:
    """Draw for game.seat, and ask for big gin where it is there, else for a discard."""
    game.drawn = draw_card(game, trace, game.seat, take)
    game.taken = take
    if may_go_big(rules, game, game.seat):
        ask(game, BIG_GIN, 0, 0, 0)
    else:
        ask_discard(rules, game)


@kernel
def end_turn(rules: Any, game: Any, status: int, row: Any) -> None:
    """Finish the turn of game.seat: the round ends, or the other player is asked to draw."""
    game.turn += 1
    if turn_ends_round(rules, game, status):
        record_end(rules, game, game.seat, status, row)
        game.phase = OVER
    else:
        ask_draw(game, 1 - game.seat, DRAW)


@kernel
def answer_draw(rules: Any, game: Any, trace: np.ndarray, reply: int) -> None:
    """Take the upcard, or leave it: then draw from the stock, or offer it to the dealer."""
    seat = game.seat
    if reply:
        begin_turn(rules, game, trace, True)
        return
    leave_upcard(game, seat)
    if game.phase == OFFER:
        note(trace, game, PASS, seat, game.upcard)
        game.seat = 1 - seat
        if seat == game.starter:
            return
    begin_turn(rules, game, trace, False)


@kernel
def answer_discard(rules: Any, game: Any, trace: np.ndarray, row: Any, card: int) -> None:
    """Throw *card*, and ask whether to knock where that is legal."""
    seat, drawn, exchanged = game.seat, game.drawn, game.exchanged
    if not is_card_of(game.legal, card):
        note(trace, game, REFUSED_THROW, seat, card)
        end_turn(rules, game, ILLEGAL, row)
        return
    throw(game, seat, drawn, card)
    kept = deadwood(game.hand[seat])
    if may_knock(rules, game, kept, card, drawn, game.taken != 0):
        ask(game, KNOCK, 0, exchanged, kept)
    else:
        note(trace, game, THROW, seat, card)
        end_turn(rules, game, PLAYING, row)


@kernel
def answer(rules: Any, game: Any, trace: np.ndarray, row: Any, reply: int) -> None:
    """Play *reply* to the open question, and ask the next; game.phase is OVER after the last."""
    phase, seat = game.phase, game.seat
    if gave_up(game, trace, seat, phase, reply):
        if phase not in (OFFER, DRAW):
            game.turn += 1
        record_end(rules, game, seat, ILLEGAL, row)
        game.phase = OVER
    elif phase in (OFFER, DRAW):
        answer_draw(rules, game, trace, reply)
    elif phase == DISCARD:
        answer_discard(rules, game, trace, row, reply)
    elif phase == KNOCK:
        note(trace, game, KNOCK_THROW if reply else THROW, seat, game.upcard)
        end_turn(rules, game, KNOCKED if reply else PLAYING, row)
    elif reply:
        note(trace, game, DECLARE_BIG, seat, NO_CARD)
        end_turn(rules, game, WENT_BIG, row)
    else:
        ask_discard(rules, game)


@kernel
def view_of(rules: Any, game: Any) -> View:
    """Return the view of who is asked, for the open question."""
    return see(
        rules, game, game.seat, game.phase, game.drawn, game.legal, game.exchanged, game.kept
    )


# --- tables ---


@kernel
def deal_next(
    rules: Any, game: Any, row: Any, place: np.ndarray, seed: int, decks: np.ndarray,
    trace: np.ndarray,
) -> None:  # fmt: skip
    """Deal the round that *place* names and ask its first question."""
    row.pair, row.leg, row.round = place[PAIR], place[LEG], place[ROUND]
    open_round(rules, game, seed, place[PAIR], place[ROUND], decks, trace, row)
    ask_draw(game, game.starter, OFFER if rules.upcard == UPCARD_OFFERED else DRAW)


@kernel
def sit_down(
    rules: Any, game: Any, row: Any, place: np.ndarray, knobs: np.ndarray, seed: int,
    decks: np.ndarray, trace: np.ndarray,
) -> None:  # fmt: skip
    """Begin the match that *place* names (its pair and leg)."""
    seat_knobs(game, knobs, place[LEG])
    open_match(rules, game, seed, place[PAIR])
    place[ROUND] = place[DONE] = 0
    deal_next(rules, game, row, place, seed, decks, trace)


@kernel
def go_on(
    rules: Any, game: Any, row: Any, place: np.ndarray, seed: int, decks: np.ndarray,
    trace: np.ndarray, log: np.ndarray, logged: np.ndarray,
) -> int:  # fmt: skip
    """Close a round that is over and open the next; returns the points of the first bot.

    The first bot sits at seat 0 in leg 0, at seat 1 in leg 1. The row is added to *log*,
    if that has room; the match's last round marks *place* as done.
    """
    if game.phase != OVER:
        return 0
    if logged[0] < len(log):
        log[logged[0]] = row
        logged[0] += 1
    points = int(row.points) if row.winner == place[LEG] else -int(row.points)
    place[ROUND] += 1
    if close_round(rules, game, place[ROUND], row):
        place[DONE] = 1
    else:
        deal_next(rules, game, row, place, seed, decks, trace)
    return points


_POLICIES = (POLICY_TYPE,) * 6
_GRID, _LINE = types.int64[:, ::1], types.int64[::1]


@kernel_of(
    types.int64(
        *_POLICIES, types.boolean, types.boolean, RULES_TYPE, _GRID, GAME_TYPE[::1],
        ROW_TYPE[::1], _GRID, types.int64, types.boolean, _LINE, types.boolean[::1], _LINE,
        _GRID, _GRID, ROW_TYPE[::1], _LINE,
    )
)  # fmt: skip
def advance(
    draw_a: Policy,
    discard_a: Policy,
    knock_a: Policy,
    draw_b: Policy,
    discard_b: Policy,
    knock_b: Policy,
    outside_a: bool,
    outside_b: bool,
    rules: Any,
    knobs: np.ndarray,
    games: np.ndarray,
    rows: np.ndarray,
    places: np.ndarray,
    seed: int,
    mirrored: bool,
    tasks: np.ndarray,
    replied: np.ndarray,
    replies: np.ndarray,
    decks: np.ndarray,
    trace: np.ndarray,
    log: np.ndarray,
    logged: np.ndarray,
) -> int:
    """Play *replies* where *replied*, then on until every table asks a bot that is outside.

    The functions answer for the bots that are not outside; *knobs* is int64 [2, KNOBS]. A
    match is a pair and, if *mirrored*, a leg; *tasks*, int64 [3], holds the number of the next
    match, the end, and a stride. With stride 0 a table that is done takes the next match at
    once, while there is one; else it rests until the next call, and then takes the match
    *stride* behind its own last. Replies are replaced by the points of the first bot since.
    Returns how many tables are not done.
    """
    open_tables, stride = 0, tasks[2]
    for at in range(len(games)):
        game, row, place = games[at], rows[at], places[at]
        points = 0
        rested = place[DONE] != 0
        if replied[at] and not place[DONE]:
            answer(rules, game, trace, row, replies[at])
            points += go_on(rules, game, row, place, seed, decks, trace, log, logged)
        while True:
            if place[DONE]:
                if tasks[0] >= tasks[1] or (stride > 0 and not rested):
                    break
                rested = False
                place[TASK] = place[TASK] + stride if stride > 0 else tasks[0]
                tasks[0] += stride == 0
                place[PAIR] = place[TASK] // 2 if mirrored else place[TASK]
                place[LEG] = place[TASK] % 2 if mirrored else 0
                sit_down(rules, game, row, place, knobs, seed, decks, trace)
            bot = game.seat ^ place[LEG]
            if outside_a if bot == 0 else outside_b:
                break
            view = view_of(rules, game)
            if game.phase == DISCARD:
                reply = discard_a(view) if bot == 0 else discard_b(view)
            elif game.phase in (OFFER, DRAW):
                reply = draw_a(view) if bot == 0 else draw_b(view)
            else:
                reply = knock_a(view) if bot == 0 else knock_b(view)
            answer(rules, game, trace, row, reply)
            points += go_on(rules, game, row, place, seed, decks, trace, log, logged)
        replies[at] = points
        open_tables += not place[DONE]
    return open_tables


@kernel
def look(rules: Any, games: np.ndarray, which: np.ndarray, out: np.ndarray) -> None:
    """Write the view of each of the tables *which* into *out*, int64 [len(which), VIEW_COLUMNS]."""
    for at in range(len(which)):
        view = view_of(rules, games[which[at]])
        numbers, knobs = view[:VIEW_NUMBERS], view.knobs
        for column in range(VIEW_NUMBERS):
            out[at, column] = numbers[column]
        for knob in range(KNOBS):
            out[at, VIEW_NUMBERS + knob] = knobs[knob]


# --- actions and observations, for learners ---

#: Actions of all questions in one numbering: 0..51 throw that card, then these.
PASS_OFFER, DRAW_STOCK, TAKE_UPCARD, PLAY_ON, GO_OUT, KEEP_ELEVEN, GO_BIG = range(52, 59)
ACTIONS = 59
ACTION_NAMES = (
    "pass", "draw from the stock", "take the upcard", "play on", "knock", "no big gin", "big gin",
)  # fmt: skip

#: Planes of an observation, int8 [len(PLANES), 52]: 1 for each card of the view's mask, but
#: in ``pile`` 1 for the oldest card of the discard pile, 2 for the next, ..
PLANES = (
    "hand", "upcard", "drawn", "legal", "swapped", "pile", "known", "rival_known", "rival_thrown",
    "rival_refused",
)  # fmt: skip
_HAND, _UPCARD, _DRAWN, _LEGAL, _SWAPPED, _PILE, _KNOWN, _RIVAL, _THROWN, _REFUSED = range(10)
#: Numbers of an observation, int32, as in the view; ``phase`` is -1 when nothing is asked.
NUMBERS = (
    "phase", "stock", "turn", "starter", "score", "rival_score", "kept_deadwood", "knock_limit",
    "stock_end", "gin_bonus", "undercut_bonus", "target",
)  # fmt: skip
#: What each number but the phase is divided by in the flat form; the scores by the target.
_SCALES = (1, 31, 50, 1, 0, 0, 10, 10, 31, 25, 25, 100)
PHASES = 5
#: Numbers of the flat form: the planes, the phase as one of PHASES, the other numbers scaled.
FLAT = len(PLANES) * 52 + PHASES + len(NUMBERS) - 1


#: The bits of a byte as eight numbers 0 or 1, lowest first: int8 [256, 8].
_BITS = np.array([[byte >> bit & 1 for bit in range(8)] for byte in range(256)], np.int8)


@kernel
def plane(mask: int, out: np.ndarray) -> None:
    """Write *mask* as 0 and 1 a card, eight at a time."""
    for byte in range(6):
        bits = _BITS[mask >> 8 * byte & 255]
        for bit in range(8):
            out[8 * byte + bit] = bits[bit]
    for card in range(48, 52):
        out[card] = mask >> card & 1


@kernel
def mark_legal(view: View, mask: np.ndarray) -> None:
    """Write 1 for each action that answers *view*, 0 for the others; all 1 if none is asked."""
    phase = view.phase
    plane(view.legal if phase != OVER else -1, mask)
    for action in range(52, ACTIONS):
        mask[action] = phase == OVER
    if phase in (OFFER, DRAW):
        mask[PASS_OFFER if phase == OFFER else DRAW_STOCK] = mask[TAKE_UPCARD] = 1
    elif phase == KNOCK:
        mask[PLAY_ON] = mask[GO_OUT] = 1
    elif phase == BIG_GIN:
        mask[KEEP_ELEVEN] = mask[GO_BIG] = 1


@kernel
def write_observation(
    view: View, planes: np.ndarray, numbers: np.ndarray, mask: np.ndarray
) -> None:
    """Write *view* as planes, numbers and mask of actions."""
    plane(view.hand, planes[_HAND])
    plane(1 << view.upcard if view.upcard >= 0 else 0, planes[_UPCARD])
    plane(1 << view.drawn if view.drawn >= 0 else 0, planes[_DRAWN])
    plane(view.legal, planes[_LEGAL])
    plane(view.swapped, planes[_SWAPPED])
    plane(0, planes[_PILE])
    for at in range(pile_size(view)):
        planes[_PILE, pile_card(view, at)] = at + 1
    plane(view.known, planes[_KNOWN])
    plane(view.rival_known, planes[_RIVAL])
    plane(view.rival_thrown, planes[_THROWN])
    plane(view.rival_refused, planes[_REFUSED])
    numbers[0], numbers[1], numbers[2], numbers[3] = (
        view.phase, view.stock, view.turn, view.starter,
    )  # fmt: skip
    numbers[4], numbers[5], numbers[6], numbers[7] = (
        view.score, view.rival_score, view.kept_deadwood, view.knock_limit,
    )  # fmt: skip
    numbers[8], numbers[9], numbers[10], numbers[11] = (
        view.stock_end, view.gin_bonus, view.undercut_bonus, view.target,
    )  # fmt: skip
    mark_legal(view, mask)


@kernel
def seen_from(rules: Any, game: Any, seat: int) -> View:
    """Return the view of *seat*: of the open question if it is asked, else without a question."""
    if game.phase != OVER and seat == game.seat:
        return view_of(rules, game)
    return see(rules, game, seat, OVER, NO_CARD, 0, 0, -1)


@kernel
def observe(
    rules: Any, games: np.ndarray, seats: np.ndarray, planes: np.ndarray, numbers: np.ndarray,
    masks: np.ndarray,
) -> None:  # fmt: skip
    """Write what each of *seats*, one a table, sees: planes, numbers and legal actions."""
    for at in range(len(games)):
        view = seen_from(rules, games[at], seats[at])
        write_observation(view, planes[at], numbers[at], masks[at])


@kernel
def observe_lines(
    lines: np.ndarray, planes: np.ndarray, numbers: np.ndarray, masks: np.ndarray
) -> None:
    """Write the views that ``look`` wrote as *lines*: planes, numbers and legal actions."""
    for at in range(len(lines)):
        v = lines[at]
        none = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        view = View(
            v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10], v[11], v[12],
            v[13], v[14], v[15], v[16], v[17], v[18], v[19], v[20], v[21], v[22], v[23], v[24],
            v[25], v[26], none,
        )  # fmt: skip
        write_observation(view, planes[at], numbers[at], masks[at])


@kernel
def flatten(planes: np.ndarray, numbers: np.ndarray, out: np.ndarray) -> None:
    """Write observations as one line of numbers, mostly 0..1, a table: float32 [n, FLAT]."""
    size = planes.shape[1] * 52
    for at in range(len(out)):
        line = out[at]
        for number in range(planes.shape[1]):
            scale = np.float32(1 / 40 if number == _PILE else 1)
            for card in range(52):
                line[number * 52 + card] = planes[at, number, card] * scale
        for phase in range(PHASES):
            line[size + phase] = numbers[at, 0] == phase
        for number in range(1, len(NUMBERS)):
            unit = _SCALES[number] if _SCALES[number] > 0 else numbers[at, len(NUMBERS) - 1]
            line[size + PHASES - 1 + number] = numbers[at, number] / unit


@kernel
def reply_of(game: Any, action: int) -> int:
    """Return the answer that *action* is to the open question; -1 if it is not legal."""
    phase = game.phase
    if phase == DISCARD:
        return action if is_card_of(game.legal, action) else -1
    no, yes = KEEP_ELEVEN, GO_BIG
    if phase == KNOCK:
        no, yes = PLAY_ON, GO_OUT
    elif phase in (OFFER, DRAW):
        no, yes = PASS_OFFER if phase == OFFER else DRAW_STOCK, TAKE_UPCARD
    return 1 if action == yes else 0 if action == no else -1


@kernel
def read_actions(
    games: np.ndarray, places: np.ndarray, actions: np.ndarray, replied: np.ndarray,
    replies: np.ndarray,
) -> int:  # fmt: skip
    """Turn *actions* into *replies* of the tables that are not done.

    Returns the first table whose action is not legal, -1 if there is none.
    """
    for at in range(len(games)):
        replied[at] = not places[at, DONE]
        if replied[at]:
            replies[at] = reply_of(games[at], actions[at])
            if replies[at] < 0:
                return at
    return -1


@kernel
def random_actions(masks: np.ndarray, key: int, out: np.ndarray) -> None:
    """Write an action of each mask, each legal one as likely, drawn from the stream of *key*."""
    for at in range(len(masks)):
        legal = 0
        for action in range(masks.shape[1]):
            legal |= int(masks[at, action]) << action
        out[at] = nth(legal, below(fold(key, at), count(legal)))
