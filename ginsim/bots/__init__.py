"""Bots: three pure functions of a view, found by name or loaded from a user's file."""

import functools
import hashlib
import importlib.util
import re
import sys
import tomllib
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import types as numba_types

from ginsim.bots import gallery, levels, master, yardsticks
from ginsim.errors import GinsimError
from ginsim.jit import INTERPRETED
from ginsim.rules import close_to
from ginsim.view import KNOBS, POLICY_SIGNATURE, VIEW_TYPE, Policy

BUILT_IN = "built-in"


@dataclass(frozen=True)
class Bot:
    """A player: three pure functions of a View, and up to KNOBS int parameters.

    ``draw(view)`` says whether to take the upcard, ``discard(view)`` which card of
    ``view.legal`` to throw, ``knock(view)`` whether to go out (asked only when legal).
    Parameters reach the functions as ``view.knobs``, in the order given here. With
    ``jit=False`` the functions stay plain Python.
    """

    name: str
    draw: Policy
    discard: Policy
    knock: Policy
    parameters: Mapping[str, int] = field(default_factory=dict)
    about: str = ""
    jit: bool = True
    source: str = BUILT_IN  #: BUILT_IN, or the ``file.py:name`` it was loaded from
    file_hash: str | None = None  #: SHA-256 of that file as it was loaded
    #: The three functions for arrays of views, where there are such (``ginsim.BatchBot``).
    batch: tuple[Callable[..., Any], ...] | None = None

    def __post_init__(self) -> None:
        if len(self.parameters) > KNOBS:
            raise GinsimError(f"bot {self.name!r} has more than {KNOBS} parameters")

    def knobs(self) -> np.ndarray:
        """Parameters as int64[KNOBS], zeros behind the last."""
        values = np.zeros(KNOBS, dtype=np.int64)
        values[: len(self.parameters)] = list(self.parameters.values())
        return values

    def policies(self) -> tuple[Policy, Policy, Policy]:
        """Draw, discard and knock, compiled unless the bot is plain Python."""
        functions = (self.draw, self.discard, self.knock)
        if not self.jit or INTERPRETED:
            return functions
        draw, discard, knock = (_compiled(f, self.source) for f in functions)
        return draw, discard, knock


@functools.cache
def _compiled(function: Policy, source: str) -> Policy:
    """Compile one policy for the engine's function type; raises GinsimError in one line."""
    what = f"{function.__name__} of {source}"
    try:
        if source != BUILT_IN:  # a float would be cut to an int without a word
            probe: Any = numba.njit(function)
            probe.compile((VIEW_TYPE,))
            returned = probe.nopython_signatures[0].return_type
            if not isinstance(returned, numba_types.Integer | numba_types.Boolean):
                raise GinsimError(f"{what} returns {returned}: return an int or a bool")
        compiled: Policy = numba.njit(POLICY_SIGNATURE, cache=source == BUILT_IN, nogil=True)(
            function
        )
    except GinsimError:
        raise
    except Exception as error:  # the compiler has many, some of no common root
        raise GinsimError(
            f"{what} does not compile: {_reason(str(error))}; simplify it, or set jit=False"
        ) from None
    return compiled


def _reason(report: str) -> str:
    """What the compiler complains of, and in which line, out of its page-long report."""
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", line).strip() for line in report.splitlines()]
    told = [line for line in lines if line and not line.startswith(("Failed in", "- ", "^", "*"))]
    where = re.search(r'File "[^"]*?([^"/\\]+)", line (\d+)', report)
    place = f" ({where[1]}, line {where[2]})" if where else ""
    return (told[0].rstrip(".:") if told else "no reason given") + place


def _simple_family(name: str, knocks_at: int, about: str) -> Bot:
    return Bot(
        name,
        yardsticks.simple_draw,
        yardsticks.simple_discard,
        yardsticks.simple_knock,
        {"knocks_at": knocks_at},
        about,
    )


