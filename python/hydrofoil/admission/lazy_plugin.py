"""Plug-ins whose modules are loaded with the first object that configures them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Awaitable, Callable
from typing import ClassVar

from hydrofoil import pool
from hydrofoil.admission.attributes import Attributes
from hydrofoil.admission.plugin import Plugin


class LazyPlugin(Plugin):
    """A plug-in that most servers never use."""

    modules: ClassVar[tuple[str, ...]]
    """The modules that its steps need."""

    @abstractmethod
    def make(self) -> None:
        """Make the parts that the steps use, once."""

    async def first(self, step: Callable[[Attributes], Awaitable[None] | None], a: Attributes) -> None:
        """Load the modules beside the loop, then take the step."""
        await pool.import_modules(*self.modules)
        self.make()
        if (work := step(a)) is not None:
            await work
