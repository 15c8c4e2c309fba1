"""Rules as a tuple of ints that kernels take, presets by name, and a check with reasons."""

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ginsim.errors import GinsimError


class Rules(NamedTuple):
    """One value a rule, all int; FIELDS says what each may be and what it means."""

    upcard: int = 0
    stock_end: int = 2
    next_starter: int = 0
    first_starter: int = 0
    match_end: int = 0
    target: int = 100
    knock_limit: int = 10
    oklahoma: int = 0
    oklahoma_ace: int = 0
    gin_bonus: int = 25
    undercut_bonus: int = 25
    tie: int = 1
    big_gin: int = 0
    big_gin_bonus: int = 31
    discard_taken: int = 0
    knock_taken: int = 0
    game_bonus: int = 0
    box_bonus: int = 0
    turn_limit: int = 200
    round_limit: int = 1000


# The values of the fields that are choices, by the names users write.
UPCARD_OFFERED, UPCARD_OPENS = 0, 1
LOSER_STARTS, STARTER_ALTERNATES = 0, 1
STARTER_DRAWN, STARTER_SEAT_0 = 0, 1
TO_TARGET, ONE_SCORED_ROUND, ONE_ROUND = 0, 1, 2
ACE_IS_ONE, ACE_IS_GIN_ONLY = 0, 1


@dataclass(frozen=True)
class Field:
    """What one rule may be: named choices, or a range of whole numbers."""

    sentence: str  #: the rule in words, ``{}`` for its value
    choices: tuple[str, ...] = ()  #: names of the values 0, 1, ...; empty for a number
    low: int = 0
    high: int = 0
    words: tuple[str, ...] = ()  #: one sentence a choice; empty to use ``sentence``

    def show(self, value: int) -> str:
        """*value* as a user writes it."""
        return self.choices[value] if self.choices else str(value)

    def say(self, value: int) -> str:
        """Return the sentence of the rule at *value*."""
        return self.words[value] if self.words else self.sentence.format(self.show(value))


_NO_YES = ("no", "yes")

FIELDS: dict[str, Field] = {
    "upcard": Field(
        "Who may take the first upcard.",
        ("offered", "opens"),
        words=(
            "The non-dealer takes the upcard or passes, then the dealer takes it or passes; "
            "if both pass, the non-dealer draws from the stock.",
            "The upcard opens the discard pile: the starter takes it or draws from the stock.",
        ),
    ),
    "stock_end": Field(
        "The hand is dead when a turn ends without a knock and {} stock cards are left; "
        "a knock on that very turn counts.",
        low=0,
        high=30,
    ),
    "next_starter": Field(
        "Who starts the next round.",
        ("loser", "alternates"),
        words=(
            "The winner of a round deals the next, so its loser starts; "
            "after a dead hand the same dealer deals again.",
            "The starter changes after every scored round; "
            "after a dead hand the same dealer deals again.",
        ),
    ),
    "first_starter": Field(
        "Who starts the first round.",
        ("drawn", "seat0"),
        words=(
            "The first starter is drawn.",
            "Seat 0 starts the first round.",
        ),
    ),
    "match_end": Field(
        "When the match ends.",
        ("target", "scored-round", "round"),
        words=(
            "The match goes on until a player reaches the target.",
            "The match is one scored round: dead hands are dealt again.",
            "The match is one round, scored or not.",
        ),
    ),
    "target": Field("The first player with {} points or more wins the match.", low=1, high=10_000),
    "knock_limit": Field("A player may knock with {} deadwood or less.", low=0, high=100),
    "oklahoma": Field(
        "Oklahoma.",
        _NO_YES,
        words=(
            "The upcard does not change the knock limit.",
            "Oklahoma: the points of the first upcard are the knock limit, if lower.",
        ),
    ),
    "oklahoma_ace": Field(
        "Oklahoma's ace.",
        ("one", "gin"),
        words=(
            "Under Oklahoma, an ace as upcard sets the limit to 1.",
            "Under Oklahoma, an ace as upcard means gin only.",
        ),
    ),
    "gin_bonus": Field("Gin scores {} and the defender's deadwood, no layoffs.", low=0, high=1000),
    "undercut_bonus": Field(
        "A defender who ends lower than the knocker scores the difference and {}.", low=0, high=1000
    ),
    "tie": Field(
        "Equal deadwood.",
        ("nothing", "undercut"),
        words=(
            "Equal deadwood after layoffs scores nothing.",
            "Equal deadwood after layoffs is an undercut.",
        ),
    ),
    "big_gin": Field(
        "Big gin.",
        _NO_YES,
        words=(
            "There is no big gin: eleven melded cards are gin with a discard.",
            "Eleven melded cards may be declared as big gin, without a discard.",
        ),
    ),
    "big_gin_bonus": Field(
        "Big gin, where it exists, scores {} and the defender's deadwood, no layoffs.",
        low=0,
        high=1000,
    ),
    "discard_taken": Field(
        "Discarding the card just taken.",
        _NO_YES,
        words=(
            "The card just taken from the discard pile may not be discarded that turn.",
            "The card just taken from the discard pile may be discarded at once.",
        ),
    ),
    "knock_taken": Field(
        "Knocking with the card just taken.",
        _NO_YES,
        words=(
            "Nor may one knock by throwing the card just taken.",
            "One may knock by throwing the card just taken.",
        ),
    ),
    "game_bonus": Field(
        "The winner of a match adds {} to its total; it changes no result.", low=0, high=10_000
    ),
    "box_bonus": Field(
        "Each player adds {} a round won to its total when the match is over.", low=0, high=1000
    ),
    "turn_limit": Field(
        "A round of {} turns, both players counted, is dead (no rule of the game: a stop).",
        low=2,
        high=1000,
    ),
    "round_limit": Field(
        "A match of {} rounds is a draw (no rule of the game: a stop).", low=1, high=10_000
    ),
}


