"""One look at the pods of a stateful set (`pkg/controller/statefulset/stateful_set_control.go`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence

from msgspec import structs

from hydrofoil.controllers.objects.fractions import scaled_value
from hydrofoil.controllers.objects.pods import FAILED, PENDING, SUCCEEDED
from hydrofoil.controllers.objects.revisions import ControllerRevision
from hydrofoil.controllers.objects.stateful_sets import ON_DELETE, ROLLING_UPDATE, StatefulSet, StatefulSetStatus
from hydrofoil.controllers.slow_start import slow_start
from hydrofoil.controllers.workloads.stateful_control import StatefulPodControl
from hydrofoil.controllers.workloads.stateful_pods import Member, has_identity, new_member
from hydrofoil.errors import ApiError

Step = Callable[[Member], Awaitable[bool]]
"""Process a pod; return whether the others have to wait."""


class StatefulUpdate:
    """The pods of a set as they were found, and its next status.

    Unless they are managed in parallel, a pod is created when all before it are ready, and deleted when all behind it
    have gone: then a look ends with the first write, or with the first pod that the others wait for.
    """

    def __init__(
        self,
        control: StatefulPodControl,
        found: StatefulSet,
        members: Sequence[Member],
        current: ControllerRevision,
        update: ControllerRevision,
        now: float,
    ) -> None:
        self._control = control
        self._found = found
        self._least = found.spec.min_ready_seconds
        self._revisions = current.metadata.name, update.metadata.name
        self._now = now
        self._members = members
        by_ordinal = {member.ordinal: member for member in members}
        wanted = found.ordinals
        self.replicas = [by_ordinal.get(ordinal) or new_member(found, ordinal, current, update) for ordinal in wanted]
        """The pods that are wanted, by their numbers."""
        self.condemned = sorted(
            (member for member in members if member.ordinal >= 0 and member.ordinal not in wanted),
            key=lambda member: -member.ordinal,
        )
        """The others, the highest number first."""
        self.first_unavailable = next(filter(self._is_unavailable, (*self.replicas, *reversed(self.condemned))), None)
        self.failure: ApiError | None = None
        """What ended the look; the status is written all the same."""
        self.status = StatefulSetStatus()

    def _is_unavailable(self, member: Member) -> bool:
        return member.is_unavailable(self._least, self._now)

    def _count(self, members: Iterable[Member]) -> StatefulSetStatus:
        """Return the status by pods (`updateStatus`)."""
        replicas = ready = available = current = updated = 0
        for member in members:
            if member.pod is None:
                continue
            replicas += 1
            if member.is_running_and_ready:
                ready += 1
                available += member.is_available(self._least, self._now)
            if not member.is_terminating:
                current += member.revision == self._revisions[0]
                updated += member.revision == self._revisions[1]
        return StatefulSetStatus(
            observed_generation=self._found.metadata.generation,
            replicas=replicas,
            ready_replicas=ready,
            available_replicas=available,
            current_replicas=current,
            updated_replicas=updated,
            current_revision=self._revisions[0],
            update_revision=self._revisions[1],
        )

    async def run(self) -> None:
        """Create, delete and replace pods as far as it is time to (`updateStatefulSet`)."""
        if self._found.metadata.is_deleting:
            self.status = self._count(self._members)
            return
        try:
            waits = (
                await self._for_all(self.replicas, self._process_replica)
                or await self._for_all(self.condemned, self._fix_claims)
                or await self._for_all(self.condemned, self._process_condemned)
            )
        except ApiError as e:
            self.failure = e
            waits = True
        self.status = self._count((*self.replicas, *self.condemned))
        if waits or self._found.spec.update_strategy.type == ON_DELETE:
            return
        try:
            await self._replace()
        except ApiError as e:
            self.failure = e

    async def _for_all(self, members: Sequence[Member], step: Step) -> bool:
        """Process pods one after another until the rest has to wait, or in parallel; report whether it has to."""
        left = (
            [member for member in members if not self._is_settled(member)] if step == self._process_replica else members
        )
        if not self._found.is_parallel:
            for member in left:
                if await step(member):
                    return True
            return False

        async def process(number: int) -> None:
            await step(left[number])

        result = await slow_start(len(left), process)
        if result.failure is not None:
            raise result.failure
        return False

    def _is_settled(self, member: Member) -> bool:
        """Report whether a pod is known to be as it should be, as nearly all are in each look."""
        return member.proven == self._found.metadata.generation and not self._is_unavailable(member)

    async def _process_replica(self, member: Member) -> bool:
        """Create a pod, or see to it that it is as it should be."""
        control, in_order = self._control, not self._found.is_parallel
        if member.phase in (FAILED, SUCCEEDED):
            if not member.is_terminating:
                await control.delete(member)
            # Another one is created when it is gone.
            return True
        if member.pod is None:
            if control.is_stale(member):
                return True
            await control.create(member)
            return in_order
        if member.phase == PENDING:
            await control.complete_claims(member)
        if in_order and (not member.is_running_and_ready or self._is_unavailable(member)):
            return True
        if not has_identity(member, self._found) or not control.follows_policy(member):
            await control.update(member)
        elif member.is_running_and_ready and not self._found.spec.volume_claim_templates:
            # Claims may change, and pods with them have no lasting proof.
            member.proven = self._found.metadata.generation
        return False

    async def _fix_claims(self, member: Member) -> bool:
        if not self._control.follows_policy(member):
            await self._control.apply_policy(member)
        return False

    async def _process_condemned(self, member: Member) -> bool:
        """Delete a pod that is not wanted any more."""
        in_order = not self._found.is_parallel
        if member.is_terminating:
            return in_order
        is_fit = member.is_running_and_ready and member.is_available(self._least, self._now)
        if in_order and not is_fit and member is not self.first_unavailable:
            return True
        await self._control.delete(member)
        return True

    async def _replace(self) -> None:
        """Delete pods of former revisions, the highest number first, so that they are created anew."""
        bounds = self._found.spec.update_strategy.rolling_update
        least = 0 if bounds is None else bounds.partition
        if bounds is not None and bounds.max_unavailable is not None:
            most = max(scaled_value(bounds.max_unavailable, self._found.spec.replicas, rounds_up=False), 1)
            spare = most - sum(map(self._is_unavailable, self.replicas))
            await self._replace_up_to(least, spare)
            return
        for member in reversed(self.replicas[least:]):
            if member.revision != self._revisions[1] and not member.is_terminating:
                await self._delete_outdated(member)
                return
            if self._is_unavailable(member):
                return

    async def _replace_up_to(self, least: int, most: int) -> None:
        """Delete several at once, as the gate MaxUnavailableStatefulSet allows."""
        for member in reversed(self.replicas[least:]):
            if most <= 0:
                return
            if member.revision != self._revisions[1] and not member.is_terminating:
                await self._delete_outdated(member)
                most -= 1

    async def _delete_outdated(self, member: Member) -> None:
        await self._control.delete(member)
        self.status = structs.replace(self.status, current_replicas=self.status.current_replicas - 1)

    def complete(self, collisions: int) -> StatefulSetStatus:
        """Return the status to be written, in which an update may have ended (`completeRollingUpdate`)."""
        status, wanted = structs.replace(self.status, collision_count=collisions), self._found.spec.replicas
        if (
            self._found.spec.update_strategy.type == ROLLING_UPDATE
            and status.updated_replicas == status.ready_replicas == status.replicas == wanted
        ):
            return structs.replace(
                status, current_replicas=status.updated_replicas, current_revision=status.update_revision
            )
        return status
