from hydrofoil.controls.waiting import WaitTimeout as WaitTimeout
from hydrofoil.errors import ApiError as ApiError
from hydrofoil.server.run import StartError as StartError
from hydrofoil.testing.server import Server as Server

__all__ = ["ApiError", "Server", "StartError", "WaitTimeout", "__version__"]
__version__: str
