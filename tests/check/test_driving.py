"""`planwire check -- AGENT` drives what an agent offers: load, resume, fork and plan mode."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from planwire.cli.checked_agent import AgentRun, check_agent
from planwire.own_process import own_command

OFFERING = Path(__file__).parents[1] / "agents" / "offering.py"


def driven(offers: dict[str, str], *options: str) -> tuple[dict[str, bool], list[tuple[str, str]], Any]:
    """What was driven and told of a plan, the broken rules, and the process."""
    agent = [sys.executable, str(OFFERING), json.dumps(offers)]
    command = [*own_command(), "check", "--json", *options, "--", *agent]
    process = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    verdict = json.loads(process.stdout)
    return verdict["driven"], [(each["rule"], each["code"]) for each in verdict["findings"]], process


def test_what_the_agent_offers_is_driven_and_what_it_does_not_is_not() -> None:
    assert driven({})[:2] == ({"prompt": True}, [])
    offers = {"load": "plan", "resume": "quiet", "fork": "plan", "mode": "mode"}
    told, found, process = driven(offers)
    assert told == {"prompt": True, "load": True, "resume": False, "fork": True, "plan mode": True}
    assert (found, process.stderr.split()) == ([], ["prompted", "no", "yes"])


def test_parts_can_be_left_out() -> None:
    offers = {"load": "plan", "resume": "quiet", "fork": "plan", "mode": "option"}
    assert driven(offers, "--skip", "load, resume,plan-mode")[0] == {"prompt": True, "fork": True}
    command = own_command("check", "--skip", "prompt", "--", "true")
    process = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (process.returncode, "'prompt' can't be left out" in process.stderr) == (2, True)


def codes(offers: dict[str, str]) -> list[tuple[str, str]]:
    """The broken rules, without a process for the check."""
    run = AgentRun(capability="none", prompt=None, skips=frozenset(), seconds=60, allow=False)
    findings = check_agent([sys.executable, str(OFFERING), json.dumps(offers)], run)[0].findings
    return [(each.rule, each.code) for each in findings]


@pytest.mark.parametrize(
    ("offers", "found"),
    [
        ({"load": "quiet"}, [("R37", "not-retold")]),
        ({"load": "story"}, []),
        ({"resume": "story"}, [("R38", "unasked-replay")]),
        ({"load": "no"}, [("schema", "offer-refused")]),
        ({"fork": "no"}, [("schema", "offer-refused")]),
        ({"mode": "broken"}, [("schema", "offer-refused")]),
    ],
    ids=str,
)
def test_an_offer_is_judged_by_what_comes_of_it(offers: dict[str, str], found: list[tuple[str, str]]) -> None:
    """R37, R38."""
    assert codes(offers) == found


def test_a_session_that_is_open_may_need_another_process_to_be_loaded(tmp_path: Path) -> None:
    """R37. The lines of both processes are one recording."""
    file = tmp_path / "run.jsonl"
    told, found, first = driven({"load": "fresh"}, "--save", str(file))
    assert (told, found) == ({"prompt": True, "load": True}, [])
    assert file.read_text().count('\\"initialize\\"') == 2
    again = [*own_command(), "check", str(file), "--json"]
    assert subprocess.run(again, capture_output=True, text=True, check=False).stdout == first.stdout


def test_plan_mode_is_an_option_elsewhere_and_the_summary_says_what_was_driven() -> None:
    agent = [sys.executable, str(OFFERING), json.dumps({"load": "plan", "fork": "quiet", "mode": "option"})]
    command = [*own_command(), "check", "--", *agent]
    process = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert process.stdout.endswith("driven: prompt, load, fork (no plan), plan mode\n")
    assert process.stderr.split() == ["prompted", "no", "yes"]
