"""The settings of a server: the options of all packages."""

from __future__ import annotations

from hydrofoil.admission.options import AdmissionOptions
from hydrofoil.apis.options import ApiOptions
from hydrofoil.audit.options import AuditOptions
from hydrofoil.authentication.options import AuthenticationOptions
from hydrofoil.authorization.options import AuthorizationOptions
from hydrofoil.controllers.options import ControllerOptions
from hydrofoil.controls.options import ControlOptions
from hydrofoil.endpoints.options import EndpointOptions
from hydrofoil.fairness.options import FairnessOptions
from hydrofoil.registry.options import RegistryOptions
from hydrofoil.server.gateway.options import UpstreamOptions
from hydrofoil.server.options import DumpOptions, LifeOptions, ListenOptions, ManifestOptions, PageOptions
from hydrofoil.server.workers.options import WorkerOptions
from hydrofoil.storage.options import StorageOptions
from hydrofoil.tracing.options import TracingOptions


class Config(
    ListenOptions,
    WorkerOptions,
    ManifestOptions,
    DumpOptions,
    PageOptions,
    StorageOptions,
    UpstreamOptions,
    ControlOptions,
    LifeOptions,
    ControllerOptions,
    ApiOptions,
    EndpointOptions,
    FairnessOptions,
    RegistryOptions,
    AuthenticationOptions,
    AuthorizationOptions,
    AdmissionOptions,
    AuditOptions,
    TracingOptions,
):
    """The settings of the command line, with the names of kube-apiserver's flags."""

    @property
    def elects(self) -> bool:
        """Report whether one of several servers runs the controllers: by default, of those that share etcd."""
        return bool(self.etcd_servers) if self.leader_elect is None else self.leader_elect

    @property
    def rehearses(self) -> bool:
        """Report whether nobody but this server may learn of its writes: all that webhooks see is a dry run."""
        return False

    @property
    def calls_services(self) -> bool:
        """Report whether services behind API services are called: those of a dump are of another time."""
        return not self.read_only

    @property
    def calls_converters(self) -> bool:
        """Report whether webhooks that convert are called."""
        return True


ROOMS: tuple[type, ...] = Config.__bases__
"""The options of each package, in the order of the help: what a first start and a test need comes before access."""