@dataclass(frozen=True)
class Preset:
    """Named rules; ``ours`` are the fields on which its source is silent."""

    rules: Rules
    about: str
    ours: frozenset[str] = frozenset()


_STOPS = frozenset({"turn_limit", "round_limit"})
_HOUSE = _STOPS | {"next_starter", "discard_taken", "knock_taken", "first_starter"}
_OPENS = Rules(upcard=UPCARD_OPENS)

PRESETS: dict[str, Preset] = {
    "classic": Preset(
        Rules(),
        "the common rules, with the pass round",
        _STOPS | {"first_starter"},
    ),
    "frapper": Preset(
        _OPENS._replace(stock_end=0),
        "the stock is played to its end",
        _HOUSE,
    ),
    "big-gin": Preset(
        _OPENS._replace(big_gin=1),
        "eleven melded cards score 31",
        _HOUSE,
    ),
    "tutorial": Preset(
        _OPENS,
        "no pass round",
        _HOUSE | {"stock_end"},
    ),
    "table": Preset(
        _OPENS._replace(next_starter=STARTER_ALTERNATES, match_end=ONE_SCORED_ROUND),
        "one scored round",
        _STOPS,
    ),
    "eaai": Preset(
        Rules(next_starter=STARTER_ALTERNATES),
        "comparable with the EAAI gin rummy challenge",
        _STOPS,
    ),
    "openspiel": Preset(
        Rules(
            next_starter=STARTER_ALTERNATES,
            first_starter=STARTER_SEAT_0,
            match_end=ONE_ROUND,
            tie=0,
            discard_taken=1,
            knock_taken=1,
        ),
        "comparable with OpenSpiel's gin_rummy",
        _STOPS,
    ),
}

#: Variants that other programs have and ginsim refuses by name.
_REFUSED = {
    "wall": "the 'fiftieth card' variant (taking the last discard to knock) is not played: "
    "the hand is dead at once",
}


def close_to(word: str, names: Iterable[str]) -> str:
    """Return ``; did you mean X?`` if *word* is nearly one of *names*, else an empty text."""
    near = difflib.get_close_matches(word, list(names), 1)
    return f"; did you mean {near[0]!r}?" if near else ""


