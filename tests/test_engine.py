"""The rules, sentence by sentence, on dealt decks; the worked examples; the cases of faults."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import hands
import numpy as np
import pytest
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

from ginsim import match, records
from ginsim.bots import load
from ginsim.cards import card_text, hand_of, lowest, parse, parse_card, text
from ginsim.errors import GinsimError
from ginsim.melds import best_discards, deadwood, is_meld
from ginsim.replay import deck_of
from ginsim.rng import shuffle
from ginsim.rows import DEAD_REASONS, ROW
from ginsim.rules import PRESETS, TO_TARGET, Rules, preset, with_overrides
from ginsim.showdown import lay_off_order, melds_of, showdown
from ginsim.tournament import Plan, Totals, manifest_of, prepare_folder, run_tournament
from ginsim.tournament import played as blocks_played
from ginsim.view import BIG_GIN, DISCARD, DRAW, OFFER, View

CLASSIC = rules_of("classic")
OFFERS = ("classic", "eaai", "openspiel")  #: presets with the pass round
OPENS = ("frapper", "big-gin", "tutorial", "table")  #: presets whose upcard opens the pile
BANS = tuple(name for name in PRESETS if name != "openspiel")  #: the card just taken must stay

#: Goes out with the nine of hearts and whatever the ninth card leaves; the king goes.
GOES_OUT = "AS 2S 3S 5D 6D 7D 9S 9C"
GIN = f"{GOES_OUT} 9D KC"
#: Defenders who can lay off nothing on it: 0, 3, 15 and 20 deadwood.
MELDED = "TH JH QH KS KD KH 2C 2D 2H"
HAS_3 = f"{MELDED} 3H"
HAS_15 = "TH JH QH 2C 2D 2H 8C 5C AC AH"
HAS_20 = "TH JH QH 2C 2D 2H KD 8C AC AH"
#: Two hands without a meld, and none with the upcard 9H.
LOOSE = "AS 3S 5S 7S 9S JS KS 2D 4D 6D"
OTHERS = "2C 4C 6C 8C TC QC AH 3H 5H 7H"
#: Eleven cards that all meld once the nine of hearts is drawn.
BIG = f"{GOES_OUT} 9D 4S"


def passed(*turns: str, rules: Rules = CLASSIC) -> tuple[str, ...]:
    """*turns* after both have passed the upcard, where the rules offer it."""
    return turns if rules.upcard else ("pass", "pass", *turns)


def knocked(loose: str, defender: str, rules: Rules = CLASSIC) -> Played:
    """The starter draws 9H and knocks with the card *loose* against *defender*."""
    deck = stacked(f"{GOES_OUT} {loose} KC", defender, "4H", "9H")
    return play(deck, *passed("draw KC knock", rules=rules), rules=rules)


def two(bot) -> tuple:
    return bot, bot


#: Draws from the stock and throws what it drew; the hand it was dealt never changes.
IDLE = plain_bot()
#: Takes the top of the pile, throws the lowest card it may, never knocks.
TAKER = plain_bot(draw=lambda view: 1, discard=lambda view: lowest(view.legal))


# --- the deal ---


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("seed", range(4))
def test_ten_cards_each_are_dealt_alternately_from_the_non_dealer(name, seed):
    played = play_bots(two(IDLE), preset(name)._replace(round_limit=1), seed=seed)
    deck, starter = played.decks[0], int(played.row["starter"])
    dealt: dict[int, int] = {}
    for asked in played.asked:
        dealt.setdefault(asked.seat, asked.view.hand & hand_of(deck[:20]))
    assert sorted(deck) == list(range(52))
    assert dealt == {starter: hand_of(deck[0:20:2]), 1 - starter: hand_of(deck[1:20:2])}
    assert played.rounds()[0][0] == ("deal", starter, deck[20])


@pytest.mark.parametrize("name", PRESETS)
def test_the_21st_card_is_the_upcard_and_31_are_in_the_stock(name):
    view = play(stacked(LOOSE, OTHERS, "9H"), rules=rules_of(name)).to_act.view
    assert (view.upcard, view.discards, view.stock) == (parse_card("9H"), parse("9H"), 31)


def test_the_stock_is_drawn_in_the_order_of_the_deck():
    deck = stacked(LOOSE, OTHERS, "9H", "KD KC KH QD")
    played = play(deck, *passed("draw KD", "draw KC", "draw KH", "draw QD"))
    draws = [card for step, _, card in played.steps if step == "draw"]
    assert text_of(draws) == "KD KC KH QD"


def test_players_take_turns_of_one_draw_and_one_discard():
    played = play(stacked(LOOSE, OTHERS, "9H", "KD KC"), *passed("draw KD", "draw KC"))
    assert phases(played)[2:] == [(0, DISCARD), (1, DRAW), (1, DISCARD), (0, DRAW)]
    assert [asked.view.hand.bit_count() for asked in played.asked[2:]] == [11, 10, 11, 10]


def test_an_ace_is_low_only_and_worth_1_and_court_cards_are_worth_10():
    row = play_bots(
        two(IDLE),
        rules_of("classic", round_limit=1),
        [stacked("QS KS AS QD KD AD 3C 5C 7C 9C", "JS JC JD JH 2H 3H 4H TC 8S 6D", "9H")],
    ).row
    assert row["dealt_deadwood_0"] == 4 * 10 + 2 * 1 + 3 + 5 + 7 + 9
    assert row["dealt_deadwood_1"] == 10 + 8 + 6  # four jacks and 2-3-4 of hearts meld


# --- knocking ---


def may_knock(kept: str, draws: str, rules: Rules = CLASSIC, upcard: str = "4H") -> bool:
    """Whether a starter with the nine cards *kept* and KC who draws *draws* is asked to knock."""
    rest = [card for card in range(52) if not parse(f"{kept} KC {draws} {upcard}") >> card & 1]
    deck = stacked(f"{kept} KC", text_of(rest[:10]), upcard, draws)
    played = play(deck, *passed("draw KC", rules=rules), rules=rules)
    return bool(knocks_asked(played))


def test_one_may_knock_with_a_deadwood_of_10_and_not_with_11():
    assert may_knock("AS 2S 3S 4S 5D 6D 7D 6H 3C", "AC")
    assert not may_knock("AS 2S 3S 4S 5D 6D 7D 6H 4C", "AC")


@pytest.mark.parametrize(
    ("limit", "at", "above"), [(3, "3C", "4C"), (5, "5C", "6C"), (8, "8C", "TC")]
)
def test_one_may_knock_up_to_the_limit_of_the_rules(limit, at, above):
    rules = rules_of("classic", knock_limit=limit)
    assert may_knock(f"{GOES_OUT} {at}", "9H", rules)
    assert not may_knock(f"{GOES_OUT} {above}", "9H", rules)


def test_the_limit_may_be_above_10():
    rules = rules_of("classic", knock_limit=12)
    assert may_knock("AS 2S 3S 4S 5D 6D 7D 6H 5C", "AC", rules)
    assert not may_knock("AS 2S 3S 4S 5D 6D 7D 6H 6C", "AC", rules)


def test_knocking_is_optional():
    deck = stacked(f"{GOES_OUT} 3C KC", OTHERS.replace("3H 5H", "TH QH"), "4H", "9H JC")
    played = play(deck, *passed("draw KC", "draw JC"))
    assert [asked.answer for asked in knocks_asked(played)] == [0]
    assert (played.to_act.seat, played.to_act.view.phase) == (0, DRAW)


def test_the_knock_is_asked_with_the_ten_cards_that_are_kept():
    asked = knocks_asked(knocked("3C", HAS_20))[0]
    assert asked.hand() == text(parse(f"{GOES_OUT} 3C 9H"))
    assert (asked.view.kept_deadwood, asked.view.upcard) == (3, parse_card("KC"))


def test_a_lower_knocker_scores_the_difference():
    assert outcome(knocked("3C", HAS_20).row) == ("knock", 0, 17)


def test_a_lower_defender_undercuts_for_the_difference_and_25():
    assert outcome(knocked("8C", HAS_3).row) == ("undercut", 1, 30)


def test_equal_deadwood_is_an_undercut():
    assert outcome(knocked("3C", HAS_3).row) == ("undercut", 1, 25)


def test_gin_scores_25_and_the_defenders_deadwood():
    assert outcome(knocked("9D", HAS_20).row) == ("gin", 0, 45)


def test_no_card_is_laid_off_on_gin():
    row = knocked("9D", "4S 8D TH JH QH 2C 2D 2H KD AC").row
    assert outcome(row) == ("gin", 0, 25 + 4 + 8 + 10 + 1)
    assert (row["laid_off"], row["layoffs"]) == (0, 0)


def test_gin_is_not_undercut_by_a_defender_without_deadwood():
    deck = stacked(GIN, "TH JH QH KH 2C 2D 2H 8S 8C 8H", "4H", "9H")
    assert outcome(play(deck, *passed("draw KC knock")).row) == ("gin", 0, 25)


def test_layoffs_chain_on_cards_already_laid_off():
    row = knocked("3C", "8D 9D TD JD TC JC QC KD 6H QH").row
    # 8D-JD are laid on 5D-7D one after the other; KD 6H QH stay.
    assert (row["defender_deadwood_before"], row["defender_deadwood"]) == (26, 26)
    row = knocked("3C", "8D 9D TS KD 6H QH JC 8H 4C QD").row
    assert (text(int(row["layoffs"])), row["laid_off"]) == ("8D 9D", 2)
    assert row["defender_deadwood_before"] - row["defender_deadwood"] == 17


def test_cards_are_laid_off_on_melds_only_and_never_on_loose_cards():
    # The knocker keeps 4C loose beside AS 2S 3S, 5D 6D 7D, 9-9-9: 4S fits a meld, 4D and 5C do not
    row = knocked("4C", "4S 3C 5C KD KS TH 8H QH JC TD").row
    assert text(int(row["layoffs"])) == "4S"


def test_own_melds_may_be_broken_to_lay_off():  # case A09
    deck = stacked("2S 3S 4S 8S AC 4C 8C 8D AH KC", "AS 5S 6S 7S 5C 7C AD 5D 5H 7H", "9H", "8H")
    row = play(deck, *passed("draw KC knock")).row
    assert outcome(row) == ("undercut", 1, 30)
    assert (row["knock_deadwood"], row["defender_deadwood_before"]) == (6, 8)
    assert (row["defender_deadwood"], text(int(row["layoffs"]))) == (1, "AS 5S 6S")


def dealt_knock(knocker: str, defender: str) -> list[int]:
    """Deck on which the starter draws the last card of *knocker* and throws another first."""
    cards = knocker.split()
    spare = [c for c in range(52) if not parse(f"{knocker} {defender}") >> c & 1]
    hand = f"{' '.join(cards[:-1])} {card_text(spare[-1])}"
    return stacked(hand, defender, card_text(spare[0]), cards[-1])


@pytest.mark.parametrize(("id_", "asked", "expected"), hands.rule_cases("showdown"))
def test_every_showdown_case_settles_the_same_when_it_is_played(id_, asked, expected):
    deck = dealt_knock(asked["knocker"], asked["defender"])
    thrown = deck[18]  # the last card of the starter's dealt ten
    row = play(deck, *passed(f"draw {card_text(thrown)} knock")).row
    laid_down = [text(m) for m in melds_of(int(row["spread_sets"]), int(row["spread_runs"]))]
    assert sorted(laid_down) == sorted(text(parse(meld)) for meld in asked["spread"]), id_
    winner = {"knocker": 0, "defender": 1}[expected["winner"]]
    assert outcome(row) == (expected["kind"], winner, expected["points"])
    assert row["knock_deadwood"] == expected["knocker_deadwood"]
    assert row["defender_deadwood"] == expected["defender_deadwood"]


def test_the_default_spread_is_the_one_on_which_fewer_unseen_cards_fit():  # case A13
    knocker, defender = "4S 5S 6S 7S 8S 9S AC 9C 9D 9H", "AS 2S 3S TS JS 2C 2D AH 2H 3H"
    deck = dealt_knock(knocker, defender)
    row = play(deck, *passed(f"draw {card_text(deck[18])} knock")).row
    assert text(int(row["spread_sets"])) == "9S 9C 9D 9H"
    assert outcome(row) == ("knock", 0, 20)


def test_a_card_in_the_pile_counts_as_seen_when_the_spread_is_chosen():
    # The nine of spades may stand in the run or in the set, and the 3S lies in the pile. While the
    # TS is unseen, it would fit the run to the nine. Once it is thrown nothing fits either
    # spread, and the fixed order decides.
    hand, other = "4S 5S 6S 7S 8S 9S AC 9C 9D KC", "2C 3C 4C 2D 4D 6D 2H 4H 6H TS"
    unseen = play(stacked(hand, other, "3S", "9H"), *passed("draw KC knock")).row
    assert text(int(unseen["spread_sets"])) == "9S 9C 9D 9H"
    deck = stacked(hand, other, "3S", "QD QC 9H")
    thrown = play(deck, *passed("draw QD", "draw TS", "draw KC knock")).row
    assert text(int(thrown["spread_sets"])) == "9C 9D 9H"


# --- the worked examples of the rules ---


def test_example_opponent_25_knocker_3_is_22_points():
    played = knocked("3C", "TH JH QH 2C 2D 2H KD 8C 6C AC")
    assert (played.row["knock_deadwood"], played.row["defender_deadwood"]) == (3, 25)
    assert outcome(played.row) == ("knock", 0, 22)


def test_example_a_tie_is_25_points():
    played = knocked("8C", f"{MELDED} 8H")
    assert (played.row["knock_deadwood"], played.row["defender_deadwood"]) == (8, 8)
    assert outcome(played.row) == ("undercut", 1, 25)


def test_example_knock_8_against_5_after_layoffs_is_28_for_the_defender():
    row = knocked("8C", "TH JH QH 2C 2D 2H 4D 8D 4S 5H").row
    assert (row["knock_deadwood"], row["defender_deadwood_before"]) == (8, 21)
    assert (row["defender_deadwood"], text(int(row["layoffs"]))) == (5, "4S 4D 8D")
    assert outcome(row) == ("undercut", 1, 28)


def test_example_a_2_3_of_spades_5_6_7_of_diamonds_9_9_9_and_one_card_to_throw_is_gin():
    nine_and_one = parse("AS 2S 3S 5D 6D 7D 9S 9C 9H KC")
    assert tuple(map(int, best_discards(nine_and_one, nine_and_one))) == (0, parse("KC"))
    assert outcome(knocked("9D", HAS_20).row)[0] == "gin"


def test_example_with_the_third_nine_throwing_the_7_leaves_a_knock_at_4():
    hand = parse("KH QH JH 9S 9C 7S 3H AS")
    with_nine = hand | parse("9D")
    assert deadwood(with_nine) == 11
    assert tuple(map(int, best_discards(with_nine, with_nine))) == (4, parse("7S"))
    deck = stacked("KH QH JH TH 9S 9C 9H 7S 3H AS", "TS JS QS 2C 2D 2H KD 8C 6C AC", "4H", "9D")
    row = play(deck, *passed("draw 7S knock")).row
    assert (row["outcome"], row["knock_deadwood"]) == (0, 4)


def test_example_loose_5_3_and_ace_is_9_and_may_knock_with_a_king_19_and_may_not():
    assert may_knock("9S 9C 9H TD JD QD KD 5C 3C", "AC")
    assert not may_knock("9S 9C 9H TD JD QD KH 5C 3C", "AC")
    assert deadwood(parse("9S 9C 9H TD JD QD KD 5C 3C AC")) == 9
    assert deadwood(parse("9S 9C 9H TD JD QD KH 5C 3C AC")) == 19


def test_example_queen_king_ace_is_no_run():
    assert not is_meld(parse("QS KS AS"))
    assert not may_knock("QS KS AS 5D 6D 7D 9S 9C 9H", "3H")


# --- the match ---

#: A round that its starter, or the other player, wins with gin for 45 or 40.
STARTER_45 = (stacked(GIN, HAS_20, "4H", "9H"), passed("draw KC knock"))
OTHER_45 = (stacked(HAS_20, GIN, "4H", "QC 9H"), passed("draw QC", "draw KC knock"))
STARTER_40 = (stacked(GIN, HAS_15, "4H", "9H"), passed("draw KC knock"))
OTHER_40 = (stacked(HAS_15, GIN, "4H", "QC 9H"), passed("draw QC", "draw KC knock"))
#: The starter knocks with 8 and is undercut by 3.
UNDERCUT_30 = (stacked(f"{GOES_OUT} 8C KC", HAS_3, "4H", "9H"), passed("draw KC knock"))


def play_rounds(*rounds: tuple, rules: Rules = CLASSIC) -> Played:
    turns = [turn for _, round_turns in rounds for turn in round_turns]
    if rules.upcard:
        turns = [turn for turn in turns if turn != "pass"]
    return play([deck for deck, _ in rounds], *turns, rules=rules)


def scores(played: Played) -> list[tuple[int, int]]:
    return [(int(r["score_before_0"]), int(r["score_before_1"])) for r in played.rows]


def starters(played: Played) -> list[int]:
    return [int(row["starter"]) for row in played.rows]


def test_the_first_to_100_or_more_wins_and_no_round_follows():
    # R37: the undercutter who crosses the target wins, not the player whose turn it was.
    (asked, expected) = next((a, e) for id_, a, e in hands.rule_cases("match") if id_ == "R37")
    played = play_rounds(STARTER_45, OTHER_45, STARTER_40, OTHER_40, UNDERCUT_30, STARTER_45)
    assert scores(played)[-1] == tuple(asked["scores_before"])
    assert len(played.rows) == 5, "the match goes on at 90-80 and ends at 90-110"
    last = played.rows[-1]
    assert (last["knocker"], last["knock_deadwood"]) == (asked["hand"]["knocker"], 8)
    assert outcome(last) == ("undercut", expected["match_winner"], 30)
    after = [int(last["score_before_0"]), int(last["score_before_1"]) + int(last["points"])]
    assert after == expected["scores_after"]


@pytest.mark.parametrize(("target", "rounds"), [(44, 1), (45, 1), (46, 2), (90, 2)])
def test_the_target_is_reached_exactly_or_passed(target, rounds):
    played = play_rounds(STARTER_45, OTHER_45, rules=rules_of("classic", target=target))
    assert len(played.rows) == rounds


def test_scores_before_a_round_are_the_points_scored_until_then():
    played = play_rounds(STARTER_45, OTHER_45, STARTER_40, OTHER_40)
    assert scores(played) == [(0, 0), (45, 0), (90, 0), (90, 40)]


def test_a_view_shows_the_scores_from_its_own_side():
    played = play_rounds(STARTER_45, OTHER_45, STARTER_40)
    first = [a for a in played.asked if a.view.score + a.view.rival_score == 45][:2]
    assert {(a.seat, a.view.score, a.view.rival_score) for a in first} == {(1, 0, 45), (0, 45, 0)}


def test_the_winner_of_a_round_deals_the_next():
    played = play_rounds(STARTER_45, OTHER_45, STARTER_40, OTHER_40)
    winners = [int(row["winner"]) for row in played.rows]
    assert winners == [0, 0, 1, 1]
    assert starters(played) == [0, 1, 1, 0]  # the loser starts


def test_an_undercut_makes_the_defender_the_next_dealer():
    played = play_rounds(UNDERCUT_30, STARTER_45)
    assert starters(played) == [0, 0]


@pytest.mark.parametrize("name", [name for name in PRESETS if name != "openspiel"])
@pytest.mark.parametrize("seed", range(2))
def test_a_dead_hand_scores_nothing_and_the_same_dealer_deals_again(name, seed):
    played = play_bots(two(IDLE), preset(name)._replace(round_limit=3), seed=seed)
    assert [outcome(row) for row in played.rows] == [("dead", -1, 0)] * 3
    assert len(set(starters(played))) == 1
    assert scores(played) == [(0, 0)] * 3


def test_a_dead_hand_between_rounds_changes_no_dealer():
    rules = rules_of("eaai", stock_end=30)  # every turn without a knock ends the hand
    won, dead = STARTER_40, (STARTER_40[0], passed("draw KC"))
    played = play_rounds(dead, won, dead, dead, won, dead, rules=rules)
    assert starters(played) == [0, 0, 1, 1, 1, 0]


def test_the_first_starter_is_drawn_and_is_the_same_in_both_legs():
    bots = (load("simple"), load("gin-only"))
    rows = match.play(bots, preset("classic"), seed=3, pairs=200)
    first = rows[rows["round"] == 0]
    seat_0 = first["starter"][first["leg"] == 0]
    assert 60 < seat_0.sum() < 140
    assert (seat_0 == first["starter"][first["leg"] == 1]).all()


# --- how a hand dies ---


def test_a_hand_is_dead_when_a_turn_leaves_2_cards_in_the_stock():
    row = play_bots(two(IDLE), rules_of("classic", round_limit=1)).row
    assert outcome(row) == ("dead", -1, 0)
    assert (DEAD_REASONS[row["dead_reason"]], row["stock_left"], row["turns"]) == ("stock", 2, 29)
    assert (row["knocker"], row["knock_deadwood"], row["defender_deadwood"]) == (-1, -1, -1)


@pytest.mark.parametrize(("name", "left"), [("classic", 2), ("frapper", 0), ("tutorial", 2)])
def test_a_knock_on_the_very_turn_that_exhausts_the_stock_counts(name, left):
    last = plain_bot(knock=lambda view: view.stock == left)
    deck = stacked(f"{GOES_OUT} 9D 8H", HAS_20, "4H")
    row = play_bots((last, IDLE), rules_of(name, round_limit=1), [deck]).row
    assert (row["stock_left"], row["knocker"], row["knock_deadwood"]) == (left, 0, 8)
    assert outcome(row)[0] == "knock"


def test_taking_the_upcard_uses_no_stock():
    taker = plain_bot(
        draw=lambda view: view.stock == 3,
        discard=lambda view: lowest(view.legal) if view.stock == 3 else view.drawn,
    )
    played = play_bots((taker, IDLE), rules_of("classic", round_limit=1))
    # Seat 0 takes with three cards left instead of drawing the last, so seat 1 draws it (R43).
    assert (played.row["turns"], played.row["stock_left"]) == (30, 2)
    assert (played.row["pile_draws_0"], played.row["pile_draws_1"]) == (1, 0)
    assert [seat for step, seat, _ in played.steps if step == "draw"][-1] == 1


def test_a_round_that_reaches_the_turn_limit_is_dead_for_that_reason():
    row = play_bots(two(TAKER), rules_of("classic", round_limit=1)).row
    assert outcome(row) == ("dead", -1, 0)
    assert DEAD_REASONS[row["dead_reason"]] == "turn_limit"
    assert (row["turns"], row["stock_left"]) == (200, 31)


def test_a_knock_on_the_last_turn_before_the_limit_counts():
    rules = rules_of("classic", turn_limit=3)
    deck = stacked(f"{GOES_OUT} 9D 8H", HAS_20, "4H", "KC QC JC")
    played = play(deck, *passed("draw KC", "draw QC", "draw JC knock"), rules=rules)
    assert (outcome(played.row)[0], played.row["turns"]) == ("knock", 3)
    dead = play(deck, *passed("draw KC", "draw QC", "draw JC"), rules=rules)
    assert (outcome(dead.row)[0], dead.row["turns"]) == ("dead", 3)


def test_after_a_turn_limit_the_same_dealer_deals_again():
    played = play_bots(two(TAKER), rules_of("classic", round_limit=2, turn_limit=5))
    assert starters(played) == [0, 0]


def test_a_match_of_as_many_rounds_as_the_round_limit_is_over():
    played = play_bots(two(IDLE), rules_of("classic", round_limit=7))
    assert len(played.rows) == 7


# --- the card just taken ---

TAKES_9H = stacked(LOOSE, OTHERS, "9H", "KD KC KH")


@pytest.mark.parametrize("name", BANS)
def test_the_card_just_taken_may_not_be_discarded_that_turn(name):
    played = play(TAKES_9H, "take 9H", rules=rules_of(name))
    (asked,) = discards_asked(played)
    assert text(int(asked.view.legal)) == text(parse(LOOSE))
    assert outcome(played.row) == ("forfeit", 1, 0)


def test_openspiel_lets_the_card_just_taken_be_discarded():
    played = play(TAKES_9H, "take 9H", rules=rules_of("openspiel"))
    assert discards_asked(played)[0].view.legal == parse(f"{LOOSE} 9H")
    assert (played.to_act.seat, played.to_act.view.upcard) == (1, parse_card("9H"))


@pytest.mark.parametrize("name", PRESETS)
def test_a_card_drawn_from_the_stock_may_be_discarded_at_once(name):
    rules = rules_of(name)
    played = play(TAKES_9H, *passed("draw KD", rules=rules), rules=rules)
    assert (played.to_act.seat, played.to_act.view.upcard) == (1, parse_card("KD"))


def test_a_card_taken_may_be_discarded_on_a_later_turn():
    played = play(TAKES_9H, "take KS", "draw KD", "draw 9H")
    assert (played.to_act.seat, played.to_act.view.upcard) == (1, parse_card("9H"))


KNOCKS_WITH_UPCARD = stacked(f"{GOES_OUT} 9D 8H", HAS_20, "4H")


@pytest.mark.parametrize("name", BANS)
def test_one_may_not_knock_by_throwing_the_card_just_taken(name):
    played = play(KNOCKS_WITH_UPCARD, "take 4H knock", rules=rules_of(name))
    assert not knocks_asked(played)
    assert outcome(played.row) == ("forfeit", 1, 0)


def test_openspiel_lets_one_knock_by_throwing_the_card_just_taken():
    row = play(KNOCKS_WITH_UPCARD, "take 4H knock", rules=rules_of("openspiel")).row
    assert (outcome(row)[0], row["knocker"], row["knock_deadwood"]) == ("knock", 0, 8)


def test_where_only_the_discard_is_allowed_the_card_just_taken_is_no_knock():
    rules = rules_of("classic", discard_taken=1)
    played = play(KNOCKS_WITH_UPCARD, "take 4H knock", rules=rules)
    assert not knocks_asked(played)
    assert (played.to_act.seat, played.to_act.view.phase) == (1, DRAW)


def test_one_may_knock_with_another_card_after_taking():
    deck = stacked(f"{GOES_OUT} 8H KC", HAS_20, "9H")
    row = play(deck, "take KC knock").row
    assert (outcome(row)[0], row["knock_deadwood"], row["pile_draws_0"]) == ("knock", 8, 1)


# --- illegal answers ---

NOT_HELD = ("KD", "2C", "9H")  #: in the stock, in the other hand, in the pile


@pytest.mark.parametrize("answer", [*NOT_HELD, "-1", "52", "53", "64", "-52", "1000000007"])
def test_an_illegal_discard_forfeits_the_match_and_the_row_is_kept(answer):
    deck = stacked(LOOSE, OTHERS, "9H", "QD KC")
    played = play([deck, deck], *passed(f"draw {answer}"))
    assert outcome(played.row) == ("forfeit", 1, 0)
    assert (played.row["turns"], played.row["stock_left"], played.row["knocker"]) == (1, 30, -1)
    assert played.words()[-1] == f"0 refused {answer}"


def test_a_forfeit_in_a_later_round_keeps_the_rows_before_it():
    illegal = (STARTER_45[0], passed("draw 2C"))
    played = play_rounds(STARTER_45, OTHER_45, illegal, STARTER_45)
    assert [outcome(row) for row in played.rows] == [
        ("gin", 0, 45),
        ("gin", 0, 45),
        ("forfeit", 0, 0),
    ]
    assert starters(played)[-1] == 1  # seat 1 started, threw a card it does not hold, and lost


# --- big gin ---

BIG_GIN_RULES = rules_of("big-gin")


def test_big_gin_is_declared_without_a_discard_and_scores_31_and_the_deadwood():
    played = play(stacked(BIG, HAS_20, "4H", "9H"), "draw big_gin", rules=BIG_GIN_RULES)
    assert outcome(played.row) == ("big_gin", 0, 51)
    assert phases(played) == [(0, DRAW), (0, BIG_GIN)]
    shown = int(played.row["spread_sets"] | played.row["spread_runs"])
    assert text(shown) == text(parse(f"{BIG} 9H"))
    assert (played.row["knock_deadwood"], played.row["turns"]) == (0, 1)


def test_no_card_is_laid_off_on_big_gin():
    deck = stacked(BIG, "8D 5S TH JH QH 2C 2D 2H KD AC", "4H", "9H")
    row = play(deck, "draw big_gin", rules=BIG_GIN_RULES).row
    assert outcome(row) == ("big_gin", 0, 31 + 8 + 5 + 10 + 1)
    assert row["laid_off"] == 0


def test_big_gin_is_offered_only_when_all_eleven_cards_meld():
    played = play(stacked(GIN, HAS_20, "4H", "9H"), "draw KC", rules=BIG_GIN_RULES)
    assert (0, BIG_GIN) not in phases(played)


@pytest.mark.parametrize("name", [name for name in PRESETS if name != "big-gin"])
def test_big_gin_is_offered_under_its_own_rules_only(name):
    rules = rules_of(name)
    played = play(
        stacked(BIG, HAS_20, "4H", "9H"), *passed("draw 4S knock", rules=rules), rules=rules
    )
    assert (0, BIG_GIN) not in phases(played)
    assert outcome(played.row) == ("gin", 0, 45)


def test_big_gin_may_be_declared_with_the_card_just_taken():
    played = play(stacked(BIG, HAS_20, "9H"), "take big_gin", rules=BIG_GIN_RULES)
    assert outcome(played.row) == ("big_gin", 0, 51)


def test_big_gin_may_be_declined_for_gin_or_for_play():
    deck = stacked(BIG, HAS_20, "4H", "9H")
    gin = play(deck, "draw 4S knock", rules=BIG_GIN_RULES)
    assert outcome(gin.row) == ("gin", 0, 45)
    on = play(deck, "draw 4S", rules=BIG_GIN_RULES)
    assert (on.to_act.seat, on.to_act.view.phase) == (1, DRAW)


def test_big_gin_is_seen_with_eleven_cards():
    played = play(stacked(BIG, HAS_20, "4H", "9H"), "draw big_gin", rules=BIG_GIN_RULES)
    asked = played.asked[-1]
    assert (asked.hand(), asked.view.kept_deadwood) == (text(parse(f"{BIG} 9H")), 0)
    assert (card_text(asked.view.drawn), asked.view.legal) == ("9H", 0)


# --- Oklahoma and straight gin ---


@pytest.mark.parametrize(
    ("upcard", "loose", "allowed"),
    [
        ("3H", "3C", True), ("3H", "4C", False), ("8H", "8C", True), ("TD", "TC", True),
        ("KD", "TC", True), ("AD", "AC", True), ("AD", "2H", False),
    ],
)  # fmt: skip
def test_under_oklahoma_the_upcard_sets_the_knock_limit(upcard, loose, allowed):
    rules = rules_of("classic", oklahoma=1)
    assert may_knock(f"{GOES_OUT} {loose}", "9H", rules, upcard) is allowed


def test_under_oklahoma_an_ace_as_upcard_may_mean_gin_only():
    rules = rules_of("classic", oklahoma=1, oklahoma_ace=1)
    assert not may_knock(f"{GOES_OUT} AC", "9H", rules, "AD")
    assert may_knock(f"{GOES_OUT} 9D", "9H", rules, "AD")
    assert may_knock(f"{GOES_OUT} 2C", "9H", rules, "2D")


def test_oklahoma_goes_by_the_first_upcard_all_round_long():
    deck = stacked(f"{GOES_OUT} 3C KC", OTHERS.replace("3H 5H", "TH QH"), "2H", "KD 8D 9H")
    played = play(
        deck, *passed("draw KD", "draw TC", "draw KC"), rules=rules_of("classic", oklahoma=1)
    )
    assert {asked.view.knock_limit for asked in played.asked} == {2}
    assert not knocks_asked(played)


def test_straight_gin_allows_no_knock_but_gin():
    rules = rules_of("classic", knock_limit=0)
    assert not may_knock(f"{GOES_OUT} AC", "9H", rules)
    assert outcome(knocked("9D", HAS_20, rules).row) == ("gin", 0, 45)


# --- presets: what differs from classic ---


@pytest.mark.parametrize("name", OFFERS)
def test_the_upcard_is_offered_to_the_non_dealer_then_to_the_dealer(name):
    played = play(TAKES_9H, "pass", "pass", rules=rules_of(name))
    assert phases(played) == [(0, OFFER), (1, OFFER), (0, DISCARD)]
    forced = played.to_act.view
    assert (card_text(forced.drawn), forced.stock, forced.turn) == ("KD", 30, 0)


@pytest.mark.parametrize("name", OFFERS)
def test_the_dealer_may_take_the_upcard_that_the_non_dealer_passed(name):
    played = play(TAKES_9H, "pass", "take 2C", rules=rules_of(name))
    assert phases(played) == [(0, OFFER), (1, OFFER), (1, DISCARD), (0, DRAW)]
    assert played.words() == ["0 pass 9H", "1 take 9H", "1 throw 2C"]
    assert played.to_act.view.stock == 31


@pytest.mark.parametrize("name", OPENS)
def test_the_upcard_opens_the_pile_and_the_starter_takes_it_or_draws(name):
    rules = rules_of(name)
    drawn = play(TAKES_9H, "draw KD", rules=rules)
    assert phases(drawn) == [(0, DRAW), (0, DISCARD), (1, DRAW)]
    taken = play(TAKES_9H, "take KS", rules=rules)
    assert taken.words() == ["0 take 9H", "0 throw KS"]


@pytest.mark.parametrize(
    ("name", "draws", "left"),
    [(name, 31, 0) if name == "frapper" else (name, 29, 2) for name in PRESETS],
)
def test_the_stock_ends_the_hand_at_two_cards_and_under_frapper_at_none(name, draws, left):
    played = play_bots(two(IDLE), rules_of(name, round_limit=1))
    assert sum(step == "draw" for step, _, _ in played.steps) == draws
    assert (played.row["stock_left"], DEAD_REASONS[played.row["dead_reason"]]) == (left, "stock")


@pytest.mark.parametrize(
    ("name", "next_starter"),
    [(name, 1 if name in ("eaai", "table") else 0) for name in PRESETS if name != "openspiel"],
)
def test_the_loser_starts_the_next_round_and_under_eaai_and_table_the_other_player(
    name, next_starter
):
    rules = rules_of(name, match_end=TO_TARGET)
    played = play_rounds(OTHER_45, STARTER_40, rules=rules)  # seat 1 wins what seat 0 started
    assert starters(played) == [0, next_starter]


@pytest.mark.parametrize("name", PRESETS)
def test_a_match_goes_to_100_and_under_table_and_openspiel_is_one_round(name):
    # Seat 0 wins 45 points a round, as starter or not: 45, 90, 135.
    rules = rules_of(name)
    as_starter = stacked(GIN, HAS_20, "4H", "9H")
    as_other = stacked(HAS_20, GIN, "4H", "QC 9H")
    second = as_starter if name in ("table", "openspiel") else as_other
    decks = [as_starter, second, as_starter if name == "eaai" else as_other, as_starter]
    bot = plain_bot(discard=best_throw, knock=lambda view: view.kept_deadwood == 0)
    played = play_bots(two(bot), rules, decks)
    won = [outcome(row) for row in played.rows]
    assert won == [("gin", 0, 45)] * (1 if name in ("table", "openspiel") else 3)


def best_throw(view: View) -> int:
    """Card that leaves least deadwood."""
    _, best = best_discards(view.hand, view.legal)
    return lowest(best)


def test_under_table_a_dead_hand_is_dealt_again_until_a_round_is_scored():
    rules = rules_of("table", stock_end=30)
    dead = (STARTER_40[0], ("draw KC",))
    played = play_rounds(dead, dead, STARTER_40, STARTER_40, rules=rules)
    assert [outcome(row)[0] for row in played.rows] == ["dead", "dead", "gin"]
    assert starters(played) == [0, 0, 0]


def test_under_openspiel_the_match_is_over_after_a_dead_hand():
    played = play_bots(two(IDLE), rules_of("openspiel"))
    assert [outcome(row)[0] for row in played.rows] == ["dead"]


def test_openspiel_starts_with_player_0_in_both_legs():
    rows = match.play((load("simple"), load("simple")), preset("openspiel"), seed=1, pairs=50)
    assert set(rows["starter"].tolist()) == {0}
    assert len(rows) == 100


def test_under_openspiel_a_tie_scores_nothing():
    row = knocked("3C", HAS_3, rules_of("openspiel")).row
    assert outcome(row) == ("knock", -1, 0)
    assert (row["knocker"], row["knock_deadwood"], row["defender_deadwood"]) == (0, 3, 3)


@pytest.mark.parametrize("name", [name for name in PRESETS if name != "openspiel"])
def test_a_tie_is_an_undercut_under_all_other_presets(name):
    assert outcome(knocked("3C", HAS_3, rules_of(name)).row) == ("undercut", 1, 25)


# --- cases of rules.jsonl: each stands for a kind of fault that programs have had ---

PROSE = (
    "script", "script_list", "match", "view", "known_cards", "log_draw", "validate", "resample",
    "tournament", "roundtrip", "provenance", "concurrent",
)  # fmt: skip


def case(id_: str) -> tuple[dict, dict]:
    """Input and expected of a case."""
    return next((c["input"], c["expected"]) for c in hands.cases("rules.jsonl") if c["id"] == id_)


def test_every_case_in_prose_has_a_test_here():
    ids = [id_ for op in PROSE for id_, _, _ in hands.rule_cases(op)]
    assert len(ids) == 15
    source = Path(__file__).read_text()
    assert [id_ for id_ in ids if f'"{id_}"' not in source] == []


def test_after_two_passes_nobody_is_offered_the_upcard_again():
    asked, _ = case("R39")
    deck = stacked(LOOSE, OTHERS.replace("KD", "9D"), asked["items"][0]["upcard"], "9H")
    both = play(deck, "pass", "pass")
    # Player 0 is to act and has drawn from the stock unasked: no way to take the upcard.
    assert phases(both) == [(0, OFFER), (1, OFFER), (0, DISCARD)]
    assert (card_text(both.to_act.view.drawn), both.to_act.view.stock) == ("9H", 30)
    assert both.to_act.view.discards == parse("KD")
    one = play(deck, "pass")
    # Player 1 may take or pass; neither player can draw before it has answered.
    assert (one.to_act.seat, one.to_act.view.phase, one.to_act.view.stock) == (1, OFFER, 31)
    assert one.words() == ["0 pass KD"]


def test_with_two_stock_cards_left_nobody_may_take_the_last_discard():
    _, expected = case("R41")
    deck = stacked(f"{GOES_OUT} 9D 8H", HAS_20, "4H")
    # Player 1 would take any card and knock, were it asked after the last discard.
    bot = plain_bot(draw=lambda view: view.stock == 2, knock=lambda view: view.stock == 2)
    played = play_bots((IDLE, bot), rules_of("classic", round_limit=1), [deck])
    assert outcome(played.row) == ("dead", -1, 0)
    assert (played.steps[-1][1], played.row["stock_left"]) == (0, 2)
    assert not any(a.seat == 1 and a.view.stock == 2 for a in played.asked)
    assert expected["common_rule"]["to_act"] is None
    with pytest.raises(GinsimError, match=r"^wall: .*fiftieth card"):  # the variant, by name
        with_overrides(preset("classic"), ["wall=yes"])


def test_a_low_stock_is_neither_settled_by_deadwood_nor_reshuffled():
    _, expected = case("R43")
    played = play_bots(
        two(IDLE), rules_of("classic", round_limit=1), [stacked(LOOSE, OTHERS, "9H")]
    )
    draws = [(seat, card) for step, seat, card in played.steps if step == "draw"]
    assert len(draws) == expected["stock_draws"]
    assert draws[-1][0] == expected["last_drawer"]
    assert played.row["stock_left"] == expected["stock_left"]
    last = played.asked[-1].view
    assert last.discards.bit_count() + 1 == expected["discard_pile"]  # and the last card thrown
    assert [hand.bit_count() for hand in played.hands()] == expected["hands"]
    assert outcome(played.row) == ("dead", -1, 0)


def test_two_players_who_only_take_from_the_pile_do_not_play_for_ever():
    _, expected = case("R47")
    for name in PRESETS:
        row = play_bots(two(TAKER), rules_of(name, round_limit=1)).row
        assert outcome(row) == ("dead", -1, 0)
        assert DEAD_REASONS[row["dead_reason"]] == "turn_limit"  # apart from a dead stock
        assert row["pile_draws_0"] + row["pile_draws_1"] == row["turns"] == 200
    assert expected["must_end"]


def test_spread_loose_cards_and_deadwood_of_the_knocker_lie_open():
    # Here the engine lays off for the defender, on the very spread that the row logs; and a view
    # says its phase, which nobody needs to infer from the legal moves.
    _, expected = case("R49")
    deck = stacked("AS AC AD JS QS KS TC TD 2H KC", "3C 5C 7C 9C 4D 6D 8D 5H 7H 9H", "4H", "TH")
    played = play(deck, *passed("draw KC knock"))
    row = played.row
    laid_down = melds_of(int(row["spread_sets"]), int(row["spread_runs"]))
    assert sorted(map(text, laid_down)) == sorted(expected["sees_spread"])
    loose = played.hands()[0] & ~int(row["spread_sets"] | row["spread_runs"])
    assert text(loose) == expected["sees_knocker_deadwood_cards"]
    assert row["knock_deadwood"] == expected["sees_knocker_deadwood"]


def test_what_a_player_took_is_known_until_it_throws_it_away():
    _, expected = case("R51")
    deck = stacked("AS KC JC 9C 7C 5C 3C QD TD 8D", "KS QC TC 8C 6C 4C 2C JD 9D 7D", "AH", "2H 4H")
    played = play(deck, "take AS", "take KS", "take AH", "draw 2H", "draw 4H")
    # Step 5: player 0 has taken the king and holds AH KS; the rival knows both.
    fifth = next(a for a in played.asked if a.view.drawn == parse_card("KS"))
    assert text(int(fifth.view.known)) == text(
        parse(" ".join(expected["after_step_5_known_in_P0"]))
    )
    later = [a for a in played.asked[played.asked.index(fifth) + 1 :] if a.view.phase == DRAW]
    assert [a.seat for a in later] == [1, 0, 1]
    known, rival_known = " ".join(expected["known_in_P0"]), " ".join(expected["known_in_P1"])
    for asked in later[1:2]:  # player 0's side
        assert text(int(asked.view.known)) == known
        assert text(int(asked.view.rival_known)) == rival_known
    for asked in later[0::2]:  # player 1's side
        assert text(int(asked.view.known)) == rival_known
        assert text(int(asked.view.rival_known)) == known


def test_every_deal_deals_another_hand_and_no_pool_is_too_small():
    asked, expected = case("R53")
    dealt = {hand_of(deck_of(7, pair, 0, 0)[1:20:2]) for pair in range(asked["n"])}
    assert len(dealt) == asked["n"] >= expected["distinct_opponent_hands_at_least"]
    one, pool = np.full(1, -1), np.full(2, -1)
    shuffle(7, one)
    assert one.tolist() == [0]
    firsts = set()
    for key in range(64):
        shuffle(key, pool)
        firsts.add(int(pool[0]))
    assert firsts == {0, 1}


def test_a_dead_hand_in_one_leg_changes_no_deal_of_either():
    asked, _ = case("R55")
    some, rules = load("gin-only"), preset("classic")._replace(round_limit=12, target=1000)
    never = plain_bot(some.draw, some.discard, name="never knock")
    for pair in range(asked["pairs"]):
        legs = [
            play_bots(bots, rules, seed=asked["seed"], pair=pair, record=False).rows
            for bots in ((some, never), (never, some))
        ]
        outcomes = [[outcome(row)[0] for row in rows] for rows in legs]
        assert outcomes[0] != outcomes[1], "the legs go different ways"
        assert "dead" in outcomes[0] + outcomes[1]
        for row in [*legs[0], *legs[1]]:
            starter = int(row["starter"])
            deck = deck_of(asked["seed"], pair, int(row["round"]), starter)
            dealt = [int(deadwood(hand_of(deck[at:20:2]))) for at in (0, 1)]
            assert [row[f"dealt_deadwood_{seat}"] for seat in (starter, 1 - starter)] == dealt


@pytest.mark.parametrize("name", PRESETS)
def test_the_bots_swap_hands_between_the_legs_whoever_starts(name):
    """Also where the winner deals the next round and the legs' starters part."""
    rules = preset(name)
    rows = match.play((load("normal"), load("easy")), rules, seed=11, pairs=60)
    legs = [rows[rows["leg"] == leg] for leg in (0, 1)]
    by_place = [{(row["pair"], row["round"]): row for row in leg} for leg in legs]
    common = sorted(set(by_place[0]) & set(by_place[1]))
    parted = 0
    for place in common:
        one, other = (rows_of[place] for rows_of in by_place)
        parted += one["starter"] != other["starter"]
        for seat in (0, 1):
            assert one[f"dealt_deadwood_{seat}"] == other[f"dealt_deadwood_{seat}"]
    assert len(common) >= 60
    assert parted > 0 or name not in ("classic", "frapper", "big-gin", "tutorial")


