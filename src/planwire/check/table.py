"""The table of every rule, for the checker and for the documentation."""

from typing import Final

from planwire.check.findings import SCHEMA, WARNING, Rule, by_code
from planwire.check.lines import ENVELOPE_RULES, READER_RULES
from planwire.check.operations import OPERATION_RULES
from planwire.check.practices import END_RULES, REPLAY_RULES, TURN_RULES, UPDATE_PRACTICES

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
        "see the message; if the agent needs a login or a key, provide it before the check",
    ),
    Rule(
        "offer-refused",
        SCHEMA,
        "the agent does what it announces",
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

#: The rules for a client that `planwire check --client` starts.
CLIENT_RULES: Final = by_code(
    Rule(
        "no-version",
        SCHEMA,
        "`initialize` names the version of the protocol",
        "put the newest version that the client speaks into `params.protocolVersion`, an integer",
    ),
    Rule(
        "client-ended",
        SCHEMA,
        "the client stays until the turn is over",
        "look at its stderr in this trial; an update that it can't read must not end it",
    ),
    Rule(
        "question-unanswered",
        SCHEMA,
        "permission requests are answered",
        "answer `session/request_permission` with one of its options, or `cancelled`; the agent waits for it",
    ),
    Rule(
        "probe-unanswered",
        "R33",
        "a request that the client does not know gets an error",
        "answer unknown requests with the error -32601; the agent waits for it",
    ),
    Rule(
        "complained",
        "R4",
        "updates of the client's own dialect are read without complaint",
        "see the line from its stderr; announce only what the client can read",
        level=WARNING,
    ),
    Rule(
        "not-shown",
        "R4",
        "a client that shows messages shows plans",
        "show each plan as its last update says; where there is no room for plans, announce nothing about them",
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
    *CLIENT_RULES.values(),
)
