"""Keyed randomness: the published generator, no bias, and nothing that depends on order."""

from itertools import islice, pairwise, permutations

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ginsim import rng

many = settings(deadline=None, max_examples=300)
words = st.integers(0, 2**64 - 1)
keys = st.integers(0, 2**63 - 1)
labels = st.integers(0, 2**40)
ROOT = 20240229  # any number: the statistical tests are fixed by it, so they cannot flicker


def shuffled(key: int, length: int) -> list[int]:
    deck = np.full(length, -1, dtype=np.int64)
    rng.shuffle(key, deck)
    return deck.tolist()


def chi_square_is_fair(counts, expected: float) -> bool:
    """Whether *counts* are even; a fair draw fails once in a million choices of ROOT."""
    counts = np.asarray(counts)
    statistic = ((counts - expected) ** 2 / expected).sum()
    return statistic < stats.chi2.isf(1e-6, counts.size - 1)


# --- SplitMix64 ---

# First outputs for seed 0, as printed by the authors' splitmix64.c and listed in the tests of
# several ports (Java's SplittableRandom, Rosetta Code "Pseudo-random numbers/Splitmix64").
KNOWN = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]


def test_outputs_of_seed_0_are_the_published_ones():
    assert [int(rng.output(np.uint64(0), n)) for n in range(3)] == KNOWN
    assert list(islice(naive.splitmix64(0), 3)) == KNOWN


@many
@given(words)
def test_output_n_is_what_the_sequential_generator_reaches_after_n(state):
    outputs = [int(rng.output(np.uint64(state), n)) for n in range(5)]
    assert outputs == list(islice(naive.splitmix64(state), 5))


@many
@given(words)
def test_mix_agrees_with_its_twin(z):
    assert rng.mix(np.uint64(z)) == naive.mix(z)


@many
@given(words, labels)
def test_output_agrees_with_its_twin_far_along_the_stream(state, n):
    assert rng.output(np.uint64(state), n) == naive.output(state, n)


# --- keys ---


@many
@given(keys, labels)
def test_fold_agrees_with_its_twin(key, label):
    assert rng.fold(key, label) == naive.fold(key, label)


@many
@given(keys, labels, labels)
def test_stream_agrees_with_its_twin(seed, pair, round_):
    assert rng.stream(seed, pair, round_) == naive.stream(seed, pair, round_)


@many
@given(keys, labels, labels)
def test_keys_are_int64_and_not_negative(seed, pair, round_):
    assert 0 <= rng.stream(seed, pair, round_) < 2**63
    assert 0 <= rng.fold(seed, pair) < 2**63


def test_seed_pair_and_round_each_name_another_stream():
    # 20 ** 3 keys of 63 bits: by chance two are equal once in 3e11 choices of labels
    some = range(20)
    streams = {
        int(rng.stream(seed, pair, round_)) for seed in some for pair in some for round_ in some
    }
    assert len(streams) == 20**3


def test_a_deal_is_pure_and_another_deal_between_changes_nothing():
    first = shuffled(rng.stream(1, 2, 3), 52)
    shuffled(rng.stream(9, 9, 9), 52)
    rng.below(5, 10)
    assert shuffled(rng.stream(1, 2, 3), 52) == first


# --- below ---


@many
@given(keys, st.integers(1, 2**32 - 1))
def test_below_agrees_with_its_twin_and_stays_in_range(key, n):
    number = rng.below(key, n)
    assert 0 <= number < n
    assert number == naive.below(key, n)


@pytest.mark.parametrize("n", [3 * 2**30, 2**31 + 1, 5 * 2**29, 2**32 - 1, 2**31, 1])
def test_below_agrees_with_its_twin_where_words_are_rejected(n):
    for label in range(500):
        key = naive.fold(ROOT, label)
        assert rng.below(key, n) == naive.below(key, n)


def test_many_words_are_rejected_at_three_quarters_of_the_range():
    # That the tests on 3 * 2**30 reach the rejection: one word of four is refused, by counting.
    keys = [naive.fold(ROOT, label) for label in range(500)]
    taken = [naive.output(key, 0) >> 32 for key in keys]
    refused = sum(word * 3 * 2**30 % 2**32 < 2**30 for word in taken)
    assert 80 < refused < 170


def test_below_has_no_bias_where_rejection_matters():
    # Of 3 * 2**30 numbers, without rejection the multiples of 3 would come twice as often.
    draws = [int(rng.below(naive.fold(ROOT, label), 3 * 2**30)) % 3 for label in range(6000)]
    assert chi_square_is_fair(np.bincount(draws, minlength=3), 2000)