@pytest.mark.parametrize("jobs", [1, 3])
def test_deals_are_the_same_for_any_number_of_jobs(jobs):
    plan = Plan(("knock-at-10", "gin-only"), preset("classic"), seed=7, pairs=6, block_pairs=1)
    totals = Totals.empty(plan)
    for block in blocks_played(plan, jobs, None):
        totals.add(block)
    rows = match.play((load("knock-at-10"), load("gin-only")), plan.rules, 7, 6)
    assert totals.digest() == records.digest(rows, "knock-at-10 v gin-only")


def test_the_stock_draw_that_is_logged_is_the_card_that_was_drawn():
    asked, expected = case("R57")
    deck = stacked(
        LOOSE.replace("2D", "2S"),
        "3C 4C 6C 8C TC QC AH 3H JH 7H",
        "9H",
        " ".join(asked["stock_top_first"]),
    )
    played = play(deck, "pass", "pass")
    assert played.words()[-1] == f"0 draw {expected['logged']}"
    assert card_text(played.to_act.view.drawn) == expected["logged"]
    on = play(deck, *passed("draw 5H", "draw 9C", "draw AS"))
    draws = [card_text(card) for step, _, card in on.steps if step == "draw"]
    assert draws[1:3] == expected["stock_after"]


def test_laid_off_cards_read_back_from_parquet_in_an_order_in_which_they_can_be_laid(tmp_path):
    # The column is a mask, an int; replay lists it in an order in which every card fits.
    asked, expected = case("R59")
    rows = np.zeros(len(asked["layoffs"]), ROW)
    for row, cards in zip(rows, asked["layoffs"], strict=True):
        row["layoffs"], row["laid_off"] = parse(" ".join(cards)), len(cards)
        row["spread_runs"] = parse("6S 7S 8S") if len(cards) > 1 else parse("7S 8S 9S")
    rows["pair"] = range(len(rows))
    path = tmp_path / "part-000000.parquet"
    table = records.to_table(rows, ["a", "b"], 0, 1)
    records.write_part(path, [table], records.digest(rows, "a v b"))
    read, _ = records.read_part(path, ["a", "b"])
    laid = [
        [card_text(card) for card in lay_off_order(int(r["layoffs"]), 0, int(r["spread_runs"]))]
        for r in read[0, 1]
    ]
    assert laid == expected["layoffs"]


