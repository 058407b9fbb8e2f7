"""The command line, as a person calls it: real processes and pipes."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from planwire.own_process import own_command
from planwire.readmodel.as_json import PlanValue
from planwire.readmodel.plain_text import printable
from tests.terminal.test_views import running
from tests.wire import answer, entry, items, line, plan, request, text

CONVERSATIONS = Path(__file__).parents[1] / "conversations"


def planwire(
    *arguments: str, stdin: bytes = b"", check: bool = True, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    env = {**os.environ, "COLUMNS": "100", **environment}
    return subprocess.run([*own_command(), *arguments], input=stdin, capture_output=True, check=check, env=env)


def replayed(stdin: bytes) -> Any:
    return json.loads(planwire("replay", "-", "--json", stdin=stdin).stdout)


def test_replay_shows_the_plans_as_they_ended_up() -> None:
    shown = planwire(
        "replay", "-", stdin=plan(entry("Read", "completed"), entry("Write", "in_progress"))
    ).stdout.decode()
    assert "✔ Read" in shown
    assert "▶ Write" in shown
    assert "1/2" in shown


def test_replay_json_has_the_promised_shape() -> None:
    lines = b"\n".join(
        [
            plan(entry("a", "completed"), {"content": "b", "status": "pending"}),
            text("m", "- [x] c"),
            line({"sessionUpdate": "plan_update", "plan": {"type": "file", "planId": "f", "uri": "file:///p.md"}}),
            line({"sessionUpdate": "plan_update", "plan": {"type": "_tree", "planId": "t", "nodes": []}}),
        ]
    )
    shown = replayed(lines)
    [session] = shown["sessions"].values()
    assert (session["updates"], session["states"]) == (4, 4)
    items, markdown, file, other = session["plans"]
    assert set(items) == set(PlanValue.__struct_encode_fields__)
    assert (items["id"], items["title"], items["kind"], items["text"]) == (None, "Plan", "items", None)
    assert items["progress"] == {"done": 1, "total": 2, "cancelled": 0}
    plain = {"priority": "medium", "depth": 0, "children": [], "below": None}
    assert items["steps"] == [
        {"id": "s1", "content": "a", "status": "completed", **plain},
        {"id": "s2", "content": "b", "status": "pending", **plain},
    ]
    assert (markdown["id"], markdown["kind"], markdown["text"]) == ("m", "markdown", "- [x] c")
    assert [step["content"] for step in markdown["steps"]] == ["c"]
    assert (file["id"], file["kind"], file["uri"], file["steps"]) == ("f", "file", "file:///p.md", [])
    assert (other["id"], other["kind"], other["steps"]) == ("t", "_tree", [])
    assert other["fields"]["nodes"] == []
    assert shown["reports"] == [
        {
            "line": 1,
            "session": "s1",
            "code": "no-priority",
            "where": "params.update.entries[1].priority",
            "message": "expected a priority, found nothing; it counts as medium",
            "rule": "R6",
        }
    ]


def test_replay_reads_wrapped_and_raw_lines_alike() -> None:
    raw = [request("session/load", 1, sessionId="s1"), plan(entry("a")), answer(1)]
    senders = ["client", "agent", "agent"]
    wrapped = [
        json.dumps({"t": 1.0, "from": sender, "line": each.decode()}).encode()
        for sender, each in zip(senders, raw, strict=True)
    ]
    assert replayed(b"\n".join(raw)) == replayed(b"\r\n".join(wrapped))


def test_replay_does_not_count_history_that_is_retold() -> None:
    file = CONVERSATIONS / "claude-agent-acp-0.99.0-tasktools.jsonl"
    [session] = json.loads(planwire("replay", str(file), "--json").stdout)["sessions"].values()
    assert (session["updates"], session["states"]) == (28, 10)


def test_replay_step_walks_through_every_change() -> None:
    file = CONVERSATIONS / "client-acpx-0.19.1.jsonl"
    shown = planwire("replay", str(file), "--step").stdout.decode()
    assert re.findall(r"^#[0-9]+", shown, re.MULTILINE) == [f"#{number}" for number in range(1, 12)]
    assert "p1 removed" in shown
    assert "there is no plan 'never-seen' to remove" in shown


@pytest.mark.parametrize("how", [[], ["--step"]])
def test_what_is_wrong_with_a_history_is_said_even_if_its_end_is_not_recorded(how: list[str]) -> None:
    loading = request("session/load", 1, sessionId="s1", cwd="/", mcpServers=[])
    sent = b"\n".join([*(text(f"p{number}", "- [ ] a") for number in range(1_000)), loading, text("q", "- [ ] b")])
    assert (
        b"! line 1002, params.update.plan: the session has 1,000 plans already"
        in planwire("replay", "-", *how, stdin=sent).stdout
    )


def test_replay_of_nothing_says_so() -> None:
    assert b"no plans" in planwire("replay", "-").stdout
    assert replayed(b"") == {"sessions": {}, "reports": []}


def test_output_that_is_no_terminal_has_no_colour() -> None:
    for arguments in (["replay"], ["replay", "--step"]):
        shown = planwire(*arguments, str(CONVERSATIONS / "mistral-vibe-3.0.3.jsonl")).stdout
        assert b"\x1b" not in shown


@pytest.mark.parametrize("how", [[], ["--step"]])
def test_what_a_terminal_would_obey_is_never_printed(how: list[str]) -> None:
    hostile = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202egnp.exe\r\n\x00HALF"
    sent = b"\n".join(
        [
            line({"sessionUpdate": "plan", "entries": [entry(hostile, hostile, hostile)]}, hostile),
            items(hostile, entry(hostile)),
            text(hostile + "m", hostile),
            text("code", f"```{hostile}\n{hostile}\n```\n[x](http://a/{hostile})"),
            line({"sessionUpdate": "plan_update", "plan": {"type": hostile, "planId": "o", hostile: hostile}}),
            line({"sessionUpdate": "plan_removed", "planId": hostile + "never"}),
            hostile.encode(),
        ]
    ).replace(b"HALF", b"\\ud800")  # half of a surrogate pair
    shown = planwire("replay", "-", *how, stdin=sent, FORCE_COLOR="1", TERM="xterm").stdout.decode()
    for obeyed in ("\x1b]", "\x1b[2J", "\x07", "\x9b", "\u202e", "\x00", "\r"):
        assert obeyed not in shown


def test_a_file_that_is_not_there_is_said_in_one_line() -> None:
    for command in (
        ["replay", "nowhere.jsonl"],
        ["translate", "nowhere.jsonl", "--to", "v1"],
        ["replay", str(CONVERSATIONS)],
    ):
        result = planwire(*command, check=False)
        assert result.returncode == 2
        assert result.stderr.decode().startswith("planwire: ")
        assert len(result.stderr.splitlines()) == 1


def test_rubbish_is_reported_and_not_a_crash() -> None:
    rubbish = os.urandom(5000) + b"\n" + b"[" * 100_000 + b"\n" + b'{"from":"agent","line":"' + b"x" * 100 + b'"}\n'
    for arguments in (
        ["replay", "-"],
        ["replay", "-", "--step"],
        ["replay", "-", "--json"],
        ["translate", "-", "--to", "v1"],
    ):
        result = planwire(*arguments, stdin=rubbish)
        assert result.returncode == 0
        assert result.stderr == b""


@pytest.mark.parametrize("how", ["", "--step", "--json"])
def test_a_reader_that_has_seen_enough_is_no_error(how: str) -> None:
    file = CONVERSATIONS / "claude-agent-acp-0.99.0-tasktools.jsonl"
    command = f"{sys.executable} -P -m planwire replay {file} {how} | head -c 10; exit ${{PIPESTATUS[0]}}"
    result = subprocess.run(["bash", "-c", command], capture_output=True, check=False)
    assert (result.returncode, result.stderr) == (0, b"")


def test_translate_prints_the_agents_lines_and_leaves_others_alone() -> None:
    client = request("session/prompt", 1, sessionId="s1", prompt=[])
    odd = b'{ "jsonrpc":"2.0", "id":1, "result":{"stopReason":"end_turn"} }'
    sent = [client, items("p", entry("a")), b"plain text", odd]
    printed = planwire("translate", "-", "--to", "v1", stdin=b"\n".join(sent)).stdout
    assert printed == b"\n".join([plan(entry("a")), b"plain text", odd, b""])


def test_translate_keeps_whole_what_needs_no_translation() -> None:
    file = CONVERSATIONS / "claude-agent-acp-0.99.0-v2-tasktools.jsonl"
    agents = [json.loads(each)["line"] for each in file.read_text().splitlines() if json.loads(each)["from"] == "agent"]
    assert planwire("translate", str(file), "--to", "v2").stdout.decode().splitlines() == agents


def test_translate_is_safe_on_a_terminal_and_exact_elsewhere(tmp_path: Path) -> None:
    hostile = '{"jsonrpc":"2.0","method":"session/update","params":{"a":"\x9b31m \u2028 \U000e0041 \u202e"}}'
    recorded = tmp_path / "lines.jsonl"
    recorded.write_text(f"{hostile}\nplain \x1b]0;pwned\x07 text\n")
    assert planwire("translate", str(recorded), "--to", "v1").stdout.decode() == recorded.read_text()
    with running("translate", str(recorded), "--to", "v1") as terminal:
        shown = terminal.rest().decode()
    assert json.loads(shown.splitlines()[0]) == json.loads(hostile)
    assert printable(shown) == shown.replace("\r\n", "\n")


def test_translate_writes_each_line_as_it_comes() -> None:
    process = subprocess.Popen(
        own_command("translate", "-", "--to", "v2"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        process.stdin.write(plan(entry("a")) + b"\n")
        process.stdin.flush()
        assert b'"planId":"main"' in process.stdout.readline()
        process.stdin.close()
    assert process.returncode == 0


def test_the_demo_says_what_it_takes_to_try_what_it_names(tmp_path: Path) -> None:
    program = str(Path(sys.executable).with_name("planwire"))
    journal = str(tmp_path / "plans.db")
    shown = subprocess.run(
        [program, "demo", "--speed", "40", "--journal", journal],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "/usr/bin:/bin", "XDG_DATA_HOME": str(tmp_path)},
    ).stdout
    assert f"write {program}\n" in shown
    assert f"add --journal {journal}\n" in shown


@pytest.mark.parametrize("speed", ["0", "-1", "fast", "inf", "nan"])
def test_a_speed_that_makes_no_sense_is_refused(speed: str) -> None:
    result = planwire("demo", f"--speed={speed}", check=False)
    assert result.returncode == 2
    assert b"expected a number above 0" in result.stderr


WITHOUT_RICH = "import sys; sys.modules['rich'] = None; from planwire.cli import main; sys.exit(main(sys.argv[1:]))"


def test_without_rich_the_command_says_what_to_install() -> None:
    command = [sys.executable, "-P", "-c", WITHOUT_RICH, "replay", "-"]
    result = subprocess.run(command, input=b"", capture_output=True, check=False)
    assert result.returncode == 1
    assert result.stderr.decode() == (
        "planwire: showing plans needs Rich: pip install 'planwire[terminal]', or use --json\n"
    )


def test_json_needs_no_rich() -> None:
    command = [sys.executable, "-P", "-c", WITHOUT_RICH, "replay", "-", "--json"]
    subprocess.run(command, input=b"", capture_output=True, check=True)


@pytest.mark.parametrize("form", ["openai-chat", "openai-responses", "anthropic", "gemini", "mcp"])
def test_tools_are_printed_as_json(form: str) -> None:
    assert len(json.loads(planwire("tools", "--format", form).stdout)) == 4


def test_the_version_is_told() -> None:
    import planwire as package

    assert planwire("--version").stdout.decode() == f"planwire {package.__version__}\n"
