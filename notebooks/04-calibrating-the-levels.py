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
# # Calibrating the levels
#
# Easy, Normal and Hard shall be apart by a known amount: each wins a given share of its matches
# against the one below. `ginsim calibrate` turns one parameter of each level, its knob, until
# that is so. This notebook follows what it did, step by step.
#
# Set `GINSIM_CALIBRATION` to the folder of a calibration of yours; without it, a small one is
# played first. It writes nothing into the levels that ginsim ships.

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
from ginsim import charts
from ginsim.rules import from_dict

RUN = Path(os.environ.get("GINSIM_CALIBRATION", "../results/notebooks/calibration"))
if not (RUN / "calibration.json").exists():
    command = (
        "calibrate --targets normal/easy=0.66 --anchor easy --knob normal=late_limit:0:8:2 "
        "--pairs 500 --verify-pairs 3000 --within 0.05 --no-write --out"
    )
    words = [sys.executable, "-m", "ginsim", *command.split(), RUN]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
found = json.loads((RUN / "calibration.json").read_text())
rules = from_dict(found["rules"])
step = found["steps"][0]

# %% [markdown]
# ## What was asked
#
# One level, the anchor, stays as it is. From there outwards, each target has one level that is
# settled already and one that is tuned.

# %%
print("targets:", ", ".join(found["targets"]), "| anchor:", found["anchor"])
for one in found["steps"]:
    print(f"{one['target']}: turns {one['knob']} of {one['level']} against {one['against']}")

# %% [markdown]
# ## The curve
#
# The knob is played at several values, on the same deals for each, so that the curve is smoother
# than its intervals suggest. A curve in log odds is fitted to all pairs: a straight line, unless
# the points say otherwise (lack of fit). Dashed: the target. Dotted: the value taken.

# %%
for one in found["steps"]:
    display(charts.calibration_curve(one).figure)

# %% [markdown]
# The points come from an ordinary log, so they can be checked: match wins of each value, counted
# anew from the Parquet files of the sweep.

# %%
sweep = RUN / step["level"] / "sweep"
log = ginsim.read_rounds(sweep)
*names, rival = (bot["name"] for bot in json.loads((sweep / "manifest.json").read_text())["bots"])
rows = []
for played, name in zip(step["played"], names, strict=True):
    won = ginsim.rate(ginsim.pair_counts(log, name, rules).tally(), "matches_won")
    assert np.isclose(won.value, played["value"]), name
    rows.append((played["setting"], 100 * won.value, 100 * won.low, 100 * won.high))
pd.DataFrame(rows, columns=[step["knob"], "matches won (%)", "low", "high"]).round(1)

# %% [markdown]
# ## From the target to a value
#
# The curve is read backwards: where does it cross the target? Its band, read the same way, says
# how far the value is uncertain (beyond: past the values that were played). A flat curve leaves it
# uncertain even where match wins are known well: then the value matters little.

# %%
curve = step["curve"]
values, rates = np.array(curve["values"]), np.array(curve["rates"])
above = rates > step["goal"]
crossings = np.flatnonzero(above[1:] != above[:-1])
for at in crossings:
    share = (step["goal"] - rates[at]) / (rates[at + 1] - rates[at])
    value = values[at] + share * (values[at + 1] - values[at])
    print(f"the curve crosses {step['goal']:g} at {step['knob']} = {value:.2f}")
ends = ["beyond" if end is None else f"{end:.1f}" for end in (step["low"], step["high"])]
print(f"calibrate reads {step['exact']:.2f} (interval {ends[0]} .. {ends[1]})")

# %% [markdown]
# ## Fresh deals have the last word
#
# The value was chosen on these deals, so what it won on them is flattered. It is played again on
# deals that took no part in the choice. A hit is strict: the whole 95 % interval must lie within
# the tolerance. After a miss the curve is shifted by what was seen, and another value is tried on
# yet fresher deals.

# %%
tries = pd.DataFrame(
    [
        {
            "target": one["target"],
            "value": attempt["setting"],
            "seed": attempt["seed"],
            "goal (%)": 100 * one["goal"],
            "won (%)": 100 * attempt["value"],
            "low": 100 * attempt["low"],
            "high": 100 * attempt["high"],
            "hit": attempt["hit"],
        }
        for one in found["steps"]
        for attempt in one["tries"]
    ]
)
tries.round(2)

# %% [markdown]
# How many fresh pairs would narrow that interval? Its width falls with the square root of the
# pairs, so a figure for one tolerance gives all others.

# %%
last = step["tries"][-1]
margin = (last["high"] - last["low"]) / 2
wanted = np.array([0.02, 0.01, 0.005, 0.0025])
pairs = last["pairs"] * (margin / wanted) ** 2
fig, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
ax.loglog(100 * wanted, pairs, "o-")
for x, y in zip(100 * wanted, pairs, strict=True):
    ax.annotate(f" {y:,.0f}", (x, y), va="bottom")
ax.set_xticks(100 * wanted, [f"±{100 * x:g}" for x in wanted])
ax.minorticks_off()
ax.set_xlabel("95 % interval of the match wins (percentage points)")
ax.set_ylabel("mirrored pairs needed")
ax.margins(x=0.15, y=0.15)
plt.show()

# %% [markdown]
# ## Guard rails
#
# Two levels can be the right distance apart and still play badly to watch. So each calibration
# tells how the levels play, and looks at every decision of some matches for blunders: gin passed
# up, melds broken for nothing, dice rolled.

# %%
guards = {
    level: {key: rate["value"] for key, rate in one["guards"][level].items()}
    for one in found["steps"]
    for level in one["guards"]
}
display(pd.DataFrame(guards).T.round(3))
pd.DataFrame(found["blunders"]).T

# %% [markdown]
# ## In use
#
# `ginsim calibrate` without `--no-write` puts the values and where they come from into
# `levels.toml`. `ginsim calibrate --check` plays the verification again and fails if engine,
# rules or bots have changed since, so CI notices levels that no longer hold.
