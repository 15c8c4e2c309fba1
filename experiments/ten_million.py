"""What do ten million rounds cost here, and how does the cost grow with pairs, bots and jobs?

Every figure is of the real command in a process of its own, watched from outside: seconds as
its manifest tells them, peak memory as the system does (VmHWM), bytes as they lie on disk.
The Parquet files are removed again. Takes a minute or two on two quiet cores.
"""

import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import matplotlib.style
from matplotlib.figure import Figure

from ginsim.plots import COLOURS

RESULTS = Path(__file__).parents[1] / "results" / "ten-million"
SEED = 20_261_201
#: Pairs of easy v simple that make a little over ten million rounds.
PAIRS = 510_000
GROWTH_PAIRS = (1_000, 10_000, 100_000)
GROWTH_BOTS = (2, 4, 6, 8)
GROWTH_JOBS = (1, 2, 4)
MEGABYTE = 1 << 20
SECONDS = 180


def headline(summary: dict[str, Any]) -> str:
    """What was found, in a line."""
    run = summary["ten_million"]
    return (
        f"{run['rounds']:,} rounds in {run['seconds']:.0f} s, {run['bytes_a_round']:.1f} bytes a "
        f"round, {run['driver_mb']:.0f} MB at most"
    )


def _status(pid: int, field: str) -> int | None:
    """A field of the system's status of a process, None if it is gone."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    found = [line.split()[1] for line in text.splitlines() if line.startswith(f"{field}:")]
    return int(found[0]) if found else None


def _workers(pid: int) -> list[int]:
    """Worker processes of joblib that *pid* has started."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            ours = _status(int(entry.name), "PPid") == pid
            if ours and b"popen_loky" in (entry / "cmdline").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def watched(*words: str | Path, run: Path) -> dict[str, Any]:
    """Run the command; seconds, peak megabytes of it and of its largest worker, first plot."""
    command = [sys.executable, "-c", "from ginsim.cli import main; main()", *map(str, words)]
    began, start = time.time(), time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    driver, worker, polls = 0, 0, 0
    while process.poll() is None:
        driver = max(driver, _status(process.pid, "VmHWM") or 0)
        if polls % 10 == 0:
            peaks = [_status(pid, "VmHWM") or 0 for pid in _workers(process.pid)]
            worker = max([worker, *peaks])
        polls += 1
        time.sleep(0.02)
    if process.returncode != 0:
        raise SystemExit(f"{command} ended with {process.returncode}")
    found: dict[str, Any] = {
        "seconds_in_all": time.perf_counter() - start,
        "driver_mb": driver * 1024 / MEGABYTE,
        "worker_mb": worker * 1024 / MEGABYTE or None,
    }
    plots = [path.stat().st_mtime - began for path in (run / "plots").glob("*.png")]
    if plots:
        found["first_plot_seconds"] = min(plots)
    return found


def tournament(run: Path, bots: list[str], pairs: int, *more: str) -> dict[str, Any]:
    """Play, and tell what it cost."""
    words = ("tournament", *bots, "--pairs", str(pairs), "--seed", str(SEED), "--json", *more)
    found = watched(*words, "--out", run, run=run)
    manifest = json.loads((run / "manifest.json").read_text())
    files = list((run / "rounds").iterdir())
    size = sum(path.stat().st_size for path in files)
    return found | {
        "bots": len(bots),
        "pairs": pairs,
        "jobs": manifest["jobs"],
        "rounds": manifest["rows"],
        "digest": manifest["digest"],
        "seconds": manifest["seconds"],
        "rounds_per_second": manifest["rounds_per_second"],
        "files": len(files),
        "bytes": size,
        "bytes_a_round": size / manifest["rows"],
    }


