"""The commands that steer: one for each act of people, made from the table of acts.

A row of the table says which arguments an act needs and takes; this file gives each argument its form on a command
line. Whether an act fits the plan, and what it then means, is not decided here.
"""

import argparse
from collections.abc import Iterator
from functools import partial
from typing import Any, Final

from planwire.cli.act_examples import EXAMPLES
from planwire.cli.acting_person import acting_person, add_person_options
from planwire.cli.answering import answering
from planwire.cli.argument_types import count, revision
from planwire.cli.edit import edit
from planwire.cli.edited_plan import kept_if_refused, with_edit
from planwire.cli.exit_codes import DONE
from planwire.cli.input_output import print_json
from planwire.cli.remark_argument import all_remarks, newest_remark, plan_of_remark, remark
from planwire.cli.session_argument import (
    SESSION_HELP,
    add_journal_option,
    add_session_argument,
    add_session_option,
    named_session,
    refuse_beginning,
)
from planwire.cli.steered_plan import SteeredPlan, confirm, conflict_error, find_plan
from planwire.cli.step_argument import choose_step
from planwire.errors import EmptyText, EngineAway
from planwire.hooks.drained import open_drained, tell_hooks
from planwire.readmodel.away_words import go_by_last_known
from planwire.readmodel.card import PRIORITIES, STATUS_WORDS, PlanCard
from planwire.readmodel.plain_text import in_quotes, one_line, printable
from planwire.readmodel.shown import ShownSession
from planwire.session.moved_on import MovedOn
from planwire.session.steering import Steered, refuse_while_away
from planwire.steering.acts import ACTS, Act, On
from planwire.steering.conflict import Touches
from planwire.steering.reviews import VERDICTS
from planwire.steering.wanted import Comment, Passage, Wanted, is_remark

_STEP: Final = "a step: its id, its number in planwire show, or part of its text"

#: The positional arguments, in the order of an act's needs.
_WORDS: Final[dict[str, dict[str, Any]]] = {
    "text": {"metavar": "TEXT"},
    "status": {"metavar": "STATUS", "help": " | ".join(STATUS_WORDS)},
    "priority": {"metavar": "PRIORITY", "help": " | ".join(PRIORITIES)},
    "steps": {"metavar": "STEP", "nargs": "+", "help": _STEP},
}
_TEXTS: Final = {
    "comment": "the comment",
    "reword": "its new text",
    "tell": "what to tell it (default: what people said, and it has not heard)",
}

#: The default of acts on remarks without an id.
_DEFAULTS: Final = {"withdraw": "your unsent verdict, or newest open remark", "reopen": "the plan, if it has ended"}
_ASKING: Final = (
    "a session's id, or the beginning of it (default: the session of this folder that needs you, or the latest; where "
    "none was run, the only one of all that needs you)"
)
_MAIN: Final = "the only plan, or main"
_YES: Final = "take the plan as it is now, without asking"
#: What a person says yes to, by act.
_QUESTIONS: Final = {
    "review": "Approve this?",
    "select": "Tell the agent to run only these steps?",
    "dismiss": "Dismiss this?",
    "stop": "Stop the agent's turn?",
}


def fill_parser(parser: argparse.ArgumentParser, command: str) -> None:
    """Give the command of an act its description, its options and its work."""
    act = next(act for act in ACTS.values() if act.command == command)
    parser.description, parser.epilog = f"{act.help}.", EXAMPLES.get(act.name)
    parser.set_defaults(run=run, act=act.name)
    _add_words(parser, act)
    _add_options(parser, act)
    if _is_of_session(act):
        parser.set_defaults(plan=None, revision=None)
    else:
        parser.add_argument("--plan", metavar="PLAN", help=f"the plan's id or title (default: {_default_plan(act)})")
        parser.add_argument("--revision", metavar="N", type=revision, help=_revision_help(act))
    add_person_options(parser, yes="without asking" if _is_of_session(act) else _YES)
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_session = add_session_option if _has_words(act) else add_session_argument
    add_session(parser, _ASKING if "option" in act.takes else SESSION_HELP)
    add_journal_option(parser)


def _add_words(parser: argparse.ArgumentParser, act: Act) -> None:
    if act.on is On.STEP and act.needs_target:
        parser.add_argument("target", metavar="STEP", help=_STEP)
    elif act.on is On.REMARK:
        words = f"a remark's id in planwire show (default: {_DEFAULTS[act.name]})"
        parser.add_argument("target", metavar="REMARK", nargs="?", type=remark, help=words)
        if "text" in act.takes:
            parser.add_argument("text", metavar="WHY", nargs="?", help="why, for the agent and for others")
    if _may_have_text(act):
        parser.add_argument("text", nargs="?", **{**_WORDS["text"], "help": _TEXTS[act.name]})
    for name in act.needs:
        if name in _WORDS:
            parser.add_argument(name, **{"help": _TEXTS.get(act.name, "the text of the step"), **_WORDS[name]})


