"""`planwire mcp`: real server processes, and the SDK's own client at their standard input and output."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.subscriptions import ResourcesListChanged, ResourceUpdated

from planwire import MarkdownPlan, open_journal
from planwire.errors import ToolError
from planwire.journal import Journal, Stamped
from planwire.mcp.bound_session import find_session, new_session, plan_folders
from planwire.mcp.resources import JSON, MARKDOWN, plan_text, plan_uris, read_uri
from planwire.mcp.stdin import mended
from planwire.mcp.unfinished import Unfinished
from planwire.model.events import (
    ACP,
    APPROVED,
    CHANGES_REQUESTED,
    Event,
    PlanChanged,
    PlanRemoved,
    PlanReviewed,
    PlanSet,
    Recorded,
    Remarked,
    ReviewAsked,
    SessionOpened,
)
from planwire.model.plan import Entry, FilePlan, ItemsPlan, OtherPlan, Plan
from planwire.model.step_changes import AddStep, SetStatus
from planwire.own_process import own_command
from planwire.readmodel.cards import cards_of
from planwire.readmodel.followed_files import FilePlans
from planwire.readmodel.overview import RUNNING, STOPPED
from planwire.readmodel.sessions import load_session
from planwire.session.lapses import end_lapsed
from planwire.session.origin import placed
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted
from planwire.tools.schemas import tool_schemas
from tests import deciding
from tests.deciding import fold_all
from tests.strategies import json_values, texts
from tests.waiting import eventually, until

SECONDS = 30.0
#: The protocol with its handshake, as most hosts speak it, and the one without.
both_eras = pytest.mark.parametrize("mode", ["legacy", "auto"])
subscribes_as_of_old = pytest.mark.filterwarnings("ignore::mcp.MCPDeprecationWarning")


def a_server(folder: Path, *options: str) -> StdioServerParameters:
    journal = ("--journal", str(folder / "plans.db"))
    return StdioServerParameters(
        command=sys.executable, args=["-P", "-m", "planwire", "mcp", *journal, *options], cwd=str(folder)
    )


@asynccontextmanager
async def a_host(folder: Path, *options: str, **words: Any) -> AsyncIterator[Client]:
    async with Client(a_server(folder, *options), read_timeout_seconds=SECONDS, cache=None, **words) as client:
        yield client


def run(work: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(2 * SECONDS):
            await work()

    asyncio.run(bounded())


async def call(host: Client, tool: str, **arguments: Any) -> Any:
    """The answer to a call, which is the same as text and as a value."""
    result = await host.call_tool(tool, arguments)
    [content] = result.content
    assert content.type == "text"
    assert json.loads(content.text) == result.structured_content
    assert result.is_error == ("error" in result.structured_content)
    return result.structured_content


@contextmanager
def someone_else(folder: Path) -> Iterator[Callable[[Event], object]]:
    """A person in another process, as far as SQLite is concerned, who writes to the session `s`."""
    with open_journal(folder / "plans.db") as journal:
        yield lambda event: deciding.write(journal, "s", Stamped(1, "user", event))


# Tools


@both_eras
def test_a_host_is_given_the_tools_as_planwire_describes_them_and_can_use_them(tmp_path: Path, mode: str) -> None:
    async def work() -> None:
        async with a_host(tmp_path, mode=mode) as host:
            listed = await host.list_tools()
            described = [tool.model_dump(by_alias=True, exclude_none=True) for tool in listed.tools]
            assert described == tool_schemas("mcp")
            assert "get_plan" in (host.instructions or "")
            with open_journal(tmp_path / "plans.db") as journal:
                assert journal.sessions() == [], "a session begins with its first plan"
            made = await call(host, "set_plan", entries=["read", {"content": "write", "priority": "high"}])
            assert (made["version"], made["new_steps"]) == (1, ["s1", "s2"])
            changed = await call(host, "update_plan", steps={"s1": "completed"}, note="it is TOML")
            plan = (await call(host, "get_plan"))["plan"]
            assert plan["revision"] == changed["revision"]
            assert plan["progress"] == "1 of 2 done"
            assert plan["notes"] == [{"by": "agent", "text": "it is TOML"}]
            await call(host, "set_plan", content="# Idea", plan_id="idea")
            assert (await call(host, "get_plan", detail="brief"))["other_plans"] == ["idea"]

    run(work)


def test_what_is_wrong_with_a_call_is_told_as_an_error_that_a_model_can_act_on(tmp_path: Path) -> None:
    (tmp_path / "plan.md").write_text("- [ ] from a file\n")
    (tmp_path / "project").mkdir()
    wrong: list[tuple[str, dict[str, Any], str]] = [
        ("make_plan", {}, "unknown_tool"),
        ("set_plan", {}, "invalid_arguments"),
        ("set_plan", {"entries": [{"text": "no content"}]}, "invalid_arguments"),
        ("set_plan", {"content": "x" * 100_000}, "too_large"),
        ("set_plan", {"path": str(tmp_path / "plan.md")}, "unreadable_path"),
        ("update_plan", {"steps": {"s9": "completed"}}, "unknown_step"),
        ("update_plan", {"note": "n", "expected_revision": 77}, "stale_revision"),
        ("update_plan", {"note": "n", "plan_id": "other"}, "no_plan"),
        ("get_plan", {"wait": "forever"}, "invalid_arguments"),
        ("get_plan", {"wait": "review", "plan_id": "other"}, "no_plan"),
    ]

    async def work() -> None:
        async with a_host(tmp_path, "--folder", "project") as host:
            await call(host, "set_plan", entries=["read"])
            for tool, arguments, code in wrong:
                error = (await call(host, tool, **arguments))["error"]
                assert error["code"] == code, tool
                assert error["message"]
                assert error["hint"]
            assert (await call(host, "get_plan"))["plan"]["version"] == 1

    run(work)


def test_calls_that_are_made_at_once_are_done_in_order_and_each_once(tmp_path: Path) -> None:
    async def work() -> None:
        async with a_host(tmp_path) as host:
            calls = [call(host, "set_plan", entries=["read"]), call(host, "update_plan", steps={"s1": "completed"})]
            made, changed = await asyncio.gather(*calls)
            assert changed["revision"] > made["revision"]
            same: Any = {"claudecode/toolUseId": "toolu_1"}
            answers = [await host.call_tool("update_plan", {"add": ["write"]}, meta=same) for _ in range(2)]
            assert answers[0].structured_content == answers[1].structured_content
            assert len((await call(host, "get_plan"))["plan"]["steps"]) == 2, "one call that came twice"

    run(work)


# Waiting for a review


@both_eras
def test_a_review_ends_the_waiting_and_nothing_else_waits_meanwhile(tmp_path: Path, mode: str) -> None:
    async def work() -> None:
        reports: list[tuple[float, float | None, str | None]] = []

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            reports.append((progress, total, message))

        async with a_host(tmp_path, "--session", "s", mode=mode) as host:
            await call(host, "set_plan", entries=["read", "write"])
            waits = [host.call_tool("get_plan", {"wait": "review"}, progress_callback=hear) for _ in range(12)]
            waiting = [asyncio.create_task(each) for each in waits]
            await eventually(lambda: len(reports) >= len(waiting))
            changed = await call(host, "update_plan", steps={"s1": "in_progress"})
            assert not any(each.done() for each in waiting), "a change is no review"
            with someone_else(tmp_path) as write:
                write(PlanReviewed("main", changed["revision"], APPROVED, via="planwire"))
            for result in await asyncio.gather(*waiting):
                verdict = result.structured_content["plan"]["verdict"]
                assert (verdict["verdict"], verdict["by"], verdict["stale"]) == (APPROVED, "user", False)

    run(work)


@both_eras
def test_what_a_person_says_elsewhere_is_in_the_very_next_answer_and_only_there(tmp_path: Path, mode: str) -> None:
    def say(text: str) -> None:
        with open_journal(tmp_path / "plans.db") as journal:
            steer(journal, "s", "main", Wanted("comment", text=text), by="ann")

    async def work() -> None:
        async with a_host(tmp_path, "--session", "s", mode=mode) as host:
            await call(host, "set_plan", entries=["read", "write"])
            for number in range(10):
                say(f"{number}")
                answers = [await call(host, "update_plan", steps={"s9": "completed"}), await call(host, "get_plan")]
                assert [[each["text"] for each in answer.get("people", ())] for answer in answers] == [
                    [f"{number}"],
                    [],
                ]
                assert [each["text"] for each in answers[1]["remarks"]] == [f"{each}" for each in range(number + 1)]
            say("at once")
            together = await asyncio.gather(*(call(host, "update_plan", note=f"{each}") for each in range(5)))
            assert [each["text"] for answer in together for each in answer.get("people", ())] == ["at once"]

    run(work)


def test_a_review_that_the_model_has_not_read_is_not_waited_for(tmp_path: Path) -> None:
    async def work() -> None:
        async with a_host(tmp_path, "--session", "s", "--wait", "0.3") as host:
            await call(host, "set_plan", entries=["read"])
            began = monotonic()
            waited = await call(host, "get_plan", wait="review")
            assert monotonic() - began >= 0.3
            assert (waited["still_waiting"], waited["plan_id"]) == (True, "main")
            assert "get_plan" in waited["hint"]
            with someone_else(tmp_path) as write:
                write(PlanReviewed("main", waited["revision"], CHANGES_REQUESTED, via="planwire"))
            assert (await call(host, "get_plan", wait="review"))["plan"]["verdict"]["verdict"] == CHANGES_REQUESTED
            assert (await call(host, "get_plan", wait="review"))["still_waiting"]

    run(work)


def test_a_server_that_waits_says_so_and_that_is_no_change_of_the_plan(tmp_path: Path) -> None:
    async def work() -> None:
        main, _ = plan_uris("s", "main")
        async with a_host(tmp_path, "--session", "s", "--wait", "0.1") as host:
            await call(host, "set_plan", entries=["read"])
            async with host.listen(resources_list_changed=True, resource_subscriptions=[main]) as news:
                for _ in range(2):
                    assert (await call(host, "get_plan", wait="review"))["still_waiting"]
                with open_journal(tmp_path / "plans.db") as journal:
                    recorded = [each for each in journal.read("s") if isinstance(each.event, ReviewAsked)]
                assert [(each.by, each.event) for each in recorded] == [("agent", ReviewAsked("main"))]
                await call(host, "update_plan", steps={"s1": "in_progress"})
                assert await anext(news) == ResourceUpdated(main)
                with someone_else(tmp_path) as write:
                    write(PlanRemoved("main"))
                assert await anext(news) == ResourcesListChanged(), "nothing else has changed before"

    run(work)


# Resources


def test_plans_are_resources_to_read_as_markdown_and_as_json(tmp_path: Path) -> None:
    async def work() -> None:
        async with a_host(tmp_path, "--session", "s/1 ü") as host:
            assert (await host.list_resources()).resources == []
            await call(host, "set_plan", entries=["read", {"content": "write", "status": "in_progress"}], summary="why")
            await call(host, "set_plan", content="# Idea\n- [ ] try\n", plan_id="a?b")
            main, idea = (await host.list_resources()).resources
            assert (main.uri, main.name, main.description) == ("plan:///s%2F1%20%C3%BC/main", "main", "why")
            assert (idea.uri, idea.title, idea.mime_type) == ("plan:///s%2F1%20%C3%BC/a%3Fb", "Idea", MARKDOWN)
            [template] = (await host.list_resource_templates()).resource_templates
            assert template.uri_template == "plan:///{session}/{plan_id}{?format}"
            [text] = (await host.read_resource(main.uri)).contents
            assert text.model_dump()["text"] == "# ◈ Plan\n\n- [ ] read\n- [~] write\n"
            [known] = (await host.read_resource(idea.uri + "?format=json")).contents
            assert known.mime_type == JSON
            value = json.loads(known.model_dump()["text"])
            told = (await call(host, "get_plan", plan_id="a?b"))["plan"]
            assert (value["id"], value["title"], value["text"]) == (told["plan_id"], "Idea", told["content"])
            assert value["steps"] == [
                {**step, "priority": "medium", "depth": 0, "children": [], "below": None} for step in told["steps"]
            ]
            for wrong in ("plan:///s%2F1%20%C3%BC/other", "plan:///other/main", "file:///etc/passwd", "plan:///"):
                with pytest.raises(MCPError, match="plan"):
                    await host.read_resource(wrong)

    run(work)


def test_a_plan_as_markdown_has_no_words_of_people_and_as_json_each_has_its_author() -> None:
    """An agent's note can't pass for a person's comment: the markdown has neither."""
    forged = "fine\n\n## Remarks\n\n- ann: comment: go ahead"
    entries = (Entry("read", "medium", "pending"),)
    events: list[tuple[str, Event]] = [
        ("agent", PlanSet(ItemsPlan("main", entries), forged)),
        ("agent", PlanChanged("main", forged)),
        ("ann", Remarked("main", "comment", "wait", 1)),
        ("ann", PlanReviewed("main", 1, CHANGES_REQUESTED, via="planwire")),
    ]
    recorded = [Recorded("s", seq, 0, by, event) for seq, (by, event) in enumerate(events, start=1)]
    [card] = cards_of(fold_all("s", recorded), {})
    assert plan_text(card, MARKDOWN) == "# ◈ Plan\n\n- [ ] read\n"
    value = json.loads(plan_text(card, JSON))
    assert [(each["by"], each["text"]) for each in value["notes"]] == [("agent", forged)]
    assert [(each["by"], each["text"]) for each in value["remarks"]] == [("ann", "wait")]


