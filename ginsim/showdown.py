"""Questions about cards: what a hand can do, and how a knock settles."""

import json
from collections.abc import Sequence
from typing import Any

from ginsim.cards import DECK, Card, Hand, card_text, cards_of, count, parse, parse_card, text
from ginsim.cards import points as points_of
from ginsim.errors import GinsimError
from ginsim.melds import (
    beside,
    best_discards,
    deadwood,
    default_spread,
    discards_within,
    fourths,
    is_meld,
    lay_off,
)
from ginsim.rules import Rules
from ginsim.scoring import OUTCOMES, settle


def melds_of(sets: Hand, runs: Hand) -> list[Hand]:
    """Return the melds of a spread, sets first, then runs, each as a hand.

    >>> [text(meld) for meld in melds_of(parse("9S 9D 9H"), parse("4C 5C 6C"))]
    ['9S 9D 9H', '4C 5C 6C']
    """
    by_rank = [sets & sum(1 << 13 * suit + rank for suit in range(4)) for rank in range(13)]
    melds = [meld for meld in by_rank if meld]
    run: Hand = 0
    for card in cards_of(runs):
        if run and (card % 13 == 0 or not run >> (card - 1) & 1):
            melds.append(run)
            run = 0
        run |= 1 << card
    return melds + ([run] if run else [])


def card_list(hand: Hand) -> list[str]:
    """Cards of *hand* as texts, in card order."""
    return [card_text(card) for card in cards_of(hand)]


def best_melds(hand: Hand) -> tuple[list[Hand], Hand]:
    """Melds that leave *hand* least deadwood, and its loose cards."""
    sets, runs = default_spread(hand, 0)
    return melds_of(int(sets), int(runs)), hand & ~int(sets | runs)


def hand_report(words: str, taken: str | None, rules: Rules) -> dict[str, Any]:
    """What the 1-11 cards of *words* are worth and, for 11, which discards go out.

    *taken* is the card just taken from the discard pile. ``deadwood`` counts all cards given;
    ``knock_discards`` leave a knock that is not gin. ``big_gin`` says that all eleven meld.
    """
    _refuse_oklahoma(rules)
    hand = parse(words)
    cards = count(hand)
    if not 1 <= cards <= 11:
        raise GinsimError(f"{words.strip()!r} has {cards} cards: give 1 to 11")
    melds, loose = best_melds(hand)
    report: dict[str, Any] = {
        "deadwood": int(deadwood(hand)),
        "melds": [text(meld) for meld in melds],
        "loose": card_list(loose),
    }
    if cards < 11:
        if taken is not None:
            raise GinsimError(f"--taken {taken}: only a hand of 11 cards has just taken one")
        return report
    legal, knocks = hand, hand
    if taken is not None:
        bit = 1 << parse_card(taken)
        if not hand & bit:
            raise GinsimError(f"--taken {taken}: is not in the hand {text(hand)}")
        legal = legal if rules.discard_taken else legal & ~bit
        knocks = knocks if rules.knock_taken else knocks & ~bit
    gin = int(discards_within(hand, legal & knocks, 0))
    within = int(discards_within(hand, legal & knocks, rules.knock_limit))
    least, _ = best_discards(hand, legal)
    return report | {
        "knock_discards": card_list(within & ~gin),
        "gin_discards": card_list(gin),
        "big_gin": report["deadwood"] == 0,
        "legal_discards": card_list(legal),
        "deadwood_after_best_discard": int(least),
    }


def _refuse_oklahoma(rules: Rules) -> None:
    if rules.oklahoma:
        raise GinsimError("oklahoma=yes: the limit hangs on the upcard; give --rule knock_limit=N")


