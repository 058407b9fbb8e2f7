"""Programs of the system that tests run: a browser, a reverse proxy, a connection pooler.

`make test` looks for them before the tests run (`python -m tests.programs`). Root on Debian has the missing ones
installed, with a message.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from tests.availability import Unavailable, all_is_required

__all__ = ["CHROMIUM", "NGINX", "PGBOUNCER", "Program"]


class Program(NamedTuple):
    """A program by its usual commands, and Debian's package of it. `setting` is the variable that names another."""

    title: str
    commands: tuple[str, ...]
    package: str
    setting: str = ""

    def path(self) -> str:
        """The path of this machine's program."""
        if given := os.environ.get(self.setting):
            return given
        places = f"{os.environ.get('PATH', '')}{os.pathsep}/usr/sbin"
        found = next((path for name in self.commands if (path := shutil.which(name, path=places))), None)
        if found is None:
            otherwise = f", or name one in {self.setting}" if self.setting else ""
            raise Unavailable(f"there is no {self.title} here: install it{otherwise}")
        return found

    def is_here(self) -> bool:
        try:
            self.path()
        except Unavailable:
            return False
        return True


CHROMIUM: Final = Program(
    "Chromium",
    ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
    "chromium",
    "PLANWIRE_BROWSER",
)
NGINX: Final = Program("nginx", ("nginx",), "nginx-light")
PGBOUNCER: Final = Program("PgBouncer", ("pgbouncer",), "pgbouncer")
PROGRAMS: Final = (CHROMIUM, NGINX, PGBOUNCER)


def _install(programs: Sequence[Program]) -> None:
    """Install Debian's packages, where that can be done."""
    if os.geteuid() or not Path("/etc/debian_version").exists() or shutil.which("apt-get") is None:
        return
    _say(f"installing Debian's {', '.join(each.package for each in programs)}, once")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    wanted = ["install", "--yes", "--no-install-recommends", *(each.package for each in programs)]
    for command in (["update"], wanted):
        done = subprocess.run(["apt-get", *command], check=False, env=environment, capture_output=True, text=True)
    if done.returncode:
        _say(f"apt-get failed: {' '.join(done.stderr.strip().splitlines()[-1:])}")


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _main() -> int:
    if missing := [each for each in PROGRAMS if not each.is_here()]:
        _install(missing)
    missing = [each for each in missing if not each.is_here()]
    for each in missing:
        _say(f"without {each.title}: tests that need it will {'fail' if all_is_required() else 'be skipped'}")
    return 1 if missing and all_is_required() else 0


if __name__ == "__main__":
    sys.exit(_main())
