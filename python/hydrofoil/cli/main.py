"""`hydrofoil`: the entry point."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import click

from hydrofoil import __version__
from hydrofoil.cli.failure import INTERRUPTED, WRONG, Failure, report
from hydrofoil.cli.group import Entry, Group
from hydrofoil.folders import FolderError

SERVING, TESTING, MEASURING, DUMPS, DATA, SHELL = "Serve", "Test", "Measure", "Look back", "Keep data", "Set up"
REHEARSING = "Look ahead"
COMMANDS = {
    "serve": Entry(SERVING, "hydrofoil.cli.serve", "serve the API until SIGTERM or SIGINT"),
    "kubectl": Entry(SERVING, "hydrofoil.cli.kubectl", "run kubectl against the server that runs"),
    "apply": Entry(SERVING, "hydrofoil.cli.apply", "apply files and folders of objects, definitions first"),
    "why": Entry(SERVING, "hydrofoil.cli.why", "print why an object is not ready"),
    "ui": Entry(SERVING, "hydrofoil.cli.ui.command", "show a server on a page in the browser"),
    "ls": Entry(SERVING, "hydrofoil.cli.ls", "list the servers that run"),
    "stop": Entry(SERVING, "hydrofoil.cli.stop", "end the server that runs, or all of them"),
    "assets": Entry(TESTING, "hydrofoil.cli.assets", "write programs named etcd and kube-apiserver, for envtest"),
    "export": Entry(DUMPS, "hydrofoil.cli.dumps.export", "write the objects of a cluster to a folder or archive"),
    "import": Entry(DUMPS, "hydrofoil.cli.dumps.load", "bring the objects of a dump to a server"),
    "replay": Entry(DUMPS, "hydrofoil.cli.dumps.replay", "send the requests of an audit log again"),
    "rehearse definition": Entry(
        REHEARSING, "hydrofoil.cli.rehearse.definition", "tell what a new definition does to stored objects"
    ),
    "rehearse apply": Entry(REHEARSING, "hydrofoil.cli.rehearse.apply", "tell what an apply of files would do"),
    "rehearse policy": Entry(
        REHEARSING, "hydrofoil.cli.rehearse.policy", "tell which objects new policies or webhooks would refuse"
    ),
    "rehearse roles": Entry(
        REHEARSING, "hydrofoil.cli.rehearse.roles", "tell which rights and requests a change of roles would end"
    ),
    "rehearse audit": Entry(
        REHEARSING, "hydrofoil.cli.rehearse.audit", "tell which recorded requests a change would refuse"
    ),
    "data check": Entry(DATA, "hydrofoil.cli.data.commands", "read all of a data folder, and find damage"),
    "data compact": Entry(DATA, "hydrofoil.cli.data.commands", "remove the history of a data folder"),
    "data backup": Entry(DATA, "hydrofoil.cli.data.commands", "write the state of a data folder to a file"),
    "data restore": Entry(DATA, "hydrofoil.cli.data.commands", "make a data folder of a backup"),
    "data export": Entry(DATA, "hydrofoil.cli.data.commands", "write the objects of a data folder as lines of JSON"),
    "data import": Entry(DATA, "hydrofoil.cli.data.commands", "make a data folder of lines of JSON"),
    "bench": Entry(MEASURING, "hydrofoil.cli.bench", "measure an API server and check each of its answers"),
    "bench compare": Entry(
        MEASURING, "hydrofoil.cli.bench_compare", "compare results, or servers in turn: ratios and noise"
    ),
    "bench find": Entry(MEASURING, "hydrofoil.cli.bench_find", "find the highest rate that holds a bound"),
    "bench clean": Entry(MEASURING, "hydrofoil.cli.bench_clean", "remove what benchmarks that were killed have left"),
    "version": Entry(SHELL, "hydrofoil.cli.version", "print the versions of this program and of the API"),
    "doctor": Entry(SHELL, "hydrofoil.cli.doctor", "check this machine, and say what to mend"),
    "completion": Entry(SHELL, "hydrofoil.cli.completion", "print the completion of a shell"),
}
EXAMPLES = (
    "hydrofoil serve --port 0 --kubeconfig ./kubeconfig",
    "hydrofoil apply -f ./objects && hydrofoil kubectl get namespaces",
    "KUBEBUILDER_ASSETS=$(hydrofoil assets) go test ./...",
    "hydrofoil bench list watch --server http://127.0.0.1:8080",
    "hydrofoil doctor",
)


def group(entries: Mapping[str, Entry] = COMMANDS) -> Group:
    """Return all commands."""
    top = Group(
        "hydrofoil",
        entries,
        EXAMPLES,
        help="A Kubernetes-API-compatible server that starts in a blink.",
        no_args_is_help=False,
        context_settings={"help_option_names": ["--help", "-h"], "max_content_width": 120},
    )
    return click.version_option(__version__, "--version", "-V", message="hydrofoil %(version)s")(top)


def open_descriptors() -> None:
    """Open the standard input, output and error that a caller has closed, on nothing.

    Otherwise the next file or socket gets the number, what a library prints goes into it, and libuv ends the process
    when it closes one of these (libuv issue 4558).
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            # The least free number is this one.
            os.open(os.devnull, os.O_RDWR)


def main(argv: Sequence[str] | None = None, entries: Mapping[str, Entry] = COMMANDS) -> int:
    """Run a command and return the exit code."""
    open_descriptors()
    # Without a word, as cargo and kind do.
    words = (sys.argv[1:] if argv is None else list(argv)) or ["--help"]
    if words[0] == "--child-of-test":
        from hydrofoil.testing.child import main as serve_test

        serve_test(words[1:])
        return 0
    try:
        # `standalone_mode` would print errors in other forms.
        found: Any = group(entries).main(words, "hydrofoil", "_HYDROFOIL_COMPLETE", standalone_mode=False)
    except Failure as e:
        return report(e)
    except click.UsageError as e:
        return report(Failure(e.format_message().rstrip(".").lower(), "hydrofoil --help"))
    except click.ClickException as e:
        return report(Failure(e.format_message()))
    except FolderError as e:
        return report(Failure(str(e), code=WRONG))
    except (KeyboardInterrupt, click.Abort):
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of the output has what it wanted: discard the rest of the buffer at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    return int(found or 0)


if __name__ == "__main__":
    sys.exit(main())
