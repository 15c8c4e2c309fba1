"""What a player sees: all that is public, in full, and nothing that is hidden."""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted import (
    BIG_DECKS,
    DECLINES_BIG,
    PLAYERS,
    Asked,
    Played,
    Position,
    Stop,
    as_ints,
    plain_bot,
    play_bots,
    pool,
    positions,
    rules_of,
    some_of_each_phase,
)

from ginsim.bots import built_in
from ginsim.cards import DECK, cards_of, hand_of
from ginsim.engine import DECISION_LABEL
from ginsim.rng import below, fold, stream
from ginsim.rules import PRESETS, preset, winning_score
from ginsim.view import BIG_GIN, DISCARD, DRAW, KNOCK, OFFER, View, pile_card, pile_size, unseen

many = settings(max_examples=60)


def phases_of(name: str) -> set[int]:
    asked = {DISCARD, KNOCK, DRAW}
    asked |= {OFFER} if not preset(name).upcard else set()
    return asked | ({BIG_GIN} if preset(name).big_gin else set())


@pytest.mark.parametrize("name", PRESETS)
def test_the_positions_are_of_every_phase_and_reach_the_last_stock_cards(name):
    phases = Counter(position.view.phase for position in pool(name))
    assert set(phases) == phases_of(name)
    assert all(number >= 2 for number in phases.values())
    for phase in (DRAW, DISCARD):
        left = {position.view.stock for position in pool(name) if position.view.phase == phase}
        assert min(left) == preset(name).stock_end + (phase == DRAW)
    assert len({position.seat for position in pool(name)}) == 2


# --- nothing hidden leaks ---


def renamed(cards: int, names: dict[int, int]) -> int:
    """*cards* with each card replaced by the one that *names* gives for it."""
    return hand_of(names.get(card, card) for card in cards_of(cards))


def permutation(hidden: list[int], chance: random.Random) -> dict[int, int]:
    """Each of the *hidden* cards in the place of another."""
    others = hidden[:]
    chance.shuffle(others)
    return dict(zip(hidden, others, strict=True))


def with_hidden_permuted(position: Position, names: dict[int, int]):
    """The table of *position* with its hidden cards in other places, those of the past too."""
    game, rival = position.game.copy(), 1 - position.seat
    for at in range(52):
        game.deck[at] = names.get(int(game.deck[at]), int(game.deck[at]))
    game.hand[rival] = renamed(int(game.hand[rival]), names)
    swapped = [int(cards) for cards in game.swapped[rival]]
    for card, cards in enumerate(swapped):
        game.swapped[rival, names.get(card, card)] = renamed(cards, names)
    return game


def decisions(view: View) -> list[int]:
    """What every built-in bot, compiled, does on *view*."""
    answers = []
    for bot in built_in():
        draw, discard, knock = bot.policies()
        ask = {OFFER: draw, DRAW: draw, DISCARD: discard, KNOCK: knock, BIG_GIN: knock}
        answers.append(int(ask[view.phase](view._replace(knobs=as_ints(bot.knobs())))))
    return answers


@pytest.mark.parametrize("name", PRESETS)
def test_hidden_cards_permuted_change_no_view(name):
    chance = random.Random(1)
    for position in some_of_each_phase(name, 250, chance):
        names = permutation(position.hidden(), chance)
        assert position.see(with_hidden_permuted(position, names)) == position.view


@pytest.mark.parametrize("name", PRESETS)
def test_hidden_cards_permuted_change_no_decision_of_a_built_in_bot(name):
    chance = random.Random(2)
    for position in some_of_each_phase(name, 40, chance):
        names = permutation(position.hidden(), chance)
        other = position.see(with_hidden_permuted(position, names))
        assert decisions(other) == decisions(position.view)


