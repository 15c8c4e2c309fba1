"""Lockstep tables and the environments on them: the engine's rules, no second copy."""

import random
import warnings

import numpy as np
import pytest

from ginsim import engine, lockstep
from ginsim.bots import load
from ginsim.cards import cards_of
from ginsim.env.tables import Tables, action_words, empty_observations, flat, random_actions
from ginsim.errors import GinsimError
from ginsim.match import play, records, rules_record
from ginsim.melds import deadwood
from ginsim.rows import ROW
from ginsim.rules import PRESETS, Rules, preset
from ginsim.view import BIG_GIN, DISCARD, DRAW, KNOCK, OFFER, View

pytest.importorskip("gymnasium")
pytest.importorskip("pettingzoo")

from gymnasium.vector import AutoresetMode, VectorEnv
from pettingzoo.test import api_test, seed_test

from ginsim.env import VectorGin, aec

CLASSIC = preset("classic")


def view_at(line: np.ndarray) -> View:
    """The view that ``lockstep.look`` wrote."""
    numbers = [int(value) for value in line]
    at = lockstep.VIEW_NUMBERS
    return View._make([*numbers[:at], tuple(numbers[at:])])


def in_lockstep(names: tuple[str, str], outside: tuple[bool, bool], rules: Rules, pairs: int):
    """Rows of *pairs* mirrored pairs played on seven tables, in the engine's order."""
    bots, number = [load(name) for name in names], 7
    policies = [bot.policies() for bot in bots]
    games, rows = records(engine.GAME, number, True), records(ROW, number, True)
    places = np.zeros((number, lockstep.PLACE_COLUMNS), np.int64)
    places[:, lockstep.DONE] = 1
    log, logged = np.zeros(5000, ROW), np.zeros(1, np.int64)
    replied, replies = np.zeros(number, np.bool_), np.zeros(number, np.int64)
    views = np.zeros((number, lockstep.VIEW_COLUMNS), np.int64)
    tasks = np.array([0, 2 * pairs, 0])
    record, knobs = rules_record(rules), np.stack([bot.knobs() for bot in bots])
    while lockstep.advance(
        *policies[0], *policies[1], *outside, record, knobs, games, rows, places, 5, True, tasks,
        replied, replies, np.empty((0, 52), np.int64), np.empty((0, 3), np.int64), log, logged,
    ):  # fmt: skip
        which = np.flatnonzero(places[:, lockstep.DONE] == 0)
        lockstep.look(record, games, which, views)
        replied[:] = False
        replied[which] = True
        for line, at in enumerate(which):
            view = view_at(views[line])
            bot = int(games[at]["seat"]) ^ int(places[at, lockstep.LEG])
            assert outside[bot]
            which_one = {OFFER: 0, DRAW: 0, DISCARD: 1}.get(view.phase, 2)
            replies[at] = policies[bot][which_one](view)
    found = log[: logged[0]]
    return found[np.lexsort((found["round"], found["leg"], found["pair"]))]


@pytest.mark.parametrize("rules", PRESETS)
@pytest.mark.parametrize(
    ("names", "outside"),
    [
        (("hard", "simple"), (False, False)),
        (("normal", "random"), (True, False)),
        (("gin-only", "random"), (False, True)),
        (("random", "easy"), (True, True)),
    ],
    ids=str,
)
def test_lockstep_tables_leave_the_rows_of_the_engine(rules, names, outside):
    found = in_lockstep(names, outside, preset(rules), 12)
    assert np.array_equal(found, play((load(names[0]), load(names[1])), preset(rules), 5, 12))


@pytest.mark.parametrize(
    "changes",
    [{"big_gin": 1, "knock_limit": 0, "stock_end": 0}, {"turn_limit": 9}, {"oklahoma": 1}],
    ids=str,
)
def test_they_do_so_under_other_rules_too(changes):
    rules = CLASSIC._replace(target=40, **changes)
    found = in_lockstep(("simple", "hard"), (True, True), rules, 6)
    assert np.array_equal(found, play((load("simple"), load("hard")), rules, 5, 6))


