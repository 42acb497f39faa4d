"""`hydrofoil ui`: `command.py` has the flags, `gateway.py` answers the page with the rights of a kubeconfig."""