@pytest.mark.parametrize("name", PRESETS)
def test_a_round_played_to_the_same_point_with_hidden_cards_permuted_is_seen_alike(name):
    # Not only the record: the deck itself is permuted, and the engine plays all that came before.
    chance, rules = random.Random(3), preset(name)._replace(round_limit=1)
    for seed, bots in [(s, bots) for s in range(6) for bots in PLAYERS[:2]]:
        found = positions(bots, rules, seed=seed)
        recorded = play_bots(bots, rules, seed=seed)
        assert [asked.seat for asked in recorded.asked] == [position.seat for position in found]
        for at in chance.sample(range(len(found)), min(5, len(found))):
            position = found[at]
            names = permutation(position.hidden(), chance)
            deck = [names.get(card, card) for card in recorded.decks[0]]
            seen = reached(recorded, at, deck, rules, seed)
            assert seen._replace(knobs=position.view.knobs) == position.view


def test_big_gin_is_seen_alike_with_hidden_cards_permuted():
    chance, rules = random.Random(4), rules_of("big-gin", round_limit=1)
    for deck in BIG_DECKS:
        bots = (DECLINES_BIG, DECLINES_BIG)
        found, recorded = positions(bots, rules, [deck]), play_bots(bots, rules, [deck])
        at = next(i for i, position in enumerate(found) if position.view.phase == BIG_GIN)
        for _ in range(20):
            names = permutation(found[at].hidden(), chance)
            other = [names.get(card, card) for card in deck]
            assert reached(recorded, at, other, rules, 0) == found[at].view


def reached(recorded: Played, at: int, deck: list[int], rules, seed: int) -> View:
    """View of question number *at* of *recorded* if the same is done before on *deck*.

    Whether the rival may knock can change with its hidden cards; it does not.
    """
    goal = recorded.asked[at]
    place = (goal.seat, goal.view.turn, goal.view.phase)
    answers = {(a.seat, a.view.turn, a.view.phase): a.answer for a in recorded.asked[:at]}
    seen: list[View] = []

    def player(seat: int):
        def follow(view: View) -> int:
            now = (seat, view.turn, view.phase)
            if now == place:
                seen.append(view)
                raise Stop
            return answers.get(now, 0)

        return plain_bot(follow, follow, follow)

    play_bots((player(0), player(1)), rules, [deck], seed=seed, record=False)
    return View(*as_ints(seen[0]))


def test_the_view_changes_with_what_a_player_may_see():
    # The tests above would pass for a view that shows nothing.
    position = next(p for p in pool("classic") if p.view.phase == DRAW and p.view.rival_known)
    game = position.game.copy()
    own, hidden = next(cards_of(position.view.hand)), position.hidden()[0]
    game.hand[position.seat] ^= 1 << own | 1 << hidden
    assert position.see(game) != position.view
    game = position.game.copy()
    game.known[1 - position.seat] = 0
    assert position.see(game) != position.view


@pytest.mark.parametrize("name", PRESETS)
def test_no_mask_of_a_view_holds_a_hidden_card(name):
    for position in pool(name):
        view = position.view
        shown = view.hand | view.legal | view.swapped | view.discards | view.known
        shown |= view.rival_known | view.rival_thrown | view.rival_refused
        assert not shown & hand_of(position.hidden())


@pytest.mark.parametrize("name", PRESETS)
def test_the_cards_that_a_view_leaves_unseen_are_the_hidden_ones_and_those_the_rival_took(name):
    for position in pool(name):
        view = position.view
        assert unseen(view) == hand_of(position.hidden()) | view.rival_known
        assert view.hand | view.discards | unseen(view) == DECK


@pytest.mark.parametrize("name", PRESETS)
def test_the_rival_holds_ten_cards_and_among_them_those_it_is_known_to_hold(name):
    for position in pool(name):
        rival = int(position.game.hand[1 - position.seat])
        assert rival.bit_count() == 10
        assert position.view.rival_known & ~rival == 0
        assert position.view.known & ~position.view.hand == 0


# --- the view agrees with a careful observer ---


