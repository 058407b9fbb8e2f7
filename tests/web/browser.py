"""The browser that tests run in: the system's Chromium, driven by Playwright.

`make test` looks for one before the tests run (`python -m tests.web.browser`). Where there is none, and this is Debian
and the user is root, Debian's is installed, and said so. Else the tests that need it are skipped and say why; with
`PLANWIRE_REQUIRE_BROWSER=1` that is a failure.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.peers.install import Unavailable, npm_packages

__all__ = ["axe_source", "browser_is_required", "chromium"]

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
AXE = {"axe-core": "4.11.0"}


def chromium() -> str:
    """The path of this machine's browser."""
    given = os.environ.get("PLANWIRE_BROWSER")
    found = given or next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        raise Unavailable("there is no Chromium here: install one, or name it in PLANWIRE_BROWSER")
    return found


def browser_is_required() -> bool:
    return os.environ.get("PLANWIRE_REQUIRE_BROWSER") == "1"


def axe_source() -> str:
    """The script that finds what people with disabilities can't use."""
    return (npm_packages(AXE, 18) / "node_modules" / "axe-core" / "axe.min.js").read_text()


def install() -> None:
    """Install Debian's browser, where that can be done."""
    if os.geteuid() or not Path("/etc/debian_version").exists() or shutil.which("apt-get") is None:
        raise Unavailable("there is no Chromium here, and only root on Debian can have it installed: install one")
    print("there is no browser: installing Debian's chromium, once", file=sys.stderr, flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (["apt-get", "update"], ["apt-get", "install", "--yes", "--no-install-recommends", "chromium"]):
        done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True)
        if done.returncode and command[1] == "install":
            raise Unavailable(f"apt-get could not install chromium: {done.stderr.strip().splitlines()[-1:]}")


def main() -> int:
    try:
        try:
            chromium()
        except Unavailable:
            install()
        axe_source()
    except Unavailable as problem:
        print(f"without a browser, or without axe-core: {problem}", file=sys.stderr)
        return 1 if browser_is_required() else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
