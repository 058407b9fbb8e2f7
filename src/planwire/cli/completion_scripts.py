"""Completion scripts, written from the parser: what is added to a command is completed without a line here.

Ids of sessions come from `planwire sessions --ids` when they are asked for. Agents make them up, so no shell is ever
given one to evaluate: it is compared and quoted, and the command prints harmless ones only.
"""

import argparse
from collections.abc import Callable
from typing import Final, NamedTuple

__all__ = ["SCRIPTS", "Argument", "Command", "known_commands"]

#: What an argument is, to a shell: one of some words, a session, the name of a file, or something that can't be known.
SESSION: Final = "session"
FILE: Final = "file"
UNKNOWN: Final = "unknown"
_KINDS: Final = {
    "SESSION": SESSION,
    "[SESSION] A [B]": SESSION,
    "FILE": FILE,
    "URL": FILE,
    "-- AGENT ...": FILE,
}


class Argument(NamedTuple):
    """An option (`names`) or a positional argument (no names). `kind` is None for an option that takes no value."""

    names: tuple[str, ...]
    kind: str | None
    words: tuple[str, ...]
    help: str


class Command(NamedTuple):
    name: str
    help: str
    options: tuple[Argument, ...]
    positionals: tuple[Argument, ...]


def known_commands(parser: argparse.ArgumentParser) -> list[Command]:
    """Every command of the parser with its arguments."""
    [commands] = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    summaries = {action.dest: action.help or "" for action in commands._choices_actions}
    return [
        Command(
            name,
            summaries.get(name, ""),
            tuple(_argument(action) for action in each._actions if action.option_strings),
            tuple(_argument(action) for action in each._actions if not action.option_strings),
        )
        for name, each in commands.choices.items()
    ]


def _argument(action: argparse.Action) -> Argument:
    words = tuple(str(choice) for choice in action.choices or ())
    kind = SESSION if action.dest == "session" else _KINDS.get(str(action.metavar), UNKNOWN)
    text = (action.help or "").replace("%%", "%")
    return Argument(tuple(action.option_strings), None if action.nargs == 0 else kind, words, text)


def _by_offer(commands: list[Command], offer: Callable[[Argument], str]) -> dict[str, list[str]]:
    """What is offered for the value of an option, and for which ones, as `show:--plan`."""
    cases: dict[str, list[str]] = {}
    for command in commands:
        for option in command.options:
            if option.kind is not None:
                cases.setdefault(offer(option), []).extend(f"{command.name}:{name}" for name in option.names)
    return cases


def _quoted(text: str) -> str:
    """A word as bash and zsh read it."""
    return "'" + text.replace("'", "'\\''") + "'"


def _quoted_in_fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _bash(commands: list[Command]) -> str:
    def offer(argument: Argument) -> str:
        if argument.words:
            return f"_planwire_offer {' '.join(map(_quoted, argument.words))}"
        return {SESSION: "_planwire_sessions", FILE: ":"}.get(argument.kind or "", "compopt +o default 2>/dev/null")

    values = [f"        {' | '.join(keys)}) {words}; return ;;" for words, keys in _by_offer(commands, offer).items()]
    options = [
        f"        {each.name}) _planwire_offer {' '.join(name for option in each.options for name in option.names)} ;;"
        for each in commands
    ]
    positionals = [f"        {each.name}) {offer(each.positionals[0])} ;;" for each in commands if each.positionals]
    return _BASH.format(
        commands=" ".join(each.name for each in commands),
        values="\n".join(values),
        options="\n".join(options),
        positionals="\n".join(positionals),
    )


def _zsh(commands: list[Command]) -> str:
    def offer(argument: Argument) -> str:
        if argument.words:
            return f"compadd -- {' '.join(map(_quoted, argument.words))}"
        return {SESSION: "_planwire_sessions", FILE: "_files"}.get(argument.kind or "", ":")

    def described(pairs: list[tuple[str, str]]) -> str:
        return " ".join(_quoted(f"{name}:{text}") for name, text in pairs)

    values = [f"        ({' | '.join(keys)}) {words}; return ;;" for words, keys in _by_offer(commands, offer).items()]
    options = [
        f"        ({each.name}) described=({described([(name, o.help) for o in each.options for name in o.names])}) ;;"
        for each in commands
    ]
    positionals = [f"        ({each.name}) {offer(each.positionals[0])} ;;" for each in commands if each.positionals]
    return _ZSH.format(
        commands=described([(each.name, each.help) for each in commands]),
        values="\n".join(values),
        options="\n".join(options),
        positionals="\n".join(positionals),
    )


