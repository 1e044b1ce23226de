"""A schedule reads what lies on the machine that marks: hidden cases, other submissions, keys, the environment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from attacking import attack, each_protection

BODY = """
    for path in {paths}:
        try:
            found = os.listdir(path) if os.path.isdir(path) else open(path, 'rb').read()
            print('READ', path, found)
        except OSError as error:
            print('refused', path, error.errno)
    print('ENVIRONMENT', 'token' in str(os.environ))
"""


@each_protection
def test_no_file_but_packages(protection: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = tmp_path / "hidden.toml"
    secret.write_text("seed = 7")
    secret.chmod(0o600)
    monkeypatch.setenv("SECRET", "token")
    paths = [f"/proc/{os.getpid()}/environ", f"/proc/{os.getpid()}/fd/1"]
    if protection != "limits":  # limits alone do not stop reading; doctor says so
        paths += [str(secret), "/etc/shadow"]
    if protection in ("bubblewrap", "landlock"):
        paths += [str(Path(__file__).parents[1]), str(Path.cwd()), "/etc/passwd", "/home", "/var/log"]
    _, printed = attack(BODY.format(paths=paths), protection, monkeypatch)
    assert "READ" not in printed
    assert printed.count("refused") == len(paths)
    assert "ENVIRONMENT False" in printed
