"""A server in the caller's loop, in a thread and in a process."""

from __future__ import annotations

import asyncio
import base64
import concurrent.futures
import contextlib
import gc
import http.client
import json
import logging
import os
import resource
import signal
import socket
import ssl
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from hydrofoil import ApiError, Server, StartError, WaitTimeout
from hydrofoil.testing.remote_server import RemoteServer
from tests.plugin.conftest import MAPS, call, make, names, widgets
from tests.plugin.runs import run


def test_the_package_alone_loads_neither_aiohttp_nor_the_extension() -> None:
    code = "import hydrofoil, sys; print([m for m in sys.modules if m.startswith(('aiohttp', 'hydrofoil._native'))])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_an_unknown_option_is_a_type_error_that_names_it() -> None:
    for form in (Server, Server.in_thread, Server.in_process):
        with pytest.raises(TypeError, match="'histroy_window'"):
            form(histroy_window="5s")


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"history_window": "5 parsecs"}, "--history-window"),
        ({"clock": "yesterday"}, "'yesterday' is no moment"),
        ({"snapshot": "/nowhere/at/all"}, "cannot read the snapshot /nowhere/at/all: No such file or directory"),
        ({"host": "203.0.113.7"}, "cannot listen on 203.0.113.7"),
    ],
)
async def test_a_start_that_fails_is_one_line(options: dict[str, str], line: str) -> None:
    for form in (Server.in_thread, Server.in_process):
        with pytest.raises(StartError, match=line) as e:
            form(**options).start()
        assert "\n" not in str(e.value)
    with pytest.raises(StartError, match=line):
        await Server(**options).start()


async def test_options_are_values_or_texts_of_flags() -> None:
    async with Server(history_window=timedelta(seconds=5)) as timed:
        assert timed.core.given.config.history_window == 5.0
    async with Server(history_window=5, controllers=[], feature_gates={"WatchList": False}) as one:
        config = one.core.given.config
        assert (config.history_window, config.controllers, config.port) == (5.0, "", 0)
    async with Server(history_window="5s", service_account_issuer=["https://a", "https://b"]) as two:
        assert two.core.given.config.service_account_issuers == ("https://a", "https://b")


async def test_a_server_in_the_loop() -> None:
    server = Server()
    with pytest.raises(RuntimeError, match="not running"):
        _ = server.url
    assert await server.start() is server
    assert server.url == f"http://{server.host}:{server.port}" and server.ca is None
    async with server.session() as session:
        made = await session.post(MAPS, json={"metadata": {"name": "a"}})
        assert made.status == 201
        found = await (await session.get(f"{server.url}{MAPS}/a")).json()
        assert found["metadata"]["name"] == "a"
    async with httpx.AsyncClient(transport=server.transport()) as client:
        assert (await client.get(f"{MAPS}/a")).json()["metadata"]["uid"] == found["metadata"]["uid"]
        assert (await client.get("http://elsewhere.invalid/healthz")).text == "ok", "in memory any host is the server"
    async with httpx.AsyncClient(transport=server.transport(), base_url="http://cluster") as client:
        assert (await client.get(f"{MAPS}/a")).status_code == 200
    await server.stop()
    await server.stop()


async def test_connections_in_memory_are_for_the_loop_of_the_server() -> None:
    async with Server() as server:
        for made in (server.session, server.transport):
            with pytest.raises(RuntimeError, match="loop of the server"):
                await asyncio.to_thread(made)
    with Server.in_thread() as other, pytest.raises(RuntimeError, match="use Server"):
        other.session()


async def test_a_watch_in_memory_streams() -> None:
    async with Server() as server, server.session() as session, session.get(MAPS, params={"watch": "1"}) as watch:
        await session.post(MAPS, json={"metadata": {"name": "a"}})
        event = json.loads(await watch.content.readline())
        assert (event["type"], event["object"]["metadata"]["name"]) == ("ADDED", "a")


