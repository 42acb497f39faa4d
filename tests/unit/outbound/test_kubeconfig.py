"""Kubeconfig files of webhooks (client-go `tools/clientcmd`)."""

from __future__ import annotations

import base64
from pathlib import Path

import orjson
import pytest

from hydrofoil.outbound import kubeconfig
from hydrofoil.outbound.target import Target
from tests.authorities import Authority

Object = dict[str, object]


def written(folder: Path, cluster: Object, user: Object | None = None, **more: object) -> str:
    document: Object = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": user or {}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    } | more
    path = folder / "kubeconfig"
    path.write_bytes(orjson.dumps(document))
    return str(path)


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority("ca")


def test_files_and_data_of_a_server_and_a_user(tmp_path: Path, authority: Authority) -> None:
    certificate, key = authority.issue("client")
    (tmp_path / "ca.crt").write_bytes(authority.certificate)
    (tmp_path / "token").write_text("secret\n")
    encoded = [base64.b64encode(data).decode() for data in (certificate, key)]
    user: Object = {"client-certificate-data": encoded[0], "client-key-data": encoded[1], "tokenFile": "token"}
    path = written(tmp_path, {"server": "https://h:1/a", "certificate-authority": "ca.crt"}, user)
    target: Target = kubeconfig.read(path)
    assert target.url == "https://h:1/a"
    assert target.trust.ca == authority.certificate
    assert target.trust.certificate == certificate
    assert "PRIVATE" not in repr(target.trust)
    assert target.authorization == "Bearer secret"


def test_yaml_and_a_password(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.write_text(
        "clusters:\n- name: c\n  cluster: {server: 'http://h'}\nusers:\n- name: u\n"
        "  user: {username: a, password: b}\ncontexts:\n- {name: x, context: {cluster: c, user: u}}\n"
        "current-context: x\n"
    )
    assert kubeconfig.read(str(path)).authorization == "Basic YTpi"


SERVER: Object = {"server": "https://h"}


@pytest.mark.parametrize(
    ("cluster", "user", "more", "text"),
    [
        ({}, {}, {}, "no server found"),
        ({"server": "ftp://h"}, {}, {}, "must be an https"),
        (SERVER, {}, {"current-context": "y"}, "context was not found for specified context: y"),
        (SERVER, {}, {"current-context": ""}, "no current-context"),
        (SERVER, {}, {"clusters": []}, 'cluster "c" does not exist'),
        (SERVER, {}, {"users": 3}, 'user "u" does not exist'),
        (SERVER, {}, {"kind": "Pod"}, "not a Config"),
        (SERVER | {"certificate-authority": "no.crt"}, {}, {}, "unable to read certificate-authority no.crt due to"),
        (SERVER | {"certificate-authority-data": "%"}, {}, {}, "is not base64"),
        (SERVER | {"certificate-authority-data": "YQ=="}, {}, {}, "unable to load root certificates"),
        (SERVER | {"proxy-url": "http://p"}, {}, {}, "proxy-url is not supported"),
        (SERVER, {"exec": {"command": "x"}}, {}, "exec is not supported"),
        (SERVER, {"token": "a", "username": "b"}, {}, "more than one authentication method"),
        (SERVER, {"token": "a\r\nX: y"}, {}, "control character"),
        (SERVER, {"client-certificate-data": "YQ=="}, {}, "must be specified together"),
        (SERVER, {"client-certificate-data": "YQ==", "client-key-data": "YQ=="}, {}, "failed to find or to match"),
    ],
)
def test_refusals_are_one_line(tmp_path: Path, cluster: Object, user: Object, more: Object, text: str) -> None:
    with pytest.raises(ValueError, match=r"^.+$") as refused:
        kubeconfig.read(written(tmp_path, cluster, user, **more))
    assert text in str(refused.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no such file or directory$"):
        kubeconfig.read(str(tmp_path / "missing"))
    (tmp_path / "bad").write_text("{a: [")
    with pytest.raises(ValueError, match=r"^error loading config file .*$"):
        kubeconfig.read(str(tmp_path / "bad"))
    (tmp_path / "large").write_bytes(b" " * (kubeconfig.LARGEST + 1))
    with pytest.raises(ValueError, match=r"is larger than"):
        kubeconfig.read(str(tmp_path / "large"))