def _fish(commands: list[Command]) -> str:
    lines = [_FISH]
    lines += [
        f"complete -c planwire -n __fish_use_subcommand -a {each.name} -d {_quoted_in_fish(each.help)}"
        for each in commands
    ]
    for each in commands:
        start = f"complete -c planwire -n '__fish_seen_subcommand_from {each.name}'"
        for option in each.options:
            names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
            lines.append(f"{start} {names}{_fish_value(option)} -d {_quoted_in_fish(option.help)}")
        value = _fish_value(each.positionals[0]) if each.positionals else ""
        if value.strip() not in ("", "-x"):
            lines.append(start + value.removeprefix(" -x").removeprefix(" -r"))
    return "\n".join(lines) + "\n"


def _fish_value(argument: Argument) -> str:
    if argument.kind is None:
        return ""
    if argument.words:
        return f" -x -a {_quoted_in_fish(' '.join(argument.words))}"
    return {SESSION: " -x -a '(__planwire_sessions)'", FILE: " -r -F"}.get(argument.kind, " -x")


_BASH: Final = """\
# planwire for bash: source <(planwire completion bash)

_planwire_offer() {{
    local word
    for word in "$@"; do
        if [[ $word == "$current"* ]]; then COMPREPLY+=("$word"); fi
    done
}}

_planwire_sessions() {{
    local word before="" journal=()
    for word in "${{COMP_WORDS[@]}}"; do
        if [[ $before == --journal ]]; then journal=(--journal "$word"); fi
        before=$word
    done
    compopt +o default 2>/dev/null
    while IFS= read -r word; do
        _planwire_offer "$word"
    done < <(planwire sessions --ids ${{journal[@]+"${{journal[@]}}"}} 2>/dev/null)
}}

_planwire() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} command="" at
    COMPREPLY=()
    for ((at = 1; at < COMP_CWORD; at++)); do
        if [[ ${{COMP_WORDS[at]}} == -- ]]; then return; fi
        if [[ -z $command && ${{COMP_WORDS[at]}} != -* ]]; then command=${{COMP_WORDS[at]}}; fi
    done
    if [[ -z $command ]]; then
        _planwire_offer {commands} --help --version
        return
    fi
    case $command:$before in
{values}
    esac
    if [[ $current == -* ]]; then
        case $command in
{options}
        esac
        return
    fi
    case $command in
{positionals}
    esac
}}

complete -o default -F _planwire planwire
"""

_ZSH: Final = """\
#compdef planwire
# planwire for zsh: planwire completion zsh > "${{fpath[1]}}/_planwire"

_planwire_sessions() {{
    local -a ids journal
    local at=${{words[(I)--journal]}}
    if (( at && at + 1 != CURRENT )); then journal=(--journal "${{(Q)words[at + 1]}}"); fi
    ids=(${{(f)"$(planwire sessions --ids $journal 2>/dev/null)"}})
    compadd -a ids
}}

_planwire() {{
    local command="" before=${{words[CURRENT - 1]}} at
    local -a described
    for (( at = 2; at < CURRENT; at++ )); do
        if [[ ${{words[at]}} == -- ]]; then _files; return; fi
        if [[ -z $command && ${{words[at]}} != -* ]]; then command=${{words[at]}}; fi
    done
    if [[ -z $command ]]; then
        described=({commands})
        _describe command described
        return
    fi
    case $command:$before in
{values}
    esac
    if [[ $PREFIX == -* ]]; then
        case $command in
{options}
        esac
        _describe -o option described
        return
    fi
    case $command in
{positionals}
    esac
}}

if [[ $funcstack[1] == _planwire ]]; then
    _planwire "$@"
else
    compdef _planwire planwire
fi
"""

_FISH: Final = """\
# planwire for fish: planwire completion fish > ~/.config/fish/completions/planwire.fish

function __planwire_sessions
    planwire sessions --ids 2>/dev/null
end

complete -c planwire -f
complete -c planwire -n __fish_use_subcommand -s h -l help -d 'show help'
complete -c planwire -n __fish_use_subcommand -l version -d 'show the version'"""

SCRIPTS: Final[dict[str, Callable[[list[Command]], str]]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}