@dataclass
class Observer:
    """Watches a round from the outside and writes down all that is public."""

    starter: int
    upcard: int
    hands: list[set[int]]
    pile: list[int] = field(default_factory=list)
    taken: tuple[set[int], set[int]] = field(default_factory=lambda: (set(), set()))
    thrown: tuple[set[int], set[int]] = field(default_factory=lambda: (set(), set()))
    left: tuple[set[int], set[int]] = field(default_factory=lambda: (set(), set()))
    swaps: tuple[list, list] = field(default_factory=lambda: ([], []))  #: (drawn, thrown)
    stock: int = 31
    turns: int = 0
    drawn: int = -1
    from_pile: bool = False

    def __post_init__(self) -> None:
        self.pile.append(self.upcard)

    def watch(self, step: str, seat: int, card: int) -> None:
        if step == "pass":
            self.left[seat].add(card)
        elif step == "take":
            assert self.pile.pop() == card, "only the top card may be taken"
            self.taken[seat].add(card)
        elif step == "draw":
            self.stock -= 1
            self.left[seat].add(self.pile[-1])
        if step in ("take", "draw"):
            self.drawn, self.from_pile = card, step == "take"
            self.hands[seat].add(card)
        elif step in ("throw", "knock"):
            self.throw(seat, card)
            self.turns += 1
            self.drawn = -1

    def throw(self, seat: int, card: int) -> None:
        self.hands[seat].remove(card)
        self.taken[seat].discard(card)
        self.thrown[seat].add(card)
        self.swaps[seat].append((self.drawn, card))
        self.pile.append(card)

    def expected(self, seat: int, phase: int, rules) -> dict[str, int]:
        """Fields of the view of *seat*."""
        rival, drawn = 1 - seat, self.drawn if phase not in (OFFER, DRAW) else -1
        legal = set(self.hands[seat]) if phase == DISCARD else set()
        if self.from_pile and not rules.discard_taken:
            legal.discard(drawn)
        earlier = self.swaps[seat][: -1 if phase == KNOCK else None]
        swapped = {t for d, t in earlier if d == drawn} | {d for d, t in earlier if t == drawn}
        return {
            "hand": hand_of(self.hands[seat]),
            "upcard": self.pile[-1] if self.pile else -1,
            "drawn": drawn,
            "legal": hand_of(legal),
            "swapped": hand_of(swapped) if phase in (DISCARD, KNOCK) else 0,
            "discards": hand_of(self.pile),
            "rival_known": hand_of(self.taken[rival]),
            "rival_thrown": hand_of(self.thrown[rival]),
            "rival_refused": hand_of(self.left[rival]),
            "known": hand_of(self.taken[seat]),
            "stock": self.stock,
            "turn": self.turns,
            "starter": int(seat == self.starter),
        }


def observed(played: Played) -> Iterator[tuple[Asked, Observer]]:
    """Every question of a match, with what an observer has written down by then."""
    steps = iter(enumerate(played.steps))
    at, rounds, observer = 0, iter(played.decks), None
    for asked in played.asked:
        while at < asked.at:
            at, (step, seat, card) = next(steps)
            at += 1
            if step == "deal":
                deck = next(rounds)
                hands = [set(deck[(player != seat) : 20 : 2]) for player in (0, 1)]
                observer = Observer(seat, card, hands)
            else:
                observer.watch(step, seat, card)
        yield asked, observer


def played_by_wanderers(name: str, seed: int) -> Played:
    rules = preset(name)._replace(round_limit=4)
    return play_bots(PLAYERS[seed % 3], rules, seed=seed)


@pytest.mark.parametrize("name", PRESETS)
@pytest.mark.parametrize("seed", range(3))
def test_a_view_says_all_that_a_careful_observer_knows(name, seed):
    played, rules = played_by_wanderers(name, seed), preset(name)
    thrown = -1
    for asked, observer in observed(played):
        view = asked.view
        if view.phase == KNOCK:  # the card is thrown; the trace says so only after the answer
            before = (set(observer.taken[asked.seat]), set(observer.thrown[asked.seat]))
            observer.throw(asked.seat, thrown)
        expected = observer.expected(asked.seat, view.phase, rules)
        assert {name: int(getattr(view, name)) for name in expected} == expected
        order = [int(pile_card(view, at)) for at in range(pile_size(view))]
        assert order == observer.pile, "cards lie in the order in which they were thrown"
        if view.phase == KNOCK:
            observer.hands[asked.seat].add(observer.pile.pop())
            observer.swaps[asked.seat].pop()
            observer.taken[asked.seat].update(before[0])
            observer.thrown[asked.seat].intersection_update(before[1])
        thrown = asked.answer if view.phase == DISCARD else -1


