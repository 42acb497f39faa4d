"""Generate every data file of `hydrofoil.apis` from the published modules."""

from __future__ import annotations

import argparse
from pathlib import Path

from . import openapi
from .bootstrap import Bootstrap
from .compact import compact
from .facts import read_facts
from .gates import read_gates
from .internal import InternalTypes
from .model import VERSION, minified, read_json
from .modules import Modules
from .priorities import read_priorities
from .registered import registered
from .unserved import unserved

ROOT = Path(__file__).parents[2]
DATA = ROOT / "python" / "hydrofoil" / "apis" / "data"
INTERNAL = ROOT / "rust" / "internal" / "data" / "internal_types.txt"
UNSERVED = ROOT / "rust" / "codec" / "tests" / "data" / "unserved.json"


def generate(cache: Path, out: Path, facts_directory: Path | None = None) -> None:
    modules = Modules.fetch(cache)
    facts = read_facts(modules)
    if facts_directory:
        facts.save(facts_directory)
    priorities = read_priorities(modules.kubernetes)
    catalog = compact(facts, priorities)
    out.mkdir(parents=True, exist_ok=True)
    (out / "catalog.json").write_bytes(minified(catalog))
    UNSERVED.write_bytes(minified(unserved(facts, catalog)))
    objects = Bootstrap(facts.types, catalog, priorities).objects(modules.kubernetes)
    (out / "bootstrap.json").write_bytes(minified(objects))
    (out / "registered.json").write_bytes(minified(registered(modules)))
    newest = out.parent / "releases" / f"{VERSION}.json"
    # What the modules do not have as data is kept.
    newest.write_bytes(minified(read_json(newest) | read_gates(modules)))
    lines = InternalTypes(modules).lines()
    INTERNAL.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    openapi.pack(modules.openapi_spec, facts, catalog["resources"], out / "openapi")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cache", type=Path, required=True, help="where modules are kept")
    parser.add_argument("--out", type=Path, default=DATA, help="directory of the data files")
    parser.add_argument("--facts", type=Path, help="directory to write the facts to as well")
    args = parser.parse_args()
    generate(args.cache, args.out, args.facts)


if __name__ == "__main__":
    main()
