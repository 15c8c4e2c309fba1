"""The log on disk: Parquet files of rounds, the manifest and the digest.

A file appears whole or not at all (``places``). A Parquet file, a part, holds a block of whole
pairs, or several blocks once a run was compacted; a block is a row group.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from ginsim import places
from ginsim.errors import GinsimError
from ginsim.places import Place
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
            if not np.all((named < 0) | (named == seat0) | (named == seat1)):
                raise GinsimError(f"{column.name} names a bot that does not play")
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


#: A manifest, a summary or a baseline is smaller than this.
MOST_JSON = 64_000_000


def write_json(path: Place, content: Any) -> None:
    """Write *content* as JSON, whole or not at all."""
    write_text(path, json.dumps(content, indent=1, allow_nan=False) + "\n")


def write_text(path: Place, text: str) -> None:
    """Write *text*, whole or not at all."""
    places.write_bytes(path, text.encode())


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number")


def read_json(path: Place) -> dict[str, Any]:
    """Return the object written in *path*; raises GinsimError naming the file if there is none."""
    text = places.read_bytes(path, MOST_JSON)
    try:
        content = json.loads(text, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise GinsimError(f"{path}: is no JSON ({places.reason(error)})") from None
    if not isinstance(content, dict):
        raise GinsimError(f"{path}: holds no JSON object")
    return content


#: Metadata of a part: digests of its blocks (hex, in order), and the key of the run it is of.
_DIGESTS, _RUN_KEY = b"ginsim.digests", b"ginsim.run"
#: And why matches of each block were forfeited, as JSON, which rows do not say.
_FORFEITS = b"ginsim.forfeits"


class Block(NamedTuple):
    """What a part holds of one block."""

    table: pa.Table
    digest: Digest
    key: str  #: of the run that the rows are of
    forfeits: Any  #: why matches were forfeited, as JSON


def write_part(
    path: Place,
    tables: Iterable[pa.Table],
    part_digest: Digest,
    key: str = "",
    forfeits: Sequence[Any] = (),
) -> None:
    """Write one block's rounds as Parquet (zstd), whole or not at all, with its digest.

    *key* names the run that the rows are of; *forfeits* (JSON) says why matches were forfeited.
    """
    table = pa.concat_tables(tables)
    metadata = {_DIGESTS: str(part_digest), _RUN_KEY: key, _FORFEITS: json.dumps([forfeits])}
    table = table.replace_schema_metadata(metadata)
    size = max(1, len(table))  # a block is one row group
    places.write_whole(
        path,
        lambda temporary: pq.write_table(
            table, temporary, compression="zstd", row_group_size=min(size, MOST_GROUP)
        ),
    )


def write_merged(path: Place, blocks: Iterable[Block]) -> None:
    """Write several blocks of one run into one part, a row group each.

    Written whole or not at all, and never more than one block in memory.
    """

    def write(temporary: Path) -> None:
        digests, forfeits, key = [], [], ""
        with pq.ParquetWriter(temporary, SCHEMA, compression="zstd") as writer:
            for block in blocks:
                writer.write_table(block.table, row_group_size=max(1, len(block.table)))
                digests.append(str(block.digest))
                forfeits.append(block.forfeits)
                key = block.key
            writer.add_key_value_metadata(
                {_DIGESTS: " ".join(digests), _RUN_KEY: key, _FORFEITS: json.dumps(forfeits)}
            )

    places.write_whole(path, write)


#: Rows a row group of a part can hold; no block comes near.
MOST_GROUP = 64 * 1024 * 1024

_PART = re.compile(r"part-(\d{6,12})(?:-(\d{6,12}))?\.parquet")


class Part(NamedTuple):
    """A Parquet file of the log, and the blocks it holds, first to last; one is a row group."""

    path: Place
    first: int
    last: int


def read_part(
    path: Place, bots: Sequence[str], most: int | None = None
) -> tuple[dict[tuple[int, int], np.ndarray], Digest]:
    """Rows of a part of one block by matchup, and the digest stored with them.

    Raises GinsimError if the file is torn or is no part of such a run.
    """
    found = read_block(Part(path, 0, 0), 0, most)
    try:
        return from_table(found.table, bots), found.digest
    except (pa.ArrowException, KeyError, TypeError, ValueError) as error:
        raise _torn(path, error) from None


def _torn(path: Place, error: BaseException) -> GinsimError:
    return GinsimError(f"{path}: is no whole part of this run ({places.reason(error)})")


def read_block(part: Part, block: int, most: int | None = None) -> Block:
    """What *part* holds of one block: its rounds and what was stored with them.

    Raises GinsimError if the file is torn, or claims more than *most* rows for the block.
    """
    at = block - part.first
    try:
        with part.path.open("rb") as file, pq.ParquetFile(file) as parquet:
            metadata = parquet.metadata.metadata or {}
            digests = metadata[_DIGESTS].split()
            if len(digests) != part.last - part.first + 1:
                raise ValueError(f"{len(digests)} blocks, not {part.last - part.first + 1}")
            if parquet.num_row_groups != len(digests):
                raise ValueError(f"{parquet.num_row_groups} row groups")
            rows = parquet.metadata.row_group(at).num_rows
            if most is not None and rows > most:
                raise ValueError(f"{rows} rows in a block")
            if parquet.schema_arrow.names != SCHEMA.names:
                raise ValueError("other columns")
            table = parquet.read_row_group(at).cast(SCHEMA)
            forfeits = json.loads(metadata[_FORFEITS])
            if not isinstance(forfeits, list) or len(forfeits) != len(digests):
                raise ValueError("forfeits of other blocks")
            stored = Digest.parse(digests[at].decode())
            return Block(table, stored, metadata[_RUN_KEY].decode(), forfeits[at])
    except GinsimError:
        raise
    except OSError as error:
        raise _torn(part.path, error) from None
    except (pa.ArrowException, KeyError, TypeError, ValueError, RecursionError) as error:
        raise _torn(part.path, error) from None
    except Exception as error:
        if places.is_local(part.path):
            raise
        raise GinsimError(f"{part.path}: cannot be read ({places.reason(error)})") from None


def read_digest(part: Part, block: int) -> Digest:
    """Return the digest that is stored with one block of *part*."""
    with places.reaching(part.path, "cannot be read"), part.path.open("rb") as file:
        try:
            metadata = pq.read_metadata(file).metadata
            return Digest.parse(metadata[_DIGESTS].split()[block - part.first].decode())
        except (pa.ArrowException, KeyError, IndexError, TypeError, ValueError) as error:
            raise _torn(part.path, error) from None


def rounds_folder(run: Place) -> Place:
    """Folder of a run's Parquet files."""
    return run / "rounds"


