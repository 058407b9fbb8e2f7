"""A model server on loopback that follows a script and speaks each provider's API, so that agents run without a key.

    with ScriptedModel([call("set_plan", content="- [ ] Read"), say("Done.")]) as model:
        run_an_agent(base_url=model.url)

Agents ask models for more than the next step of their work: a title, a summary, whether a command is safe. Such side
requests get a short answer of their own and leave the script where it is.
"""

import gzip
import json
import secrets
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from planwire.check.providers import Api, Asked, Json, api_for
from planwire.check.script import ModelRequest, ModelTurn, ScriptStep, say

SUMMARY_ASKED = "create a detailed summary of the conversation"  # claude-agent-acp, when it compacts its context
SUGGESTION_ASKED = "[SUGGESTION MODE"
#: Before each prompt, Gemini CLI asks which of its models fits. It repeats the question after any other answer.
ROUTED = {"reasoning": "It is short.", "model_choice": "flash", "complexity_reasoning": "", "complexity_score": 10}
HOLD_SECONDS = 60
TOKENS = {"/count_tokens": {"input_tokens": 12}, ":countTokens": {"totalTokens": 12}}
MODELS = {"object": "list", "data": [{"id": "scripted", "object": "model", "created": 0, "owned_by": "planwire"}]}


def beside_the_work(request: ModelRequest) -> bool:
    """Whether a request is beside the work: it offers no tools, or its last words ask for something else."""
    return not request.tools or any(mark in request.last_words for mark in (SUMMARY_ASKED, SUGGESTION_ASKED))


def fitting_answer(request: ModelRequest) -> str:
    """A short answer to a side request, in the requested form where real agents depend on it."""
    if SUMMARY_ASKED in request.last_words:
        return "<analysis>There is little.</analysis>\n<summary>Some work was done.</summary>"
    if "output_config" in request.body and "title" in json.dumps(request.body["output_config"]):
        return json.dumps({"title": "Scripted work"})
    if "responseMimeType" in request.body.get("generationConfig", {}):
        return json.dumps(ROUTED)
    return "A short answer."


class ScriptedModel:
    """A model that follows a script: each main request takes the next step, by whichever API it comes.

    - `side` tells side requests from main ones; they get `side_answer`, a text or a function of the request.
    - After the last step, main requests get `ending`: a text, or a function that makes the answer from the request.
    - `requests` holds every request for an answer, in order; `main` and `sides` hold those of one sort.
    - `problems` holds the exceptions that they caused.
    """

    def __init__(
        self,
        script: Iterable[ScriptStep] = (),
        *,
        side: Callable[[ModelRequest], bool] = beside_the_work,
        side_answer: str | Callable[[ModelRequest], str] = fitting_answer,
        ending: str | Callable[[ModelRequest], ModelTurn] = "Done.",
    ) -> None:
        self.requests: list[ModelRequest] = []
        self.main: list[ModelRequest] = []
        self.sides: list[ModelRequest] = []
        self._steps = deque(script)
        self._side = side
        self._side_answer = side_answer
        self._ending = ending
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self.problems: list[BaseException] = []
        self._server: _ModelServer | None = None

    def __enter__(self) -> Self:
        self._server = _ModelServer(self)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.hang_up()
        self._server.server_close()

    @property
    def url(self) -> str:
        """The address of the server, without a slash at its end. OpenAI's clients need `/v1` after it."""
        assert self._server is not None, "the model runs inside `with`"
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def left(self) -> int:
        """The number of steps of the script that no request has taken yet."""
        return len(self._steps)

    def add(self, *steps: ScriptStep) -> None:
        """Lengthen the script."""
        with self._changed:
            self._steps.extend(steps)

    def went_wrong(self, problem: BaseException) -> None:
        """Keep the exception of a step, or of a request that can't be read."""
        self.problems.append(problem)

    def answer(self, request: ModelRequest) -> ModelTurn:
        """The script's answer to a request. The request is kept."""
        with self._changed:
            self.requests.append(request)
            self._changed.notify_all()
            if self._side(request):
                self.sides.append(request)
                step: ScriptStep = say(
                    self._side_answer if isinstance(self._side_answer, str) else self._side_answer(request)
                )
            else:
                self.main.append(request)
                ending = say(self._ending) if isinstance(self._ending, str) else self._ending
                step = self._steps.popleft() if self._steps else ending
        turn = step if isinstance(step, ModelTurn) else step(request)
        if turn.hold is not None:
            waited = 0.0
            while not turn.hold.wait(0.05) and not self._closing.is_set() and waited < HOLD_SECONDS:
                waited += 0.05
        return turn


class _ModelServer(ThreadingHTTPServer):
    daemon_threads = False  # so that closing waits for the answers under way

    def __init__(self, model: ScriptedModel) -> None:
        self.model = model
        self._open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", 0), _ModelHandler)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Note an error, unless the peer hung up in the middle of an answer, as killed agents do."""
        problem = sys.exception()
        if problem is not None and not isinstance(problem, OSError):
            self.model.went_wrong(problem)

    def hang_up(self) -> None:
        """End the connections that peers left open, so that no thread waits on them."""
        for connection in list(self._open):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:  # it was just closed
                continue


class _ModelHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _ModelServer

    def log_message(self, format: str, *args: object) -> None:
        """Nothing on stderr: it belongs to the agent."""

    def do_HEAD(self) -> None:
        self._send({})

    def do_GET(self) -> None:
        found = self.path.split("?")[0].endswith("/models")
        self._send(MODELS if found else {"error": {"message": f"nothing at {self.path}"}}, 200 if found else 404)

    def do_POST(self) -> None:
        path = self.path.split("?")[0]
        body = self._body()
        counted = next((answer for ending, answer in TOKENS.items() if path.endswith(ending)), None)
        api = api_for(path)
        if counted is not None:
            self._send(counted)
        elif api is None:
            self._send({"error": {"message": f"nothing at {path}"}}, 404)
        else:
            self._answer(api, path, body)

    def _answer(self, api: Api, path: str, body: Json) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        turn = self.server.model.answer(ModelRequest(path, api.name, body, headers, api.tools(body)))
        asked = Asked(body, int(time.time()), lambda prefix: prefix + secrets.token_hex(10))
        if not api.streams(path, body):
            self._send(api.whole(turn, asked))
            return
        self._head(200, "text/event-stream")
        for name, data in api.events(turn, asked):
            text = data if isinstance(data, str) else json.dumps(data)
            self.wfile.write((f"event: {name}\n" if name else "").encode() + f"data: {text}\n\n".encode())

    def _send(self, answer: Json, status: int = 200) -> None:
        content = json.dumps(answer).encode()
        self._head(status, "application/json", len(content))
        if self.command != "HEAD":
            self.wfile.write(content)

    def _head(self, status: int, kind: str, length: int | None = None) -> None:
        """Send the headers. Each connection takes one request, so that at the end only running requests are open."""
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.send_header("Connection", "close")
        self.end_headers()

    def _body(self) -> Json:
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            raw = b"".join(iter(self._chunk, b""))
        else:
            raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Content-Encoding") == "gzip":
            raw = gzip.decompress(raw)
        body = json.loads(raw or b"{}")
        assert isinstance(body, dict)
        return body

    def _chunk(self) -> bytes:
        size = int(self.rfile.readline().split(b";")[0], 16)
        chunk = self.rfile.read(size)
        self.rfile.readline()
        return chunk
