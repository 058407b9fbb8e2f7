"""Peers are installed once, by one process at a time, and a peer that is missing says so."""

import threading
from pathlib import Path

import pytest

from tests.availability import Unavailable, or_skip
from tests.peers import install


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANWIRE_PEERS", str(tmp_path / "cache"))
    monkeypatch.delenv("PLANWIRE_REQUIRE_ALL", raising=False)
    monkeypatch.setattr(install, "_failed", {})


def test_two_who_need_a_peer_at_once_install_it_once() -> None:
    began, asked, go, calls = threading.Event(), threading.Event(), threading.Event(), list[Path]()

    def slowly(folder: Path) -> None:
        calls.append(folder)
        began.set()
        assert go.wait(10)

    def need(before: threading.Event) -> None:
        before.set()
        install.installed("peer", ["a==1"], slowly)

    first = threading.Thread(target=need, args=(threading.Event(),))
    second = threading.Thread(target=need, args=(asked,))
    first.start()
    assert began.wait(10)
    second.start()
    assert asked.wait(10)
    go.set()
    for thread in (first, second):
        thread.join(10)
    assert len(calls) == 1


def test_other_pins_go_to_another_folder() -> None:
    folders = [install.installed("peer", [pin], lambda folder: None) for pin in ("a==1", "a==2", "a==1")]
    assert folders[0] == folders[2] != folders[1]


def test_an_install_that_was_interrupted_is_done_again() -> None:
    def interrupted(folder: Path) -> None:
        (folder / "half").touch()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        install.installed("peer", ["a==1"], interrupted)
    folder = install.installed("peer", ["a==1"], lambda folder: (folder / "whole").touch())
    assert (folder / "whole").exists()
    assert not (folder / "half").exists()


def test_an_install_that_failed_is_not_tried_for_every_test() -> None:
    tries = []

    def failing(folder: Path) -> None:
        tries.append(folder)
        raise Unavailable("npm: no network")

    for _ in range(2):
        with pytest.raises(Unavailable, match="npm: no network"):
            install.installed("peer", ["a==1"], failing)
    assert len(tries) == 1


def test_without_npm_a_test_is_skipped_with_the_reason(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(pytest.skip.Exception, match="there is no node"):
        or_skip(install.npm_peers)


def test_where_everything_is_required_a_missing_peer_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("PLANWIRE_REQUIRE_ALL", "1")
    with pytest.raises(pytest.fail.Exception, match="there is no node"):
        or_skip(install.npm_peers)


def test_an_old_node_is_no_node(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "node").write_text("#!/bin/sh\necho v18.20.4\n")
    (tmp_path / "node").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(Unavailable, match=r"node is v18\.20\.4, and 20 is needed"):
        install.npm_peers()