def part_path(run: Place, block: int, last: int | None = None) -> Place:
    """Parquet file of block number *block*, or of several, up to *last*."""
    more = "" if last is None else f"-{last:06d}"
    return rounds_folder(run) / f"part-{block:06d}{more}.parquet"


def parts_of(run: Place) -> list[Part]:
    """Parquet files of a run, by first block; raises GinsimError for one that is no part.

    Files of one block that a file of several holds as well are left out: ``ginsim compact``
    was stopped before it removed them.
    """
    folder, found = rounds_folder(run), []
    for name in places.names(folder):
        if name.startswith((".", "_")):
            continue
        match = _PART.fullmatch(name)
        if match is None:
            raise GinsimError(f"{folder / name}: is no file of this run: move it elsewhere")
        first = int(match[1])
        last = first if match[2] is None else int(match[2])
        if last < first:
            raise GinsimError(f"{folder / name}: is no file of this run: move it elsewhere")
        found.append(Part(folder / name, first, last))
    merged = [part for part in found if part.last > part.first]
    kept = [
        part
        for part in found
        if not any(m != part and m.first <= part.first and part.last <= m.last for m in merged)
    ]
    return sorted(kept, key=lambda part: part.first)


def by_block(parts: Iterable[Part]) -> dict[int, Part]:
    """Return the part that holds each block."""
    return {block: part for part in parts for block in range(part.first, part.last + 1)}


def dataset(run: str | Place) -> ds.Dataset:
    """Return the log of a run as an Arrow dataset: to filter, scan in batches, hand to DuckDB.

    Each part holds whole pairs, so what is counted by pair can be counted part by part.
    """
    run = places.place(run)
    folder = rounds_folder(run)
    parts = parts_of(run)
    if not parts:
        raise GinsimError(f"{run}: is no run folder (there is nothing in its {folder.name}/)")
    try:
        if isinstance(folder, Path):
            return ds.dataset([str(part.path) for part in parts], schema=SCHEMA)
        files = [str(part.path.path) for part in parts if not isinstance(part.path, Path)]
        return ds.dataset(files, schema=SCHEMA, filesystem=folder.fs)
    except (OSError, pa.ArrowException) as error:
        raise _mend(run, error) from None


def _mend(run: Place, error: BaseException) -> GinsimError:
    return GinsimError(
        f"{rounds_folder(run)}: {places.reason(error)}; "
        f"mend it with `ginsim tournament --resume {run}`"
    )


def read_rounds(run: str | Place, columns: Sequence[str] | None = None) -> pd.DataFrame:
    """Return the log of a run, one row a round; columns as SCHEMA (or those named in *columns*).

    All of it, in memory: ``iter_rounds`` reads a log of any length.
    """
    log = dataset(run)
    try:
        table = log.to_table(columns=list(columns) if columns else None)
    except (OSError, pa.ArrowException) as error:
        raise _mend(places.place(run), error) from None
    frame: pd.DataFrame = table.unify_dictionaries().to_pandas()
    return frame


def iter_rounds(run: str | Place, columns: Sequence[str] | None = None) -> Iterator[pd.DataFrame]:
    """Yield the log of a run as data frames of one block each: whole pairs, flat memory."""
    run = places.place(run)
    parts = parts_of(run)
    if not parts:
        raise GinsimError(f"{run}: is no run folder (there is nothing in its rounds/)")
    for part in parts:
        for block in range(part.first, part.last + 1):
            table = read_block(part, block).table
            if columns:
                table = table.select(list(columns))
            yield table.unify_dictionaries().to_pandas()


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
