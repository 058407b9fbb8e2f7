"""The scripted model says its script in every provider's words, whole and streamed."""

import json
import threading
from contextlib import suppress
from typing import Any
from urllib.request import Request as Post
from urllib.request import urlopen

import pytest

from tests.peers.model_server import SUMMARY_ASKED, ScriptedModel
from tests.peers.script import Call, Request, Turn, Usage, call, say

TURN = Turn("Héllo.", (Call("f", {"a": "ü"}), Call("g", {})), Usage(input=990_000, output=3))
TOOL = {"name": "f", "parameters": {"type": "object"}}
BODIES: dict[str, dict[str, Any]] = {
    "/v1/messages": {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "tools": [TOOL]},
    "/v1/chat/completions": {
        "model": "m",
        "messages": [{"role": "user", "content": "Hi"}],
        "tools": [{"type": "function", "function": TOOL}],
        "stream_options": {"include_usage": True},
    },
    "/v1/responses": {"model": "m", "input": "Hi", "tools": [{"type": "function", **TOOL}]},
    "/v1beta/models/m": {
        "contents": [{"role": "user", "parts": [{"text": "Hi"}]}],
        "tools": [{"functionDeclarations": [TOOL]}],
    },
}


def ask(model: ScriptedModel, path: str, body: dict[str, Any], stream: bool = False) -> str:
    if path.startswith("/v1beta"):
        path += ":streamGenerateContent?alt=sse" if stream else ":generateContent"
    elif stream:
        body = {**body, "stream": True}
    with urlopen(Post(model.url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})) as answer:
        return str(answer.read().decode())


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
def test_text_calls_and_usage_reach_every_client(path: str, stream: bool) -> None:
    with ScriptedModel([TURN]) as model:
        answer = ask(model, path, BODIES[path], stream)
    (request,) = model.main
    assert request.tools == {"f": {"type": "object"}}
    assert "Hi" in request.last_words
    assert answer.startswith(("data:", "event:") if stream else "{")
    for said in ('"f"', '"g"', "990000"):
        assert said in answer


def test_a_streamed_answer_says_the_same_as_a_whole_one() -> None:
    with ScriptedModel([TURN, TURN]) as model:
        whole = json.loads(ask(model, "/v1/messages", BODIES["/v1/messages"]))
        lines = ask(model, "/v1/messages", BODIES["/v1/messages"], stream=True).splitlines()
    deltas = [
        json.loads(line[6:])["delta"] for line in lines if line.startswith("data:") and "content_block_delta" in line
    ]
    assert "".join(delta.get("text", "") for delta in deltas) == whole["content"][0]["text"] == "Héllo."
    assert "".join(delta.get("partial_json", "") for delta in deltas) == '{"a": "\\u00fc"}{}'


def test_side_requests_leave_the_script_where_it_is() -> None:
    without_tools = {"messages": [{"role": "user", "content": "A title, please."}]}
    for_a_summary = {**BODIES["/v1/messages"], "messages": [{"role": "user", "content": f"Please {SUMMARY_ASKED}."}]}
    with ScriptedModel([say("Mine.")]) as model:
        assert "A short answer." in ask(model, "/v1/messages", without_tools)
        assert "<summary>" in ask(model, "/v1/messages", for_a_summary)
        assert model.left == 1
        assert "Mine." in ask(model, "/v1/messages", BODIES["/v1/messages"])
        assert "Done." in ask(model, "/v1/messages", BODIES["/v1/messages"])
    assert (len(model.requests), len(model.main), len(model.sides)) == (4, 2, 2)


def test_a_step_can_be_made_of_the_request_and_added_later() -> None:
    def echo(request: Request) -> Turn:
        return call("f", heard=request.last_words)

    with ScriptedModel() as model:
        model.add(echo)
        answer = json.loads(ask(model, "/v1/responses", BODIES["/v1/responses"]))
    assert json.loads(answer["output"][0]["arguments"]) == {"heard": "Hi"}


def test_a_held_turn_waits_until_it_is_let_go() -> None:
    hold, answers = threading.Event(), list[str]()
    with ScriptedModel([Turn("Late.", hold=hold)]) as model:
        asking = threading.Thread(target=lambda: answers.append(ask(model, "/v1/messages", BODIES["/v1/messages"])))
        asking.start()
        asking.join(0.2)
        assert asking.is_alive()
        hold.set()
        asking.join(10)
        assert "Late." in answers[0]


def test_a_turn_held_for_ever_does_not_outlive_the_model() -> None:
    def heard() -> None:
        with suppress(OSError):  # hung up on, or answered after all: both are an end
            ask(model, "/v1/messages", BODIES["/v1/messages"])

    with ScriptedModel([Turn("Never let go.", hold=threading.Event())]) as model:
        asking = threading.Thread(target=heard)
        asking.start()
        model.wait_for_requests(1)
    asking.join(10)
    assert not asking.is_alive()


def test_a_step_that_raises_is_heard_of_when_the_model_ends() -> None:
    def wrong(request: Request) -> Turn:
        raise LookupError("no such step")

    def run() -> None:
        with ScriptedModel([wrong]) as model, pytest.raises(OSError, match="closed"):
            ask(model, "/v1/messages", BODIES["/v1/messages"])

    with pytest.raises(LookupError, match="no such step"):
        run()


def test_a_side_request_for_json_gets_json() -> None:
    """Gemini CLI asks which model fits a prompt, and asks for ever if it can't read the answer."""
    asked = {"contents": [], "generationConfig": {"responseMimeType": "application/json"}}
    with ScriptedModel() as model:
        answer = json.loads(ask(model, "/v1beta/models/m", asked))
    assert json.loads(answer["candidates"][0]["content"]["parts"][0]["text"])["model_choice"] == "flash"
