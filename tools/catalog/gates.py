"""The feature gates of kube-apiserver: stage, default, lock and dependencies of each."""

from __future__ import annotations

import re
from pathlib import Path

from .model import RELEASE, Json
from .modules import Modules

NAME = re.compile(r'^\s*(\w+)\s+(?:(?:\w+\.)?Feature )?= (?:featuregate\.Feature\()?"(\w+)"', re.M)
GATE = re.compile(r"^\t+((?:\w+\.)?\w+): \{\n(.*?)^\t+\},?$", re.M | re.S)
SPEC = re.compile(r"\{(Version: .*?)\},")
FIELD = re.compile(r'(\w+): (?:version\.MustParse\("([\d.]+)"\)|(?:\w+\.)?(\w+))')
DEPENDENCY = re.compile(r"^\t((?:\w+\.)?\w+):\s+\{([^}]*)\},", re.M)
CONVERSION = re.compile(r"featuregate\.Feature\(([\w.]+)\)")
STAGES = {"Alpha": "ALPHA", "Beta": "BETA", "GA": "", "Deprecated": "DEPRECATED", "PreAlpha": "PRE-ALPHA"}
MINOR = tuple(int(n) for n in RELEASE.split(".")[:2])


def read_gates(modules: Modules) -> Json:
    """`gates`: name -> [stage, default, locked]; `dependencies`: name -> names."""
    kube = modules.kubernetes / "pkg" / "features" / "kube_features.go"
    packages = {
        "genericfeatures.": modules.apiserver / "pkg" / "features" / "kube_features.go",
        "apiextensionsfeatures.": modules.apiextensions / "pkg" / "features" / "kube_features.go",
        "kcmfeatures.": modules.manager / "pkg" / "features" / "kube_features.go",
        "clientfeatures.": modules.client / "features" / "known_features.go",
        "zpagesfeatures.": modules.component / "zpages" / "features" / "kube_features.go",
        "": kube,
    }
    names = {f"{prefix}{key}": name for prefix, path in packages.items() for key, name in NAME.findall(_text(path))}
    gates: dict[str, list[str | bool]] = {"AllAlpha": ["ALPHA", False, False], "AllBeta": ["BETA", False, False]}
    for path in (
        kube,
        modules.client / "features" / "known_features.go",
        modules.component / "zpages" / "features" / "kube_features.go",
        modules.component / "logs" / "api" / "v1" / "kube_features.go",
    ):
        known = names | dict(NAME.findall(_text(path)))
        for key, body in GATE.findall(_text(path)):
            if key in known and (spec := latest(body)) is not None:
                gates[known[key]] = spec
    listed = _text(kube).partition("defaultKubernetesFeatureGateDependencies = ")[2].partition("\n}\n")[0]
    listed = CONVERSION.sub(r"\1", listed)
    found = {
        names[key]: sorted(names[dep.strip()] for dep in deps.split(",") if dep.strip())
        for key, deps in DEPENDENCY.findall(listed)
    }
    return {"gates": dict(sorted(gates.items())), "dependencies": {k: v for k, v in sorted(found.items()) if v}}


def latest(body: str) -> list[str | bool] | None:
    """Return the entry that applies to this release, from a gate's history."""
    now = None
    for spec in SPEC.findall(body):
        fields = {key: version or word for key, version, word in FIELD.findall(spec)}
        if tuple(int(n) for n in fields["Version"].split(".")) <= MINOR:
            now = [STAGES[fields["PreRelease"]], fields.get("Default") == "true", fields.get("LockToDefault") == "true"]
    return now


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")
