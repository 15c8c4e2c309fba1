"""normal that waits for gin, but knocks with some deadwood once the stock runs low."""

from ginsim.bots import Bot, levels, load
from ginsim.view import BIG_GIN, View

FROM, TO, STOCK_LEFT, SAFE = range(len(levels.KNOB_NAMES) - 1, len(levels.KNOB_NAMES) + 3)


def _knock(view: View) -> int:
    if view.phase == BIG_GIN or view.kept_deadwood == 0:
        return 1
    if view.stock - view.stock_end > view.knobs[STOCK_LEFT]:
        return 0
    if view.knobs[SAFE] and view.rival_known:
        return 0
    return view.knobs[FROM] <= view.kept_deadwood <= view.knobs[TO]


_normal = load("normal@high_weight=0")
#: The score is left out of its knocks (close_out has made room for the knobs).
_judges = {knob: v for knob, v in _normal.parameters.items() if knob != "close_out"}
assert list(_judges) == list(levels.KNOB_NAMES[:-1]), "close_out is no longer the last knob"
knocker = Bot(
    "knocker",
    levels.draw,
    levels.discard,
    _knock,
    {
        **_judges,
        "knock_from": 1,  # knocks with this deadwood or more
        "knock_to": 0,  # and this or less
        "stock_left": 0,  # once so many stock cards or fewer are left above the end
        "safe": 0,  # 1: only if the rival holds no card that it took from the pile
    },
    "normal that waits for gin until the stock runs low",
)
