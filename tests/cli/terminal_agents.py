"""Stand-ins for agents in terminals: programs that change their settings as the real ones were seen to do.

Each leaves what its original leaves: settings laid out anew, empty objects, a switched-off name, trust in what is gone.
"""

import sys
from pathlib import Path

__all__ = ["PROGRAMS", "calls", "install_agents"]

PROGRAMS = ("claude", "codex", "gemini", "qwen", "opencode", "copilot")

_PROGRAM = '''\
#!{python} -SI
import json, os, pathlib, shutil, subprocess, sys

me = pathlib.Path(sys.argv[0]).name
words = sys.argv[1:]
home = pathlib.Path.home()
line = " ".join(words)
if words not in (["app-server"], ["--version"]):
    with open(home / "calls", "a") as log:
        log.write(me + " " + line + "\\n")
if os.environ.get("FAILS") and os.environ["FAILS"] in line:
    sys.exit("it would not")


def edit(path, change):
    path.parent.mkdir(parents=True, exist_ok=True)
    value = json.loads(path.read_text()) if path.exists() else {{}}
    change(value)
    path.write_text(json.dumps(value, indent=2))


def named(kind):
    return home / kind


def json_agent(settings, off):
    """Claude Code and Copilot."""
    if words[:3] == ["plugin", "marketplace", "add"]:
        source = {{"source": "directory", "path": words[3]}}
        edit(settings, lambda s: s.setdefault("extraKnownMarketplaces", {{}}).update(planwire={{"source": source}}))
    elif words[:2] == ["plugin", "install"]:
        edit(settings, lambda s: s.setdefault("enabledPlugins", {{}}).update({{words[2]: True}}))
    elif words[:2] == ["plugin", "uninstall"]:
        edit(settings, lambda s: off(s["enabledPlugins"]))
    elif words[:3] == ["plugin", "marketplace", "remove"]:
        edit(settings, lambda s: s["extraKnownMarketplaces"].pop("planwire"))
    now = json.loads(settings.read_text()) if settings.exists() else {{}}
    return now.get("enabledPlugins", {{}}).get("planwire@planwire"), now


def claude():
    home_folder = pathlib.Path(os.environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    enabled, now = json_agent(home_folder / "settings.json", lambda plugins: plugins.clear())
    if words == ["plugin", "list", "--json"]:
        print(json.dumps([{{"id": "planwire@planwire", "enabled": enabled}}] if enabled else []))
    if words[:1] == ["--init-only"] and enabled:
        folder = pathlib.Path(now["extraKnownMarketplaces"]["planwire"]["source"]["path"])
        hooks = json.loads((folder / "planwire/hooks/hooks.json").read_text())["hooks"]
        payload = {{"session_id": words[2], "transcript_path": str(home_folder / "projects/p" / (words[2] + ".jsonl"))}}
        payload |= {{"cwd": os.getcwd(), "hook_event_name": "SessionStart", "source": "startup"}}
        command = hooks["SessionStart"][0]["hooks"][0]["command"]
        subprocess.run(["sh", "-c", command], input=json.dumps(payload).encode(), check=True)


def copilot():
    enabled, _ = json_agent(home / ".copilot/settings.json", lambda plugins: plugins.update({{words[2]: False}}))
    if words == ["plugin", "list"]:
        print("Live Plugins:\\n  planwire@planwire (v1) (" + ("enabled" if enabled else "disabled") + ")")


def codex():
    folder = pathlib.Path(os.environ.get("CODEX_HOME") or home / ".codex")
    config, cache = folder / "config.toml", folder / "plugins/cache/planwire/planwire/1"
    text = config.read_text() if config.exists() else ""
    market = "\\n[marketplaces.planwire]\\nsource = 1\\n"
    plugin = '\\n[plugins."planwire@planwire"]\\nenabled = true\\n'
    if words[:3] == ["plugin", "marketplace", "add"]:
        (home / "market").write_text(words[3])
        text += market
    elif words[:2] == ["plugin", "add"]:
        shutil.copytree((home / "market").read_text() + "/planwire", cache)
        text += plugin
    elif words[:2] == ["plugin", "remove"]:
        shutil.rmtree(cache, ignore_errors=True)
        text = text.replace(plugin, "")
    elif words[:3] == ["plugin", "marketplace", "remove"]:
        text = text.replace(market, "")
    elif words[:2] == ["plugin", "list"]:
        found = [{{"pluginId": "planwire@planwire", "enabled": True}}] if plugin in text else []
        print(json.dumps({{"installed": found}}, indent=2))
    elif words == ["app-server"]:
        trust = "trusted" if "trusted_hash" in text else "untrusted"
        for line in sys.stdin:
            if json.loads(line).get("id") == 2:
                hook = {{"key": "planwire@planwire:hooks/hooks.json:stop:0:0", "trustStatus": trust, "enabled": True}}
                print(json.dumps({{"id": 2, "result": {{"data": [{{"hooks": [hook]}}]}}}}), flush=True)
        return
    if words[:2] != ["plugin", "list"] and words != ["--version"]:
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(text)


def extension(folder, before_install):
    ours = folder / "extensions/planwire"
    if words[:2] == ["extensions", "install"]:
        before_install()
        shutil.copytree(words[2], ours)
    elif words[:2] == ["extensions", "uninstall"]:
        shutil.rmtree(ours)
    return ours.exists()


def gemini():
    folder = pathlib.Path(os.environ.get("GEMINI_CLI_HOME") or home) / ".gemini"

    def trust():
        if sys.stdin.readline() != "y\\n":
            sys.exit("not trusted")
        trusted = {{words[2]: "TRUST_FOLDER", os.getcwd(): "TRUST_FOLDER"}}
        edit(folder / "trustedFolders.json", lambda folders: folders.update(trusted))

    is_there = extension(folder, trust)
    if words[:2] == ["extensions", "list"]:
        print("Loading\\n" + json.dumps([{{"name": "planwire", "isActive": True}}] if is_there else [], indent=2))


def qwen():
    folder = pathlib.Path(os.environ.get("QWEN_HOME") or home / ".qwen")
    is_there = extension(folder, lambda: edit(folder / "settings.json", lambda s: s.update({{"$version": 4}})))
    if words == ["extensions", "list"] and is_there:
        print("✓ planwire (1)\\n Origin: Claude\\n Enabled (User): true")


def opencode():
    pass


if words == ["--version"]:
    print(me + " 9.8.7")
globals()[me]()
'''


def install_agents(folder: Path, *programs: str) -> None:
    """Put the programs into a folder for PATH."""
    folder.mkdir(exist_ok=True)
    for each in programs or PROGRAMS:
        (folder / each).write_text(_PROGRAM.format(python=sys.executable))
        (folder / each).chmod(0o755)


def calls(home: Path) -> list[str]:
    """What the agents were asked to do, without what changes nothing."""
    path = home / "calls"
    said = path.read_text().splitlines() if path.exists() else []
    return [each for each in said if " list" not in each and "--init-only" not in each]