def bot_actions(tables: Tables, name: str) -> np.ndarray:
    """Actions of the built-in bot *name* at every table."""
    policies = load(name).policies()
    number = len(tables.games)
    views = np.zeros((number, lockstep.VIEW_COLUMNS), np.int64)
    tables.games["knobs"][:] = load(name).knobs()
    lockstep.look(tables.rules, tables.games, np.arange(number), views)
    actions = np.zeros(number, np.int64)
    for at, view in enumerate(map(view_at, views)):
        if view.phase == lockstep.OVER:
            continue
        which = {OFFER: 0, DRAW: 0, DISCARD: 1}.get(view.phase, 2)
        answer = int(policies[which](view))
        yes_no = {
            OFFER: (lockstep.PASS_OFFER, lockstep.TAKE_UPCARD),
            DRAW: (lockstep.DRAW_STOCK, lockstep.TAKE_UPCARD),
            KNOCK: (lockstep.PLAY_ON, lockstep.GO_OUT),
            BIG_GIN: (lockstep.KEEP_ELEVEN, lockstep.GO_BIG),
        }
        actions[at] = answer if view.phase == DISCARD else yes_no[view.phase][answer]
    return actions


def net_points(rows: np.ndarray, pair: int, leg: int) -> int:
    """Points of the first bot in a match, less the other's."""
    own = rows[(rows["pair"] == pair) & (rows["leg"] == leg)]
    return int(np.where(own["winner"] == leg, own["points"], -own["points"]).sum())


