"""The pytest plug-in, run on suites of its own."""

from __future__ import annotations

import asyncio
import os

import pytest

from hydrofoil.testing.remote_server import RemoteServer
from tests.plugin.runs import run

HEAD = """
import json, urllib.request
import pytest

MAPS = "/api/v1/namespaces/default/configmaps"


def make(server, name):
    body = json.dumps({"metadata": {"name": name}}).encode()
    headers = {"Content-Type": "application/json"}
    with urllib.request.urlopen(urllib.request.Request(server.url + MAPS, body, headers)) as answer:
        return json.loads(answer.read())


def names(server):
    with urllib.request.urlopen(server.url + MAPS) as answer:
        return [item["metadata"]["name"] for item in json.loads(answer.read())["items"]]
"""
ISOLATED = (
    HEAD
    + """
@pytest.mark.parametrize("n", range(12))
def test_sync(hydrofoil, n):
    assert names(hydrofoil) == [] and len(hydrofoil.faults) == 0 and len(hydrofoil.requests) == 1
    assert hydrofoil.clock.now.year < 2040
    make(hydrofoil, "same")
    hydrofoil.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "same"}})
    hydrofoil.faults.add("status", code=500, verb="watch")
    hydrofoil.clock.freeze("2050-01-01T00:00:00Z")


@pytest.mark.parametrize("n", range(6))
async def test_asyncio(hydrofoil, n):
    await hydrofoil.aio.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "same"}})
    found = await hydrofoil.aio.wait_for("configmaps/same")
    assert found["metadata"]["name"] == "same"


@pytest.mark.anyio
async def test_anyio(hydrofoil):
    await hydrofoil.aio.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "same"}})


@pytest.fixture
def anyio_backend():
    return "asyncio"
"""
)


@pytest.mark.parametrize("mode", ["thread", "process"])
@pytest.mark.parametrize("workers", ["0", "4"])
def test_no_test_sees_anything_of_another(pytester: pytest.Pytester, mode: str, workers: str) -> None:
    pytester.makepyfile(ISOLATED)
    run(pytester, "-n", workers, "--hydrofoil-mode", mode).assert_outcomes(passed=19)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_in_any_order(pytester: pytest.Pytester, seed: int) -> None:
    pytester.makepyfile(ISOLATED)
    pytester.makeconftest(
        f"import random\ndef pytest_collection_modifyitems(items):\n    random.Random({seed}).shuffle(items)\n"
    )
    run(pytester).assert_outcomes(passed=19)


def test_what_wider_fixtures_made_stays(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        HEAD
        + """
@pytest.fixture(scope="module")
def base(hydrofoil_session):
    make(hydrofoil_session, "base")

def test_one(base, hydrofoil):
    assert names(hydrofoil) == ["base"]
    make(hydrofoil, "own")

def test_two(base, hydrofoil):
    assert names(hydrofoil) == ["base"]
"""
    )
    run(pytester).assert_outcomes(passed=2)


def test_faults_and_time_of_wider_fixtures_stay_too(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        HEAD
        + """
@pytest.fixture(scope="module")
def base(hydrofoil_session):
    hydrofoil_session.clock.freeze("2030-01-01T00:00:00Z")
    hydrofoil_session.faults.add("deny", verb="deletecollection")

@pytest.mark.parametrize("n", range(3))
def test_it(base, hydrofoil, n):
    (fault,) = hydrofoil.faults
    assert str(fault).startswith("deny verb=deletecollection") and len(hydrofoil.requests) == 0
    assert hydrofoil.clock.now.isoformat() == "2030-01-01T00:00:00+00:00"
    hydrofoil.faults.clear()
    hydrofoil.faults.add("deny", verb="list")
    hydrofoil.clock.advance("25h")
    hydrofoil.clock.run()
"""
    )
    run(pytester).assert_outcomes(passed=3)


