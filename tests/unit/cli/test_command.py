"""Values of flags: what kube-apiserver takes is taken, and refused in its words (`settings/flags` of the kit)."""

from __future__ import annotations

import re
from typing import Any

import pytest

from hydrofoil.cli import drop_in
from hydrofoil.cli.bench import COMMAND as BENCH
from hydrofoil.cli.command import BARE
from hydrofoil.cli.main import main
from hydrofoil.cli.serve import COMMAND
from hydrofoil.controllers.options import ALL
from hydrofoil.options import Refused, flags
from hydrofoil.server.config import ROOMS

REFUSED = {
    "--nope": "unknown flag: --nope",
    "--kubeconf=x": "unknown flag: --kubeconf",
    "-z": "unknown shorthand flag: 'z' in -z",
    "extra": '"hydrofoil serve" does not take any arguments, got ["extra"]',
    "--port": "flag needs an argument: --port",
    "-v": "flag needs an argument: 'v' in -v",
    "--port x": 'invalid argument "x" for "--port" flag: strconv.ParseInt: parsing "x": invalid syntax',
    "--secure-port=x": 'invalid argument "x" for "--secure-port" flag: strconv.ParseInt: parsing "x": invalid syntax',
    "--port 99999999999999999999": 'invalid argument "99999999999999999999" for "--port" flag: '
    'strconv.ParseInt: parsing "99999999999999999999": value out of range',
    "--secure-port 70000": "--secure-port 70000 must be between 1 and 65535, inclusive. It cannot be turned off "
    "with 0, which takes any free port",
    "--port -1": "--port -1 must be between 1 and 65535, inclusive. It cannot be turned off with 0, "
    "which takes any free port",
    "--history-events -1": "--history-events can not be negative value",
    "--history-bytes=-1": "--history-bytes can not be negative value",
    "--list-cache-bytes -5": "--list-cache-bytes can not be negative value",
    "--max-requests-inflight -1": "--max-requests-inflight can not be negative value",
    "--max-mutating-requests-inflight=-1": "--max-mutating-requests-inflight can not be negative value",
    "--request-timeout=-1s": "--request-timeout can not be negative value",
    "--request-timeout 5": 'invalid argument "5" for "--request-timeout" flag: time: missing unit in duration "5"',
    "--request-timeout 5y": 'invalid argument "5y" for "--request-timeout" flag: '
    'time: unknown unit "y" in duration "5y"',
    "--history-window never": 'invalid argument "never" for "--history-window" flag: time: invalid duration "never"',
    "--livez-grace-period -1s": "--livez-grace-period can not be a negative value",
    "--shutdown-delay-duration -1s": "--shutdown-delay-duration can not be negative value",
    "--show-hidden-metrics-for-version 1.20": 'metrics.showHiddenMetricsForVersion: Invalid value: "1.20": '
    "must be omitted or have the value '1.35'; only the previous minor version is allowed",
    "--history-window 0": "--history-window must be greater than 0, such as 5m",
    "--history-window 2000000h": "--history-window 2000000h must not be longer than 876000h",
    "-v x": 'invalid argument "x" for "-v, --v" flag: strconv.ParseUint: parsing "x": invalid syntax',
    "--v=-1": 'invalid argument "-1" for "-v, --v" flag: strconv.ParseUint: parsing "-1": invalid syntax',
    "--log-format xml": '--log-format "xml" must be one of text, json',
    "--controllers foo": f'"foo" is not in the list of known controllers: {", ".join(ALL)}',
    "--controllers *,-deploymen": f'"deploymen" is not in the list of known controllers: {", ".join(ALL)}',
    "--cluster=x": 'invalid argument "x" for "--cluster" flag: strconv.ParseInt: parsing "x": invalid syntax',
    "--nodes -1": "--nodes can not be negative value",
    "--node-eviction-rate x": 'invalid argument "x" for "--node-eviction-rate" flag: '
    'strconv.ParseFloat: parsing "x": invalid syntax',
    "--feature-gates CBORServingAndStorage": "missing bool value for CBORServingAndStorage",
    "--feature-gates A=maybe": 'invalid value of A=maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax',
    "--runtime-config apps/v1=maybe": "invalid value of apps/v1: maybe, err: "
    'strconv.ParseBool: parsing "maybe": invalid syntax',
    "--runtime-config api/all=1": "invalid value api/all=1",
    "--service-node-port-range 1-99999": 'invalid argument "1-99999" for "--service-node-port-range" flag: '
    "the port range cannot be greater than 65535: 1-99999",
    "--service-node-port-range 9-1": 'invalid argument "9-1" for "--service-node-port-range" flag: '
    "end port cannot be less than start port: 9-1",
    "--service-endpoints a=b:1": 'invalid argument "a=b:1" for "--service-endpoints" flag: '
    '"a=b:1" is not NAMESPACE/NAME=HOST:PORT',
    "--service-endpoints a/b=c:99999": 'invalid argument "a/b=c:99999" for "--service-endpoints" flag: '
    '"a/b=c:99999" is not NAMESPACE/NAME=HOST:PORT',
    "--service-account-issuer :x": "service-account-issuer \":x\" contained a ':' but was not a valid URL: "
    'parse ":x": missing protocol scheme',
    "--service-cluster-ip-range x": "service-cluster-ip-range[0] is not a valid cidr",
    "--service-cluster-ip-range 10.0.0.1": "service-cluster-ip-range[0] is not a valid cidr",
    "--service-cluster-ip-range 10.0.0.0/99": "service-cluster-ip-range[0] is not a valid cidr",
    "--service-cluster-ip-range 10.0.0.0/24,x": "service-cluster-ip-range[1] is not an ip net",
    "--service-cluster-ip-range 10.0.0.0/31": "error determining service IP ranges for primary service cidr: "
    "the service cluster IP range must be at least 8 IP addresses",
    "--service-cluster-ip-range 0.0.0.0/0": "error determining service IP ranges for primary service cidr: "
    "the service cluster IP range must be at least 8 IP addresses",
    "--service-cluster-ip-range fd00::/112,fd01::/112": "--service-cluster-ip-range[0] and "
    "--service-cluster-ip-range[1] must be of different IP family",
    "--service-cluster-ip-range 10.0.0.0/24,fd00::/112,10.1.0.0/24": "--service-cluster-ip-range "
    "must not contain more than two entries",
    "--service-cluster-ip-range 10.0.0.0/24,10.1.0.0/24,10.2.0.0/24": "[--service-cluster-ip-range must not contain "
    "more than two entries, --service-cluster-ip-range[0] and --service-cluster-ip-range[1] must be of different IP "
    "family]",
    "--service-cluster-ip-range fd00::/48": "--service-cluster-ip-range: shortest allowed prefix length for service "
    "CIDR is 64, got 48",
}


