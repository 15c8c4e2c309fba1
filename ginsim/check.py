"""Does a bot keep the contract? Asked thousands of positions, twice, and watched in matches.

The contract: every answer is legal, depends on nothing but the view, and is the same compiled
and as plain Python. Positions come from matches of trusted bots. A bot from a file is asked in
processes of its own, which can be ended when it hangs, first in one order and then, afresh, in
the other. What it answered in real matches must be what it answers when only asked.
"""

import multiprocessing
import random
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ginsim.bots import BUILT_IN, Bot, load
from ginsim.cards import cards_of, hand_of, text
from ginsim.decisions import Blunders, Decision, blunders, watched
from ginsim.errors import GinsimError
from ginsim.guard import (
    ILLEGAL_CARD,
    QUESTIONS,
    RAISED,
    TOO_SLOW,
    WRONG_TYPE,
    Forfeit,
    as_answer,
    as_ints,
    card_words,
    shown,
    told,
)
from ginsim.jit import INTERPRETED
from ginsim.match import play, play_chunks
from ginsim.melds import deadwood, is_meld
from ginsim.rules import Rules, preset
from ginsim.view import DISCARD, DRAW, OFFER, View

# What breaks the contract, beside the reasons of a forfeit.
NOT_BOOL, FORMS_DIFFER, FORGETS, PEEKS = (
    "no yes or no",
    "compiled and interpreted differ",
    "answers change",
    "not from the view alone",
)
COMPILED, INTERPRETED_FORM = "compiled", "interpreted"

#: Presets that put every kind of question, and every rule on discards.
ALL_RULES = ("classic", "big-gin", "frapper", "openspiel")
#: Who plays to positions: sensible and senseless, early knockers and patient ones.
SOURCES = (("random", "random"), ("simple", "random"), ("gin-only", "normal"), ("hard", "easy"))
#: Seconds that compiling may take before a bot counts as hanging.
COMPILE_LIMIT = 180.0
#: Violations of a kind that are kept.
KEPT = 100


class Violation(NamedTuple):
    """One answer that breaks the contract."""

    kind: str
    what: str  #: the answer, the card, the exception
    rules: str
    asked: str
    hand: str
    turn: int

    def line(self, bot: str) -> str:
        """Return the violation in one line."""
        return (
            f"{bot}: {self.kind}: {self.what}, asked for {self.asked} in turn {self.turn + 1} "
            f"with {self.hand} ({self.rules})"
        )


@dataclass
class Answers:
    """What a bot answered to each of some views in one form, or how it failed."""

    given: list[int | None] = field(default_factory=list)
    failed: dict[int, tuple[str, str]] = field(default_factory=dict)  #: kind and words, by view
    nanoseconds: list[int] = field(default_factory=list)