@functools.cache
def level_table() -> dict[str, Any]:
    """Return the content of ``levels.toml``."""
    text = (Path(__file__).parents[1] / "levels.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def _level(name: str) -> Bot:
    values = dict(level_table()[name])
    about = values.pop("about")
    unknown = set(values) - set(levels.KNOB_NAMES)
    if unknown:
        raise GinsimError(f"levels.toml: {name} has no knob {sorted(unknown)[0]!r}")
    parameters = {knob: int(values.get(knob, 0)) for knob in levels.KNOB_NAMES}
    return Bot(name, levels.draw, levels.discard, levels.knock, parameters, about)


def _knock_at(limit: int) -> Bot:
    return _simple_family(
        f"knock-at-{limit}", limit, f"simple, but knocks only with {limit} deadwood or less"
    )


_NAMED: dict[str, Callable[[], Bot]] = {
    "easy": lambda: _level("easy"),
    "normal": lambda: _level("normal"),
    "hard": lambda: _level("hard"),
    "master": lambda: Bot(
        "master",
        master.draw,
        master.discard,
        master.knock,
        master.PARAMETERS,
        "the strongest here: outs, danger, and a knock chart by turn and deadwood",
    ),
    "simple": lambda: _simple_family(
        "simple",
        100,
        "takes what melds, throws at random for least deadwood, knocks as soon as it may",
    ),
    "gin-only": lambda: _simple_family("gin-only", 0, "simple, but knocks only with gin"),
    "early-low": lambda: Bot(
        "early-low",
        gallery.draw,
        gallery.early_low_discard,
        gallery.gin_only_knock,
        gallery.EARLY_LOW,
        "isolated low cards early, then the highest loose card; gin only (EAAI 2021)",
    ),
    "one-away": lambda: Bot(
        "one-away",
        gallery.draw,
        gallery.one_away_discard,
        gallery.gin_only_knock,
        gallery.ONE_AWAY,
        "deadwood, the gain of cards one away, the rival's risk; gin only (SIGRA, EAAI 2021)",
    ),
    "expected-deadwood": lambda: Bot(
        "expected-deadwood",
        gallery.draw,
        gallery.expected_deadwood_discard,
        gallery.expected_deadwood_knock,
        gallery.EXPECTED_DEADWOOD,
        "expected deadwood over the best draws, weighted by turn (MARJJ, EAAI 2021)",
    ),
    "random": lambda: Bot(
        "random",
        yardsticks.random_draw,
        yardsticks.random_discard,
        yardsticks.random_knock,
        about="draws and throws at random, knocks whenever it may",
    ),
}
_FAMILY = re.compile(r"knock-at-(0|[1-9]\d?|100)")


def built_in() -> list[Bot]:
    """Every built-in bot, the knock-at family by its members 0 to 10."""
    return [make() for make in _NAMED.values()] + [_knock_at(limit) for limit in range(11)]


def load(spec: str) -> Bot:
    """Return the bot that *spec* means: a built-in name, ``knock-at-K``, or ``file.py:name``.

    ``@`` behind it changes parameters: ``hard@late_limit=2,out_weight=10``. A file is code
    and is executed. Raises GinsimError naming what was not found.
    """
    base, changes = split_spec(spec)
    if changes:
        return changed(load(base), changes, spec)
    if spec in _NAMED:
        return _NAMED[spec]()
    family = _FAMILY.fullmatch(spec)
    if family:
        return _knock_at(int(family[1]))
    if ".py" in spec:
        return _from_file(spec)
    raise GinsimError(
        f"no bot called {spec!r}{close_to(spec, [*_NAMED, 'knock-at-5'])} "
        f"(there are {', '.join(_NAMED)}, knock-at-K, and file.py:name; see `ginsim bots`)"
    )


def split_spec(spec: str) -> tuple[str, str]:
    """Bot and changed parameters of *spec*; a folder's name may hold an @ as well.

    >>> split_spec("hard@late_limit=2"), split_spec("me@home/mine.py:bot")
    (('hard', 'late_limit=2'), ('me@home/mine.py:bot', ''))
    """
    base, at, changes = spec.rpartition("@")
    return (base, changes) if at and "=" in changes else (spec, "")


def changed(bot: Bot, changes: str, spec: str) -> Bot:
    """*bot* with the parameters that *changes* (``knob=value,..``) names, called after them.

    >>> changed(load("easy"), "late_limit=5", "easy@late_limit=5").parameters["late_limit"]
    5
    """
    parameters = dict(bot.parameters)
    for change in changes.split(","):
        knob, _, value = (word.strip() for word in change.partition("="))
        if knob not in parameters:
            known = ", ".join(parameters) or "none"
            raise GinsimError(f"{spec}: {bot.name} has no parameter {knob!r} (it has {known})")
        if not re.fullmatch(r"-?\d{1,18}", value):
            raise GinsimError(f"{spec}: {knob}={value}: write a whole number")
        parameters[knob] = int(value)
    named = [f"{k}={v}" for k, v in parameters.items() if v != bot.parameters[k]]
    name = f"{bot.name}@{','.join(named)}" if named else bot.name
    return replace(bot, name=name, parameters=parameters)


def _from_file(spec: str) -> Bot:
    """Bot object that a user's file defines."""
    file, _, name = spec.rpartition(":") if not spec.endswith(".py") else (spec, "", "bot")
    path = Path(file)
    if not path.is_file():
        raise GinsimError(f"{spec}: there is no file {file!r}")
    module = _module(path.resolve(), path.stat().st_mtime_ns, spec)
    bot = getattr(module, name, None)
    if not isinstance(bot, Bot):
        held = [key for key, value in vars(module).items() if isinstance(value, Bot)]
        raise GinsimError(
            f"{spec}: {file} has no Bot called {name!r} (it has {', '.join(held) or 'none'})"
        )
    content = hashlib.sha256(path.read_bytes()).hexdigest()
    return replace(bot, source=f"{path.resolve()}:{name}", file_hash=content)


@functools.lru_cache(maxsize=64)
def _module(path: Path, changed_ns: int, spec: str) -> types.ModuleType:
    """Module of a user's file, executed once for each state of the file in this process."""
    module_name = f"ginsim_bot_{path.stem}"
    found = importlib.util.spec_from_file_location(module_name, path)
    if found is None or found.loader is None:
        raise GinsimError(f"{spec}: {path.name} is no Python file")
    module = importlib.util.module_from_spec(found)
    sys.modules[module_name] = module
    try:
        found.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        what = f"{type(error).__name__}: {error}".splitlines()[0]
        raise GinsimError(f"{spec}: {path.name} fails with {what}") from error
    return module


def load_all(specs: Sequence[str]) -> list[Bot]:
    """Bots of *specs*, copies told apart as ``name#2``, ``name#3``.."""
    bots: list[Bot] = []
    seen: dict[str, int] = {}
    for spec in specs:
        bot = load(spec)
        seen[bot.name] = seen.get(bot.name, 0) + 1
        if seen[bot.name] > 1:
            bot = replace(bot, name=f"{bot.name}#{seen[bot.name]}")
        bots.append(bot)
    return bots
