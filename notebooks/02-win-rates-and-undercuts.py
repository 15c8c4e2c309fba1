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
# # Win rates and undercuts
#
# Who wins how many matches, who is undercut how often and when, each with an honest interval.
#
# Set `GINSIM_RUN` to a run folder of yours; without it, a small run is played first.

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
from ginsim import plots
from ginsim.rules import from_dict
from ginsim.stats import METRIC, clustered_mean

RUN = Path(os.environ.get("GINSIM_RUN", "../results/notebooks/levels"))
if not (RUN / "summary.json").exists():
    command = "tournament easy normal hard simple --pairs 300 --seed 1 --no-plots --out"
    words = [sys.executable, "-m", "ginsim", *command.split(), RUN]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
summary = json.loads((RUN / "summary.json").read_text())
rules = from_dict(json.loads((RUN / "manifest.json").read_text())["rules"])
log = ginsim.read_rounds(RUN)
bots = [bot["name"] for bot in summary["bots"]]

# %% [markdown]
# ## Matches won
#
# The summary holds every rate behind the plots, so no plot needs the log.

# %%
plots.win_rate_matrix(summary).figure

# %% [markdown]
# ## Why intervals are clustered
#
# A pair is two matches on the same deals with the seats swapped, so its rows are not
# independent: the pair is the unit. `pair_counts` adds a bot's rows up by pair, and `rate` takes
# its interval from how pairs differ. Below, its half width is divided by that of an interval
# which takes every match, round or knock as independent.
#
# Below 1, mirroring cancelled luck. Above 1, the naive interval is too short and would be
# trusted wrongly. Gins and undercuts come with the cards, which both legs share, and over all
# matchups every bot met the same cards again: above 1. Matches won in one matchup depend on the
# rules and the bots, so never assume either.


# %%
def naive_half_width(rate: ginsim.stats.Rate) -> float:
    """Half of the 95 % interval of a share of `rate.weight` independent trials."""
    return 1.96 * np.sqrt(rate.value * (1 - rate.value) / rate.weight)


first = summary["matchups"][0]["name"]
ratios = {}
for name, rows in {first: log[log["matchup"] == first], "all matchups": log}.items():
    for bot in bots:
        tally = ginsim.pair_counts(rows, bot, rules).tally()
        for key in ("matches_won", "gin", "undercut"):
            rate = ginsim.rate(tally, key)
            if 0 < rate.value < 1:
                width = rate.half_width() / naive_half_width(rate)
                ratios.setdefault((name, bot), {})[METRIC[key].label] = width
pd.DataFrame(ratios).T.round(2)

# %% [markdown]
# ## Undercuts
#
# An undercut rate is a share of knocks without gin, which cannot be undercut. The more deadwood
# a bot knocks with, the easier it is to undercut.

# %%
plots.undercut_by_deadwood(summary).figure

# %% [markdown]
# A question that no ready plot answers: does it matter when a bot knocks? The rival's hand gets
# better with every turn, so late knocks should be undercut more often. Only knocks with 5
# deadwood or more are counted, to compare like with like; points on fewer than 30 knocks are
# left out.

# %%
knocks = log[log["outcome"].isin(["knock", "undercut"]) & (log["knock_deadwood"] >= 5)]
fig, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
for place, bot in enumerate(bots):
    own = knocks[knocks["knocker"] == bot]
    turn = (own["turns"] + 1) // 2
    seen = np.full((turn.max() + 1, 2), np.nan)  # by turn: rate and half width
    for at, here in own.groupby(turn):
        if len(here) >= 30:
            undercut = (here["outcome"] == "undercut").to_numpy(float)
            rate, _ = clustered_mean(undercut, here["pair"].to_numpy())
            seen[at] = 100 * rate.value, 100 * rate.half_width()
    x = np.arange(len(seen)) + 0.06 * place
    ax.errorbar(x, seen[:, 0], seen[:, 1], label=bot, **plots.bot_style(place))
ax.set_xlabel("turn in which the bot knocked (its own turns)")
ax.set_ylabel("knocks that were undercut (%)")
ax.set_title("Undercuts by turn, knocks with 5 deadwood or more; 95 % intervals by pair")
ax.set_ylim(bottom=0)
ax.legend(loc="upper left")
plt.show()

# %% [markdown]
# ## What an undercut costs
#
# Mean points of the knocker by how its knock went. An undercut gives away the bonus as well, so
# few of them undo many small gains: strength is matches won, not rounds.

# %%
plain = log[log["outcome"].isin(["knock", "undercut"])].copy()
won = plain["winner"].astype(str) == plain["knocker"].astype(str)
plain["knocker's points"] = np.where(won, 1, -1) * plain["points"].astype(int)
table = plain.pivot_table(
    index="knocker", columns="outcome", values="knocker's points", aggfunc="mean", observed=True
)
table.round(1)
