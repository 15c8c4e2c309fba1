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
# # The knock chart
#
# When should a bot knock, and when wait for gin or a lower hand? `ginsim sweep knock_limit` plays
# each deal twice from the turn in question: once the bot knocks, once it plays on. All before is
# the same, so the difference is what the knock is worth.
#
# Set `GINSIM_CHART` to the folder of a knock chart of yours; without it, a small one is played
# first.

# %%
# %matplotlib inline
import json
import os
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import ginsim
from ginsim import charts, plots

RUN = Path(os.environ.get("GINSIM_CHART", "../results/notebooks/knock-chart"))
if not (RUN / "knock_chart.json").exists():
    command = "sweep knock_limit --bot normal --vs easy --pairs 4000 --turns 9 --score 80:20 --out"
    words = [sys.executable, "-m", "ginsim", *command.split(), RUN]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
chart = json.loads((RUN / "knock_chart.json").read_text())
cells = pd.read_parquet(RUN / "knock_chart.parquet")
rival = chart["rivals"][0]

# %% [markdown]
# One row a place of the chart: own turn (1 is the first) and deadwood left after the discard.
# `now` and `on` are the bot's mean points when it knocks at once and when it plays on, `gain` is
# their difference, with a 95 % interval clustered by pair. `p` is corrected for all places of the
# table together (Holm): of 100 charts on which knocking changes nothing, 5 at most would give
# any sure advice.

# %%
cells.head()

# %%
charts.knock_chart(chart, rival).figure

# %% [markdown]
# ## What the colours rest on
#
# A heat map hides how sure each place is. Two turns in full, with intervals; places with too few
# rounds to be judged are left out.

# %%
points = cells[(cells["rival"] == rival) & cells["score"].isna()]
judged = points[points["advice"] != "few"]
turns = sorted(judged["turn"].unique())
fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
early_and_late = dict.fromkeys(turns[len(turns) // 3 :][:1] + turns[-1:])
for place, turn in enumerate(early_and_late):
    here = judged[judged["turn"] == turn]
    ax.errorbar(
        here["deadwood"] + 0.1 * place,
        here["gain"],
        [here["gain"] - here["low"], here["high"] - here["gain"]],
        label=f"own turn {turn}",
        **plots.bot_style(place),
    )
ax.axhline(0, color="#555555", linewidth=1)
ax.set_xlabel("deadwood after the discard (points)")
ax.set_ylabel("points of knocking at once, less playing on")
ax.set_title(f"{chart['bot']} against {rival}: above 0, knock; below, wait")
if turns:
    ax.legend(loc="upper left", bbox_to_anchor=(1, 1), frameon=False)
plt.show()

# %% [markdown]
# ## Advice by turn
#
# For a rule that fits on one line: the mean gain at each turn, over all hands that could knock
# there (weighted by how often each deadwood came up). Where it changes its sign, patience begins
# to pay.

# %%
by_turn = points.dropna(subset="gain").groupby("turn")[["rounds", "gain"]]
advice = by_turn.apply(
    lambda here: pd.Series(
        {
            "rounds that could knock": here["rounds"].sum(),
            "mean gain": np.average(here["gain"], weights=here["rounds"]),
        }
    )
)
sure = points.groupby(["turn", "advice"]).size().unstack(fill_value=0)
advice.join(sure.reindex(columns=["knock", "wait", "either", "few"], fill_value=0)).round(2)

# %% [markdown]
# ## Does the bot follow it?
#
# The levels knock with `early_limit` deadwood or less in their first `early_turns` own turns, and
# with `late_limit` or less after them. Where the chart says for sure what to do and the bot does
# the other thing, a better limit may be found. Limits act together, though: whether a change wins
# matches only a sweep or a tournament tells, as in `05-comparing-two-runs`.

# %%
knobs = ginsim.load(chart["bot"]).parameters
if {"early_turns", "early_limit", "late_limit"} <= set(knobs):
    limit = np.where(
        points["turn"] <= knobs["early_turns"], knobs["early_limit"], knobs["late_limit"]
    )
    does = np.where(points["deadwood"] <= limit, "knock", "wait")
    against = points[points["advice"].isin(["knock", "wait"]) & (points["advice"] != does)]
    print(f"{len(against)} places where {chart['bot']} does not do what surely pays")
    display(against[["turn", "deadwood", "rounds", "gain", "low", "high", "advice"]].round(2))

# %% [markdown]
# ## The score changes the advice
#
# Far ahead, the match is won by small steps and an undercut is what can still go wrong; far
# behind, only large hands help. At a score the chart is in match wins: what rounds of these bots
# bring, played on from there.

# %%
for score in chart["scores"]:
    display(charts.knock_chart(chart, rival, score).figure)
