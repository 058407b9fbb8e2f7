"""What connected clients hear of children, plan files and dismissals, in every dialect."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from planwire import V1, V1_DRAFT, V1_RFD, V2, BlockingPlanSession, Peer, PlanSession
from planwire.acp.dialects import Dialect
from planwire.cli import main
from planwire.model.events import SessionOpened
from planwire.model.plan import Fields
from tests.waiting import eventually, until


def save(file: Path, text: str) -> None:
    """Write a file as editors do: nobody sees half of it."""
    other = file.with_suffix(".new")
    other.write_text(text)
    other.replace(file)


every_dialect = pytest.mark.parametrize("dialect", [V1, V1_RFD, V1_DRAFT, V2], ids=lambda each: each.name)


class Client:
    """A client that keeps every update."""

    def __init__(self, dialect: Dialect) -> None:
        self.updates: list[Fields] = []
        self.peer = Peer(dialect, self.hear)

    def hear(self, line: bytes) -> None:
        self.updates.append(json.loads(line)["params"]["update"])

    def listed(self) -> list[str]:
        """The last list of a v1 client."""
        return [each["content"] for each in self.updates[-1]["entries"]]

    def states(self) -> list[str]:
        return [each["status"] for each in self.updates[-1]["entries"]]


@pytest.fixture
def plans(tmp_path: Path) -> Any:
    with BlockingPlanSession.open(tmp_path / "plans.db", "s", folders=tmp_path) as plans:
        plans.set(["find", "write"])
        yield plans


def test_a_v1_client_sees_a_childs_steps_come_progress_and_fold_away(plans: BlockingPlanSession) -> None:
    client = Client(V1)
    plans.connect(client.peer)
    child = plans.child("s1", "research")
    child.set(["read", "ask"])
    until(lambda: client.updates and client.listed() == ["find", "find › read", "find › ask", "write"])
    plans.change(add="send")
    until(lambda: client.listed() == ["find", "find › read", "find › ask", "write", "send"])
    child.change(steps={"s1": "completed", "s2": "completed"})
    until(lambda: client.listed() == ["find", "write", "send"])


def test_a_v1_client_is_not_shown_a_finished_child_whose_step_is_gone(plans: BlockingPlanSession) -> None:
    client = Client(V1)
    plans.connect(client.peer)
    plans.child("s1").set([{"content": "read", "status": "completed"}])
    plans.change(remove=["s1"])
    plans.flush()
    assert client.listed() == ["write"]
    plans.remove()
    plans.flush()
    assert client.listed() == []


def test_flush_tells_clients_what_a_child_wrote(plans: BlockingPlanSession) -> None:
    client = Client(V1)
    plans.connect(client.peer)
    child = plans.child("s1")
    for count in range(1, 6):
        child.set([f"read {number}" for number in range(count)])
        plans.flush()
        assert len(client.listed()) == 2 + count


def test_on_an_event_loop_flush_tells_what_a_child_wrote_and_what_is_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "plan.md"
    file.write_text("- [ ] pack\n")

    async def at_work() -> None:
        async with PlanSession.open(tmp_path / "plans.db", "s", folders=tmp_path) as plans:
            client = Client(V1)
            plans.connect(client.peer)
            await plans.set(["find"])
            async with plans.child("s1") as child:
                for count in range(1, 6):
                    await child.set([f"read {number}" for number in range(count)])
                    await plans.flush()
                    assert len(client.listed()) == 1 + count
            await plans.remove("main/s1")
            await plans.file(file)
            for count in range(2, 6):
                save(file, "- [ ] pack\n" * count)
                await plans.flush()
                assert len(client.listed()) == count

    asyncio.run(at_work())


@pytest.mark.parametrize("dialect", [V1_RFD, V1_DRAFT, V2], ids=lambda each: each.name)
def test_a_client_that_keeps_plans_by_id_gets_a_child_as_a_plan_of_its_own(
    plans: BlockingPlanSession, dialect: Dialect
) -> None:
    plans.child("s1", "research").set(["read"])
    plans.refresh()
    client = Client(dialect)
    plans.connect(client.peer)
    plans.flush()
    key = "id" if dialect is V1_RFD else "planId"
    assert [each["plan"][key] for each in client.updates] == ["main", "research"]
    assert [each["plan"]["entries"][0]["content"] for each in client.updates] == ["find", "read"]


def dismissed_by_person(plans: BlockingPlanSession, journal: Path) -> None:
    arguments = ["dismiss", "--plan", "notes", "--session", "s", "--journal", str(journal), "--as", "ann", "--yes"]
    assert main(arguments) == 0


def dismissed_by_author(plans: BlockingPlanSession, _: Path) -> None:
    plans.remove("notes")


def dismissed_by_model(plans: BlockingPlanSession, _: Path) -> None:
    assert not plans.call("remove_plan", {"plan_id": "notes"}).is_error


@every_dialect
@pytest.mark.parametrize("dismiss", [dismissed_by_person, dismissed_by_author, dismissed_by_model])
def test_whoever_dismisses_a_plan_clients_of_every_dialect_hear_it(
    plans: BlockingPlanSession, tmp_path: Path, dialect: Dialect, dismiss: Any
) -> None:
    """R13: a v1 client gets the plans that remain."""
    plans.set(["buy milk"], plan_id="notes")
    client = Client(dialect)
    plans.connect(client.peer)
    plans.flush()
    dismiss(plans, tmp_path / "plans.db")
    if dialect is V1:
        until(lambda: client.listed() == ["find", "write"])
        return
    until(lambda: client.updates[-1]["sessionUpdate"] == "plan_removed")
    removed = client.updates[-1]
    assert {removed.get("id"), removed.get("planId")} - {None} == {"notes"}


def test_a_v1_client_follows_a_plan_file_that_nobody_told_planwire_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("planwire.session.peer_connection.FILES_PACE", 0.01)
    file = tmp_path / "plan.md"
    save(file, "# Trip\n\n- [ ] pack\n- [ ] go\n")

    async def at_work() -> None:
        async with PlanSession.open(tmp_path / "plans.db", "s", folders=tmp_path) as plans:
            await plans.file(file)
            client, other = Client(V1), Client(V2)
            plans.connect(client.peer)
            plans.connect(other.peer)
            await plans.flush()
            assert client.listed() == ["pack", "go"]
            save(file, "# Trip\n\n- [x] pack\n- [ ] go\n")
            await eventually(lambda: client.states() == ["completed", "pending"])
            count = len(client.updates)
            save(file, "# Trip\n\nNow!\n\n- [x] pack\n- [ ] go\n")  # the steps are the same
            await plans.call("get_plan", {})
            save(file, "# Trip\n\n- [x] pack\n- [x] go\n")
            await eventually(lambda: client.states() == ["completed", "completed"])
            assert len(client.updates) == count + 1
            assert [each["plan"]["type"] for each in other.updates] == ["file"], "it reads the file itself"

    asyncio.run(at_work())


def test_without_an_event_loop_a_plan_file_is_looked_at_by_flush_and_with_every_change(
    plans: BlockingPlanSession, tmp_path: Path
) -> None:
    file = tmp_path / "plan.md"
    file.write_text("- [ ] pack\n- [ ] go\n")
    plans.file(file)
    client = Client(V1)
    plans.connect(client.peer)
    plans.flush()
    assert client.states() == ["pending", "pending"]
    file.write_text("- [x] pack\n- [ ] go\n")
    plans.flush()
    assert client.states() == ["completed", "pending"]
    count = len(client.updates)
    plans.flush()
    assert len(client.updates) == count, "nothing changed"
    file.write_text("- [x] pack\n- [x] go\n")
    plans.end_turn()
    until(lambda: client.states() == ["completed", "completed"])


def test_the_steps_of_a_plan_file_are_in_the_answers_of_tools_and_in_what_a_model_is_told(
    plans: BlockingPlanSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "trip.md"
    file.write_text("# Trip\n\n- [x] pack\n- [ ] go\n")
    plans.file(file, plan_id="trip")
    steps = plans.call("get_plan", {"plan_id": "trip"})["plan"]["steps"]
    assert [(each["content"], each["status"]) for each in steps] == [("pack", "completed"), ("go", "pending")]
    assert "- [x] pack" in json.dumps(plans.recap())
    plans.describe(SessionOpened(cwd=str(tmp_path)))
    assert main(["show", "s", "--plan", "trip", "--journal", str(tmp_path / "plans.db")]) == 0
    assert "✔ pack" in capsys.readouterr().out
