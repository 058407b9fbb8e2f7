"""An agent's question about a plan, as lines: the answers on offer, how to give one, and what became of earlier ones.

On a screen a key answers; in print each answer has its command beside it.
"""

import shlex
from collections.abc import Iterator
from typing import Final

from rich.cells import cell_len, set_cell_size

from planwire.readmodel.answers import answers, dispute_words
from planwire.readmodel.card import PlanCard, QuestionCard, ReviewCard
from planwire.readmodel.plain_text import one_line
from planwire.readmodel.questions import AnswerOption
from planwire.steering.acts import ACTS, Act
from planwire.steering.reviews import EDIT_LABEL, VERDICT_LABELS
from planwire.terminal.lines import Line, Part, hanging
from planwire.terminal.rows import PLAN, ago

#: The most cells of an answer's name that has a command beside it, in a column.
NAME: Final = 44

#: The most characters of the answers that can be given only elsewhere; more of them are counted.
NAMES: Final = 160

#: The key of the answer that is not one of the agent's options, which have numbers.
EDIT_KEY: Final = "e"
_APPROVE: Final = ACTS["review"].command
_APPROVED, _CHANGES, *_ = VERDICT_LABELS


def question_lines(card: PlanCard, width: int, now: int, session: str | None = "") -> Iterator[Line]:
    """Say why the plan waits for a person, with the answers that they can give. `session` is the name of the session in
    printed commands; None stands for a screen with keys, "" for one without, and for print without commands."""
    yield from (Line(parts, "", (PLAN, card.id)) for parts in _pending_lines(card, width, now, session))
    if card.ended or not card.needs_you:
        return
    asked, late = card.question, card.disputed
    if asked is None:
        lines = _disputed_lines(card, late, width, now, session) if late else iter(())
    else:
        lines = _asked_lines(asked, width, now, session)
    yield from (Line(parts, "", (PLAN, card.id)) for parts in lines)


def _pending_lines(card: PlanCard, width: int, now: int, session: str | None) -> Iterator[tuple[Part, ...]]:
    """A verdict that is not sent yet, and how its author undoes it."""
    if card.pending is not None:
        undo = ACTS["withdraw"]
        named = f" --session={shlex.quote(one_line(session))}" if session else ""
        hint = f"{_key(undo)} undoes it" if session is None else f"planwire {undo.command}{named} undoes it"
        words = f"{one_line(card.pending.words)} · sending in {card.pending.seconds(now)} s · {hint}"
        yield from hanging(("  ◇ ", "waiting"), words, "waiting", "", width)


def _asked_lines(asked: QuestionCard, width: int, now: int, session: str | None) -> Iterator[tuple[Part, ...]]:
    client = one_line(asked.client)
    if asked.sent:
        words = one_line(f"{asked.sent[:1].upper()}{asked.sent[1:]}")
    else:
        names = "  /  ".join(one_line(each.name) for each in asked.options)
        names = names if len(names) <= NAMES else f"one of {len(asked.options)} answers there"
        words = f"{one_line(asked.words)}{'' if asked.is_open or not names else f':  {names}'}"
    yield from hanging(("  ◆ ", "waiting"), words, "waiting", ago(asked.at, now), width)
    if not asked.is_open:
        return
    labels = [*(one_line(each.name) for each in asked.options), *([EDIT_LABEL] if asked.takes_edit else [])]
    wide = min(max(map(cell_len, labels), default=0), NAME)
    for number, option in enumerate(asked.options, start=1):
        start = f"    {number if session is None else '·'}  "
        yield from _beside_line(start, one_line(option.name), wide, _beside(option, session), width)
    if asked.takes_edit:
        key = EDIT_KEY if session is None else "·"
        beside = f"{_command(_APPROVE, session)} --edit" if session else ""
        yield from _beside_line(f"    {key}  ", EDIT_LABEL, wide, beside, width)
    if session is None:
        where = "" if asked.is_review else f", or answer in {client}"
        yield from hanging(("    ", ""), f"Press {_key(ACTS['review'])} to answer{where}.", "muted", "", width)
    elif session and asked.is_review:
        yield from hanging(("    ", ""), _command(_APPROVE, session), "muted", "", width)


def _beside_line(start: str, text: str, wide: int, beside: str, width: int) -> Iterator[tuple[Part, ...]]:
    """A text with a few words beside it, in a column after texts that are at most `wide`."""
    if cell_len(text) <= wide and len(start) + wide + 3 + cell_len(beside) <= width:
        yield (start, "muted"), (set_cell_size(text, wide), "strong"), (f"   {beside}", "muted")
    else:
        yield from hanging((start, "muted"), text, "strong", beside, width)


def _beside(option: AnswerOption, session: str | None) -> str:
    """What an answer says of the plan, or the command that gives it."""
    if session is None:
        return VERDICT_LABELS[option.verdict] if option.is_plain else ""
    return f"{_command(_APPROVE, session)}{_said(option)}" if session else ""


def _key(act: Act) -> str:
    return act.gestures[0].keys[0]


def _command(command: str, session: str) -> str:
    named = f"--session={session}" if session.startswith("-") else session  # or else it is taken for an option
    return f"planwire {command} {shlex.quote(one_line(named))}"


def _said(option: AnswerOption) -> str:
    """The arguments that have a command give an answer."""
    if option.is_plain and option.verdict == _APPROVED:
        return ""
    if option.is_plain and option.verdict == _CHANGES:
        return " --changes"
    sign = "=" if option.id.startswith("-") else " "  # or else it is taken for another option of the command
    return f" --option{sign}{shlex.quote(one_line(option.id))}"


def _disputed_lines(
    card: PlanCard, late: ReviewCard, width: int, now: int, session: str | None
) -> Iterator[tuple[Part, ...]]:
    words = one_line(dispute_words(card))
    yield from hanging(("  ◆ ", "waiting"), words, "waiting", ago(late.at, now), width)
    ways = answers(card)
    wide = max(len(each.label) for each in ways)
    for each in ways:
        act = ACTS[each.wanted.act]
        no, soon = each.wanted.verdict == _CHANGES, bool(each.wanted.now)
        command = f"{_command(act.command, session)}{' --changes' * no}{' --now' * soon}" if session else ""
        yield from _beside_line("    ·  ", each.label, wide, _key(act) if session is None else command, width)


def answer_hint(card: PlanCard, session: str) -> str:
    """For a list of sessions: the command that answers a plan's question, or where else to answer it."""
    asked = card.question
    approve = _command(_APPROVE, session)
    if asked is None or asked.sent:
        return _command("show", session)
    if not asked.is_open:
        return f"answer it in {one_line(asked.client)}"
    plain = [each for each in asked.options if each.is_plain and each.verdict == _APPROVED]
    others = [_said(each).strip() for each in asked.options if each not in plain]
    if plain or asked.is_review:
        more = ", ".join(others or ["--changes"])
        return f"{approve}   (or {more})"
    first, *rest = others
    return f"{approve} {first}   (or {', '.join(rest)})" if rest else f"{approve} {first}"


def verdict_words(card: PlanCard, verdict: ReviewCard, now: int) -> tuple[str, str]:
    """A verdict in words; then whose it is, when it was given, and how far it has come as an answer."""
    words = f"{verdict.words} · the plan has changed since" if verdict.stale and not verdict.late else verdict.words
    sent = f"{verdict.delivery} {ago(verdict.told_at, now)}" if verdict.told_at else verdict.delivery
    whose = f"{card.giver(verdict)}, {ago(verdict.at, now)}"
    return words, whose if verdict.late or not sent else f"{whose} · {sent}"
