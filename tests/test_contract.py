"""What holds for every built-in bot, under every preset, on positions of real games."""

import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import pairwise

import naive
import numpy as np
import pytest
from scripted import (
    BIG_DECKS,
    Position,
    as_ints,
    outcome,
    plain_bot,
    play_bots,
    pool,
    rules_of,
    some_of_each_phase,
    stacked,
    text_of,
)

from ginsim import cards, melds
from ginsim.bots import Bot, built_in, level_table, levels, load
from ginsim.cards import parse
from ginsim.match import play
from ginsim.rules import PRESETS, preset
from ginsim.scoring import FORFEIT, OUTCOMES
from ginsim.view import BIG_GIN, DISCARD, DRAW, KNOBS, KNOCK, OFFER, View

BOTS = [bot.name for bot in built_in()]
LEVELS = ("easy", "normal", "hard")
#: Bots that go out with gin whenever they can, one a family; random throws anything.
TAKE_GIN = (
    *LEVELS, "master", "simple", "gin-only", "knock-at-5", "early-low", "one-away",
    "expected-deadwood",
)  # fmt: skip
IDLE = plain_bot()

every_bot = pytest.mark.parametrize("name", BOTS)
every_preset = pytest.mark.parametrize("rules", PRESETS)


def asked(bot: Bot, phase: int, *, compiled: bool = True) -> Callable[[View], int]:
    """The function of *bot* that answers in *phase*."""
    draw, discard, knock = bot.policies() if compiled else (bot.draw, bot.discard, bot.knock)
    return {OFFER: draw, DRAW: draw, DISCARD: discard, KNOCK: knock, BIG_GIN: knock}[phase]


def answer(bot: Bot, view: View, *, compiled: bool = True) -> int:
    return asked(bot, view.phase, compiled=compiled)(seen_by(bot, view))


def seen_by(bot: Bot, view: View) -> View:
    """*view* as it is for *bot*: with its parameters."""
    return view._replace(knobs=as_ints(bot.knobs()))


@cache
def some(rules: str) -> list[Position]:
    return some_of_each_phase(rules, 60, random.Random(7))


def views(rules: str, *phases: int) -> list[View]:
    return [position.view for position in some(rules) if position.view.phase in phases]


# --- what is asked ---


@every_preset
def test_a_knock_is_asked_only_with_ten_cards_within_the_limit(rules):
    found = [position for position in pool(rules) if position.view.phase == KNOCK]
    for position in found:
        view = position.view
        assert view.hand.bit_count() == 10
        assert view.kept_deadwood == naive.deadwood(view.hand) <= view.knock_limit


@every_preset
def test_a_knock_is_never_asked_with_the_card_just_taken_unless_the_rules_allow_it(rules):
    with_it = 0
    for before, position in pairwise(pool(rules)):
        if position.view.phase == KNOCK:
            taken = before.view.known >> before.view.drawn & 1
            with_it += taken and position.view.upcard == before.view.drawn
    assert with_it == 0 or preset(rules).knock_taken


@every_preset
def test_big_gin_is_asked_only_with_eleven_melded_cards(rules):
    found = [position.view for position in pool(rules) if position.view.phase == BIG_GIN]
    assert (len(found) > 0) == (rules == "big-gin")
    for view in found:
        assert (view.hand.bit_count(), naive.deadwood(view.hand)) == (11, 0)


@every_preset
def test_a_discard_is_asked_with_eleven_cards_of_which_all_or_all_but_one_may_go(rules):
    for view in views(rules, DISCARD):
        missing = view.hand & ~view.legal
        assert view.legal & ~view.hand == 0
        assert view.hand.bit_count() == 11
        assert missing in (0, 1 << view.drawn)
        assert (missing == 0) or not preset(rules).discard_taken


# --- what is answered ---


@every_preset
@every_bot
def test_a_draw_is_answered_by_yes_or_no(name, rules):
    bot = load(name)
    for view in views(rules, OFFER, DRAW):
        for compiled in (True, False):
            assert answer(bot, view, compiled=compiled) in (0, 1)


@every_preset
@every_bot
def test_a_knock_is_answered_by_yes_or_no(name, rules):
    bot = load(name)
    for view in views(rules, KNOCK, BIG_GIN):
        for compiled in (True, False):
            assert answer(bot, view, compiled=compiled) in (0, 1)


