"""``ginsim check``: every built-in bot keeps the contract, and each way to break it is found."""

import json
from pathlib import Path
from typing import Any

import pytest

from ginsim import check as module
from ginsim.bots import built_in
from ginsim.check import (
    ALL_RULES,
    FORGETS,
    FORMS_DIFFER,
    NOT_BOOL,
    PEEKS,
    check,
    in_process,
    positions,
    report_lines,
)
from ginsim.errors import GinsimError
from ginsim.guard import ILLEGAL_CARD, RAISED, TOO_SLOW, WRONG_TYPE
from ginsim.rules import preset
from ginsim.view import BIG_GIN

FEW = {"number": 240, "pairs": 1}

BOTS = """
import sys, time
from ginsim import Bot, load, kernel

good = load("simple")
asked = []

def remembers(view):
    asked.append(view)
    return len(asked) % 7 == 0

def illegal(view):
    return 0

def text(view):
    return "yes"

def two(view):
    return 2

def raises(view):
    if view.stock < 20:
        raise ValueError("few cards")
    return good.discard(view)

def hangs(view):
    turn = view.turn
    while turn > 6:
        turn += view.stock
    return view.kept_deadwood > 200

def overflows(view):  # a compiled int wraps, a Python int grows
    return view.hand << 40 > 0

def peeks(view):
    frame = sys._getframe()
    while frame is not None:
        if "game" in frame.f_locals and "rules" in frame.f_locals:
            game = frame.f_locals["game"]
            return int(game["deck"][int(game["next"])]) % 2
        frame = frame.f_back
    return 0

def plain(name, draw=good.draw, discard=good.discard, knock=good.knock):
    return Bot(name, draw, discard, knock, good.parameters, jit=False)

remembering = plain("remembering", draw=remembers)
cheating = plain("cheating", discard=illegal)
mistyping = plain("mistyping", knock=text)
unsure = plain("unsure", draw=two)
raising = plain("raising", discard=raises)
hanging = Bot("hanging", good.draw, good.discard, hangs, good.parameters)
overflowing = Bot("overflowing", overflows, good.discard, good.knock, good.parameters)
peeking = plain("peeking", draw=peeks)
sound = Bot("sound", good.draw, good.discard, good.knock, good.parameters)
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("checked") / "bots.py"
    path.write_text(BOTS)
    return path


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs run here: starting a process takes seconds, and is tested by itself."""

    def here(job: Any, arguments: tuple[Any, ...], limit: float) -> Any:
        return job(*arguments, lambda number: None)

    monkeypatch.setattr(module, "in_process", here)


@pytest.mark.parametrize("name", [bot.name for bot in built_in()])
def test_every_built_in_bot_keeps_the_contract(name: str):
    report = check(name, **FEW)
    assert report.kept, report_lines(report)
    assert report.positions == FEW["number"]
    assert report.blunders.decisions > 30


@pytest.mark.parametrize("name", ALL_RULES)
def test_positions_are_different_and_put_every_question_of_the_preset(name: str):
    found = positions(name, 240, 1)
    assert len(set(found)) == len(found) == 240
    phases = {view.phase for view in found}
    wanted = {1, 2, 3} | ({0} if preset(name).upcard == 0 else set())
    assert phases == wanted | ({BIG_GIN} if preset(name).big_gin else set())
    for view in found:
        assert not view.hand & view.discards
        assert view.hand.bit_count() == (11 if view.phase in (2, 4) else 10)
        assert view.legal & ~view.hand == 0


def test_other_seeds_give_other_positions():
    assert set(positions("classic", 100, 1)) != set(positions("classic", 100, 2))


@pytest.mark.parametrize(
    ("name", "kind", "says"),
    [
        ("remembering", FORGETS, "to one view"),
        ("cheating", ILLEGAL_CARD, "threw AS, asked for the discard in turn"),
        ("mistyping", WRONG_TYPE, "answered 'yes', which is no int, asked for the knock"),
        ("unsure", NOT_BOOL, "answered 2"),
        ("raising", RAISED, "ValueError: few cards (bots.py, line 23)"),
        ("overflowing", FORMS_DIFFER, "compiled "),
        ("peeking", PEEKS, "in a match yes, only asked no"),
    ],
)
def test_each_way_to_break_the_contract_is_found_and_told(
    file: Path, at_once: None, name: str, kind: str, says: str
):
    report = check(f"{file}:{name}", ("classic",), **FEW)
    assert not report.kept
    assert kind in report.violations_by_kind
    lines = report_lines(report)
    told = [line for line in lines if line.startswith(f"{name}: {kind}: ")]
    assert any(says in line for line in told), lines
    assert "contract broken" in "".join(lines)


def test_a_compiled_bot_that_hangs_is_ended_and_its_position_told(file: Path):
    report = check(f"{file}:hanging", ("classic",), number=60, pairs=1, limit=1)
    assert report.violations_by_kind == {TOO_SLOW: 1}
    (violation,) = report.violations
    assert violation.what.startswith("no answer within 1 s")
    assert violation.turn > 6
    assert violation.asked == "the knock"


def leaves(tick: Any) -> None:
    raise SystemExit(7)


def test_a_process_that_ends_by_itself_is_told():
    with pytest.raises(GinsimError, match=r"ended its process \(exit code 7\)"):
        in_process(leaves, (), 5)


def test_the_command_exits_0_or_1_and_gives_json(file: Path, cli: Any):
    words = ("--positions", 60, "--pairs", 1, "--rules", "classic")
    fine = cli("check", f"{file}:sound", *words, "--json")
    assert fine.returncode == 0, fine.stderr + fine.stdout
    report = json.loads(fine.stdout)
    assert (report["kept"], report["violations"], report["positions"]) == (True, [], 60)
    assert set(report["microseconds"]) == {"compiled", "interpreted"}
    assert report["match_microseconds"] > 0
    bad = cli("check", f"{file}:cheating", *words)
    assert bad.returncode == 1
    assert "cheating: illegal card: threw AS" in bad.stdout
    none = cli("check", f"{file}:nobody", *words)
    assert none.returncode == 2
    assert "has no Bot called 'nobody'" in none.stderr