def preset(name: str) -> Rules:
    """Rules of the preset called *name*.

    >>> preset("classic").knock_limit
    10
    """
    if name not in PRESETS:
        raise GinsimError(
            f"no rules called {name!r}{close_to(name, PRESETS)} (there are {', '.join(PRESETS)})"
        )
    return PRESETS[name].rules


def _value(field: str, written: str) -> int:
    """Return the int that *written* means for *field*; raises GinsimError with what may be."""
    kind = FIELDS[field]
    if kind.choices:
        if written not in kind.choices:
            raise GinsimError(f"{field}={written}: choose one of {', '.join(kind.choices)}")
        return kind.choices.index(written)
    try:
        value = int(written)
    except ValueError:
        raise GinsimError(
            f"{field}={written}: write a whole number, {kind.low}..{kind.high}"
        ) from None
    if not kind.low <= value <= kind.high:
        raise GinsimError(f"{field}={written}: must be {kind.low}..{kind.high}")
    return value


def with_overrides(rules: Rules, overrides: Iterable[str]) -> Rules:
    """*rules* changed by texts ``field=value``, checked one by one and together.

    >>> with_overrides(preset("classic"), ["knock_limit=5"]).knock_limit
    5
    """
    for override in overrides:
        field, equals, written = override.partition("=")
        field = field.strip()
        if field in _REFUSED:
            raise GinsimError(f"{field}: {_REFUSED[field]}")
        if not equals and field in FIELDS:
            raise GinsimError(f"{override!r}: write {field}=VALUE")
        if not equals or field not in FIELDS:
            raise GinsimError(
                f"{override!r}: write field=value with a field of `ginsim rules`"
                f"{close_to(field, FIELDS)}"
            )
        rules = rules._replace(**{field: _value(field, written.strip())})
    return check(rules)


def check(rules: Rules) -> Rules:
    """Return *rules* if a game can be played by them; raises GinsimError naming what cannot."""
    for name, kind in FIELDS.items():
        value = getattr(rules, name)
        high = len(kind.choices) - 1 if kind.choices else kind.high
        low = 0 if kind.choices else kind.low
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise GinsimError(f"{name}={value!r}: must be {low}..{high}")
    if rules.oklahoma_ace == ACE_IS_GIN_ONLY and not rules.oklahoma:
        raise GinsimError("oklahoma_ace=gin: has no effect without oklahoma=yes; add it")
    return rules


def resolve(name: str, overrides: Iterable[str] = ()) -> Rules:
    """Rules of preset *name* with *overrides* (``field=value``)."""
    return with_overrides(preset(name), overrides)


def winning_score(rules: Rules) -> int:
    """Points that win a match: the target, or 1 where one round decides."""
    return rules.target if rules.match_end == TO_TARGET else 1


def describe(rules: Rules) -> str:
    """Nearest preset and what differs from it, as the command would be given it.

    >>> describe(resolve("eaai", ["knock_limit=5"]))
    'eaai, knock_limit=5'
    """

    def differences(name: str) -> list[str]:
        values = to_dict(PRESETS[name].rules)
        return [f"{f}={v}" for f, v in to_dict(rules).items() if v != values[f]]

    nearest = min(PRESETS, key=lambda name: len(differences(name)))
    return ", ".join([nearest, *differences(nearest)])


def to_dict(rules: Rules) -> dict[str, str | int]:
    """*rules* as users write them: choices by name, numbers as numbers; read by ``from_dict``."""
    return {
        name: kind.show(getattr(rules, name)) if kind.choices else int(getattr(rules, name))
        for name, kind in FIELDS.items()
    }


def from_dict(values: Mapping[str, object]) -> Rules:
    """Return the rules written by ``to_dict``; raises GinsimError on an odd or missing field."""
    missing = [name for name in FIELDS if name not in values]
    if missing or len(values) != len(FIELDS):
        odd = missing or [name for name in values if name not in FIELDS]
        raise GinsimError(f"rules: field {odd[0]!r} is {'missing' if missing else 'unknown'}")
    return with_overrides(Rules(), [f"{name}={value}" for name, value in values.items()])
