"""Melds: totals known by counting, cases with known values, and the twins."""

from itertools import combinations

import naive
import pytest
from hands import (
    any_cards,
    cases,
    deals,
    dense_hands,
    hands,
    melds_of,
    resuited,
    rule_cases,
    suit_orders,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from ginsim import melds
from ginsim.cards import DECK, parse, text
from ginsim.rules import preset
from ginsim.scoring import OUTCOMES, settle

many = settings(deadline=None, max_examples=300)
some = settings(deadline=None, max_examples=150)
BITS = [1 << card for card in range(52)]
CLASSIC = preset("classic")


def ints(pair) -> tuple[int, ...]:
    """A kernel's answer as plain ints."""
    return tuple(int(one) for one in pair)


# --- totals known by counting ---


def test_the_deck_has_65_sets_264_runs_and_329_melds():
    # 13 ranks x (4 sets of three + 1 of four); 4 suits x (11 + 10 + .. + 1) runs of 3..13.
    # 329, and 185 of 3 to 5 cards: case R07 of rules.jsonl.
    assert (len(naive.SETS), len(naive.RUNS)) == (13 * 5, 4 * 66)
    assert len(set(naive.MELDS)) == 329
    assert sum(naive.count(meld) <= 5 for meld in naive.MELDS) == 185


@pytest.mark.parametrize(("size", "sets", "runs"), [(3, 52, 44), (4, 13, 40)])
def test_among_all_hands_of_three_and_of_four_is_meld_finds_the_sets_and_runs(size, sets, runs):
    found = [hand for hand in map(sum, combinations(BITS, size)) if melds.is_meld(hand)]
    assert len(found) == sets + runs
    assert set(found) == {meld for meld in naive.MELDS if naive.count(meld) == size}


@pytest.mark.parametrize(("size", "runs"), [(5, 36), (6, 32), (7, 28), (10, 16), (13, 4)])
def test_longer_melds_are_the_runs_of_one_suit(size, runs):
    found = 0
    for suit in range(4):
        of_suit = BITS[13 * suit : 13 * suit + 13]
        found += sum(bool(melds.is_meld(hand)) for hand in map(sum, combinations(of_suit, size)))
    assert found == runs


def test_all_329_melds_are_melds_and_have_no_deadwood():
    for meld in naive.MELDS:
        assert melds.is_meld(meld)
        assert melds.meldable(meld) == meld
        assert melds.deadwood(meld) == 0


def test_neighbours_in_card_order_over_the_end_of_a_suit_are_no_run():
    for low in range(50):
        assert melds.is_meld(7 << low) == (low % 13 <= 10)
        assert (melds.run_cards(7 << low) != 0) == (low % 13 <= 10)


def test_run_cards_of_every_suit_mask_in_every_suit():
    for ranks in range(1 << 13):
        members = naive.run_cards(ranks)
        for suit in range(4):
            assert melds.run_cards(ranks << 13 * suit) == members << 13 * suit


def test_set_ranks_and_of_ranks_of_every_choice_of_suits_and_of_ranks():
    for suits in range(16):
        of_ace = naive.mask(13 * suit for suit in range(4) if suits >> suit & 1)
        for rank in range(13):
            assert melds.set_ranks(of_ace << rank) == (naive.count(suits) >= 3) << rank
    for ranks in range(1 << 13):
        assert melds.of_ranks(ranks) == naive.of_ranks(ranks)


def test_the_whole_deck_melds():
    assert melds.set_ranks(DECK) == (1 << 13) - 1
    assert melds.run_cards(DECK) == DECK
    assert melds.meldable(DECK) == DECK


# --- cases with known values (tests/data, independent exhaustive solvers) ---


def test_deadwood_of_2000_known_hands():
    # deadwood.jsonl: ten cards as they are, eleven after the best discard
    wrong = []
    for case in cases("deadwood.jsonl"):
        hand = parse(case["hand"])
        ten = len(case["hand"]) == 20
        left = melds.deadwood(hand) if ten else melds.best_discards(hand, hand)[0]
        if left != case["deadwood"]:
            wrong.append((case, int(left)))
    assert not wrong


def test_deadwood_cases():
    for name, asked, expected in rule_cases("deadwood"):
        for hand, result in zip(asked["hands"], expected["results"], strict=True):
            assert melds.deadwood(parse(hand)) == result["deadwood"], (name, hand)
            # That the case itself is right: its melds leave just that.
            for arrangement in result.get("best_arrangements", []):
                assert naive.loose(parse(hand), melds_of(arrangement)) == result["deadwood"], (
                    name,
                    hand,
                )


def test_is_meld_cases():
    for name, asked, expected in rule_cases("is_meld"):
        for cards, valid in zip(asked["cards"], expected["valid"], strict=True):
            assert bool(melds.is_meld(parse(cards))) == valid, (name, cards)


def test_going_out_cases():
    for name, asked, expected in rule_cases("going_out"):
        hand = parse(asked["hand11"])
        taken = asked["taken_from_pile"]
        legal = hand & ~parse(taken or "")
        gin = melds.discards_within(hand, legal, 0)
        knock = melds.discards_within(hand, legal, asked.get("knock_limit", 10)) & ~gin
        assert text(gin) == " ".join(expected["gin_discards"]), name
        if "knock_discards" in expected:  # they leave the gin discards out
            assert text(knock) == " ".join(expected["knock_discards"]), name
        if "big_gin" in expected:
            assert (melds.deadwood(hand) == 0) == expected["big_gin"], name
            assert melds.deadwood(hand) == expected["deadwood_of_11"], name
            least, _ = melds.best_discards(hand, legal)
            assert least == expected["least_deadwood_after_discard"], name
            assert text(legal) == " ".join(expected["legal_discards"]), name


def test_gin_and_big_gin_pay_what_the_case_says():
    _, _, expected = next(case for case in rule_cases("going_out") if case[0] == "R19")
    defender = melds.deadwood(parse(expected["defender"]))
    assert defender == expected["defender_deadwood"]
    assert settle(CLASSIC, 10, 0, defender)[1] == expected["points_as_gin"]
    assert settle(CLASSIC, 11, 0, defender)[1] == expected["points_as_big_gin_31"]


def test_going_out_list_cases():
    for name, asked, expected in rule_cases("going_out_list"):
        for at, cards in enumerate(asked["hands11"]):
            hand = parse(cards)
            knock = melds.discards_within(hand, hand, 10) & ~melds.discards_within(hand, hand, 0)
            assert text(knock) == " ".join(expected["knock_discards"][at]), (name, cards)
            least, _ = melds.best_discards(hand, hand)
            assert least == expected["least_deadwood_after_discard"][at], (name, cards)


def test_meld_facts_cases():
    for name, asked, expected in rule_cases("meld_facts"):
        assert len(naive.MELDS) == expected["melds_in_full_deck"], name
        for at, cards in enumerate(asked["hands11"]):
            hand = parse(cards)
            assert len(naive.melds_in(hand)) == expected["melds_in_hand"][at], (name, cards)
            assert melds.deadwood(hand) == expected["deadwood_of_11"][at], (name, cards)
            least, _ = melds.best_discards(hand, hand)
            assert least == expected["least_deadwood_after_discard"][at], (name, cards)


def test_perf_cases():
    for name, asked, expected in rule_cases("perf"):
        for at, cards in enumerate(asked["hands11"]):
            hand = parse(cards)
            assert len(naive.melds_in(hand)) == expected["melds"][at], (name, cards)
            assert len(naive.spreads(hand)) == expected["disjoint_meld_sets"][at], (name, cards)
            assert melds.deadwood(hand) == expected["deadwood"][at], (name, cards)


# --- settlements with known values ---


def showdown(knocker: int, spread, defender: int, rules) -> tuple[int, int, str, int]:
    """Knocker's and defender's deadwood, outcome and points for the knocker, by the kernels."""
    sets, runs = naive.sets_of(spread), naive.runs_of(spread)
    assert sets | runs == naive.union(spread)  # each is a meld
    ours = naive.loose(knocker, spread)
    theirs = melds.deadwood(defender) if ours == 0 else melds.lay_off(defender, sets, runs)[0]
    outcome, points = settle(rules, 10, ours, theirs)
    return ours, int(theirs), OUTCOMES[outcome], int(points)


def settlement(expected: dict) -> tuple[int, int, str, int]:
    """What a case of rules.jsonl says, in the form of ``showdown``."""
    sign = {"knocker": 1, "defender": -1}[expected["winner"]]
    points = sign * expected["points"]
    return expected["knocker_deadwood"], expected["defender_deadwood"], expected["kind"], points


def test_showdown_cases():
    for name, asked, expected in rule_cases("showdown"):
        bonuses = {f"{which}_bonus": points for which, points in asked["bonuses"].items()}
        rules = CLASSIC._replace(**bonuses)
        spread = melds_of(asked["spread"])
        got = showdown(parse(asked["knocker"]), spread, parse(asked["defender"]), rules)
        assert got == settlement(expected), name


def test_the_best_layoff_of_the_showdown_cases_is_one_of_the_twins_best():
    for name, asked, expected in rule_cases("showdown"):
        if "one_best_layoff" in expected and expected["kind"] != "gin":
            left, best = naive.lay_off(parse(asked["defender"]), melds_of(asked["spread"]))
            assert left == expected["defender_deadwood"], name
            assert parse(expected["one_best_layoff"]) in best, name


def test_spread_choice_cases():
    for name, asked, expected in rule_cases("spread_choice"):
        knocker, defender = parse(asked["knocker"]), parse(asked["defender"])
        for per in expected["per_spread"]:
            got = showdown(knocker, melds_of(per["spread"]), defender, CLASSIC)
            assert got == settlement(per), (name, per["spread"])
        legal = [one for one in naive.spreads(knocker) if naive.loose(knocker, one) <= 10]
        net = {frozenset(one): showdown(knocker, one, defender, CLASSIC)[3] for one in legal}
        least = [net[frozenset(one)] for one in naive.least_spreads(knocker)]
        assert len(legal) == expected["legal_spreads"], name
        assert melds.deadwood(knocker) == expected["least_knocker_deadwood"], name
        assert [min(least), max(least)] == expected["net_range_over_least_deadwood_spreads"], name
        assert max(net.values()) == expected["best_net_of_all"], name
        best = frozenset(melds_of(expected["best_spread_of_all"]))
        assert net[best] == expected["best_net_of_all"], name


def test_the_default_spread_of_three_sets_or_three_runs_is_the_sets():
    # R21: the runs open all of spades, clubs and diamonds but the ace of spades, the sets three
    # cards: 5H 6H 7H.
    _, asked, _ = next(case for case in rule_cases("spread_choice") if case[0] == "R21")
    knocker = parse(asked["knocker"])
    unseen, melded = DECK & ~knocker, knocker & ~parse("AS")
    assert melds.openings(0, melded, unseen) == 9 + 10 + 10
    assert melds.openings(melded, 0, unseen) == 3
    assert ints(melds.default_spread(knocker, unseen)) == (melded, 0)


def test_200_dense_knocks_of_another_program():
    # showdowns.jsonl: there a tie scores nothing, as in the preset openspiel
    for case in cases("showdowns.jsonl"):
        hands_ = [parse(hand) for hand in case["final_hands"]]
        knocker, defender = hands_[case["knocker"]], hands_[1 - case["knocker"]]
        spread = melds_of(case["knocker_melds"])
        ours, theirs, kind, points = showdown(knocker, spread, defender, preset("openspiel"))
        assert ours == case["knocker_deadwood"], case["id"]
        assert theirs == case["best_defence"]["deadwood"], case["id"]
        assert points == case["best_defence"]["returns"][case["knocker"]], case["id"]
        if case["result"] == "knock_tie":
            tie = showdown(knocker, spread, defender, CLASSIC)
            assert tie[2:] == ("undercut", -25), case["id"]
        else:
            assert kind == case["result"], case["id"]


def test_250_finished_hands_of_a_third_program():
    # finished-hands.jsonl: opp_dw is that program's defence, opp_dw_joint the right one
    weaker = 0
    for case in cases("finished-hands.jsonl"):
        hands_ = [parse(" ".join(hand)) for hand in case["hands"]]
        knocker, defender = hands_[case["knocker"]], hands_[1 - case["knocker"]]
        spread = melds_of([" ".join(meld) for meld in case["knock_melds"]])
        ours, theirs, kind, points = showdown(knocker, spread, defender, preset("eaai"))
        assert ours == case["knock_dw"] == melds.deadwood(knocker), case["id"]
        assert theirs == case["opp_dw_joint"], case["id"]
        weaker += theirs < case["opp_dw"]
        if theirs == case["opp_dw"]:
            won = case["points"] if case["winner"] == case["knocker"] else -case["points"]
            assert (kind, points) == (case["type"], won), case["id"]
    assert weaker == 6  # of 250, counted in the file


# --- kernels against their twins ---


@many
@given(hands(0, 11))
def test_set_ranks_agrees_with_its_twin(hand):
    assert melds.set_ranks(hand) == naive.set_ranks(hand)


@many
@given(hands(0, 20))
def test_run_cards_and_meldable_agree_with_their_twins(hand):
    assert melds.run_cards(hand) == naive.run_cards(hand)
    assert melds.meldable(hand) == naive.meldable(hand)


@many
@given(any_cards)
def test_set_ranks_beside_and_fourths_agree_with_their_twins_on_any_cards(some_cards):
    assert melds.set_ranks(some_cards) == naive.set_ranks(some_cards)
    assert melds.beside(some_cards) == naive.beside(some_cards)
    assert melds.fourths(some_cards) == naive.fourths(some_cards)


@many
@given(hands(0, 6))
def test_is_meld_agrees_with_its_twin(hand):
    assert melds.is_meld(hand) == naive.is_meld(hand)


@settings(deadline=None, max_examples=600)
@given(hands(0, 11))
def test_deadwood_agrees_with_the_search_over_all_choices_of_melds(hand):
    assert melds.deadwood(hand) == naive.deadwood(hand)


@many
@given(hands(1, 11), any_cards)
def test_best_discards_agree_with_trying_each(hand, allowed):
    legal = hand & allowed or hand
    assert ints(melds.best_discards(hand, legal)) == naive.best_discards(hand, legal)


@many
@given(hands(1, 11), any_cards, st.integers(0, 60))
def test_discards_within_agree_with_trying_each(hand, allowed, limit):
    legal = hand & allowed
    assert melds.discards_within(hand, legal, limit) == naive.discards_within(hand, legal, limit)


@many
@given(dense_hands(6, 11), any_cards, st.data())
def test_openings_agree_with_growing_each_meld(hand, seen, data):
    spread = data.draw(st.sampled_from(naive.spreads(hand)))
    unseen = DECK & ~hand & ~seen
    sets, runs = naive.sets_of(spread), naive.runs_of(spread)
    assert melds.openings(sets, runs, unseen) == naive.openings(spread, unseen)


@many
@given(hands(0, 11), st.one_of(st.just(0), any_cards))
def test_default_spread_agrees_with_the_search_over_all_spreads(hand, seen):
    unseen = DECK & ~hand & ~seen
    assert ints(melds.default_spread(hand, unseen)) == naive.default_spread(hand, unseen)


def lays_off_like_its_twin(defender: int, spread) -> None:
    least, best = naive.lay_off(defender, spread)
    left, laid = melds.lay_off(defender, naive.sets_of(spread), naive.runs_of(spread))
    assert left == least
    assert laid in best  # several layoffs may be as good
    assert naive.count(laid) == min(map(naive.count, best))


@many
@given(deals(), any_cards)
def test_lay_off_on_the_default_spread_agrees_with_laying_one_by_one(deal, seen):
    knocker, defender = deal
    sets, runs = ints(melds.default_spread(knocker, DECK & ~knocker & ~seen))
    chosen = [
        spread
        for spread in naive.least_spreads(knocker)
        if (naive.sets_of(spread), naive.runs_of(spread)) == (sets, runs)
    ]
    assert chosen
    for spread in chosen:  # they differ in how long runs are cut
        lays_off_like_its_twin(defender, spread)


@many
@given(deals())
def test_lay_off_on_every_least_deadwood_spread_agrees_with_laying_one_by_one(deal):
    knocker, defender = deal
    for spread in naive.least_spreads(knocker):
        lays_off_like_its_twin(defender, spread)


@many
@given(deals(), st.data())
def test_lay_off_on_any_spread_at_all_agrees_with_laying_one_by_one(deal, data):
    knocker, defender = deal
    lays_off_like_its_twin(defender, data.draw(st.sampled_from(naive.spreads(knocker))))


# --- properties ---


@many
@given(hands(0, 11), suit_orders)
def test_suits_are_equal(hand, order):
    assert melds.deadwood(resuited(hand, order)) == melds.deadwood(hand)


@some
@given(deals(), suit_orders)
def test_suits_are_equal_in_a_layoff(deal, order):
    knocker, defender = deal
    sets, runs = ints(melds.default_spread(knocker, DECK & ~knocker))
    moved = [resuited(cards, order) for cards in (defender, sets, runs)]
    assert melds.lay_off(*moved)[0] == melds.lay_off(defender, sets, runs)[0]


@many
@given(hands(0, 11))
def test_deadwood_counts_what_cannot_meld_and_never_more_than_all(hand):
    stray = naive.points(hand & ~melds.meldable(hand))
    assert stray <= melds.deadwood(hand) <= naive.points(hand)


@many
@given(hands(1, 11))
def test_a_card_more_costs_no_more_than_its_points(hand):
    for card in naive.cards(hand):
        without = melds.deadwood(hand - (1 << card))
        assert melds.deadwood(hand) <= without + naive.card_points(card)


@many
@given(hands(11, 11))
def test_eleven_cards_count_no_more_than_a_best_discard_and_what_it_leaves(hand):
    least, best = ints(melds.best_discards(hand, hand))
    assert melds.deadwood(hand) <= least + min(
        naive.card_points(card) for card in naive.cards(best)
    )


@many
@given(hands(11, 11), st.integers(0, 100))
def test_one_can_knock_just_when_the_best_discard_leaves_the_limit(hand, limit):
    least, best = ints(melds.best_discards(hand, hand))
    within = melds.discards_within(hand, hand, limit)
    assert (within != 0) == (least <= limit)
    assert within & best == (best if least <= limit else 0)


@many
@given(hands(0, 11), any_cards)
def test_the_default_spread_is_made_of_melds_and_leaves_the_least_deadwood(hand, seen):
    sets, runs = ints(melds.default_spread(hand, DECK & ~hand & ~seen))
    assert sets & runs == 0
    assert (sets | runs) & ~hand == 0
    assert sets == sets & melds.of_ranks(melds.set_ranks(sets))
    assert runs == melds.run_cards(runs)
    assert naive.points(hand & ~sets & ~runs) == melds.deadwood(hand)


@many
@given(hands(0, 11))
def test_with_no_card_unseen_the_order_of_sets_decides(hand):
    sets, _ = ints(melds.default_spread(hand, 0))
    assert sets == min(naive.sets_of(spread) for spread in naive.least_spreads(hand))


@many
@given(hands(0, 11))
def test_nothing_is_laid_off_on_no_spread(hand):
    assert ints(melds.lay_off(hand, 0, 0)) == (melds.deadwood(hand), 0)


@many
@given(deals())
def test_a_layoff_lays_own_cards_and_never_raises_deadwood(deal):
    knocker, defender = deal
    sets, runs = ints(melds.default_spread(knocker, DECK & ~knocker))
    left, laid = ints(melds.lay_off(defender, sets, runs))
    assert laid & ~defender == 0
    assert left == melds.deadwood(defender & ~laid)
    assert left <= melds.deadwood(defender)
    assert laid or left == melds.deadwood(defender)
    assert not laid or left < melds.deadwood(defender)  # nothing is laid off in vain


@some
@given(deals(), st.data())
def test_a_meld_kept_back_never_helps_the_defender(deal, data):
    knocker, defender = deal
    spread = data.draw(st.sampled_from(naive.spreads(knocker)))
    shown = data.draw(st.integers(0, len(spread)))
    part = spread[:shown]
    less, _ = melds.lay_off(defender, naive.sets_of(part), naive.runs_of(part))
    more, _ = melds.lay_off(defender, naive.sets_of(spread), naive.runs_of(spread))
    assert more <= less
