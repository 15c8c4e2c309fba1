"""The log on disk: Parquet files of rounds, the manifest and the digest.

A file appears whole or not at all: it is written under a temporary name and then renamed.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from ginsim.errors import GinsimError
from ginsim.rng import hash_rows
from ginsim.rows import COLUMNS, DEAD_REASONS, ROW
from ginsim.rules import Rules, winning_score
from ginsim.scoring import OUTCOMES

REPORT = "report.html"  #: of a run, if one was written; goes when the run is replaced

_NAMES = pa.dictionary(pa.int16(), pa.string())
_WORDS = pa.dictionary(pa.int8(), pa.string())

#: Log columns that name something instead of giving the kernel's number.
_NAMED = {
    "matchup": (_NAMES, "the two bots, 'A v B'"),
    "seat0": (_NAMES, "bot at seat 0"),
    "seat1": (_NAMES, "bot at seat 1"),
    "starter": (_NAMES, "bot that started the round (the non-dealer)"),
    "starter_seat": (pa.int8(), "its seat"),
    "outcome": (_WORDS, "knock, gin, big_gin, undercut, dead or forfeit"),
    "dead_reason": (_WORDS, "stock or turn_limit, null if not dead"),
    "winner": (_NAMES, "bot that scored, or that the other forfeited to; null for none"),
    "knocker": (_NAMES, "bot that knocked, null for none"),
}
_NULL_BELOW_ZERO = {"knock_deadwood", "defender_deadwood_before", "defender_deadwood"}


def _log_fields() -> list[pa.Field]:
    kernel = {
        column.name: (pa.from_numpy_dtype(column.kind), column.about)
        for column in COLUMNS
        if column.name not in _NAMED
    }
    order = ["matchup", "pair", "leg", "round", "seat0", "seat1", "starter", "starter_seat"]
    order += ["outcome", "dead_reason", "winner", "points", "knocker"]
    both = kernel | _NAMED
    for name in _NULL_BELOW_ZERO:
        both[name] = both[name][0], both[name][1].replace("-1 for none", "null for none")
    order += [name for name in both if name not in order]
    return [pa.field(n, both[n][0], metadata={"about": both[n][1]}) for n in order]


#: Schema of the log, one row a round; each field's metadata says what it holds.
SCHEMA = pa.schema(_log_fields())


def matchup_name(first: str, second: str) -> str:
    """Name of a matchup in the log and the manifest."""
    return f"{first} v {second}"


def _coded(codes: np.ndarray, names: Sequence[str], kind: pa.DataType) -> pa.Array:
    """Dictionary column of *names* by *codes*; a code below zero is null."""
    indices = pa.array(codes, type=kind.index_type, mask=codes < 0)
    return pa.DictionaryArray.from_arrays(indices, pa.array(names, pa.string()))


def to_table(rows: np.ndarray, bots: Sequence[str], first: int, second: int) -> pa.Table:
    """*rows* (ROW) of the matchup of bots[first] and bots[second] as a table of SCHEMA."""
    leg = rows["leg"].astype(np.int16)
    at_seat = np.where(leg == 0, first, second), np.where(leg == 0, second, first)

    def bot(seat: np.ndarray) -> pa.Array:
        codes = np.where(seat < 0, -1, np.where(seat == 0, at_seat[0], at_seat[1]))
        return _coded(codes, bots, _NAMES)

    columns: dict[str, pa.Array] = {
        "matchup": _coded(
            np.zeros(len(rows), np.int16), [matchup_name(bots[first], bots[second])], _NAMES
        ),
        "seat0": _coded(at_seat[0], bots, _NAMES),
        "seat1": _coded(at_seat[1], bots, _NAMES),
        "starter": bot(rows["starter"]),
        "starter_seat": pa.array(rows["starter"]),
        "outcome": _coded(rows["outcome"], OUTCOMES, _WORDS),
        "dead_reason": _coded(rows["dead_reason"], DEAD_REASONS, _WORDS),
        "winner": bot(rows["winner"]),
        "knocker": bot(rows["knocker"]),
    }
    for field in SCHEMA:
        if field.name not in columns:
            values = np.ascontiguousarray(rows[field.name])
            mask = values < 0 if field.name in _NULL_BELOW_ZERO else None
            columns[field.name] = pa.array(values, type=field.type, mask=mask)
    return pa.table([columns[name] for name in SCHEMA.names], schema=SCHEMA)


def from_table(table: pa.Table, bots: Sequence[str]) -> dict[tuple[int, int], np.ndarray]:
    """Rows (ROW) by matchup, as (first, second) places in *bots*: the inverse of to_table."""
    frame = table.combine_chunks().unify_dictionaries()
    place = {name: at for at, name in enumerate(bots)}

    def codes(name: str, values: Sequence[str] | dict[str, int]) -> np.ndarray:
        lookup = values if isinstance(values, dict) else {v: i for i, v in enumerate(values)}
        column = frame[name].combine_chunks()
        if isinstance(column, pa.ChunkedArray):
            column = column.chunk(0)
        # A dictionary may hold words that no row has, after a filter.
        words = column.dictionary.to_pylist()
        by_code = np.array([lookup.get(word, -2) for word in words] or [0], np.int64)
        index = column.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        found = np.where(index < 0, -1, by_code[index])
        if (found == -2).any():
            raise GinsimError(f"{name}: {words[int(index[found == -2][0])]!r} is not expected here")
        return found

    rows = np.zeros(len(frame), ROW)
    seat0, seat1 = codes("seat0", place), codes("seat1", place)
    for column in COLUMNS:
        if column.name in ("winner", "knocker", "starter"):
            named = codes(column.name, place)
            rows[column.name] = np.where(named < 0, -1, np.where(named == seat0, 0, 1))
        elif column.name == "outcome":
            rows[column.name] = codes("outcome", OUTCOMES)
        elif column.name == "dead_reason":
            rows[column.name] = codes("dead_reason", DEAD_REASONS)
        else:
            values = frame[column.name].combine_chunks()
            rows[column.name] = values.fill_null(-1).to_numpy(zero_copy_only=False)
    first = np.where(rows["leg"] == 0, seat0, seat1)
    second = np.where(rows["leg"] == 0, seat1, seat0)
    if not np.array_equal(rows["starter"], frame["starter_seat"].to_numpy()):
        raise GinsimError("starter and starter_seat do not agree")
    both = first * len(bots) + second
    keys = [divmod(int(key), len(bots)) for key in np.flatnonzero(np.bincount(both))]
    named = codes("matchup", {name: at for at, name in enumerate(_matchups(frame))})
    for a, b in keys:
        places = np.flatnonzero(np.bincount(named[both == a * len(bots) + b])).tolist()
        if [_matchups(frame)[at] for at in places] != [matchup_name(bots[a], bots[b])]:
            raise GinsimError(f"seats and matchup do not agree for {bots[a]} and {bots[b]}")
    return {(a, b): rows[both == a * len(bots) + b] for a, b in keys}


def _matchups(table: pa.Table) -> list[str]:
    """Names in the matchup column's dictionary."""
    return [str(name) for name in table["matchup"].combine_chunks().dictionary.to_pylist()]


