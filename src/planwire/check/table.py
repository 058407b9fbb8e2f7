"""The table of every rule, for the checker and for the documentation."""

from typing import Final

from planwire.check.findings import SCHEMA, WARNING, Rule, by_code
from planwire.check.lines import ENVELOPE_RULES, READER_RULES
from planwire.check.operations import OPERATION_RULES
from planwire.check.practices import END_RULES, REPLAY_RULES, TURN_RULES, UPDATE_PRACTICES

__all__ = ["CONVERSATION_RULES", "DRIVING_RULES", "RULES"]

#: The rules about messages other than plans.
CONVERSATION_RULES: Final = by_code(
    Rule(
        "two-versions",
        "R30",
        "the version that is answered is the version that is spoken",
        "answer `initialize` with the version that the agent speaks: 1 if it sends `agentCapabilities`",
    ),
    Rule(
        "unasked-compaction",
        "R51",
        "compaction updates go only to a client that announced them (version 1)",
        "look for `clientCapabilities.session.compaction` in `initialize`; where it is not an object, send none",
    ),
    Rule(
        "unknown-update",
        "R19",
        "there are no plan updates but those of the protocol",
        "send `plan`, `plan_update` or `plan_removed`; an update of your own starts with `_`",
    ),
    Rule(
        "unknown-session",
        "R53",
        "plans belong to a session that the client knows",
        "send the plan in the session of the prompt; tell of a child session with `subagent_update` first",
    ),
)

#: The rules for an agent that `planwire check` starts itself.
DRIVING_RULES: Final = by_code(
    Rule(
        "no-answer",
        SCHEMA,
        "every request is answered",
        "answer `initialize`, `session/new` and `session/prompt`; a model that needs longer: give --timeout",
    ),
    Rule(
        "ended-early",
        SCHEMA,
        "the agent runs until its input ends",
        "see what the agent wrote on standard error; try its command by hand",
    ),
    Rule(
        "refused",
        SCHEMA,
        "the agent takes a session and a prompt",
        "see the message; an agent that wants a login or a key has to have it before it is checked",
    ),
    Rule(
        "no-plan-sent",
        "R1",
        "an agent that is asked for a plan reports one",
        "report the model's plan or to-do list as plan updates; or ask for more with --prompt",
        level=WARNING,
    ),
)

RULES: Final = (
    *READER_RULES.values(),
    *ENVELOPE_RULES.values(),
    *OPERATION_RULES.rules,
    *UPDATE_PRACTICES.rules,
    *TURN_RULES.rules,
    *END_RULES.rules,
    *REPLAY_RULES.rules,
    *CONVERSATION_RULES.values(),
    *DRIVING_RULES.values(),
)
