"""The pytest plug-in: a clean server for every test. It loads nothing heavy until a fixture is used."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from hydrofoil.testing.remote_server import RemoteServer
    from hydrofoil.testing.session_servers import SessionServers, Used

SETTINGS = ("options", "manifests", "mode", "report", "strict_faults")
USED: pytest.StashKey[Used] = pytest.StashKey()
"""The server that a test uses."""
UNMATCHED = "hydrofoil-unmatched-faults"
"""The property of a report that names faults which no request matched."""
MARKER = (
    "hydrofoil(crds=, manifests=, faults=, users=, seed=, clock=, **options): give the test a clean server; "
    "the nearest marker wins by key"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the settings, in a file and on the command line."""
    group = parser.getgroup("hydrofoil")
    helps = {
        "options": "flags of `hydrofoil serve` for the servers of tests",
        "manifests": "files and folders that are applied to each server once a session",
        "mode": "where servers run: thread or process (with HYDROFOIL=PATH one of another environment)",
        "report": "the number of requests in the report of a failed test",
        "strict_faults": "true: a fault that no request matches fails its test, instead of a warning",
    }
    for name in SETTINGS:
        if name == "manifests":
            parser.addini(f"hydrofoil_{name}", helps[name], type="paths", default=None)
        else:
            parser.addini(f"hydrofoil_{name}", helps[name], type="string", default=None)
        group.addoption(
            f"--hydrofoil-{name.replace('_', '-')}", dest=f"hydrofoil_{name}", default=None, help=helps[name]
        )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker. Raise UsageError for a setting that has no meaning."""
    config.addinivalue_line("markers", MARKER)
    if (mode := setting(config, "mode") or "thread") not in ("thread", "process"):
        raise pytest.UsageError(f"hydrofoil_mode is thread or process, not {mode!r}")
    if not (count := setting(config, "report") or "20").isdecimal():
        raise pytest.UsageError(f"hydrofoil_report is a number of requests, not {count!r}")


def setting(config: pytest.Config, name: str) -> Any:
    """Return a setting: of the command line, else of the file; None without one."""
    given = config.getoption(f"hydrofoil_{name}")
    return given if given is not None else config.getini(f"hydrofoil_{name}")


def arguments_of_markers(item: pytest.Item) -> dict[str, Any]:
    """Return the arguments of a test's markers; the nearest wins by key."""
    found: dict[str, Any] = {}
    for marker in item.iter_markers("hydrofoil"):
        if marker.args:
            raise pytest.UsageError("the marker hydrofoil takes names: hydrofoil(crds=..., users=[...])")
        for key, value in marker.kwargs.items():
            found.setdefault(key, value)
    return found


@pytest.fixture(scope="session")
def hydrofoil_options() -> dict[str, Any]:
    """Return the options of the session's servers; override it in a conftest."""
    return {}


@pytest.fixture(scope="session")
def _hydrofoil_servers(request: pytest.FixtureRequest, hydrofoil_options: dict[str, Any]) -> Iterator[SessionServers]:
    from hydrofoil.testing.session_servers import SessionServers, flags_of

    config = request.config
    manifests = setting(config, "manifests") or ()
    if isinstance(manifests, str):
        # Separated as in a file of settings, or as other paths of a command line are.
        words = [path for word in shlex.split(manifests) for path in word.split(os.pathsep)]
        manifests = [config.invocation_params.dir / path for path in words]
    options = {**flags_of(setting(config, "options") or ""), **hydrofoil_options}
    # A command of another environment cannot run in a thread of this one.
    mode = setting(config, "mode") or ("process" if os.environ.get("HYDROFOIL", "").strip() else "thread")
    servers = SessionServers(options, [Path(path) for path in manifests], in_process=mode == "process")
    yield servers
    servers.stop()


@pytest.fixture(scope="session")
def hydrofoil_session(_hydrofoil_servers: SessionServers) -> RemoteServer:
    """Return the server of the session, one for each worker."""
    return _hydrofoil_servers.get({})


