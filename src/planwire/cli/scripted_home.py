"""The environment of an agent on a scripted model: a private home, fake keys, and no network.

Every variable and file by which known agents find their model is set, so that most agents need no script of their own.
"""

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from planwire.check.play import Script
from planwire.errors import InputError, reason

_KEY: Final = "scripted-model-needs-no-key"
_NOWHERE: Final = "http://127.0.0.1:9"  # the discard port: every way out is refused at once
#: The variables of the user's environment that an agent needs to start at all. The rest is removed, since it may hold
#: settings and keys.
_KEPT: Final = re.compile(
    r"(PATH|PATHEXT|LANG|LC_\w+|TERM|TMPDIR|TEMP|TMP|SHELL|SYSTEMROOT|COMSPEC|PYTHON\w*|PYENV_ROOT|VIRTUAL_ENV|NODE_PATH|"
    r"NVM_\w+|PLANWIRE_\w+)",
    re.IGNORECASE,
)
_ENVIRONMENT: Final = {
    "HOME": "{home}",
    "USERPROFILE": "{home}",
    "ANTHROPIC_BASE_URL": "{model}",
    "OPENAI_BASE_URL": "{model}/v1",
    "OPENAI_API_BASE": "{model}/v1",
    "OPENAI_MODEL": "scripted",
    "GOOGLE_GEMINI_BASE_URL": "{model}",
    **dict.fromkeys(("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"), _KEY),
    **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"), _NOWHERE),
    "NO_PROXY": "127.0.0.1,localhost",
    "no_proxy": "127.0.0.1,localhost",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION": "false",
    "CLAUDE_CODE_ENABLE_TASKS": "0",
    "CLAUDE_CODE_ENABLE_TODO_TOOLS": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "DISABLE_TELEMETRY": "1",
    "GEMINI_CLI_NO_RELAUNCH": "1",
    "GEMINI_CLI_TRUST_WORKSPACE": "true",
    "LANGSMITH_TRACING": "false",
    **{f"OPENCODE_DISABLE_{what}": "1" for what in ("AUTOUPDATE", "LSP_DOWNLOAD", "MODELS_FETCH", "SHARE")},
}
CODEX_SETTINGS: Final = """\
model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false
mcp_optional_startup_grace_ms = 30000

[analytics]
enabled = false

[tools.update_plan]
enabled = true

[model_providers.scripted]
name = "scripted"
base_url = "{model}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
request_max_retries = 0
stream_max_retries = 0

[projects."{project}"]
trust_level = "trusted"
"""
_OPENCODE: Final = {
    "model": "scripted/scripted",
    "small_model": "scripted/scripted",
    "autoupdate": False,
    "share": "disabled",
    "provider": {
        "scripted": {
            "npm": "@ai-sdk/openai-compatible",
            "name": "scripted",
            "options": {"baseURL": "{model}/v1", "apiKey": _KEY},
            "models": {"scripted": {"name": "scripted", "limit": {"context": 128_000, "output": 8_000}}},
        }
    },
}
_GEMINI: Final = {
    "security": {"auth": {"selectedType": "gemini-api-key"}},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"disableAutoUpdate": True},
}
_HERMES: Final = """\
model:
  provider: custom
  default: scripted
  base_url: {model}/v1
  api_key: scripted-model-needs-no-key
  context_length: 128000
"""
_FILES: Final = {
    ".codex/config.toml": CODEX_SETTINGS,
    ".config/opencode/opencode.json": json.dumps(_OPENCODE, indent=2),
    ".gemini/settings.json": json.dumps(_GEMINI, indent=2),
    ".hermes/config.yaml": _HERMES,
}


def furnish(home: Path, project: str, model: str, script: Script) -> dict[str, str | None]:
    """Write the files of an agent's home. Returns the changes to its environment; None removes a variable."""
    places = {"{model}": model, "{home}": str(home), "{project}": project}
    for name, text in {**_FILES, **script.files}.items():
        _write(home, name, _filled(text, places))
    wanted: Mapping[str, str] = {**_ENVIRONMENT, **script.environment}
    changes: dict[str, str | None] = dict.fromkeys(name for name in os.environ if not _KEPT.fullmatch(name))
    return {**changes, **{name: _filled(value, places) for name, value in wanted.items()}}


def _write(home: Path, name: str, text: str) -> None:
    file = (home / name).resolve()
    if not file.is_relative_to(home.resolve()):
        raise InputError(f"the script's file {name!r} is outside of the agent's home: name it relative to that")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError(f"the script's file {name!r} can't be written: {reason(error)}") from None


def _filled(text: str, places: Mapping[str, str]) -> str:
    for place, value in places.items():
        text = text.replace(place, value)
    return text