@dataclass(frozen=True)
class Digest:
    """Hash over rows that does not depend on their order or how they are split: digests add."""

    first: int = 0
    second: int = 0

    def __add__(self, other: "Digest") -> "Digest":
        """Return the digest of both sets of rows together."""
        return Digest(
            (self.first + other.first) % (1 << 64), (self.second + other.second) % (1 << 64)
        )

    def __str__(self) -> str:
        """32 hex digits."""
        return f"{self.first:016x}{self.second:016x}"

    @staticmethod
    def parse(text: str) -> "Digest":
        """Return the digest that prints as *text*."""
        return Digest(int(text[:16], 16), int(text[16:], 16))


def row_hashes(rows: np.ndarray, matchup: str) -> tuple[np.ndarray, np.ndarray]:
    """Two hashes, int64, of each of *rows* (ROW) of the matchup called *matchup*."""
    key = int.from_bytes(hashlib.blake2b(matchup.encode(), digest_size=7).digest(), "little")
    columns = np.stack([rows[name].astype(np.int64) for name in ROW.names or ()])
    return hash_rows(columns, key)


def digest(rows: np.ndarray, matchup: str) -> Digest:
    """Digest of *rows* (ROW) of the matchup called *matchup*."""
    first, second = row_hashes(rows, matchup)
    return Digest(int(first.sum()) % (1 << 64), int(second.sum()) % (1 << 64))


def pair_digests(rows: np.ndarray, matchup: str) -> np.ndarray:
    """Return a 32-bit digest, as int64, of each pair in *rows* (whole pairs, in order)."""
    first, _ = row_hashes(rows, matchup)
    starts = np.flatnonzero(np.diff(rows["pair"], prepend=-1))
    return np.add.reduceat(first, starts) & 0xFFFFFFFF


