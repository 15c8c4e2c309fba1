"""ginsim beside OpenSpiel and RLCard; a test skips only where their packages are absent."""

import json
import sys
from typing import Any

import pytest

from ginsim import peers


def test_peers_are_measured_side_by_side(cli_here: Any):
    pytest.importorskip("pyspiel")
    pytest.importorskip("rlcard")
    answer = cli_here("bench", "--peers", "--seconds", "0.2", "--json")
    assert answer.returncode == 0, answer.stderr
    found = json.loads(answer.stdout)
    assert [row["program"] for row in found] == ["ginsim", "OpenSpiel", "RLCard"]
    assert all(row["hands_per_second"] > 0 for row in found)
    own = found[0]["hands_per_second"]
    for row in found:
        ratio = own / row["hands_per_second"]
        assert row["ginsim_is_times_as_fast"] == pytest.approx(ratio, rel=0.02)
    # The aim: over 100 times the faster of them. Measured in turns, so load hits all alike.
    assert min(row["ginsim_is_times_as_fast"] for row in found[1:]) > 100


def test_the_loops_play_the_hands_they_count(monkeypatch: pytest.MonkeyPatch):
    """Ours: two matches of one round a pair, or a few more where a hand is dead."""
    played = {name: make for name, _, _, make in peers.PROGRAMS}["ginsim"]()(500)
    assert 500 <= played < 560


@pytest.mark.parametrize("module", ["pyspiel", "rlcard"])
def test_a_missing_peer_is_one_line_that_names_the_extra(
    cli_here: Any, monkeypatch: pytest.MonkeyPatch, module: str
):
    if module == "rlcard":
        monkeypatch.setattr(peers, "PROGRAMS", peers.PROGRAMS[2:])
    monkeypatch.setitem(sys.modules, module, None)
    answer = cli_here("bench", "--peers", "--seconds", "0.1")
    assert answer.returncode == 2
    line = f"ginsim: --peers: {module} is not installed: pip install 'ginsim[peers]'\n"
    assert answer.stderr == line