async def test_what_is_large_passes_in_memory() -> None:
    async with Server() as server, server.session() as session:
        for n in range(12):
            await session.post(MAPS, json={"metadata": {"name": f"m{n}"}, "data": {"a": "x" * 200_000}})
        found = await (await session.get(MAPS)).json()
        assert len(found["items"]) == 12
    async with Server() as server, httpx.AsyncClient(transport=server.transport()) as client:
        sent = json.dumps({"metadata": {"name": "big"}, "data": {"a": "x" * 900_000}})
        assert (await client.post(MAPS, content=sent)).status_code == 201


def test_beside_the_caller(elsewhere: RemoteServer) -> None:
    make(elsewhere, "a")
    applied = elsewhere.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}})
    assert [m["metadata"]["name"] for m in applied] == ["b"]
    assert names(elsewhere) == ["a", "b"]
    found = elsewhere.wait_for("configmaps/b")
    assert found is not None and found["metadata"]["name"] == "b"
    elsewhere.stop()
    elsewhere.stop()
    with pytest.raises(RuntimeError, match="not running"):
        elsewhere.reset()


async def test_what_may_take_long_can_be_awaited(elsewhere: RemoteServer) -> None:
    aio = elsewhere.aio
    await aio.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}})
    assert (await aio.wait_for("configmaps/b")) is not None
    seen: list[str] = []
    with pytest.raises(WaitTimeout):
        await aio.wait_for("configmaps/b", lambda state: seen.append(state["kind"]), timeout=0.2)
    assert seen == ["ConfigMap"]


def test_any_thread_may_call(elsewhere: RemoteServer) -> None:
    threads = [threading.Thread(target=make, args=(elsewhere, f"m{n}")) for n in range(4)]
    looks = [threading.Thread(target=lambda: elsewhere.requests.count(verb="create")) for _ in range(4)]
    for thread in threads + looks:
        thread.start()
    for thread in threads + looks:
        thread.join()
    assert elsewhere.requests.count(verb="create") == 4