def _has_words(act: Act) -> bool:
    """Whether the act has positional arguments, so that a session can't be one, too."""
    has_text = _may_have_text(act) or any(name in _WORDS for name in act.needs)
    return act.needs_target or act.on is On.REMARK or has_text


def _may_have_text(act: Act) -> bool:
    """Whether an act's only argument is a text, which may be left out."""
    return act.on is On.PLAN and "text" in act.takes and not {"comments", "changes"} & {*act.takes}


def _is_of_session(act: Act) -> bool:
    """Whether an act is about the agent and not a plan: there is no plan to name, and no revision to have seen."""
    return act.on is On.PLAN and act.touches is Touches.NOTHING


def _default_plan(act: Act) -> str:
    return "the one that the agent asks about, the only plan, or main" if "option" in act.takes else _MAIN


def _add_options(parser: argparse.ArgumentParser, act: Act) -> None:
    if act.on is On.STEP and not act.needs_target:
        parser.add_argument("--step", metavar="STEP", dest="target", help=f"on {_STEP}")
    if "verdict" in act.needs:
        answer = parser.add_mutually_exclusive_group()
        words = "answer the agent's question with this option of its own: a name or an id"
        answer.add_argument("--option", metavar="OPTION", help=words)
        answer.add_argument("--changes", action="store_true", help="request changes instead")
    if "edited" in act.takes:
        text = parser.add_mutually_exclusive_group()
        text.add_argument("--edit", action="store_true", help="edit the plan first, if the agent takes an edited one")
        text.add_argument("--text-file", metavar="FILE", help="the same with the text of a file; - is standard input")
    if "after" in act.takes:
        place = parser.add_mutually_exclusive_group(required="by" in act.takes)
        place.add_argument("--after", metavar="STEP", help="right after this step")
        if "before" in act.takes:
            place.add_argument("--before", metavar="STEP", help="right before this step")
        place.add_argument("--first", action="store_true", help="before all other steps")
        for way in ("up", "down") if "by" in act.takes else ():
            words = f"{way} by N places within its list (1)"
            place.add_argument(f"--{way}", metavar="N", nargs="?", type=count, const=1, help=words)
    if "comments" in act.takes and "text" not in act.needs:
        words = "a comment that goes with it; repeatable"
        parser.add_argument("--comment", metavar="TEXT", action="append", default=[], help=words)
    elif "plan_text" in act.takes:
        parser.add_argument("--note", metavar="TEXT", help="a note for the agent")
    if "passage" in act.takes:
        parser.add_argument("--quote", metavar="PASSAGE", help="on this passage of the plan's text, as it reads there")
        words = "which one, counted from 1, if the text has it more than once"
        parser.add_argument("--occurrence", metavar="N", type=count, help=words)
    if "keep" in act.takes:
        parser.add_argument("--keep", action="store_true", help="keep it in force until you withdraw it")
    if "now" in act.takes:
        parser.add_argument("--now", action="store_true", help="have the agent hear it now, not with your next prompt")
    if "interrupt" in act.takes:
        words = "now, even if the agent's turn must be cancelled for it"
        parser.add_argument("--interrupt", action="store_true", help=words)
    if "plan_text" in act.takes or "edited" in act.takes:
        parser.add_argument("--editor", metavar="COMMAND", help="the editor (default: $VISUAL, $EDITOR or vi)")


def _asks(act: Act) -> bool:
    """Whether to ask first: the act is about a whole plan, which a person must have seen, or it can't be undone."""
    return act.touches is Touches.PLAN or (act.on is On.PLAN and act.is_final)


def _revision_help(act: Act) -> str:
    if act.touches is Touches.NOTHING:
        return "the revision you saw"
    touched = "the plan" if _asks(act) else "what you change"
    return f"the revision you saw: refused if {touched} has changed since"


