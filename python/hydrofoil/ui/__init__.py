"""The page of a server: its files, and the headers that they are served with.

`page.py` answers for the files in `files/`: modules of JavaScript as they are written, one style sheet, no build step.
They hold no data: the page asks the API, with the rights of whoever looks. `serve --ui` and `hydrofoil ui` serve the
same files.
"""
