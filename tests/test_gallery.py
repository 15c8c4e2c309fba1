"""The known players: what each of them looks at, on hands made for it and in real games."""

import random
from functools import cache

import naive
import numpy as np
import pytest
from hands import hands
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted import Position, as_ints, some_of_each_phase

from ginsim.bots import Bot, gallery, load
from ginsim.cards import DECK, card_text, cards_of, hand_of, parse, parse_card, text
from ginsim.match import play
from ginsim.rows import TURN_LIMIT
from ginsim.rules import PRESETS, preset
from ginsim.scoring import FORFEIT
from ginsim.view import BIG_GIN, DISCARD, DRAW, KNOBS, KNOCK, OFFER, View

EARLY_LOW = Bot(
    "early-low",
    gallery.draw,
    gallery.early_low_discard,
    gallery.gin_only_knock,
    gallery.EARLY_LOW,
)
ONE_AWAY = Bot(
    "one-away",
    gallery.draw,
    gallery.one_away_discard,
    gallery.gin_only_knock,
    gallery.ONE_AWAY,
)
EXPECTED = Bot(
    "expected-deadwood",
    gallery.draw,
    gallery.expected_deadwood_discard,
    gallery.expected_deadwood_knock,
    gallery.EXPECTED_DEADWOOD,
)
PLAYERS = (EARLY_LOW, ONE_AWAY, EXPECTED)

every_player = pytest.mark.parametrize("bot", PLAYERS, ids=lambda bot: bot.name)
every_preset = pytest.mark.parametrize("rules", PRESETS)
few = settings(max_examples=60)


def answer(bot: Bot, view: View, *, compiled: bool = True, **knobs: int) -> int:
    """What *bot*, its parameters changed by *knobs*, answers to *view*."""
    draw, discard, knock = bot.policies() if compiled else (bot.draw, bot.discard, bot.knock)
    asked = {OFFER: draw, DRAW: draw, DISCARD: discard, KNOCK: knock, BIG_GIN: knock}[view.phase]
    assert set(knobs) <= set(bot.parameters)
    values = list({**bot.parameters, **knobs}.values())
    return int(asked(view._replace(knobs=(*values, *[0] * (KNOBS - len(values))))))


def blank(phase: int, hand: str, **fields: int) -> View:
    """A view in the middle of nothing: no card seen but the hand, full stock, first turn."""
    nothing = dict.fromkeys(View._fields, 0)
    cards = parse(hand)
    view = View(**{**nothing, "phase": phase, "hand": cards, "knobs": (0,) * KNOBS})  # type: ignore[arg-type]
    view = view._replace(upcard=-1, drawn=-1, stock=31, stock_end=2, target=100, knock_limit=10)
    return view._replace(**fields)


def to_draw(hand: str, upcard: str, **fields: int) -> View:
    """Ten cards and an upcard to take or to leave."""
    top = parse_card(upcard)
    return blank(DRAW, hand, upcard=top, discards=1 << top, **fields)


def to_throw(hand: str, **fields: int) -> View:
    """Eleven cards, the last one written drawn from the stock."""
    view = blank(DISCARD, hand, drawn=parse_card(hand.rsplit(maxsplit=1)[-1]))
    assert view.hand.bit_count() == 11
    return view._replace(legal=view.hand)._replace(**fields)


def thrown(bot: Bot, view: View, **knobs: int) -> str:
    return card_text(answer(bot, view, **knobs))


# --- what they share ---


@every_player
def test_an_upcard_that_melds_and_lowers_the_deadwood_is_taken(bot):
    assert answer(bot, to_draw("KS KD 9C 8D 6H 5S 4C 3D 2H JC", "KH")) == 1


@every_player
def test_an_upcard_that_only_pairs_is_left(bot):
    assert answer(bot, to_draw("KS JD 9C 8D 6H 5S 4C 3D 2H JC", "KH")) == 0


@every_player
def test_an_upcard_that_melds_but_does_not_lower_the_deadwood_is_left(bot):
    # The jack makes a run of J Q K and leaves a king over, the queen's equal.
    assert answer(bot, to_draw("AS 2S 3S 5D 6D 7D KD KH KC QC", "JC")) == 0


