"""What a simulated kubelet reports of a pod."""

from __future__ import annotations

from typing import Any

import orjson

from hydrofoil.controllers.objects.pods import FAILED, PENDING, RUNNING, SUCCEEDED, Container, Pod

Object = dict[str, Any]
RUNTIME = "simulated://"
HOST, ADDRESS, UID = "\ue000host", "\ue000address", "\ue000uid"
"""What stands for the addresses of a node and of a pod, and for its uid, in a report for many pods."""


def unready_words(pod: Pod) -> str:
    """Return the message of conditions of a pod whose containers are not ready."""
    return f"containers with unready status: [{' '.join(c.name for c in pod.spec.containers)}]"


class Report:
    """One status of a pod at a moment: every method returns the members that `Draft.merge_status` sets."""

    def __init__(self, pod: Pod, now: str, host_ip: str, pod_ip: str) -> None:
        """`now` is the present time as objects have it."""
        self.pod = pod
        self.now = now
        self._host_ip = host_ip
        self._pod_ip = pod_ip
        self._start = pod.status.start_time or now

    def waiting(self) -> Object:
        """Return the status of a pod whose containers are not started."""
        state = {"waiting": {"reason": "ContainerCreating"}}
        base = {name: value for name, value in self._base().items() if not name.startswith("podIP")}
        conditions = self._conditions(False, "ContainersNotReady", unready_words(self.pod), starts=False)
        return {**base, "phase": PENDING, "conditions": conditions, **self._containers(state, False)}

    def running(self, ready: bool) -> Object:
        """Return the status of a pod whose containers run."""
        state = {"running": {"startedAt": self._start}}
        conditions = self._conditions(ready, "ContainersNotReady", unready_words(self.pod))
        return {**self._base(), "phase": RUNNING, "conditions": conditions, **self._containers(state, ready)}

    def restarting(self, code: int) -> Object:
        """Return the status of a pod whose containers have exited, and are started again."""
        found = self._containers({"waiting": {"reason": "CrashLoopBackOff"}}, False)
        for status in found["containerStatuses"]:
            status["lastState"] = self._exit(code)
            status["restartCount"] += 1
        conditions = self._conditions(False, "ContainersNotReady", unready_words(self.pod))
        return {**self._base(), "phase": RUNNING, "conditions": conditions, **found}

    def ended(self, code: int) -> Object:
        """Return the status of a pod whose containers have exited for good."""
        conditions = self._conditions(False, "PodFailed" if code else "PodCompleted")
        phase = FAILED if code else SUCCEEDED
        return {**self._base(), "phase": phase, "conditions": conditions, **self._containers(self._exit(code), False)}

    def _exit(self, code: int) -> Object:
        end = {
            "exitCode": code,
            "reason": "Error" if code else "Completed",
            "startedAt": self._start,
            "finishedAt": self.now,
            "containerID": RUNTIME + self.pod.metadata.uid,
        }
        return {"terminated": end}

    def _base(self) -> Object:
        return {
            "observedGeneration": self.pod.metadata.generation,
            "hostIP": self._host_ip,
            "hostIPs": [{"ip": self._host_ip}],
            "podIP": self._pod_ip,
            "podIPs": [{"ip": self._pod_ip}],
            "startTime": self._start,
        }

    def _conditions(self, ready: bool, why: str, message: str = "", *, starts: bool = True) -> list[Object]:
        pod = self.pod
        over = why in ("PodCompleted", "PodFailed")
        said = "" if over else message
        wanted = {
            "PodReadyToStartContainers": (starts and not over, "", ""),
            "Initialized": (True, "PodCompleted" if why == "PodCompleted" else "", ""),
            "ContainersReady": (True, "", "") if ready else (False, why, said),
            "Ready": (True, "", "") if ready else (False, why, said),
        }
        if ready and (shut := self._shut_gates()):
            wanted["Ready"] = (False, "ReadinessGatesNotReady", shut)
        found = []
        for kind, (good, reason, text) in wanted.items():
            status = "True" if good else "False"
            old = pod.condition(kind)
            same = old is not None and old.status == status
            condition: Object = {
                "type": kind,
                "status": status,
                "lastProbeTime": None,
                "lastTransitionTime": old.last_transition_time if same and old is not None else self.now,
                "observedGeneration": pod.metadata.generation,
            }
            if reason:
                condition["reason"] = reason
            if text:
                condition["message"] = text
            found.append(condition)
        return found

    def _shut_gates(self) -> str:
        """Return the message about readiness gates that are not True; empty if all are."""
        said = []
        for gate in self.pod.spec.readiness_gates:
            old = self.pod.condition(gate.condition_type)
            if old is None:
                said.append(f'corresponding condition of pod readiness gate "{gate.condition_type}" does not exist.')
            elif old.status != "True":
                said.append(f'the status of pod readiness gate "{gate.condition_type}" is not "True", but {old.status}')
        return "; ".join(said)

    def _containers(self, state: Object, ready: bool) -> dict[str, list[Object]]:
        pod = self.pod
        found = {"containerStatuses": [self._container(c, state, ready) for c in pod.spec.containers]}
        if pod.spec.init_containers:
            end = {"exitCode": 0, "reason": "Completed", "startedAt": self.now, "finishedAt": self.now}
            found["initContainerStatuses"] = [
                self._container(c, {"terminated": end}, True) for c in pod.spec.init_containers
            ]
        return found

    def _container(self, container: Container, state: Object, ready: bool) -> Object:
        old = next((c for c in self.pod.status.container_statuses if c.name == container.name), None)
        ran = "waiting" not in state
        status: Object = {
            "name": container.name,
            "image": container.image,
            "imageID": RUNTIME + container.image if ran else "",
            "state": state,
            "lastState": old.last_state if old else {},
            "ready": ready,
            "restartCount": old.restart_count if old else 0,
            "started": "running" in state,
        }
        if ran:
            status["containerID"] = RUNTIME + self.pod.metadata.uid
        return status


