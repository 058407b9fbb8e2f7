"""A person's word while a released agent works: its model reads it in the same turn, in the answer of a plan tool."""

from pathlib import Path

import pytest

from planwire.journal import open_journal
from planwire.model.events import TOLD, Told
from planwire.session.steering import steer
from planwire.steering.wanted import Wanted
from tests.peers.agents import claude
from tests.peers.model_server import ScriptedModel
from tests.peers.script import Request, Step, Turn, call, say
from tests.relay.test_tools_peers import MADE, UPDATE, result_in, tooled

pytestmark = [pytest.mark.agents, pytest.mark.timeout(600)]  # the first test may have to install its peer

VENDOR = "never touch vendor/"


def test_claude_hears_a_comment_between_two_calls_in_the_answer_of_the_second(tmp_path: Path) -> None:
    path = tmp_path / "plans.db"

    def commented_on_meanwhile(_request: Request) -> Turn:
        with open_journal(path) as journal:
            [session] = journal.sessions()
            steer(journal, session.id, "main", Wanted("comment", target="s2", text=VENDOR), by="ann")
        return call(UPDATE, steps={"s1": "completed", "s2": "in_progress"})

    script: list[Step] = [
        MADE,
        call(UPDATE, steps={"s1": "in_progress"}),
        commented_on_meanwhile,
        say("Done."),
        say("Done."),
    ]
    with ScriptedModel(script) as model:
        with tooled(claude(model.url, tmp_path), path).start() as client:
            session = client.new_session()
            assert client.prompt(session, "Plan it.") == "end_turn"
            assert client.prompt(session, "Go on.") == "end_turn"
        assert model.left == 0
        requests = model.main

    assert [VENDOR in request.text for request in requests] == [False, False, False, True, True]
    [said] = result_in(requests[3])["people"]
    assert said == {"said": "comment", "id": "r1", "by": "ann", "plan_id": "main", "step": "s2", "text": VENDOR}
    assert "people" not in result_in(requests[2])
    assert requests[4].text.count(VENDOR) == 1, "the prompt after it does not tell it again"
    with open_journal(path) as journal:
        events = [recorded.event for recorded in journal.read(session)]
    told = [event for event in events if isinstance(event, Told) and event.stage == TOLD]
    assert [(event.way, event.remarks) for event in told] == [("tool", ("r1",))]