@every_player
def test_a_finished_hand_takes_what_leaves_it_finished_and_nothing_else(bot):
    assert answer(bot, to_draw("5S 7S TS 5C 7C 7D TD 5H 7H TH", "6S")) == 0, "would break it"
    assert answer(bot, to_draw("AS 2S 3S 5D 6D 7D 9S 9C 9D 9H", "4S")) == 1, "perhaps big gin"


@every_player
def test_the_draw_compares_the_deadwood_after_the_best_discard(bot):
    for position in some("classic"):
        view = position.view
        if view.phase in (OFFER, DRAW):
            eleven = view.hand | 1 << view.upcard
            after = min(naive.deadwood(eleven - (1 << card)) for card in cards_of(view.hand))
            melds = naive.meldable(eleven) >> view.upcard & 1
            better = after < naive.deadwood(view.hand) or after == 0
            assert answer(bot, view) == (melds and better)


@every_player
def test_gin_comes_before_everything_else(bot):
    hand = "AS 2S 3S 5D 6D 7D 9S 9C 9D 9H KC"
    for circle in ("", "KC", "KC 2S"):
        assert thrown(bot, to_throw(hand, swapped=parse(circle))) == "KC"
    assert thrown(bot, to_throw("AS 2S 3S 5D 6D 7D 9S 9C 9D KC 9H")) == "KC"


@every_player
def test_gin_is_not_given_up_for_an_isolated_low_card_or_a_safe_one(bot):
    view = to_throw("AH 5D 6D 7D 9S 9C 9D JS JH JD JC", turn=0)
    assert thrown(bot, view) == "AH"
    view = to_throw("4S 5S 6S 7S 5D 6D 7D JS JH JD 2C", turn=0)
    assert thrown(bot, view) == "2C"


@every_player
def test_of_several_cards_that_leave_gin_the_one_just_taken_stays(bot):
    # All eleven meld; some rules forbid to knock with the card just taken.
    view = to_throw("2S 3S 4S 5D 6D 7D 9S 9C 9D 9H AS")
    view = view._replace(known=1 << view.drawn)
    card = answer(bot, view)
    assert card != view.drawn
    assert naive.deadwood(view.hand - (1 << card)) == 0


@every_player
def test_cards_swapped_earlier_are_thrown_only_if_nothing_else_may_go(bot):
    view = to_throw("AS 2S 3S 7D 7H 7C KH KD 9C TD KS")
    first = answer(bot, view)
    second = answer(bot, view._replace(swapped=1 << first))
    assert second != first
    assert answer(bot, view._replace(swapped=view.hand)) == first


@every_player
def test_gin_and_big_gin_are_called(bot):
    for turn in (0, 5, 6, 30):
        gin = blank(KNOCK, "AS 2S 3S 5D 6D 7D 9S 9C 9D 9H", kept_deadwood=0, turn=turn)
        big = blank(BIG_GIN, "AS 2S 3S 4S 5D 6D 7D 9S 9C 9D 9H", kept_deadwood=0, turn=turn)
        assert (answer(bot, gin), answer(bot, big)) == (1, 1)


@pytest.mark.parametrize("bot", [EARLY_LOW, ONE_AWAY], ids=lambda bot: bot.name)
def test_early_low_and_one_away_knock_with_nothing_but_gin(bot):
    for left in range(1, 11):
        view = blank(KNOCK, "AS 2S 3S 5D 6D 7D 9S 9C 9D 8H", kept_deadwood=left)
        assert answer(bot, view) == 0


def test_knobs_are_where_the_code_looks_for_them():
    for bot in (ONE_AWAY, EXPECTED):
        names = list(bot.parameters)
        assert names[gallery.DANGER_WEIGHT] == "danger_weight"
        assert names[gallery.SAFE_WEIGHT] == "safe_weight"
    assert list(ONE_AWAY.parameters)[gallery.AWAY_GAIN_WEIGHT] == "gain_weight"
    names = list(EXPECTED.parameters)
    assert names[gallery.EXPECTED_DRAWS] == "draws"
    assert names[gallery.EXPECTED_LATE_LIMIT] == "late_limit"
    assert all(len(bot.parameters) <= KNOBS for bot in PLAYERS)


# --- early-low ---

# Seven cards melded; the deuce and the jack stand alone, the kings are a pair.
LONE = "4S 5S 6S 8D 8H 8C 8S 2C JH KS KD"


def test_an_isolated_low_card_goes_first_in_the_first_three_turns():
    for turn in range(6):
        assert thrown(EARLY_LOW, to_throw(LONE, turn=turn)) == "2C"
    for turn in (6, 7, 20):
        assert thrown(EARLY_LOW, to_throw(LONE, turn=turn)) == "JH"