def run(arguments: argparse.Namespace) -> int:
    act, by = ACTS[arguments.act], acting_person(arguments)
    with open_drained(arguments.journal) as journal:
        go_by_last_known(journal)
        try:
            target = find_plan(journal, arguments, partial(_meant, act, arguments, by), asking="option" in act.takes)
            refuse_beginning(journal, named_session(arguments), target.session.id)
        except EngineAway as error:  # what waits, as this error says, is from before
            raise EngineAway(f"{error}. Nothing was written now") from None
        if _asks(act):
            refuse_while_away(journal)
        try:
            if "plan_text" in act.takes:
                steered = edit(journal, target, arguments, by)
            else:
                wanted = Wanted(act.name, seen=target.revision, **dict(_arguments(act, arguments, target, by)))
                if "edited" in act.takes:
                    wanted = with_edit(wanted, target, arguments)
                with kept_if_refused(wanted, arguments):
                    if _asks(act) and act.name in target.card.acts:  # otherwise it is refused without asking
                        question = _question(act, wanted, target.card)
                        confirm(target, arguments, question, decides="verdict" in act.needs)
                    steered = answering(journal, target, wanted, by, asks=not (arguments.yes or arguments.json))
        except MovedOn as moved:
            raise conflict_error(moved) from None
        tell_hooks(journal, arguments.journal, steered.state.id)
    _tell(steered, as_json=arguments.json)
    return DONE


def _meant(act: Act, arguments: argparse.Namespace, by: str, session: ShownSession) -> PlanCard | None:
    """The plan that an act is on if none is named."""
    name = vars(arguments).get("target")
    if act.on is On.REMARK or (act.on_suggested and is_remark(name)):
        return plan_of_remark(session, name, by, closed=act.name == "reopen")
    return session.meant_card(act.name)


def _question(act: Act, wanted: Wanted, card: PlanCard) -> str:
    """What a person says yes to; "" if they choose an answer instead."""
    [approved, *_] = VERDICTS
    if card.question is not None and wanted.question is not None:
        option = card.question.meant(wanted.verdict, wanted.option)
        edited = ", with the plan as you edited it" if wanted.edited is not None else ""
        return f"Send {in_quotes(one_line(option.name))} to the agent{edited}?" if option else ""
    return "Request changes?" if wanted.verdict not in (None, approved) else _QUESTIONS.get(act.name, f"{act.label}?")


def _arguments(act: Act, arguments: argparse.Namespace, target: SteeredPlan, by: str) -> Iterator[tuple[str, Any]]:
    """The arguments of an act, with the steps that a person means by their words."""
    given = {name: value for name, value in vars(arguments).items() if value is not None}
    step = partial(choose_step, [(row.id, row.text) for row in target.seen.rows])
    name = given.get("target")
    if act.on is On.REMARK:
        name = name or (None if act.name == "reopen" else newest_remark(target.card, by))
        yield from [("target", name)] if name else []
        yield from [("text", given["text"])] if "text" in given else []
    elif name is not None:
        is_suggested = act.on_suggested and is_remark(name) and name in all_remarks(target.card)
        yield "target", name if is_suggested else step(name)
    for name in act.needs:
        if name == "verdict":
            yield from _verdict(given, target.card)
        elif name == "steps":
            yield name, tuple(dict.fromkeys(map(step, given[name])))
        else:
            yield name, given[name]
    for name in ("after", "before"):
        if name in given:
            yield name, step(given[name])
    if given.get("first"):
        yield "after", ""
    elif "up" in given or "down" in given:
        yield "by", given.get("down", 0) - given.get("up", 0)
    if given.get("quote"):
        yield "passage", Passage(given["quote"], occurrence=given.get("occurrence", 0))
    for name in ("keep", "interrupt"):
        yield from [(name, True)] if given.get(name) else []
    if given.get("now") or (given.get("interrupt") and "now" in act.takes):
        yield "now", True
    if _may_have_text(act) and "text" in given:
        if not given["text"].strip():
            raise EmptyText("The text is empty.")
        yield "text", given["text"]
    if comments := given.get("comment"):
        if not all(each.strip() for each in comments):
            raise EmptyText("The comment is empty.")
        yield "text", comments[0]
        yield from [("comments", tuple(map(Comment, comments[1:])))] if comments[1:] else []


def _verdict(given: dict[str, Any], card: PlanCard) -> Iterator[tuple[str, Any]]:
    """The person's verdict, or the agent's option that they chose, and the question that they saw, if it can be
    answered here."""
    approved, changes, *_ = VERDICTS
    yield ("option", given["option"]) if "option" in given else ("verdict", changes if given["changes"] else approved)
    if card.question is not None and card.question.is_open and card.question.id:
        yield "question", card.question.id


def _tell(steered: Steered, *, as_json: bool) -> None:
    if not as_json:
        print(printable(steered.words))
        return
    print_json(
        {
            "done": True,
            "words": steered.words,
            "revision": steered.revision,
            "suggestion": steered.is_suggestion,
            "remark": steered.remark,
            "answer": steered.answer,
        }
    )
