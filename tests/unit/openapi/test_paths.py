"""Ids and descriptions of operations, as kube-apiserver 1.36.1 publishes them."""

from __future__ import annotations

import pytest

from hydrofoil.openapi.paths import description, operation_id


@pytest.mark.parametrize(
    ("text", "plain", "capital"),
    [
        ("example.com", "exampleCom", "ExampleCom"),
        ("apps.foo-bar.example.com", "appsFooBarExampleCom", "AppsFooBarExampleCom"),
        ("snapshot.storage", "snapshotStorage", "SnapshotStorage"),
        ("v1alpha1", "v1alpha1", "V1alpha1"),
        ("2fast", "Fast", "Fast"),
        ("a1b.2c", "a1b2c", "A1b2c"),
    ],
)
def test_ids_have_letters_and_digits_only(text: str, plain: str, capital: str) -> None:
    """`ToValidOperationID`: other characters make the next letter a capital one, a digit does not."""
    assert (operation_id(text, capital=False), operation_id(text, capital=True)) == (plain, capital)


@pytest.mark.parametrize(
    ("action", "kind", "subresource", "expected"),
    [
        ("list", "Widget", "", "list objects of kind Widget"),
        ("post", "Widget", "", "create a Widget"),
        ("post", "Order", "", "create an Order"),
        ("delete", "Users", "", "delete Users"),
        ("delete", "Class", "", "delete a Class"),
        ("deletecollection", "Widget", "", "delete collection of Widget"),
        ("get", "Widget", "status", "read status of the specified Widget"),
        ("put", "Widget", "scale", "replace scale of the specified Widget"),
        ("patch", "Widget", "", "partially update the specified Widget"),
    ],
)
def test_operations_are_described(action: str, kind: str, subresource: str, expected: str) -> None:
    """`descriptionFor` of apiextensions-apiserver `pkg/controller/openapi/builder`."""
    assert description(action, kind, subresource) == expected
