"""normal that also takes upcards that make no meld, or hardly takes any: for draws on trial."""

from ginsim.bots import Bot, levels, load
from ginsim.jit import kernel
from ginsim.melds import best_discards, deadwood
from ginsim.view import View

#: Points by which an upcard that makes no meld must lower the deadwood to be taken; 0: none is,
#: -1: nor is one that melds, unless for gin.
TAKE_LOOSE = len(levels.KNOB_NAMES)

_normal_draw = kernel(levels.draw)


def _draw(view: View) -> int:
    loose = view.knobs[TAKE_LOOSE]
    if loose == 0:
        return _normal_draw(view)
    before = deadwood(view.hand)
    after, _ = best_discards(view.hand | 1 << view.upcard, view.hand)
    if loose < 0:
        return after == 0 and before > 0
    return _normal_draw(view) or before - after >= loose


_normal = load("normal@high_weight=0")
taker = Bot(
    "taker",
    _draw,
    levels.discard,
    levels.knock,
    {**_normal.parameters, "take_loose": 0},
    "normal that takes more, or less, than what makes a meld",
)