@pytest.mark.parametrize("words", REFUSED)
def test_the_drop_in_refuses_in_words_of_upstream_with_code_1(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--show-config", *words.split()], drop_in.COMMANDS) == 1
    assert capsys.readouterr() == ("", f"hydrofoil: {REFUSED[words]}\n")


@pytest.mark.parametrize("words", REFUSED)
def test_a_bad_command_line_is_one_line_in_plain_words_and_code_2(
    words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", "--show-config", *words.split()]) == 2
    out, err = capsys.readouterr()
    assert out == "" and re.fullmatch(r"hydrofoil: .+ \(.+\)\n", err)
    assert not re.search(r"strconv|time: |err: |metrics\.show.*: Invalid value: $|invalid syntax", err), err
    if words.startswith("--") and words.split(maxsplit=1)[0].partition("=")[0] not in ("--nope", "--kubeconf"):
        assert words.split(maxsplit=1)[0].partition("=")[0].lstrip("-") in err


PLAIN = {
    "--port x": '--port: "x" is no whole number (hydrofoil serve --help)',
    "--port 99999": "--port 99999 must be between 1 and 65535, or 0 for any free port (hydrofoil serve --help)",
    "--prot 1": "unknown flag: --prot (--port?)",
    "--request-timeout 5": '--request-timeout: "5" has no unit: it must be like 5s, 10m or 1h30m '
    "(hydrofoil serve --help)",
    "--history-window never": '--history-window: "never" is no duration: it must be like 5s, 10m or 1h30m '
    "(hydrofoil serve --help)",
    "--feature-gates A=maybe": '--feature-gates: invalid value of A=maybe: "maybe" is neither true nor false '
    "(hydrofoil serve --help)",
    "--history-events -1": "--history-events must not be negative (hydrofoil serve --help)",
    "--goaway-chance 1": "--goaway-chance must be between 0 and 0.02 (hydrofoil serve --help)",
}


@pytest.mark.parametrize("words", PLAIN)
def test_plain_words(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", *words.split()]) == 2
    assert capsys.readouterr().err == f"hydrofoil: {PLAIN[words]}\n"


def test_a_variable_of_no_flag_is_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HYDROFOIL_PROT", "HYDROFOIL_WATCHERS", "HYDROFOIL_CI"):
        monkeypatch.setenv(name, "1")
    assert main(["serve", "--show-config"]) == 0
    line = "hydrofoil: HYDROFOIL_PROT is the variable of no flag, and is ignored (HYDROFOIL_PORT?)\n"
    assert capsys.readouterr().err == line


TAKEN: dict[str, tuple[str, Any]] = {
    "--port 0x50": ("port", 80),
    "--secure-port=0": ("port", 0),
    "--request-timeout 0": ("request_timeout", 0.0),
    "--request-timeout 1h1m1.5s": ("request_timeout", 3661.5),
    "--controllers -namespace": ("controllers", "-namespace"),
    "--controllers *,-garbage-collector-controller": ("controllers", "*,-garbagecollector"),
    "--controllers=-deployment-controller": ("controllers", "-deployment"),
    "--cluster": ("cluster", 3),
    "--cluster 5": ("cluster", 5),
    "--cluster=1": ("cluster", 1),
    "--cluster=false": ("cluster", 0),
    "--cluster --port 81": ("cluster", 3),
    "--node-eviction-rate .5": ("node_eviction_rate", 0.5),
    "--controllers=": ("controllers", ""),
    "--feature-gates A=T,B=0 --feature-gates kube:C=true": ("feature_gates", {"A": True, "B": False, "C": True}),
    "--runtime-config batch/v1=false --runtime-config batch/v2alpha1": (
        "runtime_config",
        {"batch/v1": False, "batch/v2alpha1": True},
    ),
    "--service-node-port-range 30000+10": ("service_node_port_range", (30000, 30010)),
    "--service-account-issuer https://a.example:8443/x": ("service_account_issuers", ("https://a.example:8443/x",)),
    "--service-cluster-ip-range=": ("service_cluster_ip_range", "10.0.0.0/24"),
    "--service-cluster-ip-range 192.168.7.9/24": ("service_cluster_ip_range", "192.168.7.0/24"),
    "--service-cluster-ip-range 010.0.0.0/8": ("service_cluster_ip_range", "10.0.0.0/8"),
    "--service-cluster-ip-range FD00::0/112,10.0.0.0/29": ("service_cluster_ip_range", "fd00::/112,10.0.0.0/29"),
    "--livez-grace-period 30s": ("livez_grace_period", 30.0),
    "--shutdown-delay-duration 0": ("shutdown_delay_duration", 0.0),
    "--show-hidden-metrics-for-version 1.35": ("show_hidden_metrics_for_version", "1.35"),
    "--leader-elect --port 1": ("leader_elect", True),
    "--leader-elect=false": ("leader_elect", False),
    "--anonymous-auth -v 4": ("anonymous_auth", True),
    "-v 4": ("verbosity", 4),
    "--v=4": ("verbosity", 4),
    "-v4": ("verbosity", 4),
}


@pytest.mark.parametrize("words", TAKEN)
def test_what_upstream_takes(words: str) -> None:
    name, value = TAKEN[words]
    assert COMMAND.settings(COMMAND.make_context("serve", words.split()))[0][name] == value


def test_each_flag_that_is_a_boolean_needs_no_value() -> None:
    """pflag's `NoOptDefVal`, also of those with a third state: what is true by `true` is true without it."""
    for flag in (flag for command in (COMMAND, BENCH) for room in command.rooms for flag in flags(room)):
        try:
            value = flag.read("true")
        except (ValueError, Refused):
            continue
        assert isinstance(value, bool) <= (flag.value in BARE), flag.names


def test_a_line_stays_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--a\nb"]) == 2
    assert capsys.readouterr().err == "hydrofoil: unknown flag: --a\\nb (hydrofoil serve --help)\n"


def test_the_help_has_every_flag_under_its_room(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--help-all"]) == 0
    text = capsys.readouterr().out
    for flag in (flag for room in ROOMS for flag in flags(room)):
        assert re.search(rf"^  (\S.*, )?{flag.names[0]}\b", text, re.MULTILINE), flag.names
    assert text.index("Addresses, TLS and connections of a server:") < text.index("--host") < text.index("Examples:")


def test_the_short_help_has_what_people_look_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 30 and all(len(line) <= 120 for line in lines)
    text = "\n".join(lines)
    for name in ("--host", "--port", "--kubeconfig", "--data-dir", "--test-controls", "-v LEVEL", "--help-all"):
        assert f"\n  {name}" in text, name
    assert sum(line.startswith("  -") for line in lines) <= 25
