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
# # Comparing two runs
#
# Is the new version of a bot better? Deals depend on the seed alone, so two runs with one seed
# hold the same deals, whoever plays. What the deals have in common cancels in the difference,
# pair by pair. Three runs against one rival: a bot as it is (A), a new version of it (B), and
# A once more on other deals (C).
#
# Set `GINSIM_RUN_A`, `_B` and `_C` to run folders of yours (two bots each, the rival named
# second); without them, small runs are played first.

# %%
# %matplotlib inline
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
from scipy.stats import norm

import ginsim
from ginsim.rules import from_dict
from ginsim.stats import METRIC, holm

PLAYED = {
    "A": "tournament normal easy --pairs 1000 --seed 11",
    "B": "tournament normal@late_limit=6 easy --pairs 1000 --seed 11",
    "C": "tournament normal easy --pairs 1000 --seed 12",
}
runs = {}
for name, command in PLAYED.items():
    folder = re.sub(r"[^a-z0-9]+", "-", command)  # other words, another run
    run = Path(os.environ.get(f"GINSIM_RUN_{name}", f"../results/notebooks/{folder}"))
    if not (run / "summary.json").exists():
        words = [sys.executable, "-m", "ginsim", *command.split(), "--no-plots", "--out", run]
        subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    runs[name] = run

# %% [markdown]
# ## May they be compared?
#
# Equal deals need the same seed, and a fair comparison the same rules, rival and engine. If one
# of these differs between A and B, do not read on.

# %%
manifests = {name: json.loads((run / "manifest.json").read_text()) for name, run in runs.items()}
for what in ("seed", "pairs", "mirrored", "rules", "engine"):
    assert manifests["A"][what] == manifests["B"][what], f"A and B differ in {what}"
assert manifests["A"]["bots"][1] == manifests["B"]["bots"][1], "A and B have other rivals"
bots = {name: manifest["bots"][0]["name"] for name, manifest in manifests.items()}
pd.DataFrame(
    {
        name: {
            "bot": bots[name],
            "rival": manifest["bots"][1]["name"],
            "seed": manifest["seed"],
            "pairs": manifest["pairs"],
            "digest": manifest["digest"],
        }
        for name, manifest in manifests.items()
    }
)

# %% [markdown]
# ## B less A, on equal deals
#
# `pair_counts` adds up each pair, `paired_difference` takes the interval from the differences
# of equal pairs. Beside it stands the interval that two runs on different deals would have: the
# share of deals that both versions play alike is what pairing saves.

# %%
rules = from_dict(manifests["A"]["rules"])
counts = {
    name: ginsim.pair_counts(ginsim.read_rounds(run), bots[name], rules)
    for name, run in runs.items()
}


def apart(first: str, second: str, key: str) -> float:
    """Half of the 95 % interval of a difference between runs on different deals."""
    widths = [ginsim.rate(counts[name].tally(), key).half_width() for name in (first, second)]
    return (widths[0] ** 2 + widths[1] ** 2) ** 0.5


rows = []
for key in ("matches_won", "net_points", "undercut", "gin", "turns"):
    difference = ginsim.paired_difference(counts["B"], counts["A"], key)
    scale = 100 if METRIC[key].share else 1
    rows.append(
        {
            "metric": METRIC[key].label + (" (%)" if METRIC[key].share else ""),
            "B less A": scale * difference.value,
            "low": scale * difference.low,
            "high": scale * difference.high,
            "± paired": scale * difference.half_width(),
            "± on other deals": scale * apart("B", "A", key),
        }
    )
table = pd.DataFrame(rows).set_index("metric")
table.round(3)

# %%
fig, axes = plt.subplots(1, len(table), figsize=(2.1 * len(table), 4), layout="constrained")
for ax, (metric, row) in zip(axes, table.iterrows(), strict=True):
    for x, margin in enumerate(("± paired", "± on other deals")):
        ax.errorbar(x, row["B less A"], row[margin], fmt="o", capsize=4, color=f"C{x}")
        ax.set_xticks([0, 1], ["equal\ndeals", "other\ndeals"])
    ax.axhline(0, color="#555555", linewidth=1)
    ax.set_xlim(-0.6, 1.6)
    ax.set_title(metric.replace(", ", ",\n"), fontsize=9)
axes[0].set_ylabel("B less A, with 95 % intervals")
fig.suptitle(f"B, {bots['B']}, less A, {bots['A']}")
plt.show()

# %% [markdown]
# Matches won answers the question, and it was the only one asked. Whoever looks at all five rows
# for something significant asks five questions, and must correct for that (Holm):

# %%
p_values = 2 * norm.sf(abs(table["B less A"]) / (table["± paired"] / 1.96))
_, adjusted = holm(p_values)
pd.DataFrame({"p": p_values, "p, corrected": adjusted}, index=table.index).map("{:.2g}".format)

# %% [markdown]
# ## The same bot on other deals
#
# A and C are one bot, so their difference is luck alone: the interval should hold 0, and does so
# in 95 of 100 such runs. A change of that size between two runs is no change.

# %%
values = {name: ginsim.rate(counts[name].tally(), "matches_won").value for name in ("A", "C")}
luck, margin = 100 * (values["C"] - values["A"]), 100 * apart("C", "A", "matches_won")
print(f"C less A: {luck:+.1f} ±{margin:.1f} percentage points of matches won")

# %% [markdown]
# Pairs that two runs share are found by their number. If A had 1,000 pairs and B 5,000 of the
# same seed, the first 1,000 are compared. For a test that stops as soon as it is decided, use
# `ginsim tournament A B --sprt 0.50:0.54`; for CI, `ginsim regress` (docs/ci.md).
