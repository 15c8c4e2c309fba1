"""normal that throws a random card in 2 % of its turns, and simple with other tie breaks.

Bots for experiments/gate.py: the first is weaker by a known blunder, the second plays
otherwise and is exactly as strong.
"""

from ginsim.bots import Bot, levels, load, yardsticks
from ginsim.cards import count, nth
from ginsim.jit import kernel
from ginsim.melds import best_discards
from ginsim.rng import below, fold
from ginsim.view import View

_normal_discard = kernel(levels.discard)


def _noisy_discard(view: View) -> int:
    if below(fold(view.key, 7), 50) == 0:
        return nth(view.legal, below(view.key, count(view.legal)))
    return _normal_discard(view)


def _other_discard(view: View) -> int:
    least, best = best_discards(view.hand, view.legal)
    if least == 0:
        best = yardsticks.knockable(view, best)
    elif best & view.swapped and view.legal & ~view.swapped:
        _, best = best_discards(view.hand, view.legal & ~view.swapped)
    return nth(best, below(fold(view.key, 7), count(best)))


_normal, _simple = load("normal"), load("simple")
noisy = Bot(
    "noisy",
    _normal.draw,
    _noisy_discard,
    _normal.knock,
    _normal.parameters,
    "normal, but throws a random card in 2 % of its turns",
)
other = Bot(
    "other",
    _simple.draw,
    _other_discard,
    _simple.knock,
    _simple.parameters,
    "simple with other random numbers: as strong, other rows",
)