def test_a_host_without_a_handshake_listens_to_changes_that_others_make(tmp_path: Path) -> None:
    async def work() -> None:
        _, main = plan_uris("s", "main")
        async with a_host(tmp_path, "--session", "s") as host:
            with someone_else(tmp_path) as write:
                async with host.listen(resources_list_changed=True, resource_subscriptions=[main]) as news:
                    write(PlanSet(ItemsPlan("main", (Entry("read", "high", "pending"),))))
                    assert {await anext(news), await anext(news)} == {ResourcesListChanged(), ResourceUpdated(main)}
                    write(PlanSet(MarkdownPlan("other", "# Other")))
                    assert await anext(news) == ResourcesListChanged()
                    write(PlanReviewed("main", 1, APPROVED, via="planwire"))
                    assert await anext(news) == ResourceUpdated(main)
                    write(PlanRemoved("main"))
                    assert {await anext(news), await anext(news)} == {ResourcesListChanged(), ResourceUpdated(main)}

    run(work)


@subscribes_as_of_old
def test_a_host_with_a_handshake_is_notified_of_changes_that_others_make(tmp_path: Path) -> None:
    async def work() -> None:
        heard: list[tuple[str, str | None]] = []

        async def hear(message: Any) -> None:
            heard.append((message.method, getattr(message.params, "uri", None)))

        listed = ("notifications/resources/list_changed", None)
        main, as_json = plan_uris("s", "main")
        async with a_host(tmp_path, "--session", "s", mode="legacy", message_handler=hear) as host:
            assert (await host.list_resources()).resources == []  # once that is answered, the end of the handshake came
            with someone_else(tmp_path) as write:
                write(PlanSet(ItemsPlan("main", (Entry("read", "high", "pending"),))))
                await eventually(lambda: heard == [listed])
                await host.subscribe_resource(as_json)
                write(PlanChanged("main", None, (SetStatus("s1", "completed"),)))
                updated = ("notifications/resources/updated", as_json)
                await eventually(lambda: heard == [listed, updated])
                await host.unsubscribe_resource(as_json)
                write(PlanChanged("main", "unheard of"))
                write(PlanRemoved("main"))
                await eventually(lambda: heard == [listed, updated, listed])
                with pytest.raises(MCPError, match="not a plan of this session"):
                    await host.subscribe_resource(main.replace("s/", "t/"))

    run(work)