@every_preset
@every_bot
def test_the_discard_is_always_legal(name, rules):
    bot = load(name)
    for view in views(rules, DISCARD):
        assert view.legal >> answer(bot, view) & 1


@every_preset
@every_bot
def test_the_same_view_gets_the_same_answer_compiled_and_as_plain_python(name, rules):
    bot = load(name)
    found = views(rules, OFFER, DRAW, DISCARD, KNOCK, BIG_GIN)
    first = [int(answer(bot, view)) for view in found]
    assert [int(answer(bot, view, compiled=False)) for view in found] == first
    backwards = [int(answer(bot, view)) for view in reversed(found)]
    assert backwards[::-1] == first


@every_bot
def test_no_bot_changes_a_table_a_parameter_or_the_view(name):
    bot = load(name)
    tables = [
        (module, key)
        for module in (cards, melds, levels)
        for key, value in vars(module).items()
        if isinstance(value, np.ndarray)
    ]
    assert len(tables) >= 4

    def state() -> list:
        return [getattr(module, key).tobytes() for module, key in tables] + [
            dict(bot.parameters),
            bot.knobs().tolist(),
        ]

    before = state()
    for view in views("classic", OFFER, DRAW, DISCARD, KNOCK):
        mine = seen_by(bot, view)
        copy = View(*as_ints(mine))
        asked(bot, view.phase)(mine)
        asked(bot, view.phase, compiled=False)(mine)
        assert mine == copy
    assert state() == before


@every_preset
@every_bot
def test_no_bot_forfeits(name, rules):
    rows = play((load(name), load("random")), preset(rules), seed=3, pairs=20)
    assert not (rows["outcome"] == FORFEIT).any()


@every_preset
@every_bot
def test_a_bot_against_its_own_copy_comes_out_even_in_every_pair(name, rules):
    rows = play((load(name), load(name)), preset(rules), seed=4, pairs=8)
    for pair in range(8):
        legs = [rows[(rows["pair"] == pair) & (rows["leg"] == leg)] for leg in (0, 1)]
        net = 0
        for leg, played in enumerate(legs):
            for row in played:
                if row["winner"] >= 0:
                    net += int(row["points"]) * (1 if row["winner"] == leg else -1)
        assert net == 0
        seats = [name for name in rows.dtype.names if name != "leg"]
        assert np.array_equal(legs[0][seats], legs[1][seats]), "both legs are one game"


# --- gin ---


def gin_hand(chance: random.Random, size: int) -> list[int]:
    """*size* cards that all meld."""
    while True:
        spread: list[int] = []
        for meld in chance.sample(naive.MELDS, 60):
            together = naive.union(spread)
            if not meld & together and naive.count(meld | together) <= size:
                spread.append(meld)
        if naive.count(naive.union(spread)) == size:
            return naive.cards(naive.union(spread))


def gin_decks(size: int, where: str, number: int) -> list[list[int]]:
    """Decks on which the starter holds all but one of *size* melded cards; *where* is the last."""
    chance, decks = random.Random(f"{size} {where}"), []
    while len(decks) < number:
        melded = gin_hand(chance, size)
        chance.shuffle(melded)
        rest = [card for card in range(52) if card not in melded]
        chance.shuffle(rest)
        hand = [*melded[:-1], *rest][:10]
        rest = [card for card in rest if card not in hand]
        top = [melded[-1], rest[10]] if where == "upcard" else [rest[10], melded[-1]]
        deck = stacked(text_of(hand), text_of(rest[:10]), text_of(top[:1]), text_of(top[1:]))
        if naive.deadwood(naive.mask(hand)) > 0:
            decks.append(deck)
    return decks


@pytest.mark.parametrize("rules", ["classic", "frapper", "openspiel"])
@pytest.mark.parametrize("name", TAKE_GIN)
def test_an_upcard_that_makes_gin_is_taken_and_gin_is_called(name, rules):
    for deck in gin_decks(10, "upcard", 25):
        row = play_bots((load(name), IDLE), rules_of(rules, round_limit=1), [deck]).row
        assert (outcome(row)[:2], row["turns"]) == (("gin", 0), 1), text_of(deck[:22])


