"""The Go packages that declare API types, and the JSON form of their type expressions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from .gosource import GoPackage, GoStruct, Imports
from .model import Json
from .modules import Modules

BASIC: dict[str, Json] = {
    "string": {"type": "string"},
    "bool": {"type": "boolean"},
    "int32": {"type": "integer", "format": "int32"},
    "int64": {"type": "integer", "format": "int64"},
    "int": {"type": "integer", "format": "int32"},
    "uint": {"type": "integer", "format": "int64"},
    "uint8": {"type": "integer", "format": "byte"},
    "uint32": {"type": "integer", "format": "int64"},
    "uint64": {"type": "integer", "format": "int64"},
    "float32": {"type": "number", "format": "float"},
    "float64": {"type": "number", "format": "double"},
    "rune": {"type": "integer", "format": "int32"},
}
MACHINERY = (
    "pkg/api/resource",
    "pkg/apis/meta/v1",
    "pkg/apis/meta/v1beta1",
    "pkg/runtime",
    "pkg/util/intstr",
    "pkg/version",
)


def package_directories(modules: Modules) -> Iterator[tuple[str, Path]]:
    """Import path and directory of every package of API types."""
    for directory in sorted(modules.api.glob("*/*/")):
        relative = directory.relative_to(modules.api)
        if relative.parts[0] != "testdata" and any(directory.glob("*.go")):
            yield f"k8s.io/api/{relative.as_posix()}", directory
    for name in MACHINERY:
        yield f"k8s.io/apimachinery/{name}", modules.apimachinery / name
    for version in ("v1", "v1beta1"):
        name = f"pkg/apis/apiextensions/{version}"
        yield f"k8s.io/apiextensions-apiserver/{name}", modules.apiextensions / name
    name = "pkg/apis/apiregistration/v1"
    yield f"k8s.io/kube-aggregator/{name}", modules.aggregator / name


class GoTypes:
    """All packages together: resolves names across them."""

    def __init__(self, packages: dict[str, GoPackage]) -> None:
        self.packages = packages
        self.enums: dict[str, list[str | int]] = {}

    @classmethod
    def read(cls, modules: Modules) -> GoTypes:
        packages = {
            path: GoPackage.read(path, directory, "io." + path.replace("k8s.io", "k8s", 1).replace("/", "."))
            for path, directory in package_directories(modules)
        }
        return cls(packages)

    def locate(self, package: GoPackage, name: str, imports: Imports) -> tuple[GoPackage | None, str]:
        """Return the package that declares a type, if it is one of ours, and the bare name."""
        if "." not in name:
            return package, name
        alias, bare = name.split(".", 1)
        return self.packages.get(imports.get(alias, "")), bare

    def embedded_struct(self, package: GoPackage, name: str, imports: Imports) -> tuple[GoPackage | None, str]:
        """Like `locate`, through one alias."""
        found, bare = self.locate(package, name.lstrip("*"), imports)
        if found and bare in found.aliases:
            target, target_imports = found.aliases[bare]
            return self.locate(found, target, target_imports)
        return found, bare

    def struct_of_named(self, package: GoPackage, name: str) -> tuple[GoPackage, str, GoStruct] | None:
        """Return the struct behind a type declared as another one: `type A b.A`."""
        named = package.named[name]
        found, bare = self.locate(package, named.underlying, named.imports)
        if found and bare in found.structs:
            return found, bare, found.structs[bare]
        return None

    def shape(self, package: GoPackage, expression: str, imports: Imports) -> Json:
        """Return the JSON shape of a type expression; enumerations are noted on their scalar."""
        expression = expression.lstrip("*")
        if expression in ("[]byte", "[]uint8"):
            return {"type": "string", "format": "byte"}
        if expression.startswith("[]"):
            return {"type": "array", "items": self.shape(package, expression[2:], imports)}
        if expression.startswith("map["):
            value = expression.split("]", 1)[1]
            return {"type": "object", "values": self.shape(package, value, imports)}
        if expression in BASIC:
            return dict(BASIC[expression])
        found, name = self.locate(package, expression, imports)
        if found is None:
            # A type of another package is written as a text.
            return {"type": "string"}
        if name in found.aliases:
            return self.shape(found, *found.aliases[name])
        if name in found.structs:
            return {"ref": found.name_of(name)}
        if name not in found.named:
            return {}
        named = found.named[name]
        shape = self.shape(found, named.underlying, named.imports)
        if "ref" in shape:
            return {"ref": found.name_of(name)}
        enum = self.enum(found, name)
        if enum and shape.get("type") in ("string", "integer"):
            shape["enum"] = enum
        return shape

    def enum(self, package: GoPackage, name: str) -> list[str | int] | None:
        """Return the values of a named type that is marked as an enumeration."""
        key = package.name_of(name)
        if key in self.enums:
            return self.enums[key]
        named = package.named[name]
        values = self.values(package, name)
        marked = "+enum" in named.markers
        if values and (marked or any(item.startswith("+k8s:enum") for item in named.markers)):
            self.enums[key] = values
            return values
        if not values and marked and named.underlying not in BASIC:
            found, bare = self.locate(package, named.underlying, named.imports)
            if found and bare in found.named and (inherited := self.enum(found, bare)):
                self.enums[key] = inherited
                return inherited
        return None

    def values(self, package: GoPackage, name: str) -> list[str | int]:
        values = {value for _, value in package.constants.get(name, [])}
        if borrowed := set(package.borrowed.get(name, [])):
            values |= {
                value
                for other in self.packages.values()
                for constants in other.constants.values()
                for constant, value in constants
                if constant in borrowed
            }
        return sorted(values, key=str)