@pytest.mark.parametrize("n", [2, 3, 10, 52])
def test_below_is_uniform(n):
    draws = [int(rng.below(naive.fold(ROOT, label), n)) for label in range(1000 * n)]
    assert chi_square_is_fair(np.bincount(draws, minlength=n), 1000)


def test_below_1_is_0():
    assert {int(rng.below(key, 1)) for key in range(100)} == {0}


# --- shuffle ---


@many
@given(keys, st.integers(0, 64))
def test_shuffle_agrees_with_its_twin(key, length):
    assert shuffled(key, length) == naive.shuffle(key, length)


@many
@given(keys, st.integers(0, 64))
def test_shuffle_gives_a_permutation(key, length):
    assert sorted(shuffled(key, length)) == list(range(length))


@many
@given(keys, st.permutations(range(52)))
def test_shuffle_does_not_look_at_what_was_in_the_deck(key, before):
    deck = np.array(before, dtype=np.int64)
    rng.shuffle(key, deck)
    assert deck.tolist() == shuffled(key, 52)


def test_every_order_of_four_cards_is_as_likely():
    orders = dict.fromkeys(permutations(range(4)), 0)
    for label in range(24_000):
        orders[tuple(shuffled(naive.fold(ROOT, label), 4))] += 1
    assert chi_square_is_fair(list(orders.values()), 1000)


def test_every_card_is_as_likely_at_every_place():
    places = np.zeros((52, 52))
    deck = np.empty(52, dtype=np.int64)
    for label in range(52_000):
        rng.shuffle(rng.fold(ROOT, label), deck)
        places[np.arange(52), deck] += 1
    # Rows and columns add up to the number of deals, hence 51 x 51 degrees of freedom.
    statistic = ((places - 1000) ** 2 / 1000).sum()
    assert stats.chi2.isf(1 - 1e-6, 51 * 51) < statistic < stats.chi2.isf(1e-6, 51 * 51)


def test_deals_of_neighbouring_labels_share_no_more_cards_than_chance():
    # Keys are labels that differ by one: a weak key would deal alike. Fixed points of the
    # permutation that leads from one deal to the next are 1 a deal by chance (variance 1).
    deals = [shuffled(rng.stream(7, pair, 0), 52) for pair in range(4001)]
    same = sum(a == b for one, other in pairwise(deals) for a, b in zip(one, other, strict=True))
    assert abs(same - 4000) < 6 * 4000**0.5


# --- the hash of rows ---

cells = st.integers(-(2**63), 2**63 - 1)
tables = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.lists(cells, min_size=width, max_size=width), min_size=1, max_size=6)
)


def hashed(rows: list[list[int]], key: int) -> list[tuple[int, int]]:
    columns = np.array(rows, dtype=np.int64).T.copy()
    first, second = rng.hash_rows(columns, key)
    return list(zip(first.tolist(), second.tolist(), strict=True))


@many
@given(tables, keys)
def test_hash_rows_agrees_with_its_twin(rows, key):
    assert hashed(rows, key) == naive.hash_rows(rows, key)


@many
@given(tables, keys)
def test_the_hash_of_a_row_depends_on_no_other_row(rows, key):
    assert hashed(rows[::-1], key) == hashed(rows, key)[::-1]
    assert hashed(rows[:1], key) == hashed(rows, key)[:1]


@many
@given(tables, keys, st.data())
def test_both_hashes_of_a_row_change_with_any_bit_of_a_cell(rows, key, data):
    row = data.draw(st.integers(0, len(rows) - 1))
    column = data.draw(st.integers(0, len(rows[0]) - 1))
    before = hashed(rows, key)[row]
    rows[row][column] ^= 1 << data.draw(st.integers(0, 62))
    after = hashed(rows, key)[row]
    assert after[0] != before[0]
    assert after[1] != before[1]


@many
@given(tables, keys)
def test_both_hashes_of_a_row_change_with_what_it_belongs_to(rows, key):
    # Keys are hashes of names: two that differ in a low bit only are no case that comes up.
    other = hashed(rows, naive.fold(key, 0))
    for here, there in zip(hashed(rows, key), other, strict=True):
        assert here[0] != there[0]
        assert here[1] != there[1]


@many
@given(tables, keys)
def test_the_two_hashes_of_a_row_are_not_one(rows, key):
    assert all(first != second for first, second in hashed(rows, key))
