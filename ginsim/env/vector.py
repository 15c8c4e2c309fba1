"""N tables in lockstep as a Gymnasium vector environment: arrays in, arrays out."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Dict, Discrete
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from ginsim import lockstep
from ginsim.bots import Bot
from ginsim.env.tables import Tables, empty_observations, flat, random_actions, spaces
from ginsim.errors import GinsimError
from ginsim.rng import fold
from ginsim.rules import resolve

Observations = dict[str, np.ndarray]


class VectorGin(VectorEnv[Observations, np.ndarray, np.ndarray]):
    """*num_envs* tables; an episode is a match by *rules*.

    Without an *opponent* each step asks the player whose turn it is, whichever it be
    (self-play): ``infos["seat"]`` says who is asked, and a reward is the points that the player
    who acted made by it, negative if it was the other who scored. With an *opponent*, a
    compiled bot or its name, the learner plays against it, at seat 0 in even matches and at
    seat 1, on the same deals, in odd ones; a reward is its points since its last action.

    Observations are ``planes`` and ``numbers`` (``lockstep.PLANES``, ``NUMBERS``), or with
    ``observation="flat"`` their float form ``flat``, and ``action_mask``. Actions are numbered
    as in ``lockstep``; one that is not legal raises GinsimError. A match that is over begins
    anew with the next step, whose action and reward do not count (AutoresetMode.NEXT_STEP).
    One round an episode: ``overrides=["match_end=round"]``. With ``copy=False`` the arrays of a
    step are written over by the next.
    """

    def __init__(
        self,
        num_envs: int,
        *,
        rules: str = "classic",
        overrides: Sequence[str] = (),
        opponent: Bot | str | None = None,
        observation: str = "planes",
        copy: bool = True,
    ) -> None:
        if num_envs < 1:
            raise GinsimError(f"num_envs={num_envs}: play at least 1 table")
        if observation not in ("planes", "flat"):
            raise GinsimError(f"observation={observation!r}: choose 'planes' or 'flat'")
        self.metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}
        self.num_envs = num_envs
        self.tables = Tables(num_envs, resolve(rules, overrides), opponent)
        self.flat, self.copy = observation == "flat", copy
        names = ("flat",) if self.flat else ("planes", "numbers")
        self.single_observation_space = Dict(spaces((*names, "action_mask")))
        self.single_action_space = Discrete(lockstep.ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._arrays = empty_observations(num_envs)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """Begin anew; *seed* names all deals to come, at random if it is None."""
        super().reset(seed=seed)
        self.tables.deal(int(self.np_random.integers(1 << 62)) if seed is None else seed)
        return self._observations(), self._infos()

    def step(
        self, actions: np.ndarray
    ) -> tuple[Observations, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Play one action a table: observations, rewards in points, ended, cut off, infos."""
        chosen = np.ascontiguousarray(actions, np.int64)
        if chosen.shape != (self.num_envs,):
            raise GinsimError(f"actions of shape {chosen.shape}: give one a table")
        actor, first = self.tables.asked(), self.tables.first_seat()
        points = self.tables.play(chosen)
        rewards = points if self.tables.opponent else np.where(actor == first, points, -points)
        return (
            self._observations(),
            rewards.astype(np.float64),
            self.tables.done(),
            np.zeros(self.num_envs, np.bool_),
            self._infos(),
        )

    def _observations(self) -> Observations:
        seats = self.tables.first_seat() if self.tables.opponent else self.tables.asked()
        if self.copy and not self.flat:
            self._arrays = empty_observations(self.num_envs)
        self.tables.observe(seats, self._arrays)
        if not self.flat:
            return self._arrays
        mask = self._arrays["action_mask"]
        return {"flat": flat(self._arrays), "action_mask": mask.copy() if self.copy else mask}

    def _infos(self) -> dict[str, Any]:
        seats = self.tables.first_seat() if self.tables.opponent else self.tables.asked()
        return {"seat": seats, "_seat": np.ones(self.num_envs, np.bool_)}

    def random_actions(self, observations: Observations, key: int) -> np.ndarray:
        """A legal action a table, each as likely; the same *key*, the same actions."""
        return random_actions(observations["action_mask"], fold(key, 0))