def test_gin_is_taken_whatever_the_parameters_of_a_level():
    chance, decks = random.Random(8), gin_decks(10, "upcard", 3)
    big = [BIG_DECKS[0]]
    for _ in range(40):
        knobs = {knob: chance.choice((0, 1, 5, 40, 2000)) for knob in levels.KNOB_NAMES}
        knobs |= {"early_limit": chance.randrange(-1, 11), "late_limit": chance.randrange(-1, 11)}
        bot = replace(load("hard"), parameters=knobs)
        for deck in decks:
            row = play_bots((bot, IDLE), rules_of("classic", round_limit=1), [deck]).row
            assert (outcome(row)[:2], row["turns"]) == (("gin", 0), 1), knobs
        row = play_bots((bot, IDLE), rules_of("big-gin", round_limit=1), big).row
        assert outcome(row)[:2] in (("big_gin", 0), ("gin", 0)), knobs


@pytest.mark.parametrize("name", TAKE_GIN)
def test_a_stock_card_that_makes_gin_is_kept_and_gin_is_called(name):
    drawn = 0
    for deck in gin_decks(10, "stock", 40):
        played = play_bots((load(name), IDLE), rules_of("classic", round_limit=1), [deck])
        if ("draw", 0, deck[21]) in played.steps[:4]:  # the deal, perhaps two passes, the draw
            drawn += 1
            assert (outcome(played.row)[:2], played.row["turns"]) == (("gin", 0), 1)
    assert drawn > 20


@pytest.mark.parametrize("name", TAKE_GIN)
def test_a_hand_dealt_finished_is_not_broken(name):
    # An upcard that fits a meld but not all of them together must be left lying.
    finished, upcard = "5S 7S TS 5C 7C 7D TD 5H 7H TH", "6S"
    for rules in PRESETS:
        decks = [stacked(finished, "2C 3C 4C 2D 4D 6D 2H 4H 6H AS", upcard, "KC")]
        chance = random.Random(5)
        for _ in range(4):
            melded = gin_hand(chance, 10)
            rest = [card for card in range(52) if card not in melded]
            chance.shuffle(rest)
            decks.append([*np.ravel([melded, rest[:10]], order="F"), *rest[10:]])
        for deck in decks:
            row = play_bots((load(name), IDLE), rules_of(rules, round_limit=1), [deck]).row
            assert OUTCOMES[row["outcome"]] in ("gin", "big_gin"), f"{rules}: {text_of(deck[:22])}"
            assert row["turns"] == 1


@every_preset
@pytest.mark.parametrize("name", TAKE_GIN)
def test_gin_is_called_whenever_it_is_there(name, rules):
    bot = load(name)
    for view in views(rules, DISCARD):
        gin = [c for c in cards.cards_of(view.legal) if naive.deadwood(view.hand - (1 << c)) == 0]
        if gin:
            assert answer(bot, view) in gin
    for view in views(rules, KNOCK):
        if view.kept_deadwood == 0:
            assert answer(bot, view) == 1


def finishing_view(swapped: str) -> View:
    """A discard for gin (throw KC), the cards *swapped* with the drawn one earlier this round."""
    hand = parse("AS 2S 3S 5D 6D 7D 9S 9C 9D 9H KC")
    view = next(v for v in views("classic", DISCARD) if v.drawn >= 0)
    return view._replace(
        hand=hand, legal=hand, swapped=parse(swapped), drawn=next(cards.cards_of(parse("9H"))),
        upcard=next(cards.cards_of(parse("4C"))), discards=parse("4C"),
        rival_known=0, rival_thrown=0, rival_refused=0, known=0,
    )  # fmt: skip


@pytest.mark.parametrize("name", TAKE_GIN)
def test_gin_comes_before_not_swapping_in_circles(name):
    for swapped in ("", "2S", "KC", "KC 2S"):
        view = finishing_view(swapped)
        assert cards.card_text(answer(load(name), view)) == "KC", f"swapped {swapped or 'nothing'}"


@pytest.mark.parametrize("name", TAKE_GIN)
def test_gin_is_called_where_the_card_just_taken_may_be_thrown_but_not_knocked_with(name):
    # A finished hand, dealt; the upcard fits a meld too. Thrown back, it would leave gin, but
    # with it one may not go out.
    rules = rules_of("classic", round_limit=1, discard_taken=1)
    deck = stacked("2S 3S 4S 5D 6D 7D 9S 9C 9D 9H", "TH JH QH 2C 2D 2H KD 8C AC AH", "AS", "KC")
    row = play_bots((load(name), IDLE), rules, [deck]).row
    assert (outcome(row)[0], row["turns"]) == ("gin", 1)


