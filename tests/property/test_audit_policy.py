"""The reader of audit policies: any bytes are a policy or an error of one line."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hydrofoil.audit.level import LEVELS
from hydrofoil.audit.policy import Policy
from hydrofoil.audit.policy_file import POLICY, RESOURCES, RULE, read
from hydrofoil.request import User, parse

ATOM = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from((*LEVELS, "*", "/x*", "pods/*", "a/v1", ""))
ANY = ATOM | st.lists(ATOM, max_size=2) | st.dictionaries(st.sampled_from("ab"), ATOM, max_size=1)


def objects(members: dict[str, Any], **inner: Any) -> Any:
    return st.fixed_dictionaries({}, optional=dict.fromkeys((*members, "other"), ANY) | inner)


RULES = objects(RULE, level=st.sampled_from(LEVELS), resources=st.lists(objects(RESOURCES), max_size=2))
POLICIES = objects(POLICY, rules=st.lists(RULES, max_size=3)).map(
    lambda made: made | {"apiVersion": "audit.k8s.io/v1", "kind": "Policy"}
)


def checked(data: bytes) -> None:
    try:
        policy = read(data)
    except ValueError as e:
        assert len(str(e).splitlines()) == 1 and len(str(e)) < 100_000
        return
    assert isinstance(policy, Policy)
    for target in ("/x", "/api/v1/namespaces/n/pods/p/log"):
        assert 0 <= policy.choose(User("a"), parse("GET", target)).level < len(LEVELS)


@given(st.binary(max_size=200))
def test_bytes(data: bytes) -> None:
    checked(data)


@given(POLICIES)
def test_documents(document: Any) -> None:
    checked(json.dumps(document).encode())