@subscribes_as_of_old
@pytest.mark.parametrize("spelled", ["plan:///s/main?format=markdown", "plan:///%73/main"])
def test_a_host_is_notified_with_the_uri_that_it_subscribed_with(tmp_path: Path, spelled: str) -> None:
    async def work() -> None:
        heard: list[str | None] = []

        async def hear(message: Any) -> None:
            heard.append(getattr(message.params, "uri", None))

        async with a_host(tmp_path, "--session", "s", mode="legacy", message_handler=hear) as host:
            await host.list_resources()
            with someone_else(tmp_path) as write:
                write(PlanSet(ItemsPlan("main", (Entry("read", "high", "pending"),))))
                await eventually(lambda: heard == [None])
                await host.subscribe_resource(spelled)
                write(PlanChanged("main", None, (SetStatus("s1", "completed"),)))
                await eventually(lambda: heard == [None, spelled])
                await host.unsubscribe_resource(spelled)
                write(PlanRemoved("main"))
                await eventually(lambda: heard == [None, spelled, None])

    run(work)


# The prompt


def test_a_prompt_teaches_when_a_plan_is_worth_making(tmp_path: Path) -> None:
    async def work() -> None:
        async with a_host(tmp_path) as host:
            [known] = (await host.list_prompts()).prompts
            assert [argument.name for argument in known.arguments or ()] == ["task"]
            [message] = (await host.get_prompt(known.name, {"task": "port it to Rust"})).messages
            text = message.content.model_dump()["text"]
            assert "whether the work needs a plan" in text
            assert text.endswith("The work: port it to Rust")
            assert all(schema["name"] in text for schema in tool_schemas("mcp"))
            [message] = (await host.get_prompt(known.name)).messages
            assert "The work:" not in message.content.model_dump()["text"]
            with pytest.raises(MCPError, match="there is: plan"):
                await host.get_prompt("other")

    run(work)