BOT_FILE = """
from ginsim.bots import Bot, yardsticks

bot = Bot("mine", yardsticks.simple_draw, yardsticks.simple_discard, yardsticks.simple_knock,
          {{"knocks_at": {limit}}}, jit=False)
"""


@pytest.mark.parametrize("limit", [2, 6])
def test_the_parameters_that_are_logged_are_those_that_were_played(tmp_path, limit):
    assert case("R61")[1]["logged_config_equals_effective_config"]
    file = tmp_path / "mine.py"
    file.write_text(BOT_FILE.format(limit=limit))
    plan = Plan((f"{file}:bot", "simple"), preset("classic"), seed=1, pairs=1)
    run = tmp_path / "run"
    prepare_folder(run, overwrite=False)
    _, manifest = run_tournament(plan, run, manifest_of(plan, "classic"), jobs=1)
    logged = manifest["bots"][0]["parameters"]
    played = play_bots((plan.bots()[0], load("simple")), plan.rules, seed=1)
    effective = {asked.view.knobs[0] for asked in played.asked if asked.seat == 0}
    assert (logged, effective) == ({"knocks_at": limit}, {limit})
    rounds = records.read_rounds(run)
    mine = rounds[rounds["knocker"] == "mine"]
    assert 0 <= mine["knock_deadwood"].max() <= limit


