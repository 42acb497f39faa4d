"""The command line.

It is made with click: `main.py` and `group.py` (commands, each loaded when it is used), `command.py` (one flag per
option of a room, with pflag's rules), `sources.py` (flags, then `HYDROFOIL_*` variables, then `file.py`: `--config`),
`completed.py` (for shells), one file for each command, `checks.py` (of `hydrofoil doctor`), and the log's format;
`dumps/`, `rehearse/`, `data/` and `ui/` have the commands about dumps, what would change, data folders and the page.
click costs the start of `serve` 7 ms, as much as argparse did; typer would add its own layer and rich to that.
"""
