"""Plans in files: only markdown inside the session's folders is read."""

import os
import pwd
from pathlib import Path
from types import SimpleNamespace

import pytest

from planwire.errors import ToolError
from planwire.model.plan import BODY_CAP
from planwire.tools.plan_files import plan_file_reader, read_plan_file


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "plan.md").write_text("- [ ] ünï\n")
    (tmp_path / "secret.md").write_text("secret")
    (tmp_path / "project-too").mkdir()
    (tmp_path / "project-too" / "plan.md").write_text("other")
    return folder


def refusal(path: Path | str, project: Path) -> ToolError:
    with pytest.raises(ToolError) as refused:
        read_plan_file(str(path), [project])
    assert refused.value.hint
    return refused.value


def test_a_markdown_file_in_the_project_is_read(project: Path) -> None:
    assert read_plan_file(str(project / "plan.md"), ["/nowhere", project]) == "- [ ] ünï\n"


def test_a_link_inside_the_project_is_followed(project: Path) -> None:
    (project / "docs").mkdir()
    (project / "docs" / "link.md").symlink_to(project / "plan.md")
    assert read_plan_file(str(project / "docs" / "link.md"), [project]).startswith("- [ ]")


def test_a_project_folder_that_is_itself_a_link_is_a_project_folder(project: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(project)
    assert read_plan_file(str(tmp_path / "alias" / "plan.md"), [tmp_path / "alias"]).startswith("- [ ]")


@pytest.mark.parametrize("path", ["plan.md", "./plan.md", "docs/../plan.md"])
def test_a_path_that_is_not_absolute_is_meant_from_the_folder_that_has_it(
    project: Path, path: str, tmp_path: Path
) -> None:
    (project / "docs").mkdir()
    assert read_plan_file(path, [tmp_path / "nowhere", project]) == "- [ ] ünï\n"


@pytest.mark.parametrize("path", ["../secret.md", "~/plan.md", "", "plan\0.md", "other.md"])
def test_a_path_that_leads_nowhere_or_out_of_the_folders_is_refused(project: Path, path: str) -> None:
    assert refusal(path, project).code == "unreadable_path"


def test_without_a_folder_a_path_is_absolute() -> None:
    with pytest.raises(ToolError, match="not an absolute path, and this session has no folder"):
        read_plan_file("plan.md", [])


@pytest.mark.parametrize("way", ["../secret.md", "../project-too/plan.md", "docs/../../secret.md"])
def test_a_way_out_of_the_project_is_refused(project: Path, way: str) -> None:
    (project / "docs").mkdir()
    assert "outside the folders" in str(refusal(f"{project}/{way}", project))


def test_a_link_out_of_the_project_is_refused(project: Path, tmp_path: Path) -> None:
    (project / "link.md").symlink_to(tmp_path / "secret.md")
    assert "outside the folders" in str(refusal(project / "link.md", project))


def test_a_folder_that_becomes_a_link_out_of_the_project_while_it_is_read_is_refused(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "docs").mkdir()
    (project / "docs" / "secret.md").write_text("harmless")
    is_relative_to = Path.is_relative_to

    def swapped_after_the_look(path: Path, root: Path) -> bool:
        inside = is_relative_to(path, root)
        (project / "docs").rename(project / "was")
        (project / "docs").symlink_to(tmp_path)
        return inside

    monkeypatch.setattr(Path, "is_relative_to", swapped_after_the_look)
    assert "can't be opened" in str(refusal(project / "docs" / "secret.md", project))


def test_a_link_to_another_kind_of_file_is_refused(project: Path) -> None:
    (project / "id_rsa").write_text("key")
    (project / "link.md").symlink_to(project / "id_rsa")
    assert "not a .md file" in str(refusal(project / "link.md", project))


@pytest.mark.parametrize("name", ["plan.txt", "plan", ".md"])
def test_another_kind_of_file_is_refused(project: Path, name: str) -> None:
    (project / name).write_text("x")
    assert "not a .md file" in str(refusal(project / name, project))


def test_a_file_that_is_not_there_is_refused(project: Path) -> None:
    assert "can't be found" in str(refusal(project / "none.md", project))


def test_what_is_no_regular_file_is_refused_and_never_waited_for(project: Path) -> None:
    (project / "folder.md").mkdir()
    os.mkfifo(project / "pipe.md")
    assert refusal(project / "folder.md", project).code == "unreadable_path"
    assert "not a regular file" in str(refusal(project / "pipe.md", project))


def test_a_loop_of_links_is_refused(project: Path) -> None:
    (project / "a.md").symlink_to(project / "b.md")
    (project / "b.md").symlink_to(project / "a.md")
    assert "can't be opened" in str(refusal(project / "a.md", project))


def test_a_file_over_the_cap_is_refused_and_one_within_is_read(project: Path) -> None:
    (project / "big.md").write_text("x" * (BODY_CAP + 1))
    assert refusal(project / "big.md", project).details == {"bytes": BODY_CAP + 1, "cap": BODY_CAP}
    (project / "big.md").write_text("x" * BODY_CAP)
    assert len(read_plan_file(str(project / "big.md"), [project])) == BODY_CAP


def test_a_file_that_is_no_text_is_refused(project: Path) -> None:
    (project / "bin.md").write_bytes(b"\xff\xfe")
    assert "not UTF-8" in str(refusal(project / "bin.md", project))


def test_without_folders_nothing_is_read(project: Path) -> None:
    with pytest.raises(ToolError, match="outside the folders"):
        read_plan_file(str(project / "plan.md"), [])


def test_an_address_is_read_by_the_same_rule_and_anything_else_is_no_text(project: Path, tmp_path: Path) -> None:
    read = plan_file_reader([project])
    assert read((project / "plan.md").as_uri()) == "- [ ] ünï\n"
    (project / "large.md").write_text("x" * (BODY_CAP + 1))
    others = [(tmp_path / "secret.md").as_uri(), (project / "large.md").as_uri(), "file://other/plan.md", "plan.md"]
    others += [f"http://localhost{project}/plan.md", "file://[", "", "file:///%00.md", f"{project.as_uri()}/gone.md"]
    assert [read(uri) for uri in others] == [None] * len(others)


@pytest.mark.parametrize("wide", ["/", "~", "~/.."])
def test_a_folder_that_holds_more_than_plans_is_none(
    wide: str, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(project))
    assert "outside the folders" in str(refusal(project / "plan.md", Path(wide).expanduser()))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert read_plan_file(str(project / "plan.md"), [project]) == "- [ ] ünï\n"


def test_an_accounts_home_holds_more_than_plans_whatever_the_environment_says(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pwd, "getpwuid", lambda _: SimpleNamespace(pw_dir=str(project)))
    for home in ("/nowhere", "", str(project / "inside")):
        monkeypatch.setenv("HOME", home)
        assert "outside the folders" in str(refusal(project / "plan.md", project))


def test_a_refusal_outside_of_the_folders_does_not_say_what_exists_there(project: Path, tmp_path: Path) -> None:
    (project / "up").symlink_to(tmp_path)
    for way in (tmp_path, project / "up"):
        words = {str(refusal(way / name, project)).replace(name, "X") for name in ("secret.md", "none.md")}
        assert len(words) == 1