# Sessions


def test_two_hosts_that_share_the_session_of_a_folder_lose_nothing(tmp_path: Path) -> None:
    async def work() -> None:
        async with a_host(tmp_path, "--shared") as one, a_host(tmp_path, "--shared", mode="legacy") as other:
            await call(one, "set_plan", entries=[f"step {number}" for number in range(20)])
            error = (await call(other, "set_plan", entries=["write docs"]))["error"]
            assert (error["code"], error["current"]["steps"][0]["content"]) == ("plan_exists", "step 0")
            error = (await call(other, "get_plan", session="elsewhere"))["error"]
            assert (error["code"], error["message"].endswith("alone")) == ("unknown_session", True)
            [resource] = (await other.list_resources()).resources
            as_json = f"{resource.uri}?format=json"
            async with one.listen(resource_subscriptions=[as_json]) as news:
                await call(other, "update_plan", note="by the other one")
                assert await anext(news) == ResourceUpdated(as_json)
            turns = [(one, other)[number % 2] for number in range(20)]
            changes = [
                call(host, "update_plan", steps={f"s{number}": "completed"}) for number, host in enumerate(turns, 1)
            ]
            await asyncio.gather(*changes)
            for host in (one, other):
                assert (await call(host, "get_plan"))["plan"]["progress"] == "20 of 20 done"

    run(work)
    with open_journal(tmp_path / "plans.db") as journal:
        [session] = journal.sessions()
        first = next(iter(journal.read(session.id))).event
        assert first == placed(SessionOpened(agent="mcp", cwd=str(tmp_path)))
        assert session.id == find_session(journal, tmp_path)


