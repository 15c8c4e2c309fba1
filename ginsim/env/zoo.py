"""One table as a PettingZoo AEC environment: two agents, asked in turn."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium.spaces import Dict, Discrete, Space
from gymnasium.utils import seeding
from pettingzoo import AECEnv
from pettingzoo.utils.wrappers import (
    AssertOutOfBoundsWrapper,
    OrderEnforcingWrapper,
    TerminateIllegalWrapper,
)

from ginsim import lockstep
from ginsim.cards import text
from ginsim.env.tables import Tables, empty_observations, flat, spaces
from ginsim.rules import resolve

AGENTS = ["player_0", "player_1"]

#: Reward of an action that is not legal, which ends the game: what an undercut costs.
ILLEGAL_REWARD = -25


class GinAEC(AECEnv[str, Any, int | None]):
    """A match by *rules*; agent ``player_S`` sits at seat S. Rewards are points, and sum to 0."""

    metadata: ClassVar[dict[str, Any]] = {
        "name": "gin_v0",
        "render_modes": ["ansi"],
        "is_parallelizable": False,
    }

    def __init__(
        self,
        *,
        rules: str = "classic",
        overrides: Sequence[str] = (),
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        self.possible_agents = AGENTS[:]
        self.tables = Tables(1, resolve(rules, overrides), None)
        self.render_mode = render_mode
        parts = spaces(("flat", "action_mask"))
        seen = Dict({"observation": parts["flat"], "action_mask": parts["action_mask"]})
        self.observation_spaces: dict[str, Space[Any]] = dict.fromkeys(AGENTS, seen)
        self.action_spaces: dict[str, Space[Any]] = {
            agent: Discrete(lockstep.ACTIONS) for agent in AGENTS
        }
        self._random: np.random.Generator | None = None

    def observation_space(self, agent: str) -> Space[Any]:
        """Return the space of *agent*'s observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Space[Any]:
        """Return the space of *agent*'s actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a match; *seed* names its deals, at random if it is None."""
        if seed is not None or self._random is None:
            self._random, _ = seeding.np_random(seed)
        self.tables.deal(seed if seed is not None else int(self._random.integers(1 << 62)))
        self.agents = AGENTS[:]
        self.rewards = dict.fromkeys(AGENTS, 0.0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0.0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in AGENTS}
        self.agent_selection = AGENTS[int(self.tables.asked()[0])]

    def observe(self, agent: str) -> dict[str, Any]:
        """Return what *agent* sees, as in ``lockstep.flatten``; no action while it waits."""
        into, seat = empty_observations(1), AGENTS.index(agent)
        self.tables.observe(np.array([seat]), into)
        mask = into["action_mask"][0]
        if agent != self.agent_selection or self.terminations[agent]:
            mask[:] = 0
        return {"observation": flat(into)[0], "action_mask": mask}

    def step(self, action: int | None) -> None:
        """Play *action* for the agent that is asked; raises GinsimError if it is not legal."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(None)
            return
        self._cumulative_rewards[agent] = 0.0
        points = float(self.tables.play(np.array([action], np.int64))[0])
        self.rewards = {AGENTS[0]: points, AGENTS[1]: -points}
        if self.tables.done()[0]:
            self.terminations = dict.fromkeys(AGENTS, True)
            self.agent_selection = AGENTS[1 - AGENTS.index(agent)]
        else:
            self.agent_selection = AGENTS[int(self.tables.asked()[0])]
        self._accumulate_rewards()
        if self.render_mode == "ansi":
            print(self.render())

    def render(self) -> str:
        """Return the table in three lines."""
        game = self.tables.games[0]
        hands = [f"{agent} {text(int(game['hand'][at]))}" for at, agent in enumerate(AGENTS)]
        score = f"score {int(game['score'][0])}-{int(game['score'][1])}"
        return "\n".join([*hands, f"{score}, pile {text(int(game['discards']))}"])

    def close(self) -> None:
        """Nothing is open."""


def aec(**options: Any) -> AECEnv[str, Any, int | None]:
    """``GinAEC`` in the usual wrappers: an illegal action ends the game and costs points."""
    env: Any = TerminateIllegalWrapper(GinAEC(**options), illegal_reward=ILLEGAL_REWARD)
    return OrderEnforcingWrapper(AssertOutOfBoundsWrapper(env))
