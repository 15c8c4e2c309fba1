"""Keyed randomness: every draw is a pure function of labels, never of what came before.

SplitMix64 (Steele, Lea, Flood 2014) is used as a hash: a key is folded with one label after
another, and number *n* of a key's stream is its n-th output. Keys are int64 and not negative,
so that nothing outside this module meets a uint64.
"""

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from ginsim.jit import INTERPRETED, int64, kernel

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32, _S1 = (np.uint64(n) for n in (27, 30, 31, 32, 1))
_LOW32 = np.uint64(0xFFFFFFFF)

Function = TypeVar("Function", bound=Callable[..., object])


def _wrapping(function: Function) -> Function:
    """Let uint64 wrap without a warning where NumPy, not compiled code, does the sums."""
    return np.errstate(over="ignore")(function) if INTERPRETED else function


@_wrapping
@kernel
def mix(z: np.uint64) -> np.uint64:
    """SplitMix64's output function: a bijection that spreads every bit."""
    z = (z ^ (z >> _S30)) * _MIX1
    z = (z ^ (z >> _S27)) * _MIX2
    return z ^ (z >> _S31)


@_wrapping
@kernel
def output(state: np.uint64, n: int) -> np.uint64:
    """Output *n* (from 0) of a SplitMix64 that starts at *state*."""
    return mix(state + np.uint64(n + 1) * _GAMMA)


@kernel
def fold(key: int, label: int) -> int:
    """Key of the stream that *label* (an int >= 0) names below *key*."""
    return int64(output(np.uint64(key), label) >> _S1)


@kernel
def stream(seed: int, pair: int, round_: int) -> int:
    """Key of one round of one pair: its deal and its bots' decisions grow from it."""
    return fold(fold(fold(seed, 0), pair), round_)


@_wrapping
@kernel
def _scaled(word: np.uint64, n: np.uint64) -> np.uint64:
    """High 32 bits of *word* times *n*: above bit 32 a number below n, under it the remainder."""
    return (word >> _S32) * n


@kernel
def _below_at(key: int, at: int, n: int) -> int:
    """Draw a number below *n* with output *at* of *key*'s stream, or at + 64, + 128.. if rejected.

    Lemire's multiplication with rejection (2019): no modulo bias, and a division hardly ever.
    """
    bound = np.uint64(n)
    product = _scaled(output(np.uint64(key), at), bound)
    if product & _LOW32 < bound:
        shortfall = np.uint64((4294967296 - n) % n)
        while product & _LOW32 < shortfall:
            at += 64
            product = _scaled(output(np.uint64(key), at), bound)
    return int64(product >> _S32)


@kernel
def below(key: int, n: int) -> int:
    """Number in 0..n-1, each exactly as likely, drawn from the stream of *key*; 0 < n < 2**32."""
    return _below_at(key, 0, n)


@kernel
def shuffle(key: int, deck: np.ndarray) -> None:
    """Fill *deck* (int64, at most 64 long) in place with 0..len-1 in the order that *key* fixes."""
    for card in range(len(deck)):
        deck[card] = card
    for last in range(len(deck) - 1, 0, -1):
        other = _below_at(key, last, last + 1)
        deck[last], deck[other] = deck[other], deck[last]


@_wrapping
@kernel
def hash_rows(columns: np.ndarray, key: int) -> tuple[np.ndarray, np.ndarray]:
    """Two independent hashes of every row, 63 bits each; their sums do not see the order.

    *columns* is int64 [columns, rows]; *key* names what the rows belong to.
    """
    rows = columns.shape[1]
    first, second = np.empty(rows, np.int64), np.empty(rows, np.int64)
    for row in range(rows):
        word = mix(np.uint64(key) + _GAMMA)
        for column in range(columns.shape[0]):
            word = mix((word ^ np.uint64(columns[column, row])) + _GAMMA)
        first[row] = int64(mix(word + _GAMMA) >> _S1)
        second[row] = int64(mix(word ^ _MIX1) >> _S1)
    return first, second
