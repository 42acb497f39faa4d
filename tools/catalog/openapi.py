"""Published OpenAPI documents to the ones that a default server answers, one packed file each."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .model import VERSION, Facts, Json, minified, read_json

# The published documents are made with the gate CBORServingAndStorage on; by default it is off.
CBOR = ("application/cbor", "application/cbor-seq", "application/apply-patch+cbor")
# The facts give fields and list items their enumerations; this one is of the values of a map.
MAP_ENUMS = {
    ("io.k8s.api.core.v1.PersistentVolumeClaimStatus", "allocatedResourceStatuses"): (
        "io.k8s.api.core.v1.ClaimResourceStatus"
    ),
}
# Documents that belong to no group.
PLAIN = (".well-known/openid-configuration", "openid/v1/jwks", "version")


def served_documents(resources: Iterable[Json]) -> list[str]:
    """Paths below /openapi/v3 of a server that serves its default resources."""
    paths = {*PLAIN, "api", "apis"}
    for resource in resources:
        if not resource.get("served"):
            continue
        group, version = resource["group"], resource["version"]
        if group:
            paths.update((f"apis/{group}", f"apis/{group}/{version}"))
        else:
            paths.add(f"api/{version}")
    return sorted(paths)


def file_name(path: str) -> str:
    return path.lstrip(".").replace("/", "_")


def trimmed(value: Any) -> Any:
    """Return the value without CBOR content types."""
    if isinstance(value, dict):
        return {key: trimmed(item) for key, item in value.items() if not is_cbor(key)}
    if isinstance(value, list):
        return [trimmed(item) for item in value if not is_cbor(item)]
    return value


def is_cbor(value: Any) -> bool:
    return isinstance(value, str) and value.split(";")[0] in CBOR


def undescribed(schema: Any) -> Any:
    """Return a schema without descriptions, which the package lightkube-models has (`openapi/descriptions.py`)."""
    if isinstance(schema, list):
        return [undescribed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    # A property may have the name, too.
    kept = {key: value for key, value in schema.items() if key != "description" or not isinstance(value, str)}
    return {key: undescribed(value) for key, value in kept.items()}


def add_enums(schemas: Json, facts: Facts) -> None:
    """Write the values of enumerations into schemas: the gate OpenAPIEnums is on by default."""
    for name, schema in schemas.items():
        for field in facts.types.get(name, {"fields": []})["fields"]:
            target = schema.get("properties", {}).get(field["name"])
            if target is not None and "enum" in field:
                target.get("items", target)["enum"] = field["enum"]
    for (name, property_name), enum in MAP_ENUMS.items():
        if name in schemas:
            target = schemas[name]["properties"][property_name]
            target["additionalProperties"]["enum"] = facts.enums[enum]


def document_v3(source: Json, facts: Facts) -> Json:
    document: Json = trimmed(source)
    document["info"]["version"] = VERSION
    add_enums(document.get("components", {}).get("schemas", {}), facts)
    if "components" in document:
        document["components"]["schemas"] = undescribed(document["components"].get("schemas", {}))
    return document


def document_v2(source: Json, facts: Facts, served: Iterable[str]) -> Json:
    document: Json = trimmed(source)
    document["info"]["version"] = VERSION
    document["paths"] = {path: item for path, item in document["paths"].items() if belongs(path, set(served))}
    wanted = referenced(document, document["paths"])
    for part in ("parameters", "definitions"):
        document[part] = {name: item for name, item in document[part].items() if f"#/{part}/{name}" in wanted}
    add_enums(document["definitions"], facts)
    document["definitions"] = undescribed(document["definitions"])
    return document


def belongs(path: str, served: set[str]) -> bool:
    """Whether a document path, such as /apis/apps/v1/deployments, is of a served document."""
    parts = path.strip("/").split("/")
    depth = {"api": 2, "apis": 3}.get(parts[0])
    return "/".join(parts[:depth] if depth else parts) in served


def referenced(document: Json, start: Json) -> set[str]:
    """Every `#/section/name` that the value reaches."""
    seen: set[str] = set()
    waiting = [start]
    while waiting:
        for target in references(waiting.pop()):
            if target not in seen:
                seen.add(target)
                section, name = target.removeprefix("#/").split("/", 1)
                waiting.append(document[section][name])
    return seen


def references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(target := value.get("$ref"), str):
            yield target
        for item in value.values():
            yield from references(item)
    elif isinstance(value, list):
        for item in value:
            yield from references(item)


def documents(spec: Path, facts: Facts, resources: Iterable[Json]) -> Iterator[tuple[str, Json]]:
    """Path of each document (`v2`, or a path below /openapi/v3) and its content."""
    served = served_documents(resources)
    for path in served:
        source = read_json(spec / "v3" / f"{path.replace('/', '__')}_openapi.json")
        yield path, document_v3(source, facts)
    yield "v2", document_v2(read_json(spec / "swagger.json"), facts, served)


def pack(spec: Path, facts: Facts, resources: Iterable[Json], directory: Path) -> dict[str, str]:
    """Write every document and the index; returns the index."""
    directory.mkdir(parents=True, exist_ok=True)
    for old in directory.glob("*"):
        old.unlink()
    index = {}
    for path, document in documents(spec, facts, resources):
        index[path] = f"{file_name(path)}.json.gz"
        packed = gzip.compress(minified(document), compresslevel=9, mtime=0)
        (directory / index[path]).write_bytes(packed)
    (directory / "index.json").write_bytes(minified(index))
    return index
