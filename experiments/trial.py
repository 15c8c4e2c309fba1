"""What a claim is, what is played for it, and a cell of its findings: plain data."""

from dataclasses import dataclass
from typing import NamedTuple

from ginsim.stats import Rate

RIVALS = ("easy", "normal", "hard", "gin-only", "simple")
#: Rivals and rules that a contrast is tried on: all under classic, two under other rules.
PLACES = (
    *((rival, "classic") for rival in RIVALS),
    *((rival, "frapper") for rival in ("normal", "simple")),
)

HOLDS, FAILS, NO_DIFFERENCE, UNDECIDED = "holds", "fails", "no difference", "undecided"
DEPENDS, MEASURED = "depends", "measured"


class Unit(NamedTuple):
    """What an effect is in: by how much it is multiplied to be shown, and what is nothing."""

    name: str
    scale: float
    margin: float  #: an effect within it either way makes no difference


SHARE = Unit("points of 100", 100, 0.01)  #: of matches won, or rounds
POINTS = Unit("points of the round", 1, 0.5)


@dataclass(frozen=True)
class Contrast:
    """A bot that does as the claim says, and one that differs in nothing else."""

    label: str
    follows: str
    other: str
    places: tuple[tuple[str, str], ...] = PLACES


@dataclass(frozen=True)
class Held:
    """A knock or a wait at certain own turns and deadwoods, all else played by *bot*.

    Each deal is played twice from that turn (ginsim.knock_chart): knocking there, and playing
    on until the bot's own rule knocks. The bot is held back from plain knocks before it.
    """

    label: str
    bot: str
    turns: tuple[int, int]  #: own turns, first and last, from 1
    deadwood: tuple[int, int]
    knocks: bool  #: whether the claim is to knock there; else to play on
    places: tuple[tuple[str, str], ...] = PLACES[:5]


@dataclass(frozen=True)
class Claim:
    """A sentence of the guides, and how it is tried."""

    name: str
    sentence: str
    seed: int
    pairs: int  #: mirrored pairs a matchup
    seconds: int  #: roughly, on two quiet cores
    contrasts: tuple[Contrast, ...] = ()
    held: tuple[Held, ...] = ()
    how: str = ""  #: what was done, for the table
    effect: str = "matches won with the rule less without it"
    against: str = "v"  #: how a rival is named
    rests_on: str = "mirrored pairs a matchup"
    cluster: str = "pair"  #: what intervals rest on
    measured: bool = False  #: how often something happens: nothing holds or fails


@dataclass(frozen=True)
class Cell:
    """One effect, positive where the claim is right, and points a round where they are known."""

    contrast: str
    rival: str
    rules: str
    effect: Rate
    points: Rate | None
    p: float
    adjusted: float = float("nan")
    verdict: str = UNDECIDED
    unit: Unit = SHARE