def test_a_process_ends_with_its_parent_even_if_that_is_killed() -> None:
    code = (
        "from hydrofoil import Server; import time\n"
        "s = Server.in_process().start(); print(s.pid, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        watched = os.pidfd_open(pid)
        parent.kill()
    import select

    try:
        assert select.select([watched], [], [], 20)[0], "the process has ended"
    finally:
        os.close(watched)


def test_a_process_ends_with_its_parent_even_if_a_fork_of_that_lives_on() -> None:
    code = (
        "from hydrofoil import Server; import os, time\n"
        "s = Server.in_process().start()\n"
        "fork = os.fork() or time.sleep(60)\n"
        "print(s.pid, fork, flush=True); time.sleep(60)"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid, fork = map(int, parent.stdout.readline().split())
        watched = os.pidfd_open(pid)
        parent.kill()
    import select

    try:
        assert select.select([watched], [], [], 20)[0], "the process has ended"
    finally:
        os.close(watched)
        os.kill(fork, signal.SIGKILL)


def test_a_process_finds_modules_where_its_parent_does_and_takes_none_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "queue.py").write_text("raise RuntimeError('this is not the module of Python')\n")
    import hydrofoil

    place = Path(hydrofoil.__file__).parents[1]
    code = (
        f"import queue, sys; sys.path.append({str(place)!r}); sys.path.insert(0, '')\n"
        "from hydrofoil import Server\nwith Server.in_process() as s: print(s.port > 0)"
    )
    line = [sys.executable, "-P", "-c", code]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("True\n", "")


def surroundings() -> object:
    handlers = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    loggers = (logging.root.level, list(logging.root.handlers), list(logging.getLogger("hydrofoil").handlers))
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    return handlers, loggers, limits, gc.isenabled(), gc.get_freeze_count(), dict(os.environ)


def kept() -> set[tuple[str, str]]:
    """Return the threads and open files of this process; what an earlier test left may go at any time."""
    found = {("thread", str(thread.ident)) for thread in threading.enumerate()}
    for file in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            found.add((file.name, str(file.readlink())))
    return found


@pytest.mark.timeout(300)  # in debug mode on a busy machine
async def test_a_hundred_servers_live_side_by_side_and_leave_nothing() -> None:
    async with Server():
        pass
    before, earlier = surroundings(), kept()
    tasks = asyncio.all_tasks()
    asyncio.get_running_loop().set_debug(True)
    try:
        servers = [await Server().start() for _ in range(100)]
        assert len({server.port for server in servers}) == 100
        for server in servers:
            await server.stop()
    finally:
        asyncio.get_running_loop().set_debug(False)
    # Connections are closed in the turns after the call.
    for _ in range(5):
        await asyncio.sleep(0)
    assert asyncio.all_tasks() == tasks
    assert not kept() - earlier
    assert surroundings() == before


def test_servers_in_threads_and_processes_leave_nothing() -> None:
    with Server.in_thread():
        pass
    before, earlier = surroundings(), kept()
    for form in (Server.in_thread, Server.in_thread, Server.in_process):
        with form() as server:
            path = server.kubeconfig_file
            assert path.stat().st_mode & 0o777 == 0o600
            make(server, "a")
        assert not path.exists()
    assert not kept() - earlier
    assert surroundings() == before


def test_the_kubeconfig_that_an_option_names_is_the_administrators(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    with Server.in_thread(kubeconfig=path) as server:
        (line,) = (line for line in path.read_text().splitlines() if "token:" in line)
        token = line.split(": ")[1]
        found = httpx.get(f"{server.url}/apis", headers={"Authorization": f"Bearer {token}"})
        assert (found.status_code, {"Authorization": f"Bearer {token}"}) == (200, server.headers)


def test_nothing_is_printed_nor_logged(capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with Server.in_thread() as server, Server.in_thread():
        make(server, "a")
        call(server, "GET", "/api/v1/nonsense")
        for when in ("before", "after", "body"):
            server.faults.add("cut", when=when, verb="list", times=1)
            with pytest.raises((OSError, http.client.HTTPException)):
                call(server, "GET", MAPS)
        logging.getLogger("hydrofoil").error("a failure")
    assert capfd.readouterr() == ("", "") and caplog.messages == []
    logging.getLogger("hydrofoil").error("after them, the log is as before")
    assert len(caplog.messages) == 1


def test_the_log_is_as_before_after_the_last_server(tmp_path: Path) -> None:
    program = """
import logging
from hydrofoil import Server

log, records = logging.getLogger("hydrofoil"), []
class Kept(logging.Handler):
    def emit(self, record):
        records.append(record.getMessage())

logging.getLogger().addHandler(Kept())
with Server.in_thread(), Server.in_thread():
    log.error("of a server")
log.error("of the test")
own = Kept(logging.WARNING)
log.addHandler(own)
log.propagate = False
with Server.in_thread():
    log.info("too little")
    log.error("for the handler that wants it")
print(records)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("['of the test', 'for the handler that wants it']\n", "")


def test_a_server_of_the_session_is_silent_in_every_test(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import logging

        def test_one(hydrofoil_session):
            assert hydrofoil_session.url

        def test_two(caplog):
            logging.getLogger("hydrofoil").error("a failure")
            assert caplog.messages == []
        """
    )
    run(pytester).assert_outcomes(passed=2)


async def test_an_option_names_where_objects_are_kept(tmp_path: Path) -> None:
    for names_ in (["a"], ["a", "b"]):
        async with Server(data_dir=tmp_path / "data") as server, server.session() as session:
            await session.post(MAPS, json={"metadata": {"name": names_[-1]}})
            items = (await (await session.get(MAPS)).json())["items"]
            assert [item["metadata"]["name"] for item in items] == names_


def test_users_have_what_roles_give_them_and_who_sends_nothing_is_the_administrator(elsewhere: RemoteServer) -> None:
    bob = elsewhere.user("bob", ["dev"])
    assert call(elsewhere, "GET", MAPS)[0] == 200
    assert call(elsewhere, "GET", MAPS, headers=elsewhere.headers)[0] == 200
    status, refused = call(elsewhere, "GET", MAPS, headers=bob.headers)
    assert status == 403 and refused["message"].startswith('configmaps is forbidden: User "bob" cannot list')
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": {"name": "dev"}}
    subject = {"kind": "Group", "name": "dev", "apiGroup": "rbac.authorization.k8s.io"}
    ref = {"kind": "ClusterRole", "name": "view", "apiGroup": "rbac.authorization.k8s.io"}
    elsewhere.apply({**role, "subjects": [subject], "roleRef": ref})
    assert call(elsewhere, "GET", MAPS, headers=bob.headers)[0] == 200
    assert call(elsewhere, "POST", MAPS, {"metadata": {"name": "x"}}, bob.headers)[0] == 403
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    who = call(elsewhere, "POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", review, bob.headers)[1]
    assert who["status"]["userInfo"] == {"username": "bob", "groups": ["dev", "system:authenticated"]}
    assert elsewhere.user("eve", "dev").groups == ("dev",)
    assert bob.kubeconfig["users"][0]["user"]["token"] in bob.headers["Authorization"]
    assert json.loads(bob.kubeconfig_file.read_text()) == bob.kubeconfig


@pytest.mark.parametrize("form", [Server.in_thread, Server.in_process])
def test_with_a_mode_a_request_without_credentials_has_no_rights(form: Callable[..., RemoteServer]) -> None:
    with form(authorization_mode="RBAC") as server:
        assert call(server, "GET", MAPS, headers=server.headers)[0] == 200
        assert call(server, "GET", MAPS, headers=server.user("bob").headers)[0] == 403
        status, refused = call(server, "GET", MAPS)
        assert status == 403 and refused is not None and '"system:anonymous" cannot list' in refused["message"]
        assert call(server, "GET", MAPS, headers={"Authorization": "Bearer unknown"})[0] == 401
        server.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "more"}})
        assert server.wait_for("namespaces/more") is not None