@pytest.mark.parametrize("rules", ["classic", "big-gin", "openspiel"])
def test_rewards_of_an_episode_are_the_points_of_the_match_in_a_tournament(rules):
    # knobs differ from bot to bot, so both are simple here: the learner plays its moves.
    env = VectorGin(6, rules=rules, opponent="simple")
    env.reset(seed=9)
    matches: dict[int, list[float]] = {at: [0.0] for at in range(6)}
    over = np.zeros(6, bool)
    for _ in range(900):
        _, rewards, done, cut, _ = env.step(bot_actions(env.tables, "simple"))
        assert not cut.any()
        assert (rewards[over] == 0).all() or rules == "openspiel"
        for at in range(6):
            matches[at][-1] += rewards[at]
            if done[at]:
                matches[at].append(0.0)
        over = done
    rows = play((load("simple"), load("simple")), preset(rules), 9, 30)
    checked = 0
    for at, sums in matches.items():
        for number, points in enumerate(sums[:-1]):
            task = at + 6 * number
            if task < 60:
                checked += 1
                assert points == net_points(rows, task // 2, task % 2), (at, number)
    assert checked >= 12


def test_self_play_rewards_the_player_who_acted():
    env = VectorGin(4, overrides=["match_end=round"])
    _, infos = env.reset(seed=2)
    rows = play((load("simple"), load("simple")), CLASSIC._replace(match_end=2), 2, 12,
                mirrored=False)  # fmt: skip
    seen: dict[int, list[tuple[int, float]]] = {at: [] for at in range(4)}
    for _ in range(200):
        actor = infos["seat"]
        _, rewards, done, _, infos = env.step(bot_actions(env.tables, "simple"))
        for at in np.flatnonzero(done):
            seen[int(at)].append((int(actor[at]), float(rewards[at])))
    for at, ends in seen.items():
        for number, (actor, reward) in enumerate(ends[:3]):
            row = rows[at + 4 * number]
            sign = 1 if row["winner"] == actor else -1
            assert reward == sign * row["points"]
    assert sum(len(ends) for ends in seen.values()) >= 12


@pytest.mark.parametrize("rules", ["classic", "big-gin", "frapper"])
def test_the_mask_is_what_the_question_allows_and_the_planes_are_the_view(rules):
    env = VectorGin(64, rules=rules, copy=False)
    seen, _ = env.reset(seed=4)
    phases = set()
    for step in range(150):
        tables, number = env.tables, 64
        views = np.zeros((number, lockstep.VIEW_COLUMNS), np.int64)
        lockstep.look(tables.rules, tables.games, np.arange(number), views)
        for at, view in enumerate(map(view_at, views)):
            planes = dict(zip(lockstep.PLANES, seen["planes"][at], strict=True))
            numbers = dict(zip(lockstep.NUMBERS, seen["numbers"][at].tolist(), strict=True))
            mask = set(np.flatnonzero(seen["action_mask"][at]).tolist())
            phases.add(numbers["phase"])
            if tables.done()[at]:
                assert numbers["phase"] == lockstep.OVER
                assert mask == set(range(lockstep.ACTIONS))
                continue
            wanted = {
                OFFER: {52, 54}, DRAW: {53, 54}, DISCARD: set(cards_of(view.legal)),
                KNOCK: {55, 56}, BIG_GIN: {57, 58},
            }  # fmt: skip
            assert mask == wanted[view.phase]
            assert numbers == {name: getattr(view, name) for name in lockstep.NUMBERS}
            for name in ("hand", "legal", "swapped", "known", "rival_known", "rival_thrown"):
                assert set(np.flatnonzero(planes[name]).tolist()) == set(
                    cards_of(getattr(view, name))
                )
            assert np.flatnonzero(planes["upcard"]).tolist() == (
                [view.upcard] if view.upcard >= 0 else []
            )
            pile = planes["pile"]
            assert set(np.flatnonzero(pile).tolist()) == set(cards_of(view.discards))
            assert sorted(pile[pile > 0].tolist()) == list(range(1, view.discards.bit_count() + 1))
            if view.upcard >= 0:
                assert pile[view.upcard] == view.discards.bit_count()
        seen, *_ = env.step(env.random_actions(seen, step))
    assert {DRAW, DISCARD, KNOCK} <= phases


def test_hidden_cards_change_no_observation():
    env, chance = VectorGin(32), random.Random(3)
    seen, _ = env.reset(seed=6)
    changed = 0
    for step in range(40):
        before = {name: values.copy() for name, values in seen.items()}
        for game in env.tables.games:
            rival = 1 - int(game["seat"])
            hidden = list(cards_of(int(game["hand"][rival]) & ~int(game["known"][rival])))
            place = chance.randrange(int(game["next"]), 52)
            mine, theirs = chance.choice(hidden), int(game["deck"][place])
            game["hand"][rival] ^= (1 << mine) | (1 << theirs)
            game["deck"][place] = mine
            changed += 1
        again = empty_observations(32)
        env.tables.observe(env.tables.asked(), again)
        for name, values in before.items():
            assert np.array_equal(values, again[name]), name
        seen, *_ = env.step(env.random_actions(seen, step))
    assert changed > 1000


def test_the_flat_form_holds_the_same_numbers():
    env = VectorGin(8, rules="big-gin")
    seen, _ = env.reset(seed=1)
    for step in range(30):
        seen, *_ = env.step(env.random_actions(seen, step))
    lines = flat(seen)
    assert lines.shape == (8, lockstep.FLAT)
    cards = lines[:, : len(lockstep.PLANES) * 52].reshape(8, -1, 52)
    pile = lockstep.PLANES.index("pile")
    for number in range(len(lockstep.PLANES)):
        scale = 40 if number == pile else 1
        assert np.allclose(cards[:, number] * scale, seen["planes"][:, number])
    phases = lines[:, len(lockstep.PLANES) * 52 :][:, : lockstep.PHASES]
    for at, phase in enumerate(seen["numbers"][:, 0]):
        assert phases[at].tolist() == [float(phase == p) for p in range(lockstep.PHASES)]
    stock = lines[:, len(lockstep.PLANES) * 52 + lockstep.PHASES]
    assert np.allclose(stock * 31, seen["numbers"][:, 1])


@pytest.mark.parametrize("observation", ["planes", "flat"])
@pytest.mark.parametrize("opponent", [None, "easy"])
def test_it_follows_the_vector_api(observation, opponent):
    def episode(copy: bool) -> list:
        env = VectorGin(5, observation=observation, opponent=opponent, copy=copy)
        assert isinstance(env, VectorEnv)
        assert env.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
        seen, infos = env.reset(seed=3)
        found = []
        for step in range(120):
            assert env.observation_space.contains(seen)
            seen, rewards, done, cut, infos = env.step(env.random_actions(seen, step))
            assert rewards.shape == done.shape == cut.shape == infos["seat"].shape == (5,)
            found.append((rewards.tolist(), done.tolist(), seen["action_mask"].tolist()))
        return found

    assert episode(True) == episode(False)


def test_a_table_that_is_done_begins_anew_with_the_next_step():
    env = VectorGin(16, overrides=["match_end=round"])
    seen, _ = env.reset(seed=8)
    ends = 0
    before = np.zeros(16, bool)
    for step in range(300):
        seen, rewards, done, *_ = env.step(env.random_actions(seen, step))
        assert (rewards[before] == 0).all()
        assert not (before & done).any()
        for at in np.flatnonzero(before):
            assert seen["numbers"][at][lockstep.NUMBERS.index("turn")] == 0
        ends += int(done.sum())
        before = done
    assert ends > 20


def test_an_action_that_is_not_legal_is_refused_and_nothing_is_played():
    env = VectorGin(3)
    seen, _ = env.reset(seed=1)
    good = env.random_actions(seen, 0)
    for bad in (0, lockstep.GO_OUT, lockstep.DRAW_STOCK, -1, 99):
        games = env.tables.games.copy()
        actions = good.copy()
        actions[2] = bad
        with pytest.raises(GinsimError, match=f"table 2: {action_words(bad)} is not legal here"):
            env.step(actions)
        assert np.array_equal(games, env.tables.games)
    with pytest.raises(GinsimError, match="give one a table"):
        env.step(good[:2])


def test_wrong_options_are_told():
    for wrong, says in (
        ({"num_envs": 0}, "at least 1 table"),
        ({"num_envs": 1, "observation": "pixels"}, "choose 'planes' or 'flat'"),
        ({"num_envs": 1, "rules": "clasic"}, "did you mean 'classic'"),
        ({"num_envs": 1, "opponent": "nobody"}, "no bot called 'nobody'"),
    ):
        with pytest.raises(GinsimError, match=says):
            VectorGin(**wrong)


def test_random_actions_are_legal_and_each_as_likely():
    mask = np.zeros((1, lockstep.ACTIONS), np.int8)
    mask[0, [3, 17, 54]] = 1
    drawn = [int(random_actions(mask, key)[0]) for key in range(3000)]
    counts = {action: drawn.count(action) for action in (3, 17, 54)}
    assert sum(counts.values()) == 3000
    # 1,000 each, standard error 26.
    assert all(abs(count - 1000) < 130 for count in counts.values())


def test_pettingzoos_own_tests_pass():
    with warnings.catch_warnings():
        # A mask beside the observation, as PettingZoo's own card games have it, makes it a
        # dict, which api_test mentions for every environment but those it knows by name.
        warnings.filterwarnings("ignore", message="Observation is not a NumPy array")
        warnings.filterwarnings("ignore", message="Observation space for each agent probably")
        api_test(aec(), num_cycles=300, verbose_progress=False)
        api_test(aec(rules="big-gin", overrides=["match_end=round"]), num_cycles=300)
    seed_test(aec, num_cycles=100)


def test_agents_get_the_points_and_they_sum_to_zero():
    env = aec(overrides=["match_end=round"])
    env.reset(seed=5)
    total = dict.fromkeys(env.agents, 0.0)
    key = 0
    for agent in env.agent_iter():
        seen, reward, done, cut, _ = env.last()
        total[agent] += reward
        if done or cut:
            env.step(None)
            continue
        waits = env.observe(next(a for a in env.agents if a != agent))
        assert not waits["action_mask"].any()
        key += 1
        env.step(int(random_actions(seen["action_mask"][None], key)[0]))
    assert total["player_0"] == -total["player_1"]
    row = env.unwrapped.tables.rows[0]
    assert abs(total["player_0"]) == row["points"]
    if row["winner"] >= 0:
        assert total[f"player_{row['winner']}"] > 0
    assert deadwood(int(env.unwrapped.tables.games[0]["hand"][0])) >= 0
