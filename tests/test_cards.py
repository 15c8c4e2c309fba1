"""Cards and hands: the encoding, its text form, and the counting kernels."""

import naive
import pytest
from hands import any_cards
from hypothesis import given, settings
from hypothesis import strategies as st

from ginsim import cards
from ginsim.errors import GinsimError

many = settings(deadline=None, max_examples=300)


# --- the encoding ---


def test_a_card_is_thirteen_times_its_suit_plus_its_rank():
    names = ["AS", "KS", "AC", "KC", "AD", "KD", "AH", "KH"]
    assert [cards.parse_card(name) for name in names] == [0, 12, 13, 25, 26, 38, 39, 51]


def test_the_deck_has_52_cards_worth_340_points():
    # 4 x (1 + 2 + .. + 10 + 10 + 10 + 10) = 4 x 85
    assert cards.count(cards.DECK) == 52
    assert cards.points(cards.DECK) == 340


def test_the_ace_counts_1_and_court_cards_10():
    spades = [int(cards.points(1 << card)) for card in range(13)]
    assert spades == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10]


# --- kernels against their twins ---


def test_no_cards_have_no_count_and_no_points():
    assert cards.count(0) == 0
    assert cards.points(0) == 0


def test_every_single_card_is_its_own_lowest():
    assert [int(cards.lowest(1 << card)) for card in range(52)] == list(range(52))


def test_points_of_every_suit_mask_in_every_suit():
    for suit in range(4):
        for ranks in range(1 << 13):
            assert cards.points(ranks << 13 * suit) == naive.points(ranks)


@many
@given(any_cards)
def test_count_is_the_number_of_cards(hand):
    assert cards.count(hand) == naive.count(hand)


@many
@given(any_cards.filter(bool))
def test_lowest_is_the_first_card(hand):
    assert cards.lowest(hand) == naive.lowest(hand)


@many
@given(any_cards.filter(bool), st.data())
def test_nth_counts_from_the_first_card(hand, data):
    n = data.draw(st.integers(0, naive.count(hand) - 1))
    assert cards.nth(hand, n) == naive.nth(hand, n)


@many
@given(any_cards)
def test_points_are_the_sum_over_the_cards(hand):
    assert cards.points(hand) == naive.points(hand)


@many
@given(any_cards)
def test_cards_of_lists_the_cards_in_order_and_hand_of_takes_them_back(hand):
    assert list(cards.cards_of(hand)) == naive.cards(hand)
    assert cards.hand_of(reversed(naive.cards(hand))) == hand


# --- text ---


def test_every_card_has_its_own_text_and_parses_back():
    texts = [cards.card_text(card) for card in range(52)]
    assert len(set(texts)) == 52
    assert [cards.parse_card(text) for text in texts] == list(range(52))
    assert [cards.parse_card(text.lower()) for text in texts] == list(range(52))


def test_ten_may_be_written_10():
    assert cards.parse_card("10h") == cards.parse_card("TH")
    assert cards.parse("10s 9S") == cards.parse("9s TS")


@many
@given(any_cards)
def test_text_parses_back(hand):
    assert cards.parse(cards.text(hand)) == hand


@many
@given(any_cards.filter(bool))
def test_cards_may_be_written_without_blanks_or_with_commas(hand):
    written = cards.text(hand)
    assert cards.parse(written.replace(" ", "")) == hand
    assert cards.parse(written.replace(" ", ", ")) == hand


def test_parse_cards_keeps_the_order_written():
    assert cards.parse_cards("KH AS 2S") == [51, 0, 1]
    assert cards.parse_cards("KhAs2s") == [51, 0, 1]


def test_no_words_are_no_cards():
    assert cards.parse(" ") == 0
    assert cards.text(0) == ""


@pytest.mark.parametrize("word", ["1S", "AX", "S", "A", "", "0S", "11S", "ASS", "A S", "10", "🂡"])
def test_a_word_that_is_no_card_is_refused_by_name(word):
    with pytest.raises(GinsimError) as refused:
        cards.parse_card(word)
    assert repr(word) in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("words", ["AS 2S as", "10H TH", "asAS"])
def test_a_card_named_twice_is_refused_by_name(words):
    twice = {"AS 2S as": "AS", "10H TH": "TH", "asAS": "AS"}[words]
    with pytest.raises(GinsimError, match=f"^{twice} stands twice"):
        cards.parse_cards(words)


def test_a_bad_word_among_cards_is_the_one_named():
    with pytest.raises(GinsimError, match="'1D' is no card"):
        cards.parse("AS 2S 1D KH")


def test_a_word_of_odd_length_is_refused_whole():
    with pytest.raises(GinsimError, match="'AS2S3' is no card"):
        cards.parse("AS2S3")