def parse_spread(melds: str | Sequence[str], knocker: Hand) -> tuple[Hand, Hand]:
    """Spread written as ``5S 5C 5D | 6S 6C 6D`` or as a list of melds, as (sets, runs).

    Raises GinsimError naming the meld that is none, is not held, or uses a card twice.
    """
    words = melds.split("|") if isinstance(melds, str) else list(melds)
    sets: Hand = 0
    runs: Hand = 0
    for word in words:
        if not word.strip():
            continue
        meld = parse(word)
        if not is_meld(meld):
            raise GinsimError(f"{text(meld)!r} is no meld: 3-4 of a rank, or a run of one suit")
        if meld & ~knocker:
            raise GinsimError(f"the knocker does not hold {text(meld & ~knocker)} of the spread")
        if meld & (sets | runs):
            raise GinsimError(f"{text(meld & (sets | runs))} stands in two melds of the spread")
        if len({card % 13 for card in cards_of(meld)}) == 1:
            sets |= meld
        else:
            runs |= meld
    return sets, runs


def lay_off_order(laid: Hand, sets: Hand, runs: Hand) -> list[Card]:
    """Cards of *laid* in an order in which each fits when its turn comes."""
    order: list[Card] = []
    grown = runs
    while laid:
        ready = laid & int(beside(grown)) or laid & int(fourths(sets))
        card = next(cards_of(ready))
        order.append(card)
        laid &= ~(1 << card)
        grown |= (1 << card) & int(beside(grown))
    return order


def showdown(
    knocker: str, defender: str, spread: str | Sequence[str] | None, rules: Rules
) -> dict[str, Any]:
    """Settlement of a knock under *rules*; the default spread where none is given.

    ``layoffs`` are in an order in which they can be laid. ``winner`` is None and ``points`` 0
    for a tie that scores nothing. Without a spread, the cards not in the knocker's hand count
    as unseen.
    """
    _refuse_oklahoma(rules)
    hand, other = parse(knocker), parse(defender)
    cards = count(hand)
    if cards != 10 and not (cards == 11 and rules.big_gin):
        extra = " (11 for big gin, where the rules have it)" if cards == 11 else ""
        raise GinsimError(f"the knocker {knocker.strip()!r} has {cards} cards: give 10{extra}")
    if count(other) != 10:
        raise GinsimError(f"the defender {defender.strip()!r} has {count(other)} cards: give 10")
    if hand & other:
        raise GinsimError(f"{text(hand & other)} stands in both hands")
    sets, runs = (
        (int(mask) for mask in default_spread(hand, DECK & ~hand))
        if spread is None
        else parse_spread(spread, hand)
    )
    left = int(points_of(hand & ~(sets | runs)))
    if cards == 11 and left > 0:
        raise GinsimError(f"the knocker {text(hand)} has 11 cards that do not all meld")
    if left > rules.knock_limit:
        raise GinsimError(
            f"the knocker has {left} deadwood with this spread: the limit is {rules.knock_limit}"
        )
    after, laid = (deadwood(other), 0) if left == 0 else lay_off(other, sets, runs)
    kind, points = settle(rules, cards, left, after)
    melds, _ = best_melds(other & ~int(laid))
    winner = None if points == 0 else "knocker" if points > 0 else "defender"
    return {
        "kind": OUTCOMES[kind],
        "knocker_deadwood": left,
        "defender_deadwood": int(after),
        "winner": winner,
        "points": abs(int(points)),
        "spread": [text(meld) for meld in melds_of(sets, runs)],
        "defender_melds": [text(meld) for meld in melds],
        "layoffs": [card_text(card) for card in lay_off_order(int(laid), sets, runs)],
    }


def showdown_line(line: str, rules: Rules) -> dict[str, Any]:
    """``showdown`` of one JSON object with keys knocker, defender and perhaps spread."""
    try:
        asked = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise GinsimError(f"{line.strip()[:80]!r} is no JSON ({error})") from None
    if not isinstance(asked, dict) or set(asked) - {"knocker", "spread", "defender"}:
        raise GinsimError(f"{line.strip()!r}: write an object of knocker, spread, defender")
    spread = asked.get("spread")
    melds = [spread] if isinstance(spread, str) else spread
    listed = melds if isinstance(melds, list) else []
    texts = [asked.get("knocker"), asked.get("defender"), *listed]
    if not isinstance(melds, list | None) or not all(isinstance(t, str) for t in texts):
        raise GinsimError(f"{line.strip()!r}: knocker and defender are texts, spread text or list")
    return showdown(asked["knocker"], asked["defender"], spread, rules)