def test_the_first_turns_and_what_is_low_are_parameters():
    assert thrown(EARLY_LOW, to_throw(LONE, turn=6), early_turns=4) == "2C"
    assert thrown(EARLY_LOW, to_throw(LONE, turn=0), early_turns=0) == "JH"
    assert thrown(EARLY_LOW, to_throw(LONE, turn=0), low_points=1) == "JH"


def test_the_highest_of_several_isolated_low_cards_goes_first():
    assert thrown(EARLY_LOW, to_throw("8D 8H 8C KS KD QH QC AC 3H 5D 9S")) == "5D"


def test_an_isolated_low_card_that_may_not_go_or_was_swapped_stays():
    view, deuce = to_throw(LONE, turn=0), parse("2C")
    assert thrown(EARLY_LOW, view._replace(legal=view.hand & ~deuce)) == "JH"
    assert thrown(EARLY_LOW, view._replace(swapped=deuce)) == "JH"


def test_a_low_card_with_a_partner_stays():
    for pair in ("2C 2D", "2C 3C", "2C 4C"):
        view = to_throw(f"5S 6S 7S 9D 9H 9C {pair} KS KD QH")
        assert thrown(EARLY_LOW, view) == "QH", pair


def test_a_low_card_in_a_meld_stays():
    for key in range(9):
        view = to_throw("AS 2S 3S 9D 9H 9C JC JH KS KD 6H", key=key)
        assert thrown(EARLY_LOW, view) in ("JC", "JH", "KS", "KD")


def test_late_the_highest_loose_card_goes_and_an_isolated_one_before_a_pair():
    assert thrown(EARLY_LOW, to_throw("AS 2S 3S 9D 9H 9C 4C JS KH KD 7H", turn=8)) == "JS"
    assert thrown(EARLY_LOW, to_throw("AS 2S 3S 9D 9H 9C 4C 4D 7C 7D 5H", turn=8)) in ("7C", "7D")


def test_equal_cards_are_thrown_at_random_by_the_key_alone():
    view = to_throw("AS 2S 3S 9D 9H 9C 4C 4D KC KD 5H", turn=8)
    first = {key: thrown(EARLY_LOW, view._replace(key=key)) for key in range(40)}
    assert set(first.values()) == {"KC", "KD"}
    assert first == {key: thrown(EARLY_LOW, view._replace(key=key)) for key in range(40)}


@few
@given(hands(1, 11))
def test_isolated_cards_are_those_that_one_more_card_cannot_meld(hand):
    others = naive.cards(DECK & ~hand)
    can = naive.union(naive.meldable(hand | 1 << card) for card in others)
    assert int(gallery.isolated(hand)) == hand & ~(can | naive.meldable(hand))


@pytest.mark.parametrize("most", range(12))
def test_cards_worth_at_most_so_many_points(most):
    cards = [card for card in range(52) if naive.card_points(card) <= most]
    assert int(gallery.worth_at_most(most)) == hand_of(cards)


# --- one-away ---

# Seven cards melded and two pairs that no run connects.
PAIRS = "AS 2S 3S 4S 5S 6S 7S KH KD TS TC"


@pytest.mark.parametrize("bot", [ONE_AWAY, EXPECTED], ids=lambda bot: bot.name)
def test_a_live_out_is_kept_over_a_dead_one(bot):
    only_outs = {"danger_weight": 0, "safe_weight": 0}
    for dead, loser in (("KS KC", "K"), ("TH TD", "T")):
        view = to_throw(PAIRS, discards=parse(dead))
        assert thrown(bot, view, **only_outs)[0] == loser, "thrown long ago"
        view = to_throw(PAIRS, rival_known=parse(dead))
        assert thrown(bot, view, **only_outs)[0] == loser, "taken by the rival"


def test_without_the_gain_dead_outs_are_as_good_as_live_ones():
    blind = {"danger_weight": 0, "safe_weight": 0, "gain_weight": 0}
    cards = {thrown(ONE_AWAY, to_throw(PAIRS, discards=parse(d)), **blind) for d in ("KS", "TH")}
    assert len(cards) == 1