def test_a_marker_says_what_a_test_needs(pytester: pytest.Pytester) -> None:
    (pytester.path / "widgets.yaml").write_text("""
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
""")
    (pytester.path / "team.yaml").write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n")
    pytester.makepyfile(
        HEAD
        + """
pytestmark = pytest.mark.hydrofoil(crds="widgets.yaml", users=["alice"], history_window="7s")

@pytest.mark.hydrofoil(manifests=["team.yaml"], faults=[dict(action="status", code=418, verb="list")])
def test_all(hydrofoil):
    assert set(hydrofoil.users) == {"alice"} and len(hydrofoil.faults) == 1
    assert hydrofoil.wait_for("namespaces/team") and hydrofoil.wait_for("customresourcedefinitions/widgets.example.com")

@pytest.mark.hydrofoil(users=["carol", ("bob", ["dev"])], seed=3, clock="2026-01-01T00:00:00Z")
class TestNearest:
    @pytest.mark.hydrofoil(crds=[])
    def test_the_nearest_wins_by_key(self, hydrofoil):
        assert set(hydrofoil.users) == {"bob", "carol"}
        assert hydrofoil.users["bob"].groups == ("dev",)
        assert hydrofoil.clock.now.isoformat() == "2026-01-01T00:00:00+00:00"
        first = make(hydrofoil, "a")["metadata"]["uid"]
        type(self).first = first

    @pytest.mark.hydrofoil(crds=[])
    def test_each_test_begins_anew(self, hydrofoil):
        assert make(hydrofoil, "a")["metadata"]["uid"] == self.first

@pytest.mark.hydrofoil(users="alice", faults=dict(action="deny", verb="list"))
def test_one_needs_no_list(hydrofoil):
    assert set(hydrofoil.users) == {"alice"} and len(hydrofoil.faults) == 1

def test_a_marked_test_uses_it_without_naming_it(request):
    assert "hydrofoil" in request.fixturenames or True
    assert request.getfixturevalue("hydrofoil").users["alice"]
"""
    )
    run(pytester).assert_outcomes(passed=5)