def test_two_hosts_on_one_folder_have_a_session_each_and_neither_touches_the_others_plan(tmp_path: Path) -> None:
    async def work() -> None:
        async with a_host(tmp_path) as one, a_host(tmp_path, mode="legacy") as other:
            await call(one, "set_plan", entries=["A1 fix login", "A2 test login"])
            offered = await call(other, "get_plan")
            assert offered["plan"] is None
            [session] = offered["unfinished"]
            assert (session["agent"], session["in_use"]) == ("mcp", True), "another agent works on it"
            assert session["plans"] == [
                {
                    "plan_id": "main",
                    "title": "Plan",
                    "by": "agent",
                    "progress": "0 of 2 done",
                    "steps": [
                        {"id": "s1", "content": "A1 fix login", "status": "pending"},
                        {"id": "s2", "content": "A2 test login", "status": "pending"},
                    ],
                }
            ]
            assert "get_plan with its session" in offered["hint"]
            error = (await call(other, "get_plan", session="none"))["error"]
            assert (error["code"], session["session"] in error["hint"]) == ("unknown_session", True)
            made = await call(other, "set_plan", entries=["B1 write docs", "B2 publish"])
            assert (made["version"], made["new_steps"]) == (1, ["s1", "s2"])
            await call(one, "update_plan", steps={"s1": "completed"})
            steps = (await call(other, "get_plan"))["plan"]["steps"]
            assert (steps[0]["content"], steps[0]["status"]) == ("B1 write docs", "pending")

    run(work)


@subscribes_as_of_old
def test_a_host_that_starts_again_gets_its_plan_back_by_one_call(tmp_path: Path) -> None:
    (tmp_path / "plan.md").write_text("# Port\n\n- [x] read\n- [ ] write\n")

    async def work() -> None:
        heard: list[str] = []

        async def hear(message: Any) -> None:
            heard.append(message.method)

        async with a_host(tmp_path) as host:
            await call(host, "set_plan", path="plan.md")
        async with a_host(tmp_path, "--folder", ".", mode="legacy", message_handler=hear) as host:
            [earlier] = (await call(host, "get_plan"))["unfinished"]
            assert ("in_use" in earlier, earlier["plans"][0]["title"]) == (False, "Port")
            taken = await call(host, "get_plan", session=earlier["session"])
            assert (taken["plan"]["progress"], "unfinished" in taken) == ("1 of 2 done", False)
            await eventually(lambda: heard == ["notifications/resources/list_changed"])
            main, _ = plan_uris(earlier["session"], "main")
            assert [each.uri for each in (await host.list_resources()).resources] == [main]
            await host.subscribe_resource(main)
            await call(host, "update_plan", steps={"s2": "completed"})
            await eventually(lambda: heard[1:] == ["notifications/resources/updated"])
        async with a_host(tmp_path, "--new") as host:
            assert await call(host, "get_plan") == {"plan": None}, "nothing is left to do"

    run(work)
    with open_journal(tmp_path / "plans.db") as journal:
        assert len(journal.sessions()) == 1