def ready_message(report: Object) -> str | None:
    """Return the message of the condition Ready of a report."""
    message: str | None = next(c for c in report["conditions"] if c["type"] == "Ready").get("message")
    return message


class FirstReports:
    """Reports of pods that begin to run. Those of one template at one moment differ in uids and addresses alone."""

    def __init__(self) -> None:
        self._moment = ""
        self._made: dict[tuple[object, ...], tuple[Pod, bytes, str | None]] = {}
        """Reports with marks for what differs, and their messages, by what they depend on. The parts of pods are known
        by their identities: the first pod of each report is kept therefore."""

    def encode(self, pod: Pod, now: str, host_ip: str, pod_ip: str, *, ready: bool) -> tuple[bytes, str | None]:
        """Return the JSON of `Report.running`, and the message of its condition Ready."""
        status, spec = pod.status, pod.spec
        if status.start_time is not None or status.container_statuses or status.init_container_statuses:
            return self._encode(Report(pod, now, host_ip, pod_ip), ready)
        if now != self._moment:
            self._moment = now
            self._made.clear()
        parts = spec.containers, spec.init_containers, spec.readiness_gates, status.conditions
        key = (ready, pod.metadata.generation, *map(id, parts))
        known = self._made.get(key)
        if known is None:
            text, message = self._encode(Report(pod, now, HOST, ADDRESS), ready)
            known = self._made[key] = pod, self._mark(text, pod), message
        _, text, message = known
        if not text:
            return self._encode(Report(pod, now, host_ip, pod_ip), ready)
        for mark, value in ((HOST, host_ip), (ADDRESS, pod_ip), (UID, pod.metadata.uid)):
            text = text.replace(mark.encode(), value.encode())
        return text, message

    def _encode(self, report: Report, ready: bool) -> tuple[bytes, str | None]:
        found = report.running(ready)
        return orjson.dumps(found), ready_message(found)

    def _mark(self, text: bytes, pod: Pod) -> bytes:
        """Return the text with a mark in place of the uid; nothing if the pod itself has text that is like a mark."""
        found = text.replace(pod.metadata.uid.encode(), UID.encode())
        containers = len(pod.spec.containers) + len(pod.spec.init_containers)
        counts = found.count(HOST.encode()), found.count(ADDRESS.encode()), found.count(UID.encode())
        return found if counts == (2, 2, containers) else b""