def test_matches_played_at_once_do_not_touch_each_other():
    # A bot is asked once a turn, so a move cannot come twice; what could be shared is state.
    assert case("R63")[1]["hand_sizes"] == [10, 10]
    tasks = [(seed, compiled) for seed in range(4) for compiled in (True, False)] * 2

    def rows_of(task: tuple[int, bool]) -> np.ndarray:
        seed, compiled = task
        bots = (load("easy"), load("simple"))
        return match.play(bots, preset("classic"), seed, 1, compiled=compiled)

    alone = [rows_of(task) for task in tasks]
    with ThreadPoolExecutor(8) as threads:
        together = list(threads.map(rows_of, tasks))
    assert all(np.array_equal(a, b) for a, b in zip(alone, together, strict=True))


def test_a_refused_spread_costs_no_card():
    # The engine lays the spread itself; one that a user writes is refused with the reason.
    asked, expected = case("R65")
    hand, defender = parse(asked["hand11"]), "TD JD QD 2C 2D 2H 3H 5C AC AH"
    reasons = ("does not hold JC", "'3S' is no meld", "34 deadwood .*limit is 10")
    for step, reason in zip(asked["steps"], reasons, strict=True):
        thrown, _, melds = step.removeprefix("knock ").partition(" with spread ")
        kept = text(hand & ~parse(thrown))
        with pytest.raises(GinsimError, match=reason):
            showdown(kept, defender, melds.strip("[]").split(", "), preset("classic"))
    assert text(hand) == text(parse(expected["hand_after"]))


