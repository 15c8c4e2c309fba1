"""Can a small network play? Three perceptrons imitate hard, and are rated against the levels.

Needs the extra ``train`` (scikit-learn). Collects what hard was asked and answered in matches,
trains on it with one hidden layer each, writes the weights for experiments/bots/net.py, and
plays a tournament. Some minutes on two cores.
"""

import json
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from experiments.bots import net
from ginsim import BatchBot, load, preset
from ginsim.batch import of_arrays
from ginsim.match import play_chunks
from ginsim.summary import summary_of
from ginsim.tables import elo, percent
from ginsim.tournament import Plan, counted
from ginsim.view import View

RESULTS = Path(__file__).parents[1] / "results" / "net"
BOT = Path(__file__).parent / "bots" / "net.py"
TEACHER, RIVALS = "hard", ("hard", "normal", "simple")
SEED = 20_261_201
PAIRS = 350  # of the teacher with each rival: what it trains on
RATED_PAIRS = 400
RATED_RIVALS = ("easy", "normal", "hard", "simple")
PARTS = {"draw": 32, "discard": 96, "knock": 16}  # hidden units
VIEWS_MOST = 120_000
SECONDS = 30


def headline(summary: Mapping[str, Any]) -> str:
    """What was found, in a line."""
    won = [f"{100 * rate['value']:.1f} % v {rival}" for rival, rate in summary["net"].items()]
    return "the network wins " + ", ".join(won)


class Taught:
    """Views and the teacher's answers, noted while it plays."""

    def __init__(self) -> None:
        self.views: dict[str, list[np.ndarray]] = {part: [] for part in PARTS}
        self.answers: dict[str, list[np.ndarray]] = {part: [] for part in PARTS}

    def teacher(self) -> Any:
        """The teacher as a batch bot that is listened to."""
        bot = load(TEACHER)

        def listened(part: str, function: Any) -> Any:
            def answer(view: View) -> np.ndarray:
                lines = np.stack([*view[:-1], *view.knobs]).T
                given = np.array(
                    [function(View._make([*one[:27], tuple(one[27:])])) for one in lines.tolist()]
                )
                self.views[part].append(lines)
                self.answers[part].append(given)
                return given

            return answer

        functions = zip(PARTS, bot.policies(), strict=True)
        return BatchBot(bot.name, *(listened(*one) for one in functions), bot.parameters)


def collect(pairs: int, seed: int) -> tuple[Taught, int]:
    """Let the teacher play *pairs* with each rival under classic; returns what it was asked."""
    taught, rounds = Taught(), 0
    for number, rival in enumerate(RIVALS):
        bots = taught.teacher(), load(rival)
        for rows in play_chunks(bots, preset("classic"), seed + number, 0, pairs):
            rounds += len(rows)
    return taught, rounds


def train(taught: Taught, seed: int) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Weights by name, and how each part did on a tenth of the views that it was not shown."""
    from sklearn.neural_network import MLPClassifier  # noqa: PLC0415 - an extra

    weights: dict[str, np.ndarray] = {}
    report: dict[str, Any] = {}
    for part, hidden in PARTS.items():
        lines, answers = np.concatenate(taught.views[part]), np.concatenate(taught.answers[part])
        order = np.random.default_rng(seed).permutation(len(lines))[:VIEWS_MOST]
        inputs = net.features(of_arrays(lines[order]))
        answers = answers[order].astype(int)
        held = len(order) // 10
        model = MLPClassifier(
            (hidden,), batch_size=256, max_iter=10, tol=0.0, random_state=seed, alpha=1e-5
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it stops before it has converged, on purpose
            model.fit(inputs[held:], answers[held:])
        outputs = np.zeros((hidden, 52 if part == "discard" else 1))
        biases = np.full(outputs.shape[1], -100.0)
        columns = model.classes_ if part == "discard" else [0]
        outputs[:, columns], biases[columns] = model.coefs_[1], model.intercepts_[1]
        weights |= {
            f"{part}_w0": model.coefs_[0].astype(np.float16),
            f"{part}_b0": model.intercepts_[0].astype(np.float16),
            f"{part}_w1": outputs.astype(np.float16),
            f"{part}_b1": biases.astype(np.float16),
        }
        same = float((model.predict(inputs[:held]) == answers[:held]).mean())
        report[part] = {"views": len(order), "hidden": hidden, "as the teacher": round(same, 4)}
    return weights, report


def rate(pairs: int, seed: int, jobs: int = 2) -> dict[str, Any]:
    """Summary of a tournament of the network and RATED_RIVALS."""
    plan = Plan((f"{BOT}:bot", *RATED_RIVALS), preset("classic"), seed, pairs)
    totals = counted(plan, jobs)
    return summary_of(plan, totals)


def table(summary: dict[str, Any], report: dict[str, Any]) -> str:
    """What came out, as Markdown."""
    ratings = {one["name"]: elo(one) for one in summary["ratings"]["bots"]}
    lines = [
        f"# A network that imitates {TEACHER}",
        "",
        f"Made by `python -m experiments net` ({summary['pairs']} mirrored pairs a matchup, "
        f"classic, seed {summary['seed']}). Weights: model.npz; bot: experiments/bots/net.py.",
        "",
        "| bot | matches won, % | rating (Elo) |",
        "|---|---|---|",
    ]
    for bot in summary["bots"]:
        won = percent(bot["metrics"]["matches_won"])
        lines.append(f"| {bot['name']} | {won} | {ratings[bot['name']]} |")
    lines += ["", "| net v | matches won by net, % |", "|---|---|"]
    for matchup in summary["matchups"]:
        if matchup["first"] == "net":
            won = percent(matchup["first_metrics"]["matches_won"])
            lines.append(f"| {matchup['second']} | {won} |")
    lines += [
        "",
        "| part | views | hidden units | answers as the teacher, % |",
        "|---|---|---|---|",
    ]
    for part in PARTS:
        one = report[part]
        lines.append(
            f"| {part} | {one['views']:,} | {one['hidden']} | {100 * one['as the teacher']:.1f} |"
        )
    return "\n".join(lines) + "\n"


def main(pairs: int = PAIRS, rated: int = RATED_PAIRS, results: Path = RESULTS) -> None:
    """Collect, train, rate; write model, table and summary."""
    start = time.perf_counter()
    taught, rounds = collect(pairs, SEED)
    print(f"{rounds:,} rounds of {TEACHER} listened to, {time.perf_counter() - start:.0f} s")
    weights, report = train(taught, SEED)
    print(f"trained, {time.perf_counter() - start:.0f} s: {report}")
    results.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(results / "model.npz", **weights)
    summary = rate(rated, SEED + 100)
    text = table(summary, report)
    (results / "table.md").write_text(text)
    short = {
        "parts": report,
        "ratings": summary["ratings"],
        "digest": summary["digest"],
        "net": {
            matchup["second"]: matchup["first_metrics"]["matches_won"]
            for matchup in summary["matchups"]
            if matchup["first"] == "net"
        },
    }
    (results / "summary.json").write_text(json.dumps(short, indent=1) + "\n")
    print(text, f"{time.perf_counter() - start:.0f} s in all", sep="\n")


if __name__ == "__main__":
    main()