def test_an_unknown_token_is_refused_even_where_none_is_needed(elsewhere: RemoteServer) -> None:
    assert call(elsewhere, "GET", MAPS)[0] == 200
    for token in ("unknown", "a.b.c", "hydrofoil.guest.0"):
        assert call(elsewhere, "GET", MAPS, headers={"Authorization": f"Bearer {token}"})[0] == 401


def test_over_tls_too(tmp_path: Path) -> None:
    import ssl
    import urllib.request

    with Server.in_thread(cert_dir=tmp_path) as server:
        assert server.url.startswith("https://") and server.ca is not None
        trust = ssl.create_default_context(cadata=server.ca)
        request = urllib.request.Request(server.url + MAPS, headers=server.headers)
        with urllib.request.urlopen(request, context=trust) as answer:
            assert answer.status == 200
        assert "certificate-authority-data" in server.kubeconfig["clusters"][0]["cluster"]


def test_folders_are_applied_definitions_first(thread: RemoteServer, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "a.yaml").write_text(
        "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: team}\nspec: {size: 1}\n---\n"
        "# nothing here\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n"
    )
    (inner / "crd.json").write_text(json.dumps(widgets()))
    (tmp_path / "notes.txt").write_text("not a manifest")
    applied = thread.apply(tmp_path)
    assert [m["kind"] for m in applied] == ["CustomResourceDefinition", "Namespace", "Widget"]
    found = thread.wait_for("widgets.example.com/w", namespace="team")
    assert found is not None and found["spec"] == {"size": 1}
    assert found["metadata"]["managedFields"][0]["manager"] == "hydrofoil"
    assert len(thread.requests) == 0, "requests of the test itself are not recorded"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("kind: ConfigMap\n", "document 1: an object needs apiVersion and kind"),
        ("apiVersion: v1\nkind: Nope\nmetadata: {name: a}\n", 'no matches for kind "Nope" in version "v1"'),
        ("apiVersion: v1\nkind: ConfigMap\n", "an object needs a name"),
        ("{", "document 1"),
        ("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: A_B}\n", 'ConfigMap "A_B" is invalid'),
    ],
)
def test_a_refusal_names_the_file_and_the_document(
    elsewhere: RemoteServer, tmp_path: Path, text: str, words: str
) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    with pytest.raises(ApiError) as e:
        elsewhere.apply(path)
    assert str(path) in str(e.value) and "document 1" in str(e.value) and words in str(e.value)
    assert e.value.code >= 400 and e.value.reason and e.value.message