@every_bot
def test_big_gin_is_taken_by_every_built_in_bot(name):
    bot = load(name)
    found = views("big-gin", BIG_GIN)
    assert found
    assert [answer(bot, view) for view in found] == [1] * len(found)


@pytest.mark.parametrize("name", TAKE_GIN)
def test_big_gin_is_taken_in_play(name):
    rules = rules_of("big-gin", round_limit=1)
    for deck in [BIG_DECKS[0], *gin_decks(11, "upcard", 10)]:
        row = play_bots((load(name), IDLE), rules, [deck]).row
        assert OUTCOMES[row["outcome"]] in ("big_gin", "gin")
        if deck is not BIG_DECKS[0]:
            assert OUTCOMES[row["outcome"]] == "big_gin", text_of(deck[:21])


# --- how a bot is named and made ---


def test_every_built_in_bot_loads_by_its_name():
    assert len(set(BOTS)) == len(BOTS)
    assert [load(name) for name in BOTS] == built_in()


@every_bot
def test_parameters_fit_into_the_view_as_ints(name):
    bot = load(name)
    values = list(bot.parameters.values())
    assert all(isinstance(value, int) for value in values)
    assert bot.knobs().tolist() == values + [0] * (KNOBS - len(values))
    assert bot.about


def test_levels_take_their_parameters_from_the_table():
    table = level_table()
    for name in LEVELS:
        wanted = {knob: table[name].get(knob, 0) for knob in levels.KNOB_NAMES}
        assert load(name).parameters == wanted


@pytest.mark.parametrize("limit", range(11))
def test_knock_at_knocks_at_its_limit_and_not_above(limit):
    bot = load(f"knock-at-{limit}")
    for view in views("classic", KNOCK):
        assert answer(bot, view) == (view.kept_deadwood <= limit)


def test_gin_only_knocks_with_nothing_but_gin():
    for view in views("classic", KNOCK):
        assert answer(load("gin-only"), view) == (view.kept_deadwood == 0)


def test_easy_looks_at_its_own_hand_only():
    easy = load("easy")
    for view in views("classic", DRAW, DISCARD):
        blind = view._replace(
            discards=0, pile0=0, pile1=0, pile2=0, pile3=0,
            rival_known=0, rival_thrown=0, rival_refused=0, known=0,
            stock=20, turn=3, score=0, rival_score=0,
        )  # fmt: skip
        assert answer(easy, blind) == answer(easy, view)
    for view in views("classic", KNOCK):
        assert answer(easy, view) == 1, "easy knocks as soon as it may"


def test_a_level_sees_what_its_parameters_allow_and_no_more():
    weights = {"out_weight": 20, "save_weight": 4, "danger_weight": 30, "safe_weight": 50}
    rival = {"rival_known": 0, "rival_thrown": 0, "rival_refused": 0, "rival_score": 0}
    pile = {"discards": 0, "pile0": 0, "pile1": 0, "pile2": 0, "pile3": 0}
    changed = dict.fromkeys(("neither", "pile", "both"), 0)
    for sees, pile_too, rival_too in (("neither", 0, 0), ("pile", 1, 0), ("both", 1, 1)):
        bot = replace(
            load("hard"), parameters=dict.fromkeys(levels.KNOB_NAMES, 0)
            | weights | {"sees_pile": pile_too, "sees_rival": rival_too},
        )  # fmt: skip
        for view in views("classic", DRAW, DISCARD):
            hidden = rival if pile_too else rival | pile
            changed[sees] += answer(bot, view._replace(**hidden)) != answer(bot, view)
    assert changed["neither"] == changed["pile"] == 0
    assert changed["both"] > 0


def test_normal_looks_at_the_pile_and_not_at_the_rival_or_the_score():
    normal = load("normal")
    for view in views("classic", DRAW, DISCARD, KNOCK):
        blind = view._replace(
            rival_known=0, rival_thrown=0, rival_refused=0, known=0, rival_score=0, score=0
        )
        assert answer(normal, blind) == answer(normal, view)