def write_whole(path: Path, write: Callable[[Path], object]) -> None:
    """Call *write* with a temporary name in *path*'s folder, then rename it to *path*."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise GinsimError(f"{path}: cannot be written ({error.strerror})") from None
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        temporary.chmod(0o644)
        temporary.replace(path)
    except OSError as error:
        raise GinsimError(f"{path}: cannot be written ({error.strerror or error})") from None
    finally:
        temporary.unlink(missing_ok=True)


def write_json(path: Path, content: Any) -> None:
    """Write *content* as JSON, whole or not at all."""
    write_text(path, json.dumps(content, indent=1, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write *text*, whole or not at all."""
    write_whole(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def read_json(path: Path) -> dict[str, Any]:
    """Return the object written in *path*; raises GinsimError naming the file if there is none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise GinsimError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise GinsimError(f"{path}: is no JSON ({error})") from None
    if not isinstance(content, dict):
        raise GinsimError(f"{path}: holds no JSON object")
    return content


def write_part(path: Path, tables: Iterable[pa.Table], part_digest: Digest) -> None:
    """Write one block's rounds as Parquet (zstd), whole or not at all, with its digest."""
    table = pa.concat_tables(tables)
    table = table.replace_schema_metadata({"ginsim.digest": str(part_digest)})
    write_whole(path, lambda temporary: pq.write_table(table, temporary, compression="zstd"))


def read_part(path: Path, bots: Sequence[str]) -> tuple[dict[tuple[int, int], np.ndarray], Digest]:
    """Rows of one part by matchup, and the digest stored with them.

    Raises GinsimError if the file is torn or is no part of such a run.
    """
    try:
        table = pq.read_table(path)
        stored = Digest.parse(table.schema.metadata[b"ginsim.digest"].decode())
        return from_table(table, bots), stored
    except (OSError, pa.ArrowException, KeyError, TypeError, ValueError) as error:
        raise GinsimError(f"{path}: is no whole part of this run ({error})") from None


def rounds_folder(run: Path) -> Path:
    """Folder of a run's Parquet files."""
    return run / "rounds"


def part_path(run: Path, block: int) -> Path:
    """Parquet file of block number *block*."""
    return rounds_folder(run) / f"part-{block:06d}.parquet"


def read_rounds(run: str | Path, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Return the log of a run, one row a round; columns as SCHEMA (or those named in *columns*)."""
    folder = rounds_folder(Path(run))
    if not folder.is_dir():
        raise GinsimError(f"{run}: is no run folder (it has no {folder.name}/)")
    try:
        table = pq.read_table(folder, columns=list(columns) if columns else None)
    except (OSError, pa.ArrowException) as error:
        line = str(error).splitlines()[0]
        raise GinsimError(f"{folder}: {line}; mend it with --resume {run}") from None
    frame: pd.DataFrame = table.unify_dictionaries().to_pandas()
    return frame


def match_table(rounds: pd.DataFrame, rules: Rules) -> pd.DataFrame:
    """One row a match, derived from *rounds* (read_rounds): rounds, final scores, winner, totals.

    A match nobody won has no winner. ``total_0`` and ``total_1`` are the scores with the game
    bonus of the winner and the box bonus of every round won, where the rules have them.
    """
    keys = ["matchup", "pair", "leg"]
    rounds = rounds.sort_values([*keys, "round"])
    last = rounds.groupby(keys, observed=True).tail(1).set_index(keys)
    matches = last[["seat0", "seat1"]].copy()
    matches["rounds"] = last["round"] + 1
    winner = last["winner"].astype(object)
    for seat in ("0", "1"):
        scored = np.where(winner == last[f"seat{seat}"].astype(object), last["points"], 0)
        matches[f"score_{seat}"] = last[f"score_before_{seat}"] + scored
    top = matches[["score_0", "score_1"]].max(axis=1)
    won = (top >= winning_score(rules)) | (last["outcome"] == "forfeit")
    matches["winner"] = winner.where(won, None)
    scored_rounds = rounds[rounds["points"] > 0]
    for seat in ("0", "1"):
        own = rounds["winner"].astype(object) == rounds[f"seat{seat}"].astype(object)
        boxes = scored_rounds[own[scored_rounds.index]].groupby(keys, observed=True).size()
        is_winner = matches["winner"] == last[f"seat{seat}"].astype(object)
        matches[f"total_{seat}"] = (
            matches[f"score_{seat}"].astype(np.int64)
            + rules.box_bonus * boxes.reindex(matches.index, fill_value=0)
            + rules.game_bonus * is_winner
        )
    return matches.reset_index()