def test_waiting_ends_on_the_state_or_says_what_was_seen(elsewhere: RemoteServer) -> None:
    make(elsewhere, "a")
    with pytest.raises(WaitTimeout) as missing:
        elsewhere.wait_for("configmaps/other", timeout=0.2)
    assert elsewhere.wait_for("configmaps/a", timeout=0) is not None, "there is always one look"
    for none, why in (("configmaps/other", "it never existed"), ("nothing.example.com/a", "no resource 'nothing.exa")):
        with pytest.raises(WaitTimeout, match=f"within 0 s: {why}"):
            elsewhere.wait_for(none, timeout=0)
    with pytest.raises(ValueError, match="no condition 'is ready'"):
        elsewhere.wait_for("configmaps/a", "is ready")

    def slow(_: object) -> bool:
        raise TimeoutError("of the condition itself")

    with pytest.raises(TimeoutError, match="of the condition itself"):
        elsewhere.wait_for("configmaps/a", slow)
    assert str(missing.value) == "configmaps/other in namespace default did not exist within 0.2 s: it never existed"
    with pytest.raises(WaitTimeout, match=r"not Ready=False within 0.2 s: it was at version \d+"):
        elsewhere.wait_for("configmaps/a", "Ready=False", timeout=0.2)
    with pytest.raises(ValueError, match="must be resource/name"):
        elsewhere.wait_for("configmaps")
    done: list[object] = []
    waiter = threading.Thread(target=lambda: done.append(elsewhere.wait_for("configmaps/a", "deleted")))
    waiter.start()
    call(elsewhere, "DELETE", f"{MAPS}/a")
    waiter.join()
    assert done == [None]


def test_a_wait_ends_with_its_server(elsewhere: RemoteServer) -> None:
    errors: list[BaseException] = []

    def wait() -> None:
        try:
            elsewhere.wait_for("configmaps/none", lambda _: False, timeout=60)
        except BaseException as e:
            errors.append(e)

    make(elsewhere, "none")
    waiter = threading.Thread(target=wait)
    waiter.start()
    elsewhere.stop()
    waiter.join()
    assert [type(e) for e in errors] == [RuntimeError]


def test_conditions_are_read_in_the_status(thread: RemoteServer) -> None:
    web = {"containers": [{"name": "c", "image": "i"}]}
    selector = {"matchLabels": {"a": "b"}}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": web}
    spec = {"selector": selector, "template": template}
    thread.apply({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec})
    condition = {"type": "Available", "status": "True", "reason": "Ready"}
    path = "/apis/apps/v1/namespaces/default/deployments/web/status"
    merge = {"Content-Type": "application/merge-patch+json"}
    assert call(thread, "PATCH", path, {"status": {"conditions": [condition]}}, merge)[0] == 200
    for name in ("deployments.apps/web", "deployments/web", "deploy/web"):
        assert thread.wait_for(name, "Available") is not None
    with pytest.raises(WaitTimeout, match=r"conditions Available=True \(Ready\)"):
        thread.wait_for("deployments/web", "Progressing", timeout=0.1)


async def test_any_thread_and_any_loop_may_call_a_server_in_a_loop() -> None:
    async with Server() as server:
        asked = asyncio.Event()
        loop = asyncio.get_running_loop()

        def plain() -> None:
            before = server.snapshot()
            server.clock.freeze("2026-01-01T00:00:00Z")
            server.faults.add("delay", seconds=0).remove()
            server.clock.advance("25h")
            assert server.clock.now.isoformat() == "2026-01-02T01:00:00+00:00"
            server.restore(before)
            server.compact()
            server.reset()
            assert server.user("alice").headers and not server.watches and not len(server.requests)

        async def other() -> object:
            await server.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})
            found = await server.wait_for("configmaps/a")
            loop.call_soon_threadsafe(asked.set)
            return found

        await asyncio.to_thread(plain)
        assert await asyncio.to_thread(asyncio.run, other()) is not None and asked.is_set()
        await asyncio.to_thread(asyncio.run, server.stop())


