"""The file of `--tracing-config-file`."""

from __future__ import annotations

from pathlib import Path

import pytest

from hydrofoil.tracing.configuration import Settings, decode, read

HEAD = b"apiVersion: apiserver.config.k8s.io/v1\nkind: TracingConfiguration\n"
DECODING = "failed to read tracing config: unable to decode tracing configuration data: "
VALIDATION = "failed to validate tracing configuration: "


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (HEAD, Settings("localhost:4317", 0)),
        (HEAD + b"endpoint: collector:1\nsamplingRatePerMillion: 100\n", Settings("collector:1", 100)),
        (HEAD.replace(b"v1\n", b"v1beta1\n") + b"endpoint: unix:///a/b\n", Settings("unix:///a/b", 0)),
    ],
)
def test_settings(text: bytes, found: Settings) -> None:
    assert decode(text) == found


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (b"", f"{DECODING}Object 'Kind' is missing in ''"),
        (b"kind: TracingConfiguration", f"{DECODING}Object 'apiVersion' is missing in 'kind: TracingConfiguration'"),
        (b"- 1", f"{DECODING}couldn't get version/kind; json parse error: json: cannot unmarshal into a struct"),
        (
            b"kind: X\napiVersion: apiserver.config.k8s.io/v1",
            f'{DECODING}no kind "X" is registered for version "apiserver.config.k8s.io/v1"',
        ),
        (HEAD + b"rate: 1", f'{DECODING}strict decoding error: unknown field "rate"'),
        (
            HEAD + b"endpoint: [1]",
            f"{DECODING}json: cannot unmarshal array into Go struct field TracingConfiguration.endpoint of type string",
        ),
        (
            HEAD + b"samplingRatePerMillion: -1",
            f"{VALIDATION}samplingRatePerMillion: Invalid value: -1: sampling rate must be positive",
        ),
        (
            HEAD + b"samplingRatePerMillion: 1000001\nendpoint: http://a",
            f"{VALIDATION}[samplingRatePerMillion: Invalid value: 1000001: sampling rate per million must be less than "
            'or equal to one million, endpoint: Invalid value: "http://a": unsupported scheme: http.  Options are '
            "none, dns, unix, or unix-abstract.  See https://github.com/grpc/grpc/blob/master/doc/naming.md]",
        ),
    ],
)
def test_what_is_wrong_is_one_line(text: bytes, why: str) -> None:
    with pytest.raises(ValueError) as found:
        decode(text)
    assert str(found.value) == why


def test_a_file_that_is_absent_or_no_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"^tracing-config-file {tmp_path}/x does not exist$"):
        read(f"{tmp_path}/x")
    with pytest.raises(
        ValueError, match=f'^failed to read tracing config: .* from "{tmp_path}": open {tmp_path}: is a'
    ):
        read(str(tmp_path))