@pytest.mark.parametrize("name", PRESETS)
def test_scores_and_bonuses_are_those_of_the_match(name):
    rules = preset(name)._replace(round_limit=4)
    played = play_bots(PLAYERS[2], rules, seed=5)
    at, scores = -1, (0, 0)
    for asked, observer in observed(played):
        if observer.turns == 0 and asked.view.turn == 0 and observer.stock == 31:
            at = sum(step == "deal" for step, _, _ in played.steps[: asked.at]) - 1
            row = played.rows[at]
            scores = (int(row["score_before_0"]), int(row["score_before_1"]))
        view = asked.view
        assert (view.score, view.rival_score) == scores[:: 1 if asked.seat == 0 else -1]
        assert (view.gin_bonus, view.undercut_bonus, view.target) == (25, 25, winning_score(rules))
        assert (view.stock_end, view.knock_limit) == (rules.stock_end, 10)
    assert at == len(played.rows) - 1


WORD = (1 << 64) - 1


def unxor(z: int, shift: int) -> int:
    """Undo ``z ^ (z >> shift)``."""
    found = z
    for _ in range(64 // shift):
        found = z ^ (found >> shift)
    return found


def unfolded(key: int, label: int) -> list[int]:
    """Both keys below which *label* names *key*: SplitMix64 run backwards."""
    found = []
    for lost in (0, 1):
        z = unxor(key << 1 | lost, 31)
        z = unxor(z * pow(0x94D049BB133111EB, -1, 1 << 64) & WORD, 27)
        z = unxor(z * pow(0xBF58476D1CE4E5B9, -1, 1 << 64) & WORD, 30)
        found.append((z - (label + 1) * 0x9E3779B97F4A7C15) & WORD)
    return found


def test_no_bot_can_work_back_from_its_stream_to_the_deal():
    """Undoing both folds finds a key that was only folded, and no round's key from a view."""
    round_key = stream(5, 0, 0)
    plain = fold(fold(round_key, DECISION_LABEL), 77)
    back = [k for one in unfolded(plain, 77) for k in unfolded(one, DECISION_LABEL)]
    assert round_key in back
    rules = preset("classic")._replace(round_limit=1)
    asked = play_bots(PLAYERS[2], rules, seed=5).asked
    for one in asked:
        label = (one.view.turn * 2 + one.seat) * 8 + one.view.phase
        keys = unfolded(int(one.view.key), int(label))
        assert round_key not in keys
        assert round_key not in [k for key in keys for k in unfolded(key, DECISION_LABEL)]


def test_every_decision_has_a_stream_of_its_own():
    rules = preset("classic")._replace(round_limit=6)
    keys = [
        int(asked.view.key)
        for seed in (1, 2)
        for pair in (0, 1)
        for asked in play_bots(PLAYERS[0], rules, seed=seed, pair=pair).asked
    ]
    assert len(set(keys)) == len(keys) > 1000


def test_a_bot_that_burns_random_numbers_changes_no_deal_and_no_stream_of_the_rival():
    rules = preset("classic")._replace(round_limit=1)
    quiet = plain_bot()
    loud = plain_bot(draw=lambda view: sum(below(view.key, 9) for _ in range(99)) * 0)
    seen = []
    for bot in (quiet, loud):
        played = play_bots((bot, quiet), rules, seed=3)
        seen.append([(a.seat, as_ints(a.view)) for a in played.asked])
    assert seen[0] == seen[1]


# --- the discard pile in four words ---


@many
@given(st.permutations(range(52)), st.integers(0, 40))
def test_pile_card_reads_any_place_of_the_pile(cards, size):
    words = [0, 0, 0, 0]
    for at, card in enumerate(cards[:size]):
        words[at // 10] |= card << 6 * (at % 10)
    view = View(*[0] * 7, hand_of(cards[:size]), *words, *[0] * 15, (0,) * 16)
    assert pile_size(view) == size
    assert [pile_card(view, at) for at in range(size)] == cards[:size]
