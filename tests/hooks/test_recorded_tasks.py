"""Tasks that an agent tells one by one: they are one list, whoever of the session changes it."""

from planwire.hooks import claude_code
from planwire.hooks.happenings import HookCall
from planwire.hooks.recording import HookedSession, record
from planwire.model.plan import ItemsPlan
from planwire.model.records import SessionState
from tests.hooks.test_claude_code import SESSION, hook


def call(tool: str, result: object, **fields: object) -> HookCall:
    heard = claude_code.read(hook("PostToolUse", tool_name=tool, tool_response=result, **fields))
    assert heard is not None
    return heard


def listed(*calls: HookCall) -> list[tuple[str, str]]:
    """The list after some calls: its steps with their statuses."""
    session = HookedSession(SessionState(SESSION))
    for number, each in enumerate(calls):
        session, _ = record(session, each, "Claude Code", 1_000 + number)
    assert list(session.state.plans) == ["todos"]
    plan = session.state.plans["todos"].state.plan
    assert isinstance(plan, ItemsPlan)
    assert session.state.plans["todos"].reader == ""
    return [(each.content, each.status) for each in plan.entries]


def created(key: str, subject: str, **fields: object) -> HookCall:
    return call("TaskCreate", {"task": {"id": key, "subject": subject}}, tool_input={"subject": subject}, **fields)


def test_a_sub_agent_works_on_the_tasks_of_its_session() -> None:
    child = {"agent_id": "a1", "agent_type": "general-purpose"}
    done = call("TaskUpdate", {"success": True}, tool_input={"taskId": "1", "status": "completed"}, **child)
    assert listed(created("1", "Read"), created("2", "Write", **child), done) == [
        ("Read", "completed"),
        ("Write", "pending"),
    ]


def test_all_tasks_of_a_list_are_known_even_from_before_anybody_listened() -> None:
    tasks = [
        {"id": "1", "subject": "Read", "status": "completed"},
        {"id": "2", "subject": "Write", "status": "in_progress"},
    ]
    assert listed(call("TaskList", {"tasks": tasks}, tool_input={})) == [
        ("Read", "completed"),
        ("Write", "in_progress"),
    ]
