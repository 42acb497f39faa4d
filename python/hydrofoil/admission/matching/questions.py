"""The authorizer of expressions: its decisions are made outside of them, and kept for the request."""

from __future__ import annotations

from msgspec.structs import replace

from hydrofoil.admission.attributes import Attributes
from hydrofoil.clock import stopwatch
from hydrofoil.engine import Document, Expressions
from hydrofoil.pace.turn import current_turn
from hydrofoil.pool import run
from hydrofoil.request import RequestInfo, User, attributes, decide

Question = tuple[str, ...]
Answer = tuple[bool, str, str | None]
Found = list[tuple[bytes | None, str | None]]
LONG = -2
ACCOUNTS = "system:serviceaccounts"


class Questions:
    """The questions of the expressions of a request to its authorizer (`NewCachingAuthorizer`)."""

    def __init__(self, a: Attributes) -> None:
        self._a = a
        self._share = current_turn().expressions
        self._known: list[tuple[list[str], Answer]] = []

    async def evaluate(
        self,
        expressions: Expressions,
        request: Document,
        new: Document | None,
        old: Document | None,
        namespace: Document | None,
        params: Document | None,
        budget: int,
    ) -> tuple[Found, int]:
        """Evaluate expressions; each question is answered, and then they are evaluated again.

        Return the results, and the rest of the budget: -1 if they cost more. A question costs more than a third of
        what an expression may, so that there are few.
        """
        while True:
            on = (request, new, old, namespace, params, self._known, budget)
            begun = stopwatch()
            found, left, question = expressions.evaluate(*on, self._share.left)
            self._share.spend(stopwatch() - begun)
            if left == LONG:
                found, left, question = await run(expressions.evaluate, *on, None, pooled=True)
            if question is None:
                return found, left
            self._known.append((question, await self._answer(question)))

    async def _answer(self, question: list[str]) -> Answer:
        account_namespace, account, path, verb, group, resource, subresource, namespace, name, fields, labels = question
        user = self._a.user
        if account:
            groups = (ACCOUNTS, f"{ACCOUNTS}:{account_namespace}", "system:authenticated")
            user = User(f"system:serviceaccount:{account_namespace}:{account}", groups=groups)
        if path:
            info = RequestInfo(path, "", verb, resourceful=False)
        else:
            info = attributes(verb, group, resource, subresource=subresource, namespace=namespace, name=name)
            if fields or labels:
                info = replace(info, query=_query(fields, labels))
        verdict = await decide(self._a.authorizer, user, info)
        return verdict.allowed, verdict.reason, verdict.error or None


def _query(fields: str, labels: str) -> str:
    from urllib.parse import urlencode

    given = {"fieldSelector": fields, "labelSelector": labels}
    return urlencode({key: value for key, value in given.items() if value})
