"""The row that a round leaves behind: its columns, said once.

The engine fills the kernel columns of ROW; ``records`` turns them into the log's Arrow
columns, with seats resolved to bot names.
"""

from typing import NamedTuple

import numpy as np
from numba import from_dtype


class Column(NamedTuple):
    """One kernel column: its NumPy type and what it holds."""

    name: str
    kind: type[np.generic]
    about: str


COLUMNS = (
    Column("pair", np.int32, "index of the pair"),
    Column("leg", np.int8, "0, or 1 with the seats swapped"),
    Column("round", np.int16, "round of the match, from 0"),
    Column("starter", np.int8, "seat that started the round"),
    Column("outcome", np.int8, "scoring.OUTCOMES"),
    Column("dead_reason", np.int8, "DEAD_REASONS, -1 if not dead"),
    Column("winner", np.int8, "seat that scored, or that the other forfeited to; -1 for none"),
    Column("points", np.int16, "points the winner scored"),
    Column("knocker", np.int8, "seat that knocked, -1 for none"),
    Column("knock_deadwood", np.int8, "points of deadwood the knocker showed, -1 for none"),
    Column("defender_deadwood_before", np.int8, "points, before layoffs, -1 for none"),
    Column("defender_deadwood", np.int8, "points, after layoffs, -1 for none"),
    Column("laid_off", np.int8, "cards the defender laid off"),
    Column("layoffs", np.int64, "which, as a mask over cards"),
    Column("spread_sets", np.int64, "cards of the knocker's sets, as a mask over cards"),
    Column("spread_runs", np.int64, "cards of the knocker's runs, as a mask over cards"),
    Column("turns", np.int16, "turns finished, both players counted; a pass is none"),
    Column("stock_left", np.int8, "cards left in the stock"),
    Column("pile_draws_0", np.int16, "draws from the discard pile by seat 0"),
    Column("pile_draws_1", np.int16, "draws from the discard pile by seat 1"),
    Column("dealt_deadwood_0", np.int8, "deadwood of the ten cards dealt to seat 0"),
    Column("dealt_deadwood_1", np.int8, "deadwood of the ten cards dealt to seat 1"),
    Column("score_before_0", np.int16, "points of seat 0 before the round"),
    Column("score_before_1", np.int16, "points of seat 1 before the round"),
)

STOCK, TURN_LIMIT = 0, 1
DEAD_REASONS = ("stock", "turn_limit")

ROW = np.dtype([(column.name, column.kind) for column in COLUMNS], align=True)
ROW_TYPE = from_dtype(ROW)
