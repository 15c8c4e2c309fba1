"""The log: what is written reads back, a file is whole or not there, digests add up."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from ginsim import places, records
from ginsim.bots import load
from ginsim.cards import parse
from ginsim.errors import GinsimError
from ginsim.match import play
from ginsim.records import Digest, digest, match_table, read_rounds, to_table
from ginsim.rows import COLUMNS, ROW
from ginsim.rules import preset, resolve

NAMES = ["someone", "easy", "random"]
ROWS = play((load("easy"), load("random")), preset("classic"), seed=6, pairs=40)


def test_rows_read_back_from_parquet_as_they_were(tmp_path: Path):
    records.write_part(tmp_path / "p.parquet", [to_table(ROWS, NAMES, 1, 2)], digest(ROWS, "x"))
    back, stored = records.read_part(tmp_path / "p.parquet", NAMES)
    assert list(back) == [(1, 2)]
    assert np.array_equal(back[1, 2], ROWS)
    assert stored == digest(ROWS, "x")


def test_every_kernel_column_is_in_the_log_or_named_there():
    for column in COLUMNS:
        assert column.name in records.SCHEMA.names


def test_every_column_says_what_it_holds():
    for field in records.SCHEMA:
        assert len(field.metadata[b"about"]) > 3


def test_names_replace_seats_by_leg():
    frame = to_table(ROWS, NAMES, 1, 2).to_pandas()
    assert set(frame.loc[frame["leg"] == 0, "seat0"]) == {"easy"}
    assert set(frame.loc[frame["leg"] == 1, "seat0"]) == {"random"}
    decided = frame[frame["winner"].notna()]
    seat = np.where(decided["winner"] == decided["seat0"], 0, 1)
    assert np.array_equal(seat, ROWS["winner"][ROWS["winner"] >= 0])


def test_what_did_not_happen_is_null():
    patient = load("gin-only"), load("random")
    rows = play(patient, preset("classic"), seed=6, pairs=40)
    frame = to_table(rows, NAMES, 1, 2).to_pandas()
    dead = frame["outcome"] == "dead"
    assert 0 < dead.sum() < len(frame)
    for name in ("knocker", "winner", "knock_deadwood", "defender_deadwood"):
        assert frame.loc[dead, name].isna().all()
    assert frame.loc[~dead, "dead_reason"].isna().all()


def test_layoffs_read_back_as_cards(tmp_path: Path):
    """R59: laid-off cards stored as the text of a list could not be read back."""
    rows = np.zeros(3, ROW)
    rows["layoffs"] = [0, parse("TS"), parse("9S TS")]
    records.write_part(tmp_path / "p.parquet", [to_table(rows, NAMES, 1, 2)], Digest())
    assert pq.read_table(tmp_path / "p.parquet")["layoffs"].to_pylist() == [
        0,
        parse("TS"),
        parse("9S TS"),
    ]


def test_the_digest_depends_on_rows_and_matchup_but_not_on_order_or_split():
    whole = digest(ROWS, "a v b")
    assert digest(ROWS[::-1], "a v b") == whole
    assert digest(ROWS[:50], "a v b") + digest(ROWS[50:], "a v b") == whole
    assert digest(ROWS, "a v c") != whole
    assert digest(ROWS[1:], "a v b") != whole


@pytest.mark.parametrize("column", [column.name for column in COLUMNS])
def test_the_digest_sees_a_change_in_every_column(column: str):
    changed = ROWS.copy()
    changed[column][7] ^= 1
    assert digest(changed, "a v b") != digest(ROWS, "a v b")


def test_a_digest_prints_and_parses_back():
    found = digest(ROWS, "a v b")
    assert Digest.parse(str(found)) == found
    assert len(str(found)) == 32


def test_a_write_that_fails_leaves_what_was_there_and_no_litter(tmp_path: Path):
    path = tmp_path / "manifest.json"
    records.write_json(path, {"kept": 1})

    def fail(temporary: Path) -> None:
        temporary.write_text("half of")
        raise OSError(28, "No space left on device")

    with pytest.raises(GinsimError, match=r"manifest\.json: cannot be written \(No space left"):
        places.write_whole(path, fail)
    assert records.read_json(path) == {"kept": 1}
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("content", "says"),
    [("{", "is no JSON"), ("[1]", "holds no JSON object"), (None, "cannot be read")],
)
def test_json_that_is_none_is_refused(tmp_path: Path, content: str | None, says: str):
    path = tmp_path / "summary.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(GinsimError, match=says):
        records.read_json(path)


def test_a_folder_without_rounds_is_no_run(tmp_path: Path):
    with pytest.raises(GinsimError, match="is no run folder"):
        read_rounds(tmp_path)


def test_all_parts_read_as_one_frame(finished_run: dict[str, Any]):
    rounds = read_rounds(finished_run["path"])
    assert len(rounds) == finished_run["summary"]["rounds"]
    assert set(rounds["matchup"].cat.categories) == set(finished_run["plan"].matchup_names())


def test_matches_derive_from_rounds():
    """Each match ends with the round that takes its winner to 100 or beyond."""
    frame = to_table(ROWS, NAMES, 1, 2).to_pandas()
    matches = match_table(frame, preset("classic"))
    assert len(matches) == 80
    winners = frame.groupby(["pair", "leg"], observed=True)["winner"].last()
    assert (matches.set_index(["pair", "leg"])["winner"] == winners).all()
    scores = frame.groupby(["pair", "leg", "winner"], observed=True)["points"].sum()
    for match in matches.itertuples():
        by_bot = {match.seat0: match.score_0, match.seat1: match.score_1}
        for bot, score in by_bot.items():
            assert scores.get((match.pair, match.leg, bot), 0) == score


def test_game_and_box_bonuses_add_to_the_totals_and_change_no_winner():
    rules = resolve("classic", ["game_bonus=100", "box_bonus=20"])
    rows = play((load("easy"), load("random")), rules, seed=6, pairs=40)
    assert np.array_equal(rows, ROWS)
    frame = to_table(rows, NAMES, 1, 2).to_pandas()
    with_bonus = match_table(frame, rules)
    plain = match_table(frame, preset("classic"))
    pd.testing.assert_series_equal(with_bonus["winner"], plain["winner"])
    won = frame[(frame["points"] > 0) & (frame["winner"] == frame["seat0"].astype(object))]
    boxes = won.groupby(["pair", "leg"], observed=True).size()
    for match in with_bonus.itertuples():
        bonus = 20 * boxes.get((match.pair, match.leg), 0) + 100 * (match.winner == match.seat0)
        assert match.total_0 == match.score_0 + bonus
