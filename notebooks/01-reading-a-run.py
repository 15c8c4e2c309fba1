# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#       format_version: '1.3'
#       jupytext_version: 1.19.6
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Reading a run
#
# A run folder holds one row a round as Parquet (`rounds/`), what was played (`manifest.json`)
# and what was found (`summary.json`). Any tool that reads Parquet reads the log; this notebook
# asks the same question of pandas, DuckDB and Polars, and checks that they agree.
#
# Set `GINSIM_RUN` to a run folder of yours; without it, a small run is played first.

# %%
import json
import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl

import ginsim
from ginsim.records import SCHEMA
from ginsim.rules import from_dict

RUN = Path(os.environ.get("GINSIM_RUN", "../results/notebooks/levels"))
if not (RUN / "summary.json").exists():
    command = "tournament easy normal hard simple --pairs 300 --seed 1 --no-plots --out"
    words = [sys.executable, "-m", "ginsim", *command.split(), RUN]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)

# %% [markdown]
# The manifest says what was played. The digest is a hash over all rows: whoever plays the
# command again must get the same one, on any machine.

# %%
manifest = json.loads((RUN / "manifest.json").read_text())
print(manifest["command"])
print(f"{manifest['rows']:,} rows, digest {manifest['digest']}")

# %% [markdown]
# ## What a row holds
#
# The meaning of a column travels with the schema. Seats belong to legs: in leg 1 of a pair the
# bots have swapped seats, so ask for bots by name (`seat0`, `winner`, `knocker`), not by seat.

# %%
columns = {field.name: field.metadata[b"about"].decode() for field in SCHEMA}
with pd.option_context("display.max_colwidth", None):
    display(pd.Series(columns, name="holds").to_frame())

# %% [markdown]
# ## pandas
#
# `read_rounds` gives one data frame. With a long run, name the columns you need: the rest is
# not read.

# %%
rounds = ginsim.read_rounds(RUN, ["matchup", "pair", "leg", "outcome", "knocker", "points"])
print(f"{len(rounds):,} rounds, {rounds.memory_usage(deep=True).sum() / 1e6:.1f} MB")
rounds.head()

# %% [markdown]
# How do rounds end, in each matchup? Shares of the matchup's rounds, in per cent.

# %%
by_pandas = pd.crosstab(rounds["matchup"], rounds["outcome"])
by_pandas.div(by_pandas.sum(axis=1), axis=0).mul(100).round(2)

# %% [markdown]
# A match is not logged, since its rounds say all of it: `match_table` derives one row a match.

# %%
matches = ginsim.match_table(ginsim.read_rounds(RUN), from_dict(manifest["rules"]))
matches.head()

# %% [markdown]
# ## DuckDB
#
# SQL straight on the files. Nothing is loaded first, so this serves for logs larger than memory.

# %%
parts = (RUN / "rounds" / "*.parquet").as_posix()
by_duckdb = duckdb.sql(f"""
    select matchup, outcome, count(*) as rounds, avg(turns) as turns
    from '{parts}'
    group by matchup, outcome
    order by matchup, outcome
""").df()
by_duckdb.head(8)

# %% [markdown]
# ## Polars
#
# A lazy scan: Polars reads only the columns and rows that the query needs.

# %%
by_polars = (
    pl.scan_parquet(parts)
    .group_by(pl.col("matchup").cast(pl.String), pl.col("outcome").cast(pl.String))
    .agg(pl.len().alias("rounds"), pl.col("turns").mean())
    .sort("matchup", "outcome")
    .collect()
)
by_polars.head(8)

# %% [markdown]
# ## They agree
#
# With each other, and with the summary that `ginsim` wrote.

# %%
summary = json.loads((RUN / "summary.json").read_text())
for matchup in summary["matchups"]:
    assert by_pandas.loc[matchup["name"]].sum() == matchup["rows"]
for matchup, outcome, count, _ in by_polars.iter_rows():
    assert by_pandas.loc[matchup, outcome] == count
assert by_duckdb["rounds"].tolist() == by_polars["rounds"].to_list()
assert len(matches) == summary["matches"]
print(f"{summary['rounds']:,} rounds in {summary['matches']:,} matches, counted alike by all")

# %% [markdown]
# One trap: rows are not independent. The two legs of a pair share their deals, and a match has
# many rounds, so the usual interval of a share is too short. The next notebook does it right.
