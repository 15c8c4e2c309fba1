"""A small network that plays gin: three perceptrons, trained by experiments/net.py to imitate hard.

Plain NumPy at the table; its weights lie in results/net/model.npz. A bot's answers must not
depend on who else is in the batch, so scores are rounded before the best is taken.
"""

from functools import cache
from pathlib import Path

import numpy as np

from ginsim import BatchBot, GinsimError, View, deadwood, kernel
from ginsim.batch import flat, legal_cards
from ginsim.melds import best_discards
from ginsim.view import BIG_GIN, DISCARD

MODEL = Path(__file__).parents[2] / "results" / "net" / "model.npz"


@kernel
def _count(hands, legals, upcards, phases, out):
    """Deadwood: after each discard, now, and with the upcard in hand."""
    for at in range(len(hands)):
        for card in range(52):
            if legals[at] >> card & 1:
                out[at, card] = deadwood(hands[at] ^ (1 << card)) / 40
        if phases[at] != DISCARD and phases[at] != BIG_GIN:
            out[at, 52] = deadwood(hands[at]) / 40
            if upcards[at] >= 0:
                eleven = hands[at] | 1 << upcards[at]
                out[at, 53] = best_discards(eleven, hands[at])[0] / 40


def features(view: View) -> np.ndarray:
    """What the network is given: the view as the environments show it, and counted deadwood."""
    counted = np.zeros((len(view.hand), 54), np.float32)
    _count(view.hand, view.legal, view.upcard, view.phase, counted)
    return np.hstack([flat(view), counted])


@cache
def _weights() -> dict[str, np.ndarray]:
    if not MODEL.exists():
        raise GinsimError(f"{MODEL.name}: not there; train it: python -m experiments net")
    with np.load(MODEL) as stored:
        return {name: stored[name].astype(np.float32) for name in stored.files}


def scores(part: str, inputs: np.ndarray) -> np.ndarray:
    """Scores of the answers, float64 [n, answers]: one hidden layer, rectified."""
    weights = _weights()
    hidden = np.maximum(inputs @ weights[f"{part}_w0"] + weights[f"{part}_b0"], 0)
    return np.round((hidden @ weights[f"{part}_w1"] + weights[f"{part}_b1"]).astype(float), 3)


def draw(view: View) -> np.ndarray:
    """Take the upcard?"""
    return scores("draw", features(view))[:, 0] > 0


def discard(view: View) -> np.ndarray:
    """Throw the legal card with the highest score."""
    return np.where(legal_cards(view), scores("discard", features(view)), -np.inf).argmax(axis=1)


def knock(view: View) -> np.ndarray:
    """Go out? Gin always."""
    out = scores("knock", features(view))[:, 0] > 0
    return out | (view.kept_deadwood == 0) | (view.phase == BIG_GIN)


bot = BatchBot("net", draw, discard, knock, about="a small network that imitates hard")
