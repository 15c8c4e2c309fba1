"""From nothing to a rating: the starting file, and every command of docs/own-bot.md."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np

from ginsim.bots import load
from ginsim.match import play
from ginsim.rules import preset

DOCS = Path(__file__).parents[1] / "docs" / "own-bot.md"


def commands() -> list[list[str]]:
    """Commands of the guide, in order."""
    return [
        shlex.split(line.strip())
        for line in DOCS.read_text().splitlines()
        if line.startswith("    ginsim ")
    ]


def test_every_command_of_the_guide_works_as_written(cli: Any, tmp_path: Path):
    run = commands()
    assert [words[1] for words in run] == [
        "new-bot", "check", "tournament", "tournament", "replay", "replay",
    ]  # fmt: skip
    for _, *words in run:
        if words[0] == "check":
            words += ["--positions", "200", "--pairs", "2"]
        if words[0] == "tournament":
            words += ["--no-plots"]
        answer = cli(*words, cwd=tmp_path)
        assert answer.returncode == 0, (words, answer.stderr, answer.stdout)
        if words[0] == "check":
            assert "contract kept" in answer.stdout
        if "easy" in words:
            assert re.search(r"│ mine +│", answer.stdout), answer.stdout
            assert "forfeit" not in answer.stdout


def test_the_starting_bot_beats_simple(cli: Any, tmp_path: Path):
    made = cli("new-bot", "starter", "--json", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert json.loads(made.stdout) == {"file": "starter.py", "bot": "starter.py:bot"}
    bots = load(f"{tmp_path / 'starter.py'}:bot"), load("simple")
    rows = play(bots, preset("classic"), seed=1, pairs=1500)
    ends = rows[np.flatnonzero(np.diff(rows["leg"], append=-1))]
    won = (ends["winner"] == ends["leg"]).mean()
    # 3,000 matches: a standard error below 1 %, so 53 % is four errors above even.
    assert won > 0.53


def test_a_file_is_not_overwritten_unless_told(cli: Any, tmp_path: Path):
    assert cli("new-bot", "mine", cwd=tmp_path).returncode == 0
    (tmp_path / "mine.py").write_text("# years of work\n")
    answer = cli("new-bot", "mine", cwd=tmp_path)
    assert answer.returncode == 2
    assert answer.stderr == "ginsim: mine.py: exists already; add --overwrite to replace it\n"
    assert (tmp_path / "mine.py").read_text() == "# years of work\n"
    assert cli("new-bot", "mine", "--overwrite", cwd=tmp_path).returncode == 0
    assert "def discard(view" in (tmp_path / "mine.py").read_text()


def test_a_name_that_is_none_is_refused(cli: Any, tmp_path: Path):
    for name in ("my-bot", "2nd", "class", "../up"):
        answer = cli("new-bot", name, cwd=tmp_path)
        assert answer.returncode == 2
        assert "name the bot in letters, digits and _" in answer.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_would_hide_a_module_or_a_built_in_bot_is_refused(cli: Any, tmp_path: Path):
    """A numpy.py beside the bot would break the processes that plain bots play in."""
    for name, why in (("numpy", "a Python module"), ("json", "a Python module"),
                      ("normal", "a built-in bot")):  # fmt: skip
        answer = cli("new-bot", name, cwd=tmp_path)
        assert answer.returncode == 2
        assert why in answer.stderr
    assert list(tmp_path.iterdir()) == []
