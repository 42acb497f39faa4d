"""State and caches have a place, with or without a home."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from hydrofoil.cli.main import main
from hydrofoil.folders import cache_folder, state_folder


def test_the_folders_of_a_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/ignored")
    assert state_folder() == tmp_path / ".local" / "state" / "hydrofoil"
    assert cache_folder() == tmp_path / ".cache" / "hydrofoil"
    monkeypatch.setenv("XDG_STATE_HOME", "/elsewhere")
    assert state_folder() == Path("/elsewhere/hydrofoil")


@pytest.fixture
def homeless(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user without a home: neither a variable nor an entry."""

    def expanduser(_: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "expanduser", expanduser)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    for name in ("XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / f"hydrofoil-{os.getuid()}"


def test_a_user_without_a_home_has_a_folder_of_its_own(homeless: Path) -> None:
    assert state_folder() == homeless / "state"
    assert cache_folder() == homeless / ".cache"
    assert homeless.stat().st_mode & 0o777 == 0o700


def test_a_folder_that_others_may_enter_is_not_used(homeless: Path) -> None:
    homeless.mkdir()
    homeless.chmod(0o777)
    with pytest.raises(PermissionError, match="not this user's own folder"):
        state_folder()


def test_a_link_is_not_followed(homeless: Path, tmp_path: Path) -> None:
    (tmp_path / "trap").mkdir(mode=0o700)
    homeless.symlink_to(tmp_path / "trap")
    with pytest.raises(PermissionError, match="not this user's own folder"):
        state_folder()


def test_a_home_that_takes_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/proc/1")
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert state_folder() == tmp_path / f"hydrofoil-{os.getuid()}" / "state"


@pytest.mark.parametrize("words", [["assets"], ["kubectl", "get", "pods"], ["doctor"]])
def test_commands_say_it_in_one_line(
    homeless: Path, words: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    homeless.mkdir()
    homeless.chmod(0o777)
    monkeypatch.setenv("HYDROFOIL_HOST", "192.0.2.1")
    monkeypatch.setattr("hydrofoil.cli.kubectl.answers", lambda *_: None)
    monkeypatch.setattr("shutil.which", lambda _: "/bin/false")
    assert main(words) == 1
    out, err = capsys.readouterr()
    line = next(line for line in (out + err).splitlines() if "own folder" in line)
    assert f"{homeless} is not this user's own folder" in line and "XDG_STATE_HOME" in line
    assert "report this" not in line and "Traceback" not in err