@pytest.fixture
def hydrofoil(request: pytest.FixtureRequest, _hydrofoil_servers: SessionServers) -> Iterator[RemoteServer]:
    """Yield a clean server; after the test it is as it was when this fixture was set up."""
    used = _begin(request.node, _hydrofoil_servers)
    try:
        yield used.server
    finally:
        used.end()
    if used.unmatched and str(setting(request.config, "strict_faults")).lower() in ("true", "1", "yes", "on"):
        pytest.fail(unmatched_text(used.unmatched), pytrace=False)


def _begin(item: pytest.Item, servers: SessionServers) -> Used:
    """Return the use of a server by a test, which has begun; a fault in its marker fails it in one line."""
    from hydrofoil.errors import ApiError
    from hydrofoil.server.listening import StartError

    used: Used | None = None
    try:
        used = servers.use(arguments_of_markers(item), Path(item.path).parent)
        item.stash[USED] = used
        used.begin()
        return used
    except (ApiError, OSError, StartError, TypeError, ValueError) as e:
        if used is not None:
            used.end()
        why = f"{e.strerror or e}: {e.filename}" if isinstance(e, OSError) and e.filename else str(e)
    except BaseException:
        if used is not None:
            used.end()
        raise
    # Out of the handler: the report would have the frames of the first error, too.
    pytest.fail(f"the marker hydrofoil cannot be met: {why}", pytrace=False)


def unmatched_text(faults: list[str]) -> str:
    """Return the line about faults that no request of a test matched: they have proved nothing."""
    return f"no request matched the fault{'' if len(faults) == 1 else 's'} {'; '.join(faults)}"


@pytest.fixture(autouse=True)
def _hydrofoil_marked(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("hydrofoil") is not None:
        request.getfixturevalue("hydrofoil")


@pytest.fixture
def hydrofoil_namespace(hydrofoil: RemoteServer) -> str:
    """Return the name of a new namespace."""
    name = f"test-{os.urandom(4).hex()}"  # noqa: TID251 - it must not repeat with a seed
    hydrofoil.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    return name


READ_AT_IMPORT = tuple(
    f"{package}.{module}"
    for package in ("kubernetes", "kubernetes_asyncio")
    for module in ("config", "config.kube_config")
)
"""The modules of clients that read `KUBECONFIG` when they are imported: they would miss the fixture's, and take the
user's own cluster."""


@pytest.fixture
def hydrofoil_kubeconfig(hydrofoil: RemoteServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the path of a kubeconfig, which `KUBECONFIG` names during the test."""
    path = hydrofoil.kubeconfig_file
    monkeypatch.setenv("KUBECONFIG", str(path))
    for name in [name for name in os.environ if name.startswith("KUBERNETES_SERVICE_")]:
        monkeypatch.delenv(name)
    for name in READ_AT_IMPORT:
        if name in sys.modules:
            monkeypatch.setattr(sys.modules[name], "KUBE_CONFIG_DEFAULT_LOCATION", str(path), raising=False)
    return path


@pytest.fixture
def hydrofoil_factory(
    request: pytest.FixtureRequest, _hydrofoil_servers: SessionServers
) -> Iterator[Callable[..., RemoteServer]]:
    """Yield a function that starts servers with options; they stop with the test."""
    made: list[RemoteServer] = []

    def start(**options: Any) -> RemoteServer:
        server = _hydrofoil_servers.new(options).start()
        server.folder = request.path.parent
        made.append(server)
        return server

    yield start
    for server in reversed(made):
        server.stop()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add requests, changes and open watches to the report of a failure."""
    report = yield
    used = item.stash.get(USED, None)
    if used is not None and used.unmatched and report.when == "teardown":
        # Properties reach the terminal from workers of xdist, too.
        report.user_properties.append((UNMATCHED, unmatched_text(used.unmatched)))
    if report.failed and used is not None:
        report.sections += used.sections(int(setting(item.config, "report") or 20))
    return report


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Name the faults that no request of their test matched: a name in them may be wrong."""
    lines = [
        f"{report.nodeid}: {text}"
        for reports in terminalreporter.stats.values()
        for report in reports
        for name, text in getattr(report, "user_properties", ())
        if name == UNMATCHED and report.when == "teardown"
    ]
    if lines:
        terminalreporter.section("hydrofoil faults")
        for line in dict.fromkeys(lines):
            terminalreporter.line(line)
