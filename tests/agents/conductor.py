"""A conductor of a proxy chain, by the rules of the draft: `conductor.py PREFIX AGENT … -- PROXY …`.

It is an agent to its client. It starts one proxy and the agent, has each talk to the other through itself, and says on
standard error which rule the proxy breaks (R45 to R50).
"""

import json
import subprocess
import sys
import threading
from typing import Any

Message = dict[str, Any]


class Conductor:
    def __init__(self, prefix: str, agent: list[str], proxy: list[str]) -> None:
        self.prefix = prefix
        self.ends = {
            name: subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            for name, command in (("agent", agent), ("proxy", proxy))
        }
        self.lock = threading.Lock()
        self.waiting: dict[tuple[str, Any], tuple[str, Any]] = {}  # who was asked under which id: who asked, and theirs
        self.greeted = False
        self.numbers = 0

    def breach(self, rule: str, message: Message) -> None:
        print(f"broken {rule}: {json.dumps(message)}", file=sys.stderr, flush=True)

    def send(self, to: str, message: Message) -> None:
        line = json.dumps(message, separators=(",", ":")).encode() + b"\n"
        with self.lock:
            stream = sys.stdout.buffer if to == "client" else self.ends[to].stdin
            assert stream is not None
            try:
                stream.write(line)
                stream.flush()
            except (BrokenPipeError, ValueError):
                return

    def ask(self, to: str, message: Message, asker: str, theirs: Any) -> None:
        self.numbers += 1
        self.waiting[to, self.numbers] = (asker, theirs)
        self.send(to, {**message, "id": self.numbers})

    def hear(self, sender: str, message: Message) -> None:
        if "method" not in message:
            self.answer(sender, message)
        elif message["method"] == "$/cancel_request":
            self.cancel(sender, message)
        elif sender == "client":
            self.from_client(message)
        elif sender == "agent":
            params = {"method": message["method"], **({"params": message["params"]} if "params" in message else {})}
            wrapped = {"jsonrpc": "2.0", "method": f"{self.prefix}successor", "params": params}
            self.relay("proxy", wrapped, sender, message)
        elif message["method"] == f"{self.prefix}successor":
            inner = message["params"]
            if set(inner) - {"method", "params", "_meta"} or not isinstance(inner.get("params", {}), dict | list):
                self.breach("R49", message)
            self.greeted |= inner["method"] == "initialize"
            plain = {"jsonrpc": "2.0", "method": inner["method"], "params": inner.get("params", {})}
            self.relay("agent", plain, sender, message)
        else:
            self.relay("client", message, sender, message)

    def from_client(self, message: Message) -> None:
        if message["method"] == "initialize":
            message = {**message, "method": f"{self.prefix}initialize"}
        self.relay("proxy", message, "client", message)

    def relay(self, to: str, message: Message, asker: str, asked: Message) -> None:
        if "id" in asked:
            self.ask(to, message, asker, asked["id"])
        else:
            self.send(to, message)

    def answer(self, sender: str, message: Message) -> None:
        asked = self.waiting.pop((sender, message.get("id")), None)
        if asked is None:
            self.breach("an answer to nothing", message)
            return
        asker, theirs = asked
        result = message.get("result")
        if sender == "proxy" and isinstance(result, dict) and "protocolVersion" in result:
            if not self.greeted:
                self.breach("R48", message)
            capabilities = result.get("agentCapabilities") or {}
            if result["protocolVersion"] == 1 and capabilities.get("mcpCapabilities", {}).get("acp") is not True:
                self.breach("R47", message)
        self.send(asker, {**message, "id": theirs})

    def cancel(self, sender: str, message: Message) -> None:
        """Under the id of the same connection, hop by hop (R50)."""
        request = message["params"]["requestId"]
        for (to, number), origin in tuple(self.waiting.items()):
            if origin == (sender, request):
                self.send(to, {**message, "params": {"requestId": number}})
                return
        self.breach("R50", message)

    def listen(self, name: str) -> None:
        stream = self.ends[name].stdout
        assert stream is not None
        for line in stream:
            self.hear(name, json.loads(line))

    def run(self) -> None:
        threads = [threading.Thread(target=self.listen, args=(name,)) for name in self.ends]
        for thread in threads:
            thread.start()
        for line in sys.stdin.buffer:
            self.hear("client", json.loads(line))
        for name in ("proxy", "agent"):
            end = self.ends[name].stdin
            assert end is not None
            end.close()
            self.ends[name].wait()
        for thread in threads:
            thread.join()


if __name__ == "__main__":
    prefix, *words = sys.argv[1:]
    middle = words.index("--")
    Conductor(prefix, words[:middle], words[middle + 1 :]).run()
