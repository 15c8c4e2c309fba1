"""A starting file for a bot of one's own."""

import keyword
from pathlib import Path

from ginsim.errors import GinsimError
from ginsim.records import write_text

TEMPLATE = '''"""{name}, a Gin Rummy bot for ginsim.

A bot is three functions of a view, which is what a player may know: its cards, the discard
pile, what the rival took and threw, the stock, the score (all fields: ginsim/view.py). Cards
are numbers 0..51: suits S C D H, ace to king, so that suit = card // 13 and rank = card % 13.
A hand is an int with bit number c set for card c.

    ginsim check {name}.py:bot                  # does it keep the rules of a bot?
    ginsim tournament {name}.py:bot simple normal
    ginsim tournament {name}.py:bot {name}.py:bot@knock_late=8   # one number changed
"""

from ginsim import Bot, kernel
from ginsim.cards import count, nth
from ginsim.melds import best_discards, deadwood, meldable
from ginsim.rng import below
from ginsim.view import BIG_GIN, View

# The bot's numbers, by their place in view.knobs: in the order of PARAMETERS below.
KNOCK_EARLY, KNOCK_LATE, LATE = 0, 1, 2


@kernel  # a helper is compiled too: mark it so. The three functions below are not marked.
def fresh(view: View) -> int:
    """Cards that may be thrown without swapping in circles with the discard pile."""
    others = view.legal & ~view.swapped
    return others if others else view.legal


def draw(view: View) -> int:
    """Take the upcard (1), or draw from the stock (0)? Here: if it would stand in a meld."""
    upcard = 1 << view.upcard
    eleven = view.hand | upcard
    if deadwood(view.hand) == 0:  # gin in hand: take nothing that could cost it
        return best_discards(eleven, view.hand)[0] == 0
    return meldable(eleven) & upcard != 0


def discard(view: View) -> int:
    """Throw which card of view.legal? Here: any of those that leave least deadwood."""
    least, best = best_discards(view.hand, view.legal)
    if least > 0:
        _, best = best_discards(view.hand, fresh(view))
    elif best & ~(view.known & 1 << view.drawn):
        best &= ~(view.known & 1 << view.drawn)  # with the card just taken one may not knock
    return nth(best, below(view.key, count(best)))  # dice are keyed: same view, same answer


def knock(view: View) -> int:
    """Go out (1) or play on (0)? Asked only when it is legal; gin is always taken here."""
    if view.phase == BIG_GIN or view.kept_deadwood == 0:
        return 1
    limit = view.knobs[KNOCK_EARLY] if view.turn < view.knobs[LATE] else view.knobs[KNOCK_LATE]
    return view.kept_deadwood <= limit


PARAMETERS = {{"knock_early": 10, "knock_late": 4, "late": 10}}

# jit=False plays plain Python instead: slower, but any library will do.
bot = Bot("{name}", draw, discard, knock, PARAMETERS, "my first bot")
'''


def new_bot(name: str, *, overwrite: bool = False) -> Path:
    """Write ``NAME.py`` in this folder and return its path; raises GinsimError if it cannot."""
    if not name.isidentifier() or keyword.iskeyword(name):
        raise GinsimError(f"{name!r}: name the bot in letters, digits and _, like my_bot")
    path = Path(f"{name}.py")
    if path.exists() and not overwrite:
        raise GinsimError(f"{path}: exists already; add --overwrite to replace it")
    write_text(path, TEMPLATE.format(name=name))
    return path
