"""The run of a scenario: values kept from step to step, streams in the background, answers ready for comparison."""

from __future__ import annotations

import threading
from pathlib import Path

from tests.conformance.replay.checks import holds
from tests.conformance.replay.client import Client
from tests.conformance.replay.exchange import exchange
from tests.conformance.replay.identity import files, tokens
from tests.conformance.replay.life.timing import Machine
from tests.conformance.replay.paths import Object, lookup, member
from tests.conformance.replay.placeholders import prepare
from tests.conformance.replay.scenario import Step, fill

PAUSE = 0.1
"""Seconds between two tries of a step that is repeated."""


class Session:
    """One run of one scenario."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.time = Machine()
        self.values: Object = {}
        self.names: dict[str, str] = {client.url.netloc: "<server>"}
        """Texts of this run, and their placeholders."""
        if hooks := client.webhooks:
            self.values |= {"hooks": hooks.url, "hooks_ca": hooks.ca, "hooks_other_ca": hooks.other_ca}
            self.names |= {hooks.address: "<hooks>", hooks.ca: "<hooks_ca>", hooks.other_ca: "<hooks_other_ca>"}
        if helper := client.helper:
            self.values |= helper.values
            self.names |= helper.names
        self._streams: dict[str, tuple[threading.Thread, Object]] = {}

    def answer(self, step: Step) -> Object | None:
        """Run a step; return its answer as it is compared, None if the step has no answer.

        An exception is an answer with status 0, which no golden has.
        """
        try:
            answer = self.run(step)
            if answer is None:
                return None
            checks = {check: holds(fill(check, self.values), answer) for check in step.get("checks", [])}
            return prepare(answer, step, self.names, checks)
        except Exception as error:
            return failure(error)

    def run(self, step: Step) -> Object | None:
        """Run a step; return its answer as it came."""
        if "sleep" in step:
            self.time.pass_by(step["sleep"])
        elif "set" in step:
            self.values.update(fill(step["set"], self.values))
        elif "sign" in step:
            token = tokens.sign(self._folder, fill(step["sign"], self.values))
            self.values[step["sign"]["as"]] = token
            self.names[token] = f"<{step['sign']['as']}>"
        elif "write" in step:
            files.write(self._folder, fill(step["write"], self.values))
        elif "watch" in step and "as" in step["watch"]:
            self._follow(step)
        elif "collect" in step:
            thread, answer = self._streams.pop(step["collect"])
            thread.join()
            return self.keep(step, answer)
        else:
            return self.keep(step, self._exchange(step))
        return None

    @property
    def _folder(self) -> Path:
        if not self.client.helper:
            raise ValueError("the scenario needs keys")
        return self.client.helper.folder

    def _exchange(self, step: Step) -> Object:
        retry = step.get("retry", {"until": None, "seconds": 0})
        end = self.time.now() + retry["seconds"]
        while True:
            answer = exchange(self.client, step, self.values)
            until = retry["until"]
            if isinstance(until, str):
                met = holds(fill(until, self.values), answer)
            else:
                met = until in (None, answer["status"])
            if met or self.time.now() > end:
                return answer
            self.time.pass_by(PAUSE)

    def _follow(self, step: Step) -> None:
        """Read a stream in the background; the next step begins when the stream is open, or after 3 seconds."""
        answer: Object = {}
        opened = threading.Event()

        def work() -> None:
            try:
                answer.update(exchange(self.client, step, self.values, opened))
            except Exception as error:
                answer.update(failure(error))

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        self._streams[step["watch"]["as"]] = (thread, answer)
        opened.wait(3)

    def keep(self, step: Step, answer: Object) -> Object:
        for name, path in step.get("save", {}).items():
            value = member(answer, path)
            self.values[name] = "" if value is None else value
            if name.startswith("gen_") and value:
                self.names[str(value)] = f"<{name}>"
        if "jwt" in step and isinstance(token := lookup(answer["body"], step["jwt"]), str):
            head, _, last = step["jwt"].rpartition(".")
            lookup(answer["body"], head)[last] = {"<jwt>": tokens.read(token)}
        return answer


def failure(error: Exception) -> Object:
    """Return an answer that shows an exception as a difference."""
    return {"status": 0, "headers": {}, "body": {"<error>": repr(error)}}
