"""The internal types as error messages show them: Go's names in Go's order.

A cause shows a struct by `json.Marshal` of the internal type (apimachinery
`pkg/util/validation/field/errors.go`). Internal types carry no tags, so their
members are named as in Go, and none is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from .gosource import GoField, GoPackage, GoStruct, Imports
from .modules import Modules

# Internal package -> the version whose JSON names its fields have.
GROUPS = {
    "admissionregistration": "v1",
    "core": "v1",
    "apps": "v1",
    "authorization": "v1",
    "autoscaling": "v2",
    "batch": "v1",
    "certificates": "v1beta1",
    "discovery": "v1",
    "flowcontrol": "v1",
    "networking": "v1",
    "policy": "v1",
    "rbac": "v1",
    "resource": "v1",
    "storage": "v1",
    "storagemigration": "v1beta1",
}
META = "k8s.io/apimachinery/pkg/apis/meta/v1"
# Groups whose rules are declared: their causes show the versioned types, which have tags.
DECLARED = {"scheduling": "v1alpha2"}
TAGGED = {META, *DECLARED}
# Types that messages of rules show whole; everything below them is included.
ROOTS = (
    "admissionregistration.MutatingAdmissionPolicyBindingSpec",
    "admissionregistration.MutatingAdmissionPolicySpec",
    "admissionregistration.MutatingWebhook",
    "admissionregistration.ValidatingAdmissionPolicyBindingSpec",
    "admissionregistration.ValidatingAdmissionPolicySpec",
    "admissionregistration.ValidatingWebhook",
    "apps.DaemonSetSpec",
    "apps.DaemonSetUpdateStrategy",
    "apps.DeploymentSpec",
    "apps.DeploymentStrategy",
    "apps.ReplicaSetSpec",
    "apps.StatefulSetSpec",
    "authorization.NonResourceAttributes",
    "batch.CronJobSpec",
    "batch.JobSpec",
    "batch.PodFailurePolicy",
    "batch.SuccessPolicy",
    "certificates.CertificateSigningRequestCondition",
    "certificates.PodCertificateRequestSpec",
    "core.EphemeralContainer",
    "core.HostIP",
    "core.EventSource",
    "core.NodeAddress",
    "core.NodeSelectorTerm",
    "core.ObjectReference",
    "core.PersistentVolumeClaimSpec",
    "core.PersistentVolumeSource",
    "core.PersistentVolumeSpec",
    "core.PodIP",
    "core.PodResourceClaim",
    "core.PodTemplateSpec",
    "core.ReplicationControllerSpec",
    "core.ScopeSelector",
    "core.ServicePort",
    "core.Taint",
    "core.VolumeNodeAffinity",
    "discovery.Endpoint",
    "discovery.EndpointPort",
    "flowcontrol.FlowDistinguisherMethod",
    "flowcontrol.FlowSchemaSpec",
    "flowcontrol.PriorityLevelConfigurationSpec",
    "meta.LabelSelector",
    "meta.ObjectMeta",
    "networking.IngressClassSpec",
    "networking.IngressSpec",
    "networking.NetworkPolicySpec",
    "networking.ParentReference",
    "policy.PodDisruptionBudgetSpec",
    "rbac.RoleRef",
    "resource.AllocatedDeviceStatus",
    "resource.AllocationResult",
    "resource.DeviceAttribute",
    "resource.DeviceClassSpec",
    "resource.ResourceClaimSpec",
    "resource.ResourceClaimTemplateSpec",
    "resource.ResourceSliceSpec",
    "scheduling.PodGroupResourceClaimStatus",
    "scheduling.PodGroupSpec",
    "scheduling.WorkloadSpec",
    "storage.CSIDriverSpec",
    "storage.CSINodeDriver",
    "storage.VolumeAttachmentSpec",
    "storagemigration.StorageVersionMigrationSpec",
)
SCALARS = {"string": "s", "bool": "b", "float64": "f", "float32": "f", "[]byte": "y"}
WHOLE = re.compile(r"u?int(8|16|32|64)?$")
SPECIAL = {
    "resource.Quantity": "q",
    "meta.Time": "t",
    "meta.MicroTime": "t",
    "meta.Duration": "d",
    "meta.FieldsV1": "a",
    "intstr.IntOrString": "u",
    "runtime.RawExtension": "a",
    "runtime.Object": "a",
    "types.NodeName": "s",
    "types.UID": "s",
    "types.NamespacedName": "a",
}
# Members with another path in the versioned type; `^` is one struct up, `.` the struct itself.
MOVED = {
    ("admissionregistration.NamedRuleWithOperations", "RuleWithOperations"): ".",
    ("core.PodSecurityContext", "HostNetwork"): "^hostNetwork",
    ("core.PodSecurityContext", "HostPID"): "^hostPID",
    ("core.PodSecurityContext", "HostIPC"): "^hostIPC",
    ("core.PodSecurityContext", "ShareProcessNamespace"): "^shareProcessNamespace",
    ("core.PodSecurityContext", "HostUsers"): "^hostUsers",
}
# Members that the versioned type keeps as an annotation, or not at all.
ABSENT = {
    ("apps.DaemonSetSpec", "TemplateGeneration"),
    ("apps.DeploymentSpec", "RollbackTo"),
}
UNTAGGED = re.compile(r"^(?:([A-Z]\w*)\s+)?((?:\*|\[\]|map\[[^\]]+\])*[\w.]+)\s*(?:`[^`]*`)?\s*(?://.*)?$")


class InternalTypes:
    """Looks types up by `package.Name`, where the package is that of the internal types."""

    def __init__(self, modules: Modules) -> None:
        apis = modules.kubernetes / "pkg" / "apis"
        self.internal = {name: read_untagged(name, apis / name) for name in GROUPS}
        self.versioned = {
            name: GoPackage.read(name, modules.api / name / version, name) for name, version in GROUPS.items()
        }
        for name, version in DECLARED.items():
            package = GoPackage.read(name, modules.api / name / version, name)
            self.internal[name] = self.versioned[name] = package
        self.internal["meta"] = self.versioned["meta"] = GoPackage.read(
            META, modules.apimachinery / "pkg/apis/meta/v1", "meta"
        )

    def lines(self) -> Iterator[str]:
        """One line a type: its name, then `Shown/json/shape` for each member."""
        waiting, known = list(ROOTS), set(ROOTS)
        out: list[str] = []
        while waiting:
            name = waiting.pop()
            members = list(self.members(name))
            out.append(" ".join([name, *members]))
            for member in members:
                below = member.rsplit("/", 1)[1].lstrip("?*[]{}")
                if "." in below and below not in known:
                    known.add(below)
                    waiting.append(below)
        yield from sorted(out)

    def members(self, name: str) -> Iterator[str]:
        package, bare = self.find(name)
        for field in package.structs[bare].fields:
            found = self.qualified(package, field.type, package.structs[bare].imports)
            if field.name == "TypeMeta" or (name, field.name) in ABSENT:
                continue
            if field.embedded and found == "meta.ObjectMeta":
                yield f"+/metadata/{found}"
            elif field.embedded and field.json[0] == "":
                yield from self.members(found)
            elif package.path in TAGGED:
                name_, *options = field.json
                omitted = "?" if {"omitempty", "omitzero"} & set(options) else ""
                yield f"{name_}/{name_}/{omitted}{self.shape(package, field.type, package.structs[bare].imports)}"
            else:
                source = MOVED.get((name, field.name)) or self.json_name(package.path, bare, field.name)
                yield f"{field.name}/{source}/{self.shape(package, field.type, package.structs[bare].imports)}"

    def find(self, name: str) -> tuple[GoPackage, str]:
        group, bare = name.split(".")
        return self.internal[group], bare

    def qualified(self, package: GoPackage, expression: str, imports: Imports) -> str:
        """Return a type name with the package that declares it."""
        bare = expression.lstrip("*")
        if "." not in bare:
            return f"{'meta' if package.path == META else package.path}.{bare}"
        alias, bare = bare.split(".")
        path = imports.get(alias, "")
        if path == META:
            return f"meta.{bare}"
        return f"{path.rsplit('/', 1)[-1]}.{bare}"

    def shape(self, package: GoPackage, expression: str, imports: Imports) -> str:
        if expression in SCALARS:
            return SCALARS[expression]
        if WHOLE.match(expression):
            return "i"
        if expression.startswith("*"):
            return "*" + self.shape(package, expression[1:], imports)
        if expression.startswith("[]"):
            return "[]" + self.shape(package, expression[2:], imports)
        if expression.startswith("map["):
            return "{}" + self.shape(package, expression.split("]", 1)[1], imports)
        name = self.qualified(package, expression, imports)
        if name in SPECIAL:
            return SPECIAL[name]
        found, bare = self.find(name)
        if bare in found.structs:
            return name
        if bare in found.aliases:
            return self.shape(found, *found.aliases[bare])
        named = found.named[bare]
        return self.shape(found, named.underlying, named.imports)

    def json_name(self, group: str, struct: str, member: str) -> str:
        """Return the JSON name of a member in the versioned type of the same name."""
        package = self.versioned[group]
        for field in flattened(package, package.structs[struct]):
            if field.name == member:
                return field.json[0]
        raise SystemExit(f"no JSON name for {group}.{struct}.{member}")


def flattened(package: GoPackage, struct: GoStruct) -> Iterator[GoField]:
    for field in struct.fields:
        if field.inline and field.type in package.structs:
            yield from flattened(package, package.structs[field.type])
        else:
            yield field


def read_untagged(path: str, directory: Path) -> GoPackage:
    """Return a package of internal types: their fields have no tags, which `GoPackage.read` requires of API types."""
    package = GoPackage.read(path, directory, path)
    for file in sorted(directory.glob("*.go")):
        if file.name.endswith("_test.go") or file.name.startswith("zz_generated"):
            continue
        text = re.sub(r"/\*.*?\*/", "", file.read_text(encoding="utf-8"), flags=re.DOTALL)
        for match in re.finditer(r"^type (\w+) struct \{\n(.*?)^\}", text, re.DOTALL | re.MULTILINE):
            fields = []
            for line in match[2].splitlines():
                found = UNTAGGED.match(line.strip())
                if found and not line.strip().startswith("//"):
                    name = found[1] or found[2].lstrip("*").split(".")[-1]
                    fields.append(GoField(name, found[2], found[1] is None, {}, []))
            package.structs[match[1]] = GoStruct(fields, package.structs[match[1]].imports)
    return package
