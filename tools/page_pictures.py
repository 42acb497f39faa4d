"""Take pictures of the views of the page: `python -m tools.page_pictures FOLDER [VIEW...]`.

A server with a simulated cluster shows itself; each view is drawn in light and in dark colours.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

from tools.browser import Page, browsing
from tools.smoke import HYDROFOIL, call, running_server

DEPLOYMENTS = "/apis/apps/v1/namespaces/shop/deployments"
APPS = {"api": 5, "cart": 3, "checkout": 4, "frontend": 6, "search": 2}
READY = sum(APPS.values())
GRID = "document.querySelector('main [role=grid]')"
VIEWS = {
    "resources": ("/", f"{GRID}?.querySelectorAll('.body a').length > 10"),
    "table": ("/pods", f"{GRID}?.getAttribute('aria-rowcount') === '{READY + 1}'"),
    "object": ("/deployments.apps/shop/checkout", "document.querySelectorAll('main option').length > 20"),
    "stream": ("!/stream", "document.querySelectorAll('fieldset input').length > 3"),
    "watches": ("!/watches", "document.querySelector('main dd')"),
    "requests": ("!/requests", "document.querySelector('main dd')"),
    "tests": ("!/tests", "document.querySelector('main dd')"),
}
"""Address and state of each view."""
PLAIN = 10_000
"""A picture of nothing has fewer bytes."""


def deployment(name: str, replicas: int, image: str) -> dict[str, Any]:
    """Return a deployment."""
    labels = {"app": name}
    spec = {"containers": [{"name": name, "image": image}]}
    template = {"metadata": {"labels": labels}, "spec": spec}
    return {
        "metadata": {"name": name},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template},
    }


def fill(url: str) -> None:
    """Create a namespace with applications, one of them in two versions, and a fault."""
    call(f"{url}/api/v1/namespaces", "POST", {"metadata": {"name": "shop"}})
    for name, replicas in APPS.items():
        call(f"{url}{DEPLOYMENTS}", "POST", deployment(name, replicas, f"shop/{name}:1.8"))
    change = {"spec": {"template": {"spec": {"containers": [{"name": "checkout", "image": "shop/checkout:1.9"}]}}}}
    call(f"{url}{DEPLOYMENTS}/checkout", "PATCH", change, "application/strategic-merge-patch+json")
    call(f"{url}/hydrofoil/v1/faults", "POST", {"action": "delay", "verb": "list", "resource": "nodes", "seconds": 0.2})


def draw(page: Page, url: str, name: str, folder: Path) -> list[str]:
    """Take the two pictures of a view; return what is wrong with them."""
    address, state = VIEWS[name]
    page.open(f"{url}/ui/#{address}")
    page.wait(state)
    if name == "object":
        page.run(
            "(() => { const base = document.querySelectorAll('main select')[1];"
            "base.value = base.options[base.options.length - 1].value; base.dispatchEvent(new Event('change')); })()"
        )
    wrong = list(page.problems)
    for dark in (False, True):
        file = folder / f"ui-{name}{'-dark' if dark else ''}.png"
        page.picture(file, dark=dark)
        if file.stat().st_size < PLAIN:
            wrong.append(f"{file.name} is drawn blank")
    return wrong


def main(folder: Path, names: list[str]) -> int:
    """Take all pictures, or those of some views; return the exit status."""
    if shutil.which("chromium") is None:
        print("pictures of the page need chromium", file=sys.stderr)
        return 2
    folder.mkdir(parents=True, exist_ok=True)
    line = [*HYDROFOIL, "serve", "--port=0", "--ui", "--cluster", "--test-controls"]
    with running_server(line) as running, browsing() as browser:
        assert running.stdout is not None
        while not (said := running.stdout.readline()).startswith("serving on "):
            pass
        url = said.removeprefix("serving on ").strip()
        fill(url)
        page = browser.page()
        # All pods are there, and the controllers have seen it.
        page.open(f"{url}/ui/#/pods")
        page.wait(f"{GRID}?.getAttribute('aria-rowcount') === '{READY + 1}'")
        wrong = [f"{name}: {text}" for name in names or VIEWS for text in draw(page, url, name, folder)]
    print("\n".join(wrong or [f"{len(names or VIEWS)} views in {folder}"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), sys.argv[2:]))