@dataclass
class Report:
    """What the check found."""

    bot: str
    positions: int
    rules: list[str]
    violations: list[Violation]  #: at most KEPT of a kind
    violations_by_kind: dict[str, int]
    #: Median of a decision in microseconds, by form: draw, discard, knock; called from Python.
    microseconds: dict[str, dict[str, float | None]]
    #: Of a compiled bot in matches, engine and rival included.
    match_microseconds: float | None
    blunders: Blunders
    pairs: int

    @property
    def kept(self) -> bool:
        """Whether the contract is kept."""
        return not self.violations_by_kind

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON."""
        found = asdict(self) | {"kept": self.kept, "blunders": self.blunders._asdict()}
        found["violations"] = [violation._asdict() for violation in self.violations]
        return found


# --- positions ---


def _melds() -> list[int]:
    """Every meld of three or four cards."""
    runs = [hand_of(range(s * 13 + r, s * 13 + r + n)) for s in range(4) for n in (3, 4)
            for r in range(14 - n)]  # fmt: skip
    sets = [hand_of(r + 13 * s for s in range(4) if s != left) for r in range(13)
            for left in range(5)]  # fmt: skip
    return [meld for meld in runs + sets if is_meld(meld)]


def _finished_decks(number: int, chance: random.Random) -> np.ndarray:
    """Decks, int64 [number, 52], on which the starter melds all eleven with the upcard."""
    melds = _melds()
    decks: list[list[int]] = []
    while len(decks) < number:
        hand = 0
        for meld in chance.sample(melds, 12):
            if not hand & meld and (hand | meld).bit_count() <= 11:
                hand |= meld
        if hand.bit_count() != 11 or deadwood(hand) > 0:
            continue
        mine = list(cards_of(hand))
        chance.shuffle(mine)
        rest = [card for card in range(52) if card not in mine]
        chance.shuffle(rest)
        dealt = [card for both in zip(mine[:10], rest[:10], strict=True) for card in both]
        decks.append([*dealt, mine[10], *rest[10:]])
    return np.array(decks, dtype=np.int64)


class _Noted(list[View]):
    """Views of both players of a match, in order."""

    def of(self, bot: Bot) -> Bot:
        """*bot*, noting here all that it is asked."""

        def noting(function: Callable[[Any], int]) -> Callable[[Any], int]:
            def answer(view: Any) -> int:
                self.append(as_ints(view))
                return function(view)

            return answer

        draw, discard, knock = (noting(one) for one in bot.policies())
        return replace(bot, draw=draw, discard=discard, knock=knock, jit=False)


@lru_cache(maxsize=16)
def positions(name: str, number: int, seed: int) -> tuple[View, ...]:
    """*number* different views of preset *name*, every kind of question among them."""
    rules, chance = preset(name), random.Random(f"{name} {seed}")
    by_phase: dict[int, dict[View, None]] = {}
    noted = _Noted()
    if rules.big_gin:
        shy = noted.of(replace(load("simple"), knock=lambda view: 0, jit=False))
        one = rules._replace(round_limit=1)
        for deck in _finished_decks(max(4, number // 20), chance):
            list(play_chunks((shy, shy), one, seed, 0, 1, decks=deck[None]))
    pair = 0
    while len(noted) < 2 * number:
        for names in SOURCES:
            both = noted.of(load(names[0])), noted.of(load(names[1]))
            list(play_chunks(both, rules, seed, pair, pair + 1))
        pair += 1
    for view in noted:
        by_phase.setdefault(view.phase, {})[view] = None
    share = number // len(by_phase)
    found = [v for some in by_phase.values() for v in chance.sample([*some], min(share, len(some)))]
    chosen = set(found)
    rest = [view for view in dict.fromkeys(noted) if view not in chosen]
    found += chance.sample(rest, min(number - len(found), len(rest)))
    chance.shuffle(found)
    return tuple(found)


# --- asking ---


def forms_of(bot: Bot) -> dict[str, tuple[Callable[[Any], int], ...]]:
    """Draw, discard and knock of *bot* in each form it has."""
    forms: dict[str, tuple[Callable[[Any], int], ...]] = {
        INTERPRETED_FORM: (bot.draw, bot.discard, bot.knock)
    }
    if bot.jit and not INTERPRETED:
        forms[COMPILED] = bot.policies()
    return forms


def function_of(functions: Sequence[Callable[[Any], int]], phase: int) -> Callable[[Any], int]:
    """The one that answers in *phase*."""
    return functions[0 if phase in (OFFER, DRAW) else 1 if phase == DISCARD else 2]


def asked(
    bot: Bot, views: Sequence[View], at_view: Callable[[int], None] = lambda at: None
) -> dict[str, Answers]:
    """Answers of *bot* to *views*, in this order, by form; *at_view* is told each number before.

    Numbers go on from form to form.
    """
    knobs = tuple(int(knob) for knob in bot.knobs())
    found = {form: Answers() for form in forms_of(bot)}
    for number, (form, functions) in enumerate(forms_of(bot).items()):
        answers = found[form]
        for at, seen in enumerate(views):
            view = seen._replace(knobs=knobs)
            at_view(number * len(views) + at)
            start = time.perf_counter_ns()
            try:
                reply: object = function_of(functions, view.phase)(view)
            except (Exception, SystemExit) as error:
                reply = None
                answers.failed[at] = RAISED, told(error, bot)
            answers.nanoseconds.append(time.perf_counter_ns() - start)
            answer = as_answer(reply)
            answers.given.append(answer)
            if at not in answers.failed:
                broken = _broken(view, answer, reply)
                if broken:
                    answers.failed[at] = broken
    return found


def _broken(view: View, answer: int | None, reply: object) -> tuple[str, str] | None:
    """How one answer breaks the contract, None if it does not."""
    if answer is None:
        return WRONG_TYPE, f"answered {shown(reply)}, which is no int"
    if view.phase != DISCARD:
        return None if answer in (0, 1) else (NOT_BOOL, f"answered {answer}")
    if not (0 <= answer < 52 and view.legal >> answer & 1):
        return ILLEGAL_CARD, f"threw {card_words(answer)}"
    return None


class _Hung(Exception):  # noqa: N818 - said in words by who catches it
    """The bot did not answer; ``args[0]`` is the number of the question, -1 while compiling."""


def in_process(job: Callable[..., Any], arguments: tuple[Any, ...], limit: float) -> Any:
    """``job(*arguments, tick)`` in a fresh process, ended when *limit* s pass without a tick.

    Raises _Hung with the last tick, and GinsimError with what the job raised.
    """
    context = multiprocessing.get_context("spawn")
    clock = context.Value("q", -1, lock=False)
    receive, send = context.Pipe(duplex=False)
    child = context.Process(target=_work, args=(job, arguments, clock, send), daemon=True)
    child.start()
    send.close()
    try:
        seen, since = clock.value, time.monotonic()
        while not receive.poll(0.05):
            if clock.value != seen:
                seen, since = clock.value, time.monotonic()
            allowed = COMPILE_LIMIT if seen < 0 else limit
            if limit and time.monotonic() - since > allowed:
                raise _Hung(seen)
        result = receive.recv()
    except EOFError:
        child.join()
        raise GinsimError(f"the bot ended its process (exit code {child.exitcode})") from None
    finally:
        child.kill()
        child.join()
        receive.close()
    if isinstance(result, GinsimError):
        raise result
    return result


def _work(job: Callable[..., Any], arguments: tuple[Any, ...], clock: Any, send: Any) -> None:
    def tick(number: int) -> None:
        clock.value = number

    try:
        send.send(job(*arguments, tick))
    except GinsimError as error:
        send.send(GinsimError(str(error)))


def _ask_job(spec: str, views: Sequence[View], tick: Callable[[int], None]) -> dict[str, Answers]:
    return asked(load(spec), views, tick)


# --- in matches ---


@dataclass
class Watched:
    """What came of real matches."""

    blunders: Blunders
    peeked: list[tuple[View, int, int]]  #: view, answer in the match, answer when only asked
    forfeits: list[Forfeit]
    seconds: float | None  #: of the same matches compiled


def _watch_job(
    spec: str, rules: Rules, seed: int, pairs: int, limit: float, tick: Callable[[int], None]
) -> Watched:
    bot, rival = load(spec), load("simple")
    if rival.name == bot.name:
        rival = replace(rival, name="rival")
    tick(0)
    forfeits: list[Forfeit] = []
    decisions: list[Decision] = []
    for pair in range(pairs):
        decisions += watched(
            (bot, rival), rules, seed, 1, first=pair, limit=limit, forfeits=forfeits
        )
        tick(pair + 1)
    own = [one for one in decisions if one.bot == 0]
    functions = bot.draw, bot.discard, bot.knock
    peeked = []
    for number, one in enumerate(reversed(own)):
        tick(pairs + 1 + number)
        try:
            alone = int(function_of(functions, one.view.phase)(one.view))
        except Exception:
            continue
        if alone != one.answer:
            peeked.append((one.view, one.answer, alone))
    counted = Blunders()
    try:
        counted = blunders(bot, own, 0, rules)
    except Exception as error:  # counted again and failed: told as a violation elsewhere
        if not forfeits and not peeked:
            raise GinsimError(f"{bot.name} raised {told(error, bot)}") from None
    seconds = None
    if bot.jit and not INTERPRETED and not forfeits:
        play((bot, rival), rules, seed, 1)
        start = time.perf_counter()
        play((bot, rival), rules, seed, pairs)
        seconds = (time.perf_counter() - start) / len(decisions)
    return Watched(counted, peeked, forfeits, seconds)


# --- the check ---


def check(
    spec: str,
    names: Sequence[str] = ALL_RULES,
    *,
    number: int = 4000,
    seed: int = 1,
    pairs: int = 20,
    limit: float = 10.0,
) -> Report:
    """Report on the bot that *spec* means: *number* positions of the presets *names*.

    And *pairs* mirrored pairs against simple. A built-in bot is asked in this process, one
    from a file in processes of its own, with *limit* seconds for a decision (0: no limit).
    Raises GinsimError if it cannot be loaded or does not compile.
    """
    bot = load(spec)
    bot.policies()
    places = [
        (name, view) for name in names for view in positions(name, -(-number // len(names)), seed)
    ]
    found: list[Violation] = []
    timed: dict[str, Answers] = {}
    seen = Watched(Blunders(), [], [], None)

    def broken(at: int, kind: str, what: str) -> None:
        found.append(_violation(kind, what, *places[at]))

    try:
        timed = _asked_twice(bot, spec, places, limit, broken)
        if not any(one.kind in (RAISED, WRONG_TYPE) for one in found):
            arguments = spec, preset(names[0]), seed, pairs, limit
            if bot.source == BUILT_IN:
                seen = _watch_job(*arguments, lambda at: None)
            else:
                # One tick a pair, so the process is given time for a whole pair.
                seen = in_process(_watch_job, arguments, 60 * limit)
    except _Hung as hung:
        at = int(hung.args[0])
        forms = list(forms_of(bot))
        if not timed and at >= 0:
            form, place = forms[at // len(places)], at % len(places)
            broken(place, TOO_SLOW, f"no answer within {limit:g} s ({form})")
        else:
            what = "no end of compiling" if at < 0 else "no end of a match"
            found.append(Violation(TOO_SLOW, what, names[0], "a match", "", 0))
    for view, answer, alone in seen.peeked:
        what = f"in a match {_words(view, answer)}, only asked {_words(view, alone)}"
        found.append(_violation(PEEKS, what, names[0], view))
    for forfeit in seen.forfeits:
        failure = forfeit.failure
        found.append(
            Violation(
                failure.reason, failure.what, names[0], failure.asked, failure.hand, failure.turn
            )
        )
    return Report(
        bot=bot.name,
        positions=len(places),
        rules=list(names),
        violations=list(_some_of_each(found)),
        violations_by_kind=dict(Counter(one.kind for one in found)),
        microseconds={form: _medians(places, answers) for form, answers in timed.items()},
        match_microseconds=None if seen.seconds is None else seen.seconds * 1e6,
        blunders=seen.blunders,
        pairs=pairs,
    )


def _asked_twice(
    bot: Bot,
    spec: str,
    places: Sequence[tuple[str, View]],
    limit: float,
    broken: Callable[[int, str, str], None],
) -> dict[str, Answers]:
    """Ask forwards, and backwards in another process; tell what is *broken*."""
    views = [view for _, view in places]
    if bot.source == BUILT_IN:
        first, second = asked(bot, views), asked(bot, views[::-1])
    else:
        first = in_process(_ask_job, (spec, views), limit)
        second = in_process(_ask_job, (spec, views[::-1]), limit)
    for form, answers in first.items():
        for at, (kind, what) in answers.failed.items():
            broken(at, kind, f"{what} ({form})" if len(first) > 1 else what)
        for at, (one, other) in enumerate(
            zip(answers.given, second[form].given[::-1], strict=True)
        ):
            if one != other and at not in answers.failed:
                what = f"{_words(views[at], one)} and {_words(views[at], other)} to one view"
                broken(at, FORGETS, f"{what} ({form})")
    if COMPILED in first:
        for at, pair in enumerate(
            zip(first[COMPILED].given, first[INTERPRETED_FORM].given, strict=True)
        ):
            if pair[0] != pair[1] and not any(at in form.failed for form in first.values()):
                native, plain = (_words(views[at], answer) for answer in pair)
                broken(at, FORMS_DIFFER, f"compiled {native}, interpreted {plain}")
    return first


def _violation(kind: str, what: str, rules: str, view: View) -> Violation:
    return Violation(kind, what, rules, QUESTIONS[view.phase], text(view.hand), view.turn)


def _words(view: View, answer: int | None) -> str:
    """An answer in words: the card, or yes and no."""
    if answer is None:
        return "nothing"
    if view.phase == DISCARD:
        return card_words(answer)
    return {0: "no", 1: "yes"}.get(answer, str(answer))


def _some_of_each(found: Iterable[Violation]) -> Iterator[Violation]:
    counted = Counter[str]()
    for violation in found:
        counted[violation.kind] += 1
        if counted[violation.kind] <= KEPT:
            yield violation


def _medians(places: Sequence[tuple[str, View]], answers: Answers) -> dict[str, float | None]:
    """Median microseconds by function."""
    names = ("draw", "discard", "knock")
    taken: dict[str, list[int]] = {name: [] for name in names}
    for (_, view), spent in zip(places, answers.nanoseconds, strict=True):
        taken[str(function_of(names, view.phase))].append(spent)  # type: ignore[arg-type]
    return {
        name: round(statistics.median(spent) / 1000, 2) if spent else None
        for name, spent in taken.items()
    }


def report_lines(report: Report, *, most: int = 5) -> list[str]:
    """*report* as text: a line a violation, at most *most* of a kind, then time and play."""
    lines: list[str] = []
    for kind, number in report.violations_by_kind.items():
        these = [one for one in report.violations if one.kind == kind][:most]
        lines += [violation.line(report.bot) for violation in these]
        if number > len(these):
            lines.append(f"{report.bot}: {kind}: and {number - len(these):,} more")
    forms = " and ".join(report.microseconds) or "no form"
    verdict = (
        "kept" if report.kept else f"broken, {sum(report.violations_by_kind.values()):,} violations"
    )
    lines.append(
        f"contract {verdict}: {report.positions:,} positions of {', '.join(report.rules)}, "
        f"{forms}, in two orders"
    )
    for form, medians in report.microseconds.items():
        shown_ = ", ".join(f"{n} {v:g}" for n, v in medians.items() if v is not None)
        lines.append(f"time     {shown_} microseconds, {form}, called from Python (median)")
    if report.match_microseconds is not None:
        lines.append(
            f"time     {report.match_microseconds:.2f} microseconds a decision in compiled "
            "matches, engine and rival included"
        )
    counts = report.blunders
    if counts.decisions:
        lines.append(
            f"play     {report.pairs} pairs against simple, {report.rules[0]}: gin passed up "
            f"{counts.gins_passed:,} of {counts.gins:,}; melds broken {counts.melds_broken:,} of "
            f"{counts.discards:,} discards; dice in {counts.dice / counts.decisions:.1%} of "
            f"{counts.decisions:,} decisions"
        )
    return lines
