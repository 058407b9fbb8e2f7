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
        "the agent speaks the version that it answered",
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
        "plan updates are those of the protocol",
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
        "answer `initialize`, `session/new` and `session/prompt`; if the model needs longer, raise --timeout",
    ),
    Rule(
        "ended-early",
        SCHEMA,
        "the agent runs until its input ends",
        "look at the agent's stderr; try its command by hand",
    ),
    Rule(
        "refused",
        SCHEMA,
        "the agent accepts a session and a prompt",
        "see the message; an agent that wants a login or a key has to have it before it is checked",
    ),
    Rule(
        "offer-refused",
        SCHEMA,
        "what the agent announces, it does",
        "announce `loadSession`, `resume` or `fork`, a mode or an option only if a request for it succeeds",
    ),
    Rule(
        "no-plan-sent",
        "R1",
        "an agent that is asked for a plan reports one",
        "report the model's plan or to-do list as plan updates; or ask for something bigger with --prompt",
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
