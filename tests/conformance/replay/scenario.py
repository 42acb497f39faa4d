"""Scenarios: YAML files of steps, run in order on one server, each in namespaces and with names of its own.

A step:

    - id: unique name                        # without an id the step is set-up and is not compared
      do: GET /api/v1/namespaces/${ns}/pods?limit=2
      headers: {Accept: application/json}
      body: {...}                            # a mapping or list is sent as JSON, a string as it is
      base64: a8zAA...                       # a body given in base64
      cbor: {...}                            # a body sent as CBOR with the self-described tag
      type: merge                            # Content-Type, default JSON; `exchange.TYPES` has short names
      token: ${tok}                          # this bearer token in place of --token; "" sends no Authorization header
      cert: alice                            # a client certificate of --keys, without a token unless `token` has one
      jwt: status.token                      # record the token at this path of the body as its header and claims
      save: {rv: metadata.resourceVersion}   # keep values of the answer; those of gen_* become placeholders
      watch: {until: 3, seconds: 5, as: w1}  # read a stream to `until` events or for `seconds`; with `as` in the
                                             # background to a step `collect: w1`; `drop: [BOOKMARK]` omits types
      also: [etag]                           # more response headers to record
      peer: true                             # record as header `peer` which certificate of --keys the server presents
      metrics: true                          # read /metrics: type, stability and label names of each family
      ignore: [spec.clusterIP]               # paths dropped before the comparison
      sort: [status.rules]                   # lists without a meaningful order
      managed: true                          # compare metadata.managedFields too (else dropped)
      only: [status, headers, reason]        # keep just the HTTP status, the headers, these paths of the body
      checks: ["metadata.resourceVersion > ${rv}"] # PATH or len(PATH), one of == != > >= < =~ !~, a value
      compare: subset                        # the answer may have more members and items than the golden
      retry: {until: 200, seconds: 10}       # repeat until this status, or until this check holds
      expect: {status: 400, reason: BadRequest} # the golden answer written by hand, instead of recorded:
      decided: why                           #   a deliberate difference from kube-apiserver, or
      expected: why                          #   an answer that a kube-apiserver without controllers does not give
      each: {m: [PUT, DELETE]}               # one step for every value (a list of mappings: for every mapping)
    - collect: w1
    - sleep: 0.5
    - sign: {as: t, key: sa, claims: {...}}  # a token made with a key of --keys, kept as ${t} (`identity/tokens.py`)
    - write: {file: x.yaml, body: {...}}     # new content of a file of --keys until the run ends (`identity/files.py`)
    - set: {cm: /api/v1/namespaces/x/configmaps}
    - default: {managed: true}               # keys for all later steps

Paths are those of `paths.py`. In any string ${name} is a set or saved value, ${repeat:N:c} is N times the character c.
"""

from __future__ import annotations

import re
import shlex
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from tests.conformance.replay.paths import Object

Step = Object
NAME = re.compile(r"\$\{(\w+)\}")
REPEAT = re.compile(r"\$\{repeat:(\d+):(.)\}")


def load(path: Path) -> list[Step]:
    """Return the steps of a scenario, with `default` and `each` worked in; raises ValueError if two have one id."""
    steps: list[Step] = []
    default: Step = {}
    for item in yaml.load(path.read_text("utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
        if "default" in item:
            default = {**default, **item["default"]}
            continue
        step = {**default, **item} if "do" in item or "collect" in item else item
        rows = step.pop("each", [{}])
        if isinstance(rows, dict):
            rows = [dict(zip(rows, values, strict=True)) for values in product(*rows.values())]
        steps += [replace(step, row) for row in rows]
    ids = [step["id"] for step in steps if "id" in step]
    if len(set(ids)) < len(ids):
        raise ValueError(f"{path.name}: repeated ids {sorted({i for i in ids if ids.count(i) > 1})}")
    return steps


def replace(value: Any, row: Object) -> Any:
    """Return a value with the names of a row filled in; other names stay."""
    if isinstance(value, str):
        if (whole := NAME.fullmatch(value)) and whole[1] in row:
            return row[whole[1]]
        return NAME.sub(lambda m: str(row.get(m[1], m[0])), value)
    if isinstance(value, dict):
        return {replace(k, row): replace(v, row) for k, v in value.items()}
    return [replace(v, row) for v in value] if isinstance(value, list) else value


def fill(value: Any, values: Object) -> Any:
    """Return a value with repetitions and every name filled in; raises KeyError for an unknown name."""
    if isinstance(value, str):
        value = REPEAT.sub(lambda m: m[2] * int(m[1]), value)
        if (whole := NAME.fullmatch(value)) and not isinstance(values[whole[1]], str):
            return values[whole[1]]
        return NAME.sub(lambda m: str(values[m[1]]), value)
    if isinstance(value, dict):
        return {fill(k, values): fill(v, values) for k, v in value.items()}
    return [fill(v, values) for v in value] if isinstance(value, list) else value


def needs_webhooks(path: Path) -> bool:
    """Report whether a scenario calls the webhooks of the replayer."""
    return "${hooks" in path.read_text("utf-8")


def flags(path: Path) -> list[str]:
    """Return the flags of kube-apiserver in the first line of a scenario, after `flags:`; `none` stands for no flag."""
    first = path.read_text("utf-8").partition("\n")[0].partition("flags:")[2].strip()
    return [] if first == "none" else shlex.split(first)