@pytest.mark.parametrize("bot", [ONE_AWAY, EXPECTED], ids=lambda bot: bot.name)
def test_a_card_that_the_rival_may_meld_is_kept(bot):
    for taken, kept in (("KS", "K"), ("TH", "T"), ("JS 9S JC 9C", "T"), ("QH JH", "KH")):
        view = to_throw(PAIRS, rival_known=parse(taken), turn=20)
        assert not thrown(bot, view, danger_weight=900).startswith(kept), taken


@pytest.mark.parametrize("bot", [ONE_AWAY, EXPECTED], ids=lambda bot: bot.name)
def test_a_card_near_one_that_the_rival_spurned_goes_first(bot):
    for spurned, card in (("JS", "TS"), ("9C", "TC"), ("QH", "KH"), ("QD", "KD")):
        for how in ("rival_thrown", "rival_refused"):
            view = to_throw(PAIRS, turn=20, **{how: parse(spurned)})
            assert thrown(bot, view, danger_weight=0) == card


@few
@given(hands(10, 10), st.integers(0, DECK))
def test_the_gain_is_the_points_of_loose_cards_that_each_draw_melds(kept, cards):
    draws = cards & ~kept
    loose = kept & ~naive.meldable(kept)
    gain = sum(
        naive.points(naive.meldable(kept | 1 << card) & loose) for card in naive.cards(draws)
    )
    assert int(gallery.one_away(kept, draws)) == gain


def test_one_away_throws_what_its_sum_says():
    weights = ONE_AWAY.parameters
    for position in some("classic"):
        view = position.view
        if view.phase != DISCARD or least_deadwood(view) == 0:
            continue
        draws = DECK & ~(view.hand | view.discards | view.rival_known)

        def price(card: int, view: View = view, draws: int = draws) -> int:
            kept = view.hand - (1 << card)
            gain = weights["gain_weight"] * int(gallery.one_away(kept, draws))
            seen = view._replace(knobs=(*weights.values(), *[0] * (KNOBS - len(weights))))
            risk = int(gallery.risk(seen, card))
            return 100 * naive.deadwood(kept) - gain // naive.count(draws) + risk

        cards = naive.cards(view.legal & ~view.swapped) or naive.cards(view.legal)
        assert answer(ONE_AWAY, view) == min(cards, key=price)


# --- expected-deadwood ---


def slow_draws(kept: int, draws: int) -> list[int]:
    """Least deadwood after each of *draws* and the best discard, sorted."""
    return sorted(naive.best_discards(kept | 1 << c, kept | 1 << c)[0] for c in naive.cards(draws))


@settings(max_examples=100)
@given(hands(10, 10), st.lists(st.integers(0, 51), max_size=8), st.integers(1, 9))
def test_the_expectation_is_the_mean_over_the_best_draws(kept, cards, number):
    draws = hand_of(cards) & ~kept
    found = np.full(gallery.MOST_DEADWOOD + 1, 99, dtype=np.int64)
    gallery.count_draws(kept, draws, found)
    left = slow_draws(kept, draws)
    assert np.repeat(np.arange(len(found)), found).tolist() == left
    best = left[:number]
    mean = 100 * sum(best) // len(best) if best else 0
    assert int(gallery.mean_of_best(found, number)) == mean


def test_the_expectation_of_a_hand_that_can_be_counted_by_hand():
    kept = parse("AS 2S 3S 9D 9H 9C JC JH 8C 4D")  # 32 points: 20 for the jacks, 8, and 4
    found = np.zeros(gallery.MOST_DEADWOOD + 1, dtype=np.int64)
    gallery.count_draws(kept, DECK & ~kept, found)
    # Two jacks meld 20 and throw the eight. The four of spades, the nine of spades and the ten
    # of clubs (with 8C 9C JC, for the set of nines) throw a jack; an ace is kept for one.
    assert found[:24].tolist() == [0] * 4 + [2] + [0] * 17 + [3, 3]
    assert int(gallery.mean_of_best(found, 5)) == 100 * (4 + 4 + 22 + 22 + 22) // 5


