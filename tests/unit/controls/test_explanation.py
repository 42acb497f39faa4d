"""What a test is told about an object that was waited for in vain."""

from __future__ import annotations

import pickle

from hydrofoil.controls.explanation import Hints, changed_members, hints, near_resources, show_object
from hydrofoil.controls.waiting import WaitTimeout, remember
from hydrofoil.registry.write import Write
from tests.unit.parts import CATALOG, draft, opened, resource


def test_an_object_is_shown_without_managers_and_secrets() -> None:
    state = {"kind": "Secret", "metadata": {"name": "a", "managedFields": [{}]}, "data": {"k": "djE="}}
    assert show_object(state) == ["data:", "  k: <hidden>", "kind: Secret", "metadata:", "  name: a"]
    assert show_object({"spec": {"a": 1}}) == ["spec:", "  a: 1"]
    assert show_object({"a": list(range(100))})[-1] == "... 41 more lines"


def test_changed_members() -> None:
    before = {"metadata": {"resourceVersion": "1"}, "spec": {"a": 1}}
    now = {"metadata": {"resourceVersion": "2"}, "spec": {"a": 2}, "status": {"b": "x" * 600}}
    found = list(changed_members(before, now))
    assert found[0] == "spec.a: 1 -> 2" and found[1].startswith('status: absent -> {"b":"xxx')
    assert found[1].endswith("...") and len(found) == 2


def test_near_names_of_resources() -> None:
    assert near_resources(CATALOG, "deploymnets")[0] == "deployments.apps"
    assert near_resources(CATALOG, "pood")[0] == "pods"
    assert near_resources(CATALOG, "zzzzzz") == ()


async def test_the_hints_of_a_server() -> None:
    """Near names, the same name elsewhere, and the last Events."""
    maps, events = resource("configmaps"), resource("events")
    async with opened() as registry:
        for namespace, name in (("a", "blog"), ("b", "blgo")):
            await registry.create(maps, namespace, draft(maps, {"metadata": {"name": name}}), Write())
        for number in range(7):
            body = {
                "metadata": {"name": f"e{number}"},
                "involvedObject": {"kind": "ConfigMap", "name": "blog", "namespace": "a"},
                "type": "Warning",
                "reason": "Failed",
                "message": f"image {number} not found",
                "count": 2,
                "source": {"component": "controller"},
            }
            await registry.create(events, "a", draft(events, body), Write())
        wanted = Hints("configmaps", ("configmaps/blgo", "configmaps/blog in namespace a"), ())
        assert hints(registry, "cm", "blog", "b") == wanted
        found = hints(registry, "configmaps", "blog", "a")
        assert found.near == () and len(found.events) == 5
        assert found.events[-1] == "Warning Failed (2 times) by controller: image 6 not found"
        assert hints(registry, "configmpas", "blog", "a").resource == ""


def test_the_words_of_a_wait() -> None:
    states = [
        None,
        {"metadata": {"resourceVersion": "6"}, "status": {}},
        {"metadata": {"resourceVersion": "7"}, "status": {"ready": "False", "message": "image not found"}},
    ]
    error = WaitTimeout("websites/blog", "x", "Ready", 0.5, states, Hints("websites", (), ("Warning Failed by c: m",)))
    assert str(error) == (
        "websites/blog in namespace x was not Ready within 0.5 s: it did not exist; then it was at version 6, "
        "no conditions; then it was at version 7, no conditions\n"
        "its last state:\n"
        "    metadata:\n"
        '      resourceVersion: "7"\n'
        "    status:\n"
        "      message: image not found\n"
        '      ready: "False"\n'
        "changed during the wait:\n"
        '    status.message: absent -> "image not found"\n'
        '    status.ready: absent -> "False"\n'
        "events about it:\n"
        "    Warning Failed by c: m"
    )
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) and again.states == states and isinstance(again, TimeoutError)


def test_the_words_of_a_wait_without_an_object() -> None:
    error = WaitTimeout("websites/blog", "x", "exists", 1, [None], Hints("websites", ("websites/blgo",)))
    assert str(error).endswith("did not exist within 1 s: it never existed; there is websites/blgo")
    error = WaitTimeout("website/blog", "x", "exists", 1, [], Hints("", ("websites.example.com",)))
    assert str(error).endswith("no resource 'website' is served (websites.example.com?)")


def test_a_secret_is_hidden_in_what_changed() -> None:
    states = [{"kind": "Secret", "data": {"k": "YQ=="}}, {"kind": "Secret", "data": {"k": "Yg=="}}]
    text = str(WaitTimeout("secrets/s", "x", "deleted", 1, states, Hints("secrets")))
    assert "YQ==" not in text and "Yg==" not in text and "data.k" in text


def test_the_first_state_is_remembered() -> None:
    states: list[dict[str, int] | None] = []
    for number in range(9):
        states = remember(states, {"n": number})
    assert [state and state["n"] for state in states] == [0, 4, 5, 6, 7, 8]