async def test_a_loop_that_waits_for_its_caller_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hydrofoil.testing.direct.BLOCKED_SECONDS", 0.01)
    async with Server() as server:
        with concurrent.futures.ThreadPoolExecutor(1) as pool, pytest.raises(RuntimeError, match="is blocked"):
            pool.submit(server.snapshot).result()


def test_a_kubeconfig_that_a_client_changed_stays_so() -> None:
    with Server.in_thread() as server:
        path = server.kubeconfig_file
        path.write_text(path.read_text().replace('"default"', '"kube-system"'))
        assert '"kube-system"' in server.kubeconfig_file.read_text()


def test_items_of_a_list_of_one_kind_need_not_name_it(thread: RemoteServer, tmp_path: Path) -> None:
    (tmp_path / "maps.json").write_text(
        json.dumps({"apiVersion": "v1", "kind": "ConfigMapList", "items": [{"metadata": {"name": n}} for n in "ab"]})
    )
    applied = thread.apply(tmp_path)
    assert [(o["kind"], o["metadata"]["name"]) for o in applied] == [("ConfigMap", "a"), ("ConfigMap", "b")]


@pytest.mark.program("kubectl")
@pytest.mark.parametrize(
    "options",
    [{}, {"authorization_mode": "RBAC"}, {"cert_dir": "certificates"}, {"cert_dir": "certificates", "host": "0.0.0.0"}],
)
def test_kubectl_is_the_user_of_a_kubeconfig(options: dict[str, str], tmp_path: Path) -> None:
    """client-go leaves out the credentials of a kubeconfig whose server is not https."""
    given = {name: str(tmp_path / text) if name == "cert_dir" else text for name, text in options.items()}
    with Server.in_thread(**given) as server:
        for account, code in ((server, 0), (server.user("alice"), 1)):
            line = ["kubectl", "--kubeconfig", str(account.kubeconfig_file), "get", "configmaps"]
            done = subprocess.run(line, capture_output=True, text=True, check=False)
            assert done.returncode == code and ('User "alice" cannot list' in done.stderr) == bool(code), done.stderr


def test_one_port_answers_with_and_without_tls() -> None:
    with Server.in_thread() as server:
        (cluster,) = server.user("alice").kubeconfig["clusters"]
        secure, ca = cluster["cluster"]["server"], cluster["cluster"]["certificate-authority-data"]
        assert (secure, server.ca) == (f"https://{server.host}:{server.port}", None)
        context = ssl.create_default_context(cadata=base64.b64decode(ca).decode())
        for url in (secure, server.url, secure):
            with urllib.request.urlopen(f"{url}/version", context=context if url == secure else None) as answer:
                assert json.loads(answer.read())["major"] == "1"
        # A connection that sends nothing, and one that sends neither, end with the server.
        silent = socket.create_connection((server.host, server.port))
        other = socket.create_connection((server.host, server.port))
        other.sendall(b"\0\1\2\r\n\r\n")
        assert other.recv(64).startswith(b"HTTP/1.1 400")
        other.close()
    assert silent.recv(1) == b""
    silent.close()


def test_a_server_on_a_unix_socket(tmp_path: Path) -> None:
    for form in (Server.in_thread, Server.in_process):
        with form(unix_socket=tmp_path / "socket") as server:
            server.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})
            with contextlib.closing(http.client.HTTPConnection("localhost")) as client:
                client.sock = socket.socket(socket.AF_UNIX)
                client.sock.connect(str(tmp_path / "socket"))
                client.request("GET", f"{MAPS}/a")
                assert client.getresponse().status == 200