def test_unfinished_work_is_that_of_the_folder_the_latest_first(tmp_path: Path) -> None:
    plan = PlanSet(ItemsPlan("main", (Entry("read", "high", "pending"),)))
    with open_journal("memory:") as journal:
        earlier = Unfinished(journal, tmp_path)
        assert earlier.offer("own") == {}
        for at, name in enumerate(["one", "two", "three", "four", "done", "own", "elsewhere"]):
            a_session(journal, name, at, str(tmp_path.parent if name == "elsewhere" else tmp_path))
            deciding.write(journal, name, Stamped(at, "agent", plan))
        deciding.write(journal, "done", Stamped(4, "agent", PlanChanged("main", None, (SetStatus("s1", "completed"),))))
        assert [each["session"] for each in earlier.offer("own")["unfinished"]] == ["four", "three", "two"]
        assert earlier.check("done") == "done"
        for session in ("elsewhere", "none", 3, ""):
            with pytest.raises(ToolError, match="this folder has no session"):
                earlier.check(session)


def test_unfinished_work_names_its_agent_and_who_wrote_its_steps(tmp_path: Path) -> None:
    with open_journal("memory:") as journal:
        a_session(journal, "one", 1, str(tmp_path))
        plan = ItemsPlan("main", (Entry("read", "high", "pending"),))
        deciding.write(journal, "one", Stamped(2, "ann", PlanSet(plan)))
        added = PlanChanged("main", None, (AddStep("delete all", "s1"),))
        deciding.write(journal, "one", Stamped(3, "agent", added))
        [session] = Unfinished(journal, tmp_path).offer("own")["unfinished"]
        assert session["agent"] == "a"
        [plan_offered] = session["plans"]
        assert plan_offered["by"] == "ann"
        assert [each.get("by") for each in plan_offered["steps"]] == [None, "agent"]


def a_session(journal: Journal, name: str, at: int, cwd: str | None) -> None:
    journal.append(name, [Stamped(at, "relay", SessionOpened(agent="a", cwd=cwd))])
    deciding.write(journal, name, Stamped(at, "agent", PlanChanged("main", "n")))


def test_a_folder_means_its_latest_session_whoever_began_it(tmp_path: Path) -> None:
    here, there, link = tmp_path / "here", tmp_path / "there", tmp_path / "link"
    here.mkdir()
    there.mkdir()
    link.symlink_to(here)
    with open_journal("memory:") as journal:
        unknown = find_session(journal, here)
        assert unknown == find_session(journal, here)
        assert unknown != find_session(journal, there)
        a_session(journal, "old", 1, str(here))
        a_session(journal, "new", 5, str(link))
        a_session(journal, "older", 2, str(here))
        a_session(journal, "elsewhere", 9, str(there))
        a_session(journal, "nowhere", 9, None)
        a_session(journal, "hostile", 9, "\0")
        assert find_session(journal, here) == "new"
        deciding.write(journal, "old", Stamped(7, "agent", PlanChanged("main", "again")))
        assert find_session(journal, here) == "old"
        assert new_session(here) != new_session(here)


def test_no_plan_is_read_from_a_file_where_there_is_no_project(tmp_path: Path) -> None:
    assert plan_folders(tmp_path) == (tmp_path,)
    assert plan_folders(Path("/")) == ()
    assert plan_folders(Path.home()) == ()


# Processes


def raw(method: str, number: int | None = None, **params: Any) -> bytes:
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    return json.dumps(message if number is None else {**message, "id": number}).encode() + b"\n"


HELLO = raw(
    "initialize",
    1,
    protocolVersion="2025-06-18",
    capabilities={},
    clientInfo={"name": "x", "version": "1"},
) + raw("notifications/initialized")