def test_wrong_hands_and_illegal_knocks_are_refused():
    # That a knock at 11 is never offered is tested above; a claimed one in test_verify (R67).
    asked, expected = case("R67")
    rules, ten = preset("classic"), text_of(range(39, 49))
    for size, accepted in zip(asked["hands"], expected["deal_accepts"], strict=True):
        some = text_of(range(26, 26 + size))  # diamonds
        for knocker, defender in ((some, ten), (ten, some)):
            if accepted:
                assert showdown(knocker, defender, None, rules)["kind"] == "gin"
            else:
                with pytest.raises(GinsimError, match=f"has {size} cards: give 10"):
                    showdown(knocker, defender, None, rules)
    with pytest.raises(GinsimError, match="3S stands twice"):
        parse(asked["bad_hand"])


# --- what the engine keeps of a round, on many real ones ---


@pytest.mark.parametrize("name", PRESETS)
def test_every_row_of_real_play_keeps_the_sentences_of_the_rules(name):
    rules = preset(name)
    bots = (load("normal"), load("simple"))
    rows = match.play(bots, rules, seed=11, pairs=100)
    kinds = {
        kind: rows[rows["outcome"] == at]
        for at, kind in enumerate(("knock", "gin", "big_gin", "undercut", "dead", "forfeit"))
    }
    assert len(kinds["forfeit"]) == 0
    assert (len(kinds["big_gin"]) > 0) <= (name == "big-gin")
    knocks = kinds["knock"]
    scored = knocks[knocks["points"] > 0]
    assert (scored["points"] == scored["defender_deadwood"] - scored["knock_deadwood"]).all()
    assert (scored["winner"] == scored["knocker"]).all()
    assert (len(scored) == len(knocks)) | (name == "openspiel")
    under = kinds["undercut"]
    assert (under["points"] == under["knock_deadwood"] - under["defender_deadwood"] + 25).all()
    assert (under["winner"] == 1 - under["knocker"]).all()
    gin = kinds["gin"]
    assert (gin["points"] == 25 + gin["defender_deadwood"]).all()
    assert (gin["knock_deadwood"] == 0).all()
    assert (gin["laid_off"] == 0).all()
    big = kinds["big_gin"]
    assert (big["points"] == 31 + big["defender_deadwood"]).all()
    dead = kinds["dead"]
    assert (dead["stock_left"] == rules.stock_end).all()
    assert (dead["points"] == 0).all()
    assert (rows["knock_deadwood"] <= 10).all()
    assert (rows["stock_left"] >= rules.stock_end).all()
    draws = rows["pile_draws_0"].astype(int) + rows["pile_draws_1"]
    assert (rows["turns"] == draws + 31 - rows["stock_left"]).all()