def test_clients_that_read_their_configuration_when_imported_use_the_fixture(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import os

        os.environ["KUBECONFIG"] = "/nowhere"
        import kubernetes
        import kubernetes.config.kube_config as loading
        import pytest


        def test_within(hydrofoil, hydrofoil_kubeconfig):
            kubernetes.config.load_kube_config()
            kubernetes.config.load_config()
            with kubernetes.client.ApiClient() as client:
                assert client.configuration.host == hydrofoil.url
                assert kubernetes.client.CoreV1Api(client).list_namespace().items


        def test_without():
            assert loading.KUBE_CONFIG_DEFAULT_LOCATION == "/nowhere"
        """
    )
    outcome = pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:warnings", "-n0")
    outcome.assert_outcomes(passed=2)


def test_namespace_kubeconfig_factory_and_options(pytester: pytest.Pytester) -> None:
    pytester.makeconftest("""
import pytest

@pytest.fixture(scope="session")
def hydrofoil_options():
    return {"history_window": "9s"}
""")
    pytester.makepyfile(
        HEAD
        + """
import os

def test_namespace(hydrofoil, hydrofoil_namespace):
    assert hydrofoil.wait_for(f"namespaces/{hydrofoil_namespace}")

def test_kubeconfig(hydrofoil, hydrofoil_kubeconfig):
    assert os.environ["KUBECONFIG"] == str(hydrofoil_kubeconfig)
    assert "KUBERNETES_SERVICE_HOST" not in os.environ
    assert json.loads(hydrofoil_kubeconfig.read_text())["clusters"][0]["cluster"]["server"] == hydrofoil.url

def test_factory(hydrofoil_factory, hydrofoil_session):
    one, two = hydrofoil_factory(seed=1), hydrofoil_factory()
    assert len({one.port, two.port, hydrofoil_session.port}) == 3
    assert hydrofoil_session._core.given.config.history_window == 9.0
    with pytest.raises(TypeError, match="histroy"):
        hydrofoil_factory(histroy=1)
"""
    )
    env = dict(os.environ)
    try:
        os.environ["KUBERNETES_SERVICE_HOST"] = "10.0.0.1"
        run(pytester).assert_outcomes(passed=3)
    finally:
        os.environ.clear()
        os.environ.update(env)


def test_settings_in_a_file_and_on_the_command_line(pytester: pytest.Pytester) -> None:
    (pytester.path / "base.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: base}\n")
    pytester.makeini(
        "[pytest]\nhydrofoil_options = --history-window=8s --controllers=\nhydrofoil_manifests = base.yaml\n"
    )
    pytester.makepyfile(
        HEAD
        + """
from hydrofoil.controllers.options import DEFAULT


def test_it(hydrofoil, pytestconfig):
    config = hydrofoil._core.given.config
    want = (3.0, DEFAULT) if pytestconfig.getoption("--hydrofoil-options") else (8.0, "")
    assert (config.history_window, config.controllers) == want
    assert names(hydrofoil) == ["base"]
"""
    )
    run(pytester).assert_outcomes(passed=1)
    run(pytester, "--hydrofoil-options=--history-window 3s").assert_outcomes(passed=1)
    (pytester.path / "more.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\n")
    pytester.makepyfile(HEAD + "def test_it(hydrofoil):\n    assert names(hydrofoil) == ['base', 'more']\n")
    for given in ("base.yaml more.yaml", f"base.yaml{os.pathsep}more.yaml"):
        run(pytester, f"--hydrofoil-manifests={given}").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("setting", "line"),
    [
        ("--hydrofoil-mode=fork", "hydrofoil_mode is thread or process, not 'fork'"),
        ("--hydrofoil-report=many", "hydrofoil_report is a number of requests, not 'many'"),
    ],
)
def test_a_setting_without_a_meaning_is_refused(pytester: pytest.Pytester, setting: str, line: str) -> None:
    pytester.makepyfile("def test_it():\n    pass\n")
    result = run(pytester, setting)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {line}"])


FAILING = (
    HEAD
    + """
@pytest.fixture
def broken(hydrofoil):
    make(hydrofoil, "in-setup")
    raise RuntimeError("setup")

@pytest.fixture
def late():
    yield
    raise RuntimeError("teardown")

def test_call(hydrofoil):
    make(hydrofoil, "fresh")
    body = json.dumps({"metadata": {"name": "hush"}, "stringData": {"k": "do-not-show"}}).encode()
    request = urllib.request.Request(hydrofoil.url + "/api/v1/namespaces/default/secrets", body,
                                     {"Content-Type": "application/json"})
    urllib.request.urlopen(request).close()
    watch = urllib.request.urlopen(hydrofoil.url + MAPS + "?watch=1")
    try:
        assert names(hydrofoil) == ["nothing"]
    finally:
        pass

def test_setup(broken):
    pass

def test_teardown(late, hydrofoil):
    make(hydrofoil, "in-call")
"""
)


def test_the_report_of_a_failure_shows_requests_changes_and_watches(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(FAILING)
    result = run(pytester, "-W", "default::pytest.PytestUnraisableExceptionWarning", "-W", "default::ResourceWarning")
    result.assert_outcomes(passed=1, failed=1, errors=2)
    text = result.stdout.str()
    call, setup, teardown = (
        text[text.index(f"___ {name}") :] for name in ("test_call", "ERROR at setup", "ERROR at tear")
    )
    for part, name in ((call, "fresh"), (setup, "in-setup"), (teardown, "in-call")):
        for title in ("hydrofoil requests", "hydrofoil changes", "hydrofoil watches"):
            assert f" {title} " in part
        assert f"+ configmaps default/{name}" in part
    assert "POST /api/v1/namespaces/default/configmaps -> 201 (admin, " in call
    assert "configmaps in default by admin (Python-urllib/" in call
    assert "+ secrets default/hush" in call
    hidden = text.replace('"k": "do-not-show"', "")
    assert "do-not-show" not in hidden and "ZG8tbm90LXNob3c" not in text


def test_the_number_of_requests_in_a_report_is_a_setting(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(HEAD + "def test_it(hydrofoil):\n    [names(hydrofoil) for _ in range(5)]\n    assert 0\n")
    text = run(pytester, "--hydrofoil-report=2").stdout.str()
    assert text.count(" -> 200 (admin") == 2 and "... 3 before" in text


def test_the_plug_in_loads_nothing_heavy_and_can_be_switched_off(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("""
import sys
def test_it(pytestconfig):
    assert not {"aiohttp", "uvloop", "hydrofoil._native"} & set(sys.modules)
    assert any(line.startswith("hydrofoil(") for line in pytestconfig.getini("markers"))
""")
    run(pytester, "--strict-markers", "-p", "no:anyio").assert_outcomes(passed=1)
    pytester.makepyfile("def test_it(hydrofoil):\n    pass\n")
    result = run(pytester, "-p", "no:hydrofoil")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*fixture 'hydrofoil' not found*"])


@pytest.mark.parametrize("mode", ["thread", "process"])
def test_a_test_that_stops_its_server_is_alone_with_that(pytester: pytest.Pytester, mode: str) -> None:
    pytester.makepyfile(
        HEAD
        + """
import os


def test_stops(hydrofoil):
    make(hydrofoil, "a")
    hydrofoil.stop()


def test_kills(hydrofoil):
    assert names(hydrofoil) == ["first"]
    if hasattr(hydrofoil, "pid"):
        os.kill(hydrofoil.pid, 9)
        while hydrofoil.runs:
            pass


def test_goes_on(hydrofoil):
    assert names(hydrofoil) == ["first"]
"""
    )
    pytester.makefile(".yaml", first="apiVersion: v1\nkind: ConfigMap\nmetadata: {name: first}\n")
    run(pytester, "--hydrofoil-mode", mode, "--hydrofoil-manifests", "first.yaml").assert_outcomes(passed=3)


UNMATCHED = (
    HEAD
    + """
import pytest

@pytest.mark.hydrofoil(faults=[{"action": "status", "code": 503, "verb": "list", "resource": "secrets"}])
def test_nothing_meets_it(hydrofoil):
    names(hydrofoil)

def test_removed(hydrofoil):
    hydrofoil.faults.add("deny", resource="pods").remove()

@pytest.mark.hydrofoil(faults=[{"action": "delay", "seconds": 0, "verb": "list"}])
def test_met(hydrofoil):
    names(hydrofoil)
"""
)


@pytest.mark.parametrize("strict", [False, True])
def test_a_fault_that_no_request_matched_is_named(pytester: pytest.Pytester, strict: bool) -> None:
    """A typo in it would make a test of failures green for ever (newcomer 2)."""
    pytester.makepyfile(UNMATCHED)
    pytester.makeini(f"[pytest]\nhydrofoil_strict_faults = {str(strict).lower()}\n")
    result = run(pytester)
    result.assert_outcomes(passed=3, errors=2 if strict else 0)
    text = result.stdout.str()
    assert "no request matched the fault status verb=list resource=secrets code=503" in text
    assert "no request matched the fault deny resource=pods" in text
    assert "delay" not in text.partition("hydrofoil faults")[2]
    assert "Traceback" not in text


def test_a_wait_in_a_running_loop_names_the_other(thread: RemoteServer) -> None:
    """It would block the operator that the loop runs (newcomer 5)."""

    async def wait() -> None:
        with pytest.raises(RuntimeError, match=r"await hydrofoil\.aio\.wait_for"):
            thread.wait_for("namespaces/default")
        assert await thread.aio.wait_for("namespaces/default", lambda o: o["status"]["phase"] == "Active")

    asyncio.run(wait())


FOLDERS = """
import pytest


@pytest.mark.hydrofoil(crds="here.yaml")
def test_paths_begin_at_the_folder_of_the_test(hydrofoil, hydrofoil_factory, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for server in (hydrofoil, hydrofoil_factory()):
        server.apply("here.yaml", namespace="kube-public")
        assert server.get("configmaps/here", "kube-public")
    with pytest.raises(FileNotFoundError, match="below/there.yaml"):
        hydrofoil.apply("there.yaml")


def test_those_of_wider_fixtures_at_the_working_folder(made):
    assert made == ["there"]
"""


def test_paths_of_calls_begin_where_those_of_the_marker_do(pytester: pytest.Pytester) -> None:
    """Finding 19: `apply("x")` and `crds="x"` are one file."""
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {}}}\n"
    below = pytester.mkpydir("below")
    (below / "test_it.py").write_text(FOLDERS)
    (below / "here.yaml").write_text(text.format("here"))
    (pytester.path / "there.yaml").write_text(text.format("there"))
    pytester.makeconftest(
        "import pytest\n@pytest.fixture(scope='session')\ndef made(hydrofoil_session):\n"
        "    return [o['metadata']['name'] for o in hydrofoil_session.apply('there.yaml')]\n"
    )
    run(pytester).assert_outcomes(passed=2)


@pytest.mark.parametrize(
    ("marker", "words"),
    [
        ('user=["alice"]', "Server has no option 'user' (users?)"),
        ('crds="nope.yaml"', "No such file or directory, and no manifest "),
        ('faults=[{"action": "statsu", "code": 503}]', "no action 'statsu' (status?)"),
        ('faults=[{"action": "deny", "resource": "secret"}]', "no resource 'secret' is served (secrets?)"),
        ("port='abc'", "abc"),
    ],
)
def test_a_marker_that_cannot_be_met_is_one_line(pytester: pytest.Pytester, marker: str, words: str) -> None:
    """Not the frames of the plug-in (newcomer 17)."""
    pytester.makepyfile(HEAD + f"import pytest\n@pytest.mark.hydrofoil({marker})\ndef test_it(hydrofoil): pass\n")
    result = run(pytester)
    result.assert_outcomes(errors=1)
    text = result.stdout.str()
    assert "the marker hydrofoil cannot be met: " in text and words in text
    assert len(text.splitlines()) < 30 and "During handling" not in text, text
