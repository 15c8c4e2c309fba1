"""How fast the engine plays, measured side by side in one run."""

import time
from typing import Any

import joblib

from ginsim.bots import Bot, built_in, load
from ginsim.match import play_chunks
from ginsim.rules import Rules

#: Seed range of the benchmark; the deals do not matter, only that they are the same for all.
SEED = 20_261


def rounds_of(bot: Bot, rules: Rules, first: int, pairs: int) -> int:
    """Play *pairs* mirrored pairs of *bot* against itself into memory; returns the rounds."""
    chunks = play_chunks((bot, bot), rules, SEED, first, first + pairs)
    return sum(len(rows) for rows in chunks)


def pairs_for(bot: Bot, rules: Rules, seconds: float) -> int:
    """Pairs that take about *seconds* on one core (compiles on the way)."""
    rounds_of(bot, rules, 0, 1)
    pairs = 8
    while True:
        start = time.perf_counter()
        rounds_of(bot, rules, 0, pairs)
        took = time.perf_counter() - start
        if took > seconds / 8:
            return max(1, round(pairs * seconds / took))
        pairs *= 4


def speed(bot: Bot, rules: Rules, seconds: float, jobs: int, repeats: int = 3) -> dict[str, Any]:
    """Rounds a second of *bot* against itself on one core and on *jobs* jobs: best of *repeats*.

    One-job and many-job runs alternate, so that a noisy machine hits both alike.
    """
    pairs = pairs_for(bot, rules, seconds)
    one, many = 0.0, 0.0
    parallel = joblib.Parallel(n_jobs=jobs, backend="threading")
    for _ in range(repeats):
        start = time.perf_counter()
        rounds = rounds_of(bot, rules, 0, pairs)
        one = max(one, rounds / (time.perf_counter() - start))
        if jobs > 1:
            start = time.perf_counter()
            parts = parallel(
                joblib.delayed(rounds_of)(bot, rules, job * pairs, pairs) for job in range(jobs)
            )
            many = max(many, sum(parts) / (time.perf_counter() - start))
    found: dict[str, Any] = {"bot": bot.name, "rounds_per_second": round(one)}
    if jobs > 1:
        found |= {"jobs": jobs, "jobs_rounds_per_second": round(many), "ratio": many / one}
    return found


def env_speed(tables: int, seconds: float, repeats: int = 3) -> list[dict[str, Any]]:
    """Steps a second of ``VectorGin`` with random legal actions: best of *repeats*.

    A second of processor time, on the one core it uses.

    For each form of observation, and both ways of play; drawing the actions is included.
    """
    from ginsim.env import VectorGin  # noqa: PLC0415 - needs an extra

    found = []
    for observation, copy in (("planes", False), ("planes", True), ("flat", False)):
        for opponent in (None, "simple"):
            env = VectorGin(tables, observation=observation, opponent=opponent, copy=copy)
            seen, _ = env.reset(seed=SEED)
            best, key = 0.0, 0
            for _ in range(repeats + 1):  # the first compiles
                start, steps = time.process_time(), 0
                while steps == 0 or time.process_time() - start < seconds:
                    seen, *_ = env.step(env.random_actions(seen, key))
                    key, steps = key + 1, steps + tables
                best = max(best, steps / (time.process_time() - start))
            found.append(
                {
                    "observation": observation + (", copied" if copy else ""),
                    "opponent": opponent,
                    "tables": tables,
                    "steps_per_second": round(best),
                }
            )
    return found


def bench(bots: list[str], rules: Rules, seconds: float, jobs: int) -> list[dict[str, Any]]:
    """``speed`` of each of *bots* (names), or of the built-in ones if there are none.

    The knock-at family is left out: it is simple with another knob.
    """
    chosen = [load(name) for name in bots] or [
        bot for bot in built_in() if not bot.name.startswith("knock-at")
    ]
    return [speed(bot, rules, seconds, jobs) for bot in chosen]