def growth(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Cost of smaller runs: by pairs on threads and on processes, by bots, by jobs."""
    # Of one speed, so that only their number counts.
    family = [f"knock-at-{limit}" for limit in range(3, 11)]
    pair, quiet = ["easy", "simple"], "--no-plots"
    return {
        "pairs": [tournament(folder / f"p{n}", pair, n, quiet) for n in GROWTH_PAIRS],
        "pairs on processes": [
            tournament(folder / f"l{n}", pair, n, quiet, "--backend", "loky")
            for n in GROWTH_PAIRS[1:]
        ],
        "bots": [tournament(folder / f"b{n}", family[:n], 2_000, quiet) for n in GROWTH_BOTS],
        "jobs": [
            tournament(folder / f"j{n}", pair, 30_000, quiet, "--jobs", str(n)) for n in GROWTH_JOBS
        ],
    }


def machine() -> dict[str, Any]:
    """What the figures were measured on, and how busy it was before."""
    return {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "load_before": [round(load, 1) for load in os.getloadavg()],
    }


def table(content: dict[str, Any]) -> str:
    """Return the figures as Markdown."""
    big, back, on = content["ten_million"], content["recount"], content["machine"]
    load = ", ".join(f"{value:g}" for value in on["load_before"])
    rows = [
        ("rounds", f"{big['rounds']:,} ({big['pairs']:,} pairs of easy v simple)"),
        (
            "rounds a second",
            f"{big['rounds_per_second']:,} (played and logged, {big['jobs']} jobs)",
        ),
        ("seconds of play", f"{big['seconds']:.1f}"),
        (
            "seconds to the first plot",
            f"{big['first_plot_seconds']:.1f} (from the command's start)",
        ),
        ("bytes a round", f"{big['bytes_a_round']:.1f} (Parquet, {big['files']} files)"),
        ("peak memory", f"{big['driver_mb']:,.0f} MB (one process, all jobs are threads in it)"),
        (
            "the log read back (`plot --recount`)",
            f"{back['seconds_in_all']:.0f} s, {back['driver_mb']:,.0f} MB",
        ),
    ]
    lines = ["# Ten million rounds", "| | |", "|---|---|", *(f"| {a} | {b} |" for a, b in rows)]
    lines += [
        "",
        f"{on['cores']} cores, Python {on['python']}; load averages before the run: {load} (beyond "
        "one's own, others had a share of the machine).",
        "",
        "## How cost grows",
        "| | pairs | bots | jobs | rounds | seconds | rounds/s | peak MB | a worker's |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, runs in content["growth"].items():
        for run in [*runs, *([big] if name == "pairs" else [])]:
            worker = f"{run['worker_mb']:,.0f}" if run["worker_mb"] else ""
            lines.append(
                f"| {name} | {run['pairs']:,} | {run['bots']} | {run['jobs']} | {run['rounds']:,} "
                f"| {run['seconds']:.1f} | {run['rounds_per_second']:,} "
                f"| {run['driver_mb']:,.0f} | {worker} |"
            )
    lines += ["", "![How cost grows](cost.png)", "", "Again: `python -m experiments ten_million`."]
    return "\n".join(lines) + "\n"


def draw(content: dict[str, Any], file: Path) -> None:
    """Seconds and memory by pairs, seconds by matchups, speed by jobs."""
    grown = content["growth"]
    pairs = [*grown["pairs"], content["ten_million"]]
    with matplotlib.style.context("default"):
        figure = Figure(figsize=(9, 7), layout="constrained")
        (time_ax, memory_ax), (bots_ax, jobs_ax) = figure.subplots(2, 2)
        rounds = [run["rounds"] for run in pairs]
        time_ax.loglog(rounds, [run["seconds"] for run in pairs], "o-", color=COLOURS[0])
        time_ax.set(title="Time grows with rounds", xlabel="rounds", ylabel="seconds of play")
        processes = grown["pairs on processes"]
        for label, runs, key, mark in (
            ("threads: the one process", pairs, "driver_mb", "o-"),
            ("processes: the driver", processes, "driver_mb", "s--"),
            ("processes: largest worker", processes, "worker_mb", "^:"),
        ):
            memory_ax.semilogx(
                [run["rounds"] for run in runs], [run[key] for run in runs], mark, label=label
            )
        memory_ax.set(title="Memory does not", xlabel="rounds", ylabel="peak MB")
        memory_ax.set_ylim(0, 1.15 * max(run["driver_mb"] for run in pairs))
        memory_ax.legend(fontsize=8)
        matchups = [run["bots"] * (run["bots"] - 1) // 2 for run in grown["bots"]]
        bots_ax.plot(matchups, [run["seconds"] for run in grown["bots"]], "o-", color=COLOURS[2])
        for at, run in zip(matchups, grown["bots"], strict=True):
            bots_ax.annotate(f"{run['bots']} bots", (at, run["seconds"]), (-6, 5), ha="right",
                             textcoords="offset points", fontsize=8)  # fmt: skip
        bots_ax.set(title="Time grows with matchups", xlabel="matchups", ylabel="seconds of play")
        bots_ax.set_xlim(-3, 1.05 * max(matchups))
        bots_ax.set_ylim(bottom=0)
        jobs = [run["jobs"] for run in grown["jobs"]]
        speed = [run["rounds_per_second"] / 1000 for run in grown["jobs"]]
        jobs_ax.bar([str(n) for n in jobs], speed, color=COLOURS[4])
        jobs_ax.set(
            title=f"Jobs, on {content['machine']['cores']} cores",
            xlabel="--jobs", ylabel="thousand rounds a second",
        )  # fmt: skip
        for axes in (time_ax, memory_ax, bots_ax):
            axes.grid(alpha=0.3)
        figure.savefig(file, dpi=110)


def main() -> None:
    """Measure, and write table.md, summary.json and cost.png."""
    content: dict[str, Any] = {"seed": SEED, "machine": machine()}
    with tempfile.TemporaryDirectory(prefix="ginsim-") as name:
        folder = Path(name)
        # Compiled kernels are no part of the cost.
        tournament(folder / "warm", ["easy", "simple", "knock-at-3"], 10, "--no-plots")
        big = folder / "big"
        content["ten_million"] = tournament(big, ["easy", "simple"], PAIRS)
        content["recount"] = watched("plot", big, "--recount", "--json", run=big)
        content["growth"] = growth(folder)
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "summary.json").write_text(json.dumps(content, indent=1) + "\n")
    (RESULTS / "table.md").write_text(table(content))
    draw(content, RESULTS / "cost.png")
    print(table(content))


if __name__ == "__main__":
    main()