def test_the_future_counts_early_and_fades():
    # Early the pair is worth waiting for, and the nine, which costs least to keep, goes.
    view = to_throw("AS 2S 3S 4S 5S 6S KH KD QC 7D 9C")
    alone = {"danger_weight": 0, "safe_weight": 0}
    assert thrown(EXPECTED, view._replace(turn=0), **alone) == "QC"
    dead = view._replace(hand=parse("AS 2S 3S 4S 5S 6S KH KD 7C 7D 9C"))
    dead = dead._replace(legal=dead.hand)
    assert thrown(EXPECTED, dead._replace(turn=0), **alone) == "9C"
    assert thrown(EXPECTED, dead._replace(turn=20), **alone)[0] == "K"
    assert thrown(EXPECTED, dead._replace(turn=20), future_decay=100, **alone) == "9C"
    assert thrown(EXPECTED, dead._replace(turn=0), future_weight=0, **alone)[0] == "K"


def test_expected_deadwood_knocks_in_its_first_three_turns_and_then_with_gin_only():
    for turn in range(12):
        for left in (1, 6, 10):
            view = blank(KNOCK, "AS 2S 3S 5D 6D 7D 9S 9C 9D 8H", kept_deadwood=left, turn=turn)
            assert answer(EXPECTED, view) == (turn < 6)
            assert answer(EXPECTED, view, early_limit=5) == (turn < 6 and left <= 5)
            assert answer(EXPECTED, view, late_limit=6) == (turn < 6 or left <= 6)
        gin = blank(KNOCK, "AS 2S 3S 5D 6D 7D 9S 9C 9D 9H", kept_deadwood=0, turn=turn)
        assert answer(EXPECTED, gin, early_limit=-1, late_limit=-1) == 1, "gin comes first"


def test_expected_deadwood_never_leaves_more_than_the_reach_above_the_least():
    for position in some("classic"):
        view = position.view
        if view.phase == DISCARD:
            cards = naive.cards(view.legal & ~view.swapped) or naive.cards(view.legal)
            left = {card: naive.deadwood(view.hand - (1 << card)) for card in cards}
            card = answer(EXPECTED, view)
            assert least_deadwood(view) == 0 or left[card] <= min(left.values()) + 5
            assert least_deadwood(view) == 0 or (
                left[answer(EXPECTED, view, reach=0)] == min(left.values())
            )


# --- in real games ---


@cache
def some(rules: str) -> list[Position]:
    return some_of_each_phase(rules, 60, random.Random(11))


def least_deadwood(view: View) -> int:
    """Least deadwood that a legal discard leaves."""
    return min(naive.deadwood(view.hand - (1 << card)) for card in naive.cards(view.legal))


@every_preset
@every_player
def test_answers_are_legal_and_the_same_in_plain_python(bot, rules):
    for position in some(rules):
        view = View(*as_ints(position.view))
        given_ = answer(bot, view)
        assert given_ == answer(bot, view, compiled=False)
        if view.phase == DISCARD:
            assert view.legal >> given_ & 1
            if least_deadwood(view) == 0:
                assert naive.deadwood(view.hand - (1 << given_)) == 0
        else:
            assert given_ in (0, 1)
        if view.phase in (KNOCK, BIG_GIN) and view.kept_deadwood == 0:
            assert given_ == 1


@pytest.mark.parametrize("rules", ["classic", "eaai", "openspiel"])
@every_player
def test_no_round_is_forfeited_or_reaches_the_turn_limit(bot, rules):
    for rival in (bot, load("gin-only"), load("hard")):
        rows = play((bot, rival), preset(rules), seed=5, pairs=25)
        assert not (rows["outcome"] == FORFEIT).any()
        assert not (rows["dead_reason"] == TURN_LIMIT).any()


@every_player
def test_only_expected_deadwood_knocks_without_gin_and_only_in_its_first_three_turns(bot):
    rows = play((bot, load("simple")), preset("eaai"), seed=6, pairs=100)
    knocks = rows[(rows["knocker"] == rows["leg"]) & (rows["knock_deadwood"] > 0)]
    assert (len(knocks) > 0) == (bot is EXPECTED)
    assert (knocks["turns"] <= 6).all()


@every_player
def test_every_player_makes_more_points_than_simple(bot):
    rows = play((bot, load("simple")), preset("eaai"), seed=6, pairs=300)
    mine = rows["points"].astype(int) * np.where(rows["winner"] == rows["leg"], 1, -1)
    assert mine[rows["winner"] >= 0].mean() > 1


def test_the_players_are_told_apart_by_their_discards():
    throws = {
        bot.name: text(
            hand_of(
                answer(bot, position.view)
                for position in some("classic")
                if position.view.phase == DISCARD
            )
        )
        for bot in PLAYERS
    }
    assert len(set(throws.values())) == 3