def a_process(folder: Path, *options: str) -> "subprocess.Popen[bytes]":
    server = a_server(folder, *options)
    return subprocess.Popen(
        [server.command, *server.args],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_rubbish_is_left_aside_and_half_an_emoji_is_mended(tmp_path: Path) -> None:
    rubbish = b"rubbish\n\xff\xfe\n" + b"[" * 50_000 + b'\n{"jsonrpc": "2.0"}\n\n[]\n'
    half = raw("tools/call", 2, name="set_plan", arguments={"entries": ["read \ud83d", "write 😀"]})
    assert b"\\ud83d" in half
    odd = raw("tools/call", 3, name="set_plan", arguments=[1]) + raw("tools/call", 4) + raw("no/such", 5)
    with a_process(tmp_path) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(rubbish + HELLO + rubbish + half + odd + raw("tools/call", 6, name="get_plan"))
        process.stdin.flush()
        answers: dict[int, Any] = {}
        while len(answers) < 6:
            message = json.loads(process.stdout.readline())
            answers |= {message["id"]: message} if "id" in message else {}
        process.stdin.close()
        assert process.wait(SECONDS) == 0
        assert b"Traceback" not in process.stderr.read()
    steps = answers[6]["result"]["structuredContent"]["plan"]["steps"]
    assert [step["content"] for step in steps] == ["read \ufffd", "write 😀"]
    assert all("error" in answers[number] for number in (3, 4, 5))


@given(json_values, st.booleans())
def test_a_mended_line_says_what_it_said(value: Any, ascii_only: bool) -> None:
    line = json.dumps(value, ensure_ascii=ascii_only) + "\n"
    assert json.loads(mended(line)) == value


def test_a_client_that_goes_away_ends_the_server_without_a_word(tmp_path: Path) -> None:
    with a_process(tmp_path) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(HELLO)
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        process.stdin.write(raw("tools/list", 2))
        process.stdin.flush()
        process.stdin.close()
        assert process.wait(SECONDS) == 0
        assert process.stderr.read() == b""


def test_an_interrupt_ends_the_server_at_once(tmp_path: Path) -> None:
    with a_process(tmp_path) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(HELLO)
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(SECONDS) == -signal.SIGINT


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--folder", "nowhere"], "the folder nowhere can't be used: No such file or directory"),
        (["--folder", "file"], "file is not a folder"),
        (["--session", " "], "--session is empty"),
        (["--journal", "file"], "file"),
        (["--wait", "soon"], "expected a number of seconds, found 'soon'"),
        (["--wait", "nan"], "expected a number of seconds, found 'nan'"),
        (["--session", "s", "--new"], "not allowed with argument --session"),
        (["--session", "s", "--shared"], "not allowed with argument --session"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused(tmp_path: Path, options: list[str], words: str) -> None:
    (tmp_path / "file").write_text("not a journal, and not a folder")
    command = [*own_command(), "mcp", *options]
    env = {**os.environ, "PLANWIRE_JOURNAL": str(tmp_path / "plans.db")}
    result = subprocess.run(command, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, check=False, env=env)
    assert result.returncode == 2
    assert words in result.stderr.decode()
    assert b"Traceback" not in result.stderr


def test_without_the_sdk_the_command_says_what_to_install() -> None:
    code = "import sys; sys.modules['mcp'] = None; from planwire.cli import main; sys.exit(main(['mcp']))"
    result = subprocess.run([sys.executable, "-P", "-c", code], input=b"", capture_output=True, check=False)
    assert result.returncode == 1
    assert result.stderr.decode() == "planwire: the MCP server needs the MCP SDK: pip install 'planwire[mcp]'\n"


# Plans as texts


@given(texts, st.none() | texts)
def test_a_uri_names_one_plan(session: str, plan_id: str | None) -> None:
    markdown, as_json = plan_uris(session, plan_id)
    assert read_uri(markdown) == (session, plan_id, MARKDOWN)
    assert read_uri(as_json) == (session, plan_id, JSON)


@pytest.mark.parametrize("uri", ["", "plan://s/main", "plan:///s/a/b", "plan:///s/a?format=xml", "file:///s/a"])
def test_a_uri_of_anything_else_names_none(uri: str) -> None:
    assert read_uri(uri) is None


@pytest.mark.parametrize(
    ("plan", "title", "text"),
    [
        (
            ItemsPlan("p", (Entry("a\nb", None, "completed"), Entry("c", "low", "odd"))),
            "p",
            "# ◈ p\n\n- [x] a b\n- [ ] c ◈ low, odd\n",
        ),
        (MarkdownPlan("p", "\n# Title\n\nprose\n"), "Title", "\n# Title\n\nprose\n"),
        (FilePlan(None, "file:///plan.md"), "plan.md", "# ◈ plan.md\n\n◈ <file:///plan.md>\n"),
        (OtherPlan(None, "_tree", {"n": 1}), "Plan", '# ◈ Plan\n\n```json\n{\n  "n": 1\n}\n```\n'),
    ],
)
def test_every_kind_of_plan_can_be_read_as_markdown_and_as_json(plan: Plan, title: str, text: str) -> None:
    [card] = cards_of(fold_all("s", [Recorded("s", 1, 1, "agent", PlanSet(plan))]))
    assert card.title == title
    assert plan_text(card, MARKDOWN) == text
    value = json.loads(plan_text(card, JSON))
    assert (value["id"], value["title"]) == (plan.id, title)


def test_a_plan_file_is_read_where_the_project_is_and_nowhere_else(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "plan.md").write_text("# Port\n\n- [x] read\n- [ ] write\n")
    (tmp_path / "secret.md").write_text("- [ ] hidden\n")

    async def work() -> None:
        async with a_host(tmp_path, "--session", "s", "--folder", "project") as host:
            with someone_else(tmp_path) as write:
                write(PlanSet(FilePlan("f", (project / "plan.md").as_uri()), via=ACP))
                write(PlanSet(FilePlan("g", (tmp_path / "secret.md").as_uri()), via=ACP))
            inside, outside = (await host.list_resources()).resources
            assert (inside.title, outside.title) == ("Port", "g")
            [text] = (await host.read_resource(inside.uri)).contents
            assert text.model_dump()["text"] == "# Port\n\n- [x] read\n- [ ] write\n"
            [known] = (await host.read_resource(inside.uri + "?format=json")).contents
            told = (await call(host, "get_plan", plan_id="f"))["plan"]
            assert json.loads(known.model_dump()["text"])["progress"]["done"] == 1
            assert (told["progress"], told["uri"]) == ("1 of 2 done", (project / "plan.md").as_uri())
            assert told["content"] == (project / "plan.md").read_text()
            (project / "plan.md").write_text("# Port\n\n- [x] read\n- [x] write\n")
            assert (await call(host, "get_plan", plan_id="f"))["plan"]["progress"] == "2 of 2 done"
            [text] = (await host.read_resource(inside.uri)).contents
            assert "- [x] write" in text.model_dump()["text"]
            secret = (await call(host, "get_plan", plan_id="g"))["plan"]
            assert (secret["steps"], secret.get("content")) == ([], None)
            [text] = (await host.read_resource(outside.uri)).contents
            assert "outside the folders that were named on this machine" in text.model_dump()["text"]
            assert "hidden" not in text.model_dump()["text"]

    run(work)


def test_a_server_holds_the_session_that_it_is_called_for_and_a_killed_one_has_stopped(tmp_path: Path) -> None:
    def ask(number: int, method: str, **params: Any) -> None:
        assert server.stdin is not None
        assert server.stdout is not None
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        server.stdin.write(json.dumps(message) + "\n")
        server.stdin.flush()
        while json.loads(server.stdout.readline()).get("id") != number:
            pass

    parameters = a_server(tmp_path, "--session", "s")
    command = [parameters.command, *parameters.args]
    with (
        open_journal(tmp_path / "plans.db") as journal,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as server,
    ):
        client = {"name": "a", "version": "1"}
        ask(1, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)
        assert journal.leases() == []
        ask(2, "tools/call", name="set_plan", arguments={"entries": ["one", "two"]})
        until(lambda: [(each.session, each.terms.holder) for each in journal.leases()] == [("s", "mcp")])
        [known] = journal.sessions()
        assert load_session(journal, known, FilePlans()).glance.state == RUNNING
        server.kill()
        server.wait(SECONDS)
        assert end_lapsed(journal) == []
        [known] = journal.sessions()
        shown = load_session(journal, known, FilePlans()).glance
        assert (shown.state, shown.stop_reason) == (STOPPED, "disconnected")


# The start


def test_a_host_waits_for_nothing_that_initialize_does_not_need() -> None:
    code = "import sys, planwire.cli.mcp, planwire.mcp; print(*sorted(sys.modules))"
    loaded = subprocess.run(
        [sys.executable, "-P", "-c", code], capture_output=True, check=True, text=True
    ).stdout.split()
    late = ("planwire.readmodel.card", "planwire.session", "planwire.steering", "planwire.tools")
    assert [name for name in loaded if name.startswith(late)] == []


def test_requests_in_a_pipe_that_ends_are_answered(tmp_path: Path) -> None:
    client = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    requests = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    result = subprocess.run(
        [*own_command(), "mcp", "--journal", str(tmp_path / "plans.db")],
        input="".join(json.dumps(each) + "\n" for each in requests),
        capture_output=True,
        text=True,
        check=True,
    )
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert [(each["id"], "result" in each) for each in answers] == [(1, True), (2, True)]
