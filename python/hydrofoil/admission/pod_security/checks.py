"""The rules of the pod security standards (`policy/check_*.go`), with upstream's messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from hydrofoil.admission.pod_security.policy import LATEST, Standard

Json = dict[str, Any]
Finding = tuple[str, str]
"""The reason a pod is refused, in short and in detail."""
Check = Callable[[Json, Json], Finding | None]
"""A rule over the metadata and the spec of a pod."""

NEWEST = 35
"""The last minor version that changed a rule."""


def plural(one: str, many: str, count: int) -> str:
    return one if count == 1 else many


def quote(items: Iterable[str]) -> str:
    return ", ".join(f'"{item}"' for item in items)


def containers(spec: Json) -> Iterator[Json]:
    """Yield every container in the order of messages."""
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        yield from spec.get(kind) or []


def context(holder: Json) -> Json:
    found: Json = holder.get("securityContext") or {}
    return found


def join_texts(names: list[str]) -> str:
    return f"{plural('container', 'containers', len(names))} {quote(names)}"


def setters(pod: bool, names: list[str]) -> str:
    """Describe the setter of a field: the pod, containers, or both."""
    return " and ".join((["pod"] if pod else []) + ([join_texts(names)] if names else []))


def _names_of(spec: Json, bad: Callable[[Json], object]) -> list[str]:
    return [c["name"] for c in containers(spec) if bad(c)]


def _windows(spec: Json) -> bool:
    return bool((spec.get("os") or {}).get("name") == "windows")


def _unless(skip: Callable[[Json], bool], check: Check) -> Check:
    return lambda meta, spec: None if skip(spec) else check(meta, spec)


def _own_users(spec: Json) -> bool:
    return spec.get("hostUsers") is False


def host_namespaces(_: Json, spec: Json) -> Finding | None:
    found = [f"{name}=true" for name in ("hostNetwork", "hostPID", "hostIPC") if spec.get(name)]
    return ("host namespaces", ", ".join(found)) if found else None


def host_paths(_: Json, spec: Json) -> Finding | None:
    names = [v["name"] for v in spec.get("volumes") or [] if "hostPath" in v]
    return ("hostPath volumes", f"{plural('volume', 'volumes', len(names))} {quote(names)}") if names else None


def host_ports(_: Json, spec: Json) -> Finding | None:
    ports: set[str] = set()
    names = []
    for c in containers(spec):
        own = {str(p["hostPort"]) for p in c.get("ports") or [] if p.get("hostPort")}
        ports |= own
        names += [c["name"]] if own else []
    if not names:
        return None
    uses = f"{plural('uses', 'use', len(names))} {plural('hostPort', 'hostPorts', len(ports))}"
    return "hostPort", f"{join_texts(names)} {uses} {', '.join(sorted(ports))}"


def probe_hosts(_: Json, spec: Json) -> Finding | None:
    hosts: set[str] = set()
    names: set[str] = set()
    for c in containers(spec):
        life = c.get("lifecycle") or {}
        handlers = [c.get(p) for p in ("livenessProbe", "readinessProbe", "startupProbe")]
        for handler in [*handlers, life.get("postStart"), life.get("preStop")]:
            for how in ("httpGet", "tcpSocket"):
                host = ((handler or {}).get(how) or {}).get("host")
                if host:
                    hosts.add(host)
                    names.add(c["name"])
    if not names:
        return None
    what = plural("probe or lifecycle host", "probe or lifecycle hosts", len(hosts))
    uses = f"{plural('uses', 'use', len(names))} {what}"
    return "probe or lifecycle host", f"{join_texts(sorted(names))} {uses} {quote(sorted(hosts))}"


def check_privileged(_: Json, spec: Json) -> Finding | None:
    names = _names_of(spec, lambda c: context(c).get("privileged"))
    return ("privileged", f"{join_texts(names)} must not set securityContext.privileged=true") if names else None


def proc_mount(_: Json, spec: Json) -> Finding | None:
    bad = {c["name"]: context(c)["procMount"] for c in containers(spec) if "procMount" in context(c)}
    bad = {name: value for name, value in bad.items() if value != "Default"}
    if not bad:
        return None
    return (
        "procMount",
        f"{join_texts(list(bad))} must not set securityContext.procMount to {quote(sorted(set(bad.values())))}",
    )


CAPABILITIES = frozenset(
    [
        "AUDIT_WRITE",
        "CHOWN",
        "DAC_OVERRIDE",
        "FOWNER",
        "FSETID",
        "KILL",
        "MKNOD",
        "NET_BIND_SERVICE",
        "SETFCAP",
        "SETGID",
        "SETPCAP",
        "SETUID",
        "SYS_CHROOT",
    ]
)


def _added_capabilities(c: Json, allowed: frozenset[str]) -> set[str]:
    return {x for x in (context(c).get("capabilities") or {}).get("add") or [] if x not in allowed}


def capabilities_baseline(_: Json, spec: Json) -> Finding | None:
    bad = {c["name"]: added for c in containers(spec) if (added := _added_capabilities(c, CAPABILITIES))}
    if not bad:
        return None
    shown = quote(sorted(set().union(*bad.values())))
    return (
        "non-default capabilities",
        f"{join_texts(list(bad))} must not include {shown} in securityContext.capabilities.add",
    )


def capabilities_restricted(_: Json, spec: Json) -> Finding | None:
    keeps = _names_of(spec, lambda c: "ALL" not in ((context(c).get("capabilities") or {}).get("drop") or []))
    bad = {
        c["name"]: added for c in containers(spec) if (added := _added_capabilities(c, frozenset({"NET_BIND_SERVICE"})))
    }
    details = [f'{join_texts(keeps)} must set securityContext.capabilities.drop=["ALL"]'] if keeps else []
    if bad:
        shown = quote(sorted(set().union(*bad.values())))
        details.append(f"{join_texts(list(bad))} must not include {shown} in securityContext.capabilities.add")
    return ("unrestricted capabilities", "; ".join(details)) if details else None


def escalation(_: Json, spec: Json) -> Finding | None:
    names = _names_of(spec, lambda c: context(c).get("allowPrivilegeEscalation") is not False)
    text = f"{join_texts(names)} must set securityContext.allowPrivilegeEscalation=false"
    return ("allowPrivilegeEscalation != false", text) if names else None


VOLUMES = [
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "gitRepo",
    "nfs",
    "iscsi",
    "glusterfs",
    "rbd",
    "flexVolume",
    "cinder",
    "cephfs",
    "flocker",
    "fc",
    "azureFile",
    "vsphereVolume",
    "quobyte",
    "azureDisk",
    "photonPersistentDisk",
    "portworxVolume",
    "scaleIO",
    "storageos",
]
ALLOWED_VOLUMES = frozenset(VOLUMES[:9])


def volumes(_: Json, spec: Json) -> Finding | None:
    kinds = {v["name"]: next((k for k in VOLUMES if k in v), "unknown") for v in spec.get("volumes") or []}
    bad = {name: kind for name, kind in kinds.items() if kind not in ALLOWED_VOLUMES}
    if not bad:
        return None
    types = sorted(set(bad.values()))
    what = plural("restricted volume type", "restricted volume types", len(types))
    who = f"{plural('volume', 'volumes', len(bad))} {quote(bad)} {plural('uses', 'use', len(bad))}"
    return "restricted volume types", f"{who} {what} {quote(types)}"


def non_root(_: Json, spec: Json) -> Finding | None:
    pod = context(spec).get("runAsNonRoot")
    explicit = _names_of(spec, lambda c: context(c).get("runAsNonRoot") is False)
    implicit = _names_of(spec, lambda c: context(c).get("runAsNonRoot") is None and pod is not True)
    reason = "runAsNonRoot != true"
    if pod is False or explicit:
        return reason, f"{setters(pod is False, explicit)} must not set securityContext.runAsNonRoot=false"
    return (reason, f"pod or {join_texts(implicit)} must set securityContext.runAsNonRoot=true") if implicit else None


def non_root_user(_: Json, spec: Json) -> Finding | None:
    pod = context(spec).get("runAsUser") == 0
    names = _names_of(spec, lambda c: context(c).get("runAsUser") == 0)
    return ("runAsUser=0", f"{setters(pod, names)} must not set runAsUser=0") if pod or names else None


def selinux(allowed: frozenset[str]) -> Check:
    def check(_: Json, spec: Json) -> Finding | None:
        types: set[str] = set()
        rest: list[str] = []

        def bad(holder: Json) -> bool:
            options = context(holder).get("seLinuxOptions") or {}
            kind = options.get("type", "")
            if kind not in allowed:
                types.add(kind)
            found = [f"{name} may not be set" for name in ("user", "role") if options.get(name)]
            rest.extend(found)
            return kind not in allowed or bool(found)

        pod = bad(spec)
        names = _names_of(spec, bad)
        if not pod and not names:
            return None
        data = [f"{plural('type', 'types', len(types))} {quote(sorted(types))}"] if types else []
        data += [text for text in ("user may not be set", "role may not be set") if text in rest]
        return (
            "seLinuxOptions",
            f"{setters(pod, names)} set forbidden securityContext.seLinuxOptions: {'; '.join(data)}",
        )

    return check


POD_ANNOTATION = "seccomp.security.alpha.kubernetes.io/pod"
CONTAINER_ANNOTATION = "container.seccomp.security.alpha.kubernetes.io/"


def seccomp_annotations(meta: Json, spec: Json) -> Finding | None:
    annotations = meta.get("annotations") or {}
    keys = {POD_ANNOTATION, *(CONTAINER_ANNOTATION + c["name"] for c in containers(spec))}
    bad = sorted(
        f'{key}="{value}"'
        for key in keys & annotations.keys()
        if (value := annotations[key]) not in ("runtime/default", "docker/default")
        and not value.startswith("localhost/")
    )
    text = f"forbidden {plural('annotation', 'annotations', len(bad))} {', '.join(bad)}"
    return ("seccompProfile", text) if bad else None


def seccomp(*, required: bool) -> Check:
    def check(_: Json, spec: Json) -> Finding | None:
        def kind(holder: Json) -> str | None:
            profile = context(holder).get("seccompProfile")
            return None if profile is None else profile.get("type", "")

        allowed = ("Localhost", "RuntimeDefault")
        own = kind(spec)
        pod = own is not None and own not in allowed
        kinds = {c["name"]: kind(c) for c in containers(spec)}
        bad = {name: value for name, value in kinds.items() if value is not None and value not in allowed}
        if pod or bad:
            values = sorted({*bad.values(), *([own] if pod and own is not None else [])})
            text = f"{setters(pod, list(bad))} must not set securityContext.seccompProfile.type to {quote(values)}"
            return "seccompProfile", text
        unset = [name for name, value in kinds.items() if value is None and own is None]
        if not required or not unset:
            return None
        profiles = '"RuntimeDefault" or "Localhost"'
        text = f"pod or {join_texts(unset)} must set securityContext.seccompProfile.type to {profiles}"
        return "seccompProfile", text

    return check


def apparmor(meta: Json, spec: Json) -> Finding | None:
    def kind(holder: Json) -> str | None:
        profile = context(holder).get("appArmorProfile")
        return None if profile is None else profile.get("type", "")

    allowed = (None, "RuntimeDefault", "Localhost")
    pod = kind(spec) not in allowed
    bad = {c["name"]: kind(c) or "" for c in containers(spec) if kind(c) not in allowed}
    values = sorted({*bad.values(), *([kind(spec) or ""] if pod else [])})
    notes = sorted(
        f'{key}="{value}"'
        for key, value in (meta.get("annotations") or {}).items()
        if key.startswith("container.apparmor.security.beta.kubernetes.io/")
        and value not in ("", "runtime/default")
        and not value.startswith("localhost/")
    )
    who = [setters(pod, list(bad))] if pod or bad else []
    who += [plural("annotation", "annotations", len(notes))] if notes else []
    if not who:
        return None
    values += notes
    reason = plural("forbidden AppArmor profile", "forbidden AppArmor profiles", len(values))
    return reason, f"{' and '.join(who)} must not set AppArmor profile type to {quote(values)}"


SYSCTLS = [
    "kernel.shm_rmid_forced",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.ping_group_range",
    "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
]
"""In the order in which they became allowed."""


def sysctls(allowed: int) -> Check:
    def check(_: Json, spec: Json) -> Finding | None:
        names = [s["name"] for s in context(spec).get("sysctls") or [] if s["name"] not in SYSCTLS[:allowed]]
        return ("forbidden sysctls", ", ".join(names)) if names else None

    return check


def host_process(_: Json, spec: Json) -> Finding | None:
    def bad(holder: Json) -> bool:
        return bool((context(holder).get("windowsOptions") or {}).get("hostProcess"))

    pod, names = bad(spec), _names_of(spec, bad)
    text = f"{setters(pod, names)} must not set securityContext.windowsOptions.hostProcess=true"
    return ("hostProcess", text) if pod or names else None


SELINUX = frozenset({"", "container_t", "container_init_t", "container_kvm_t"})
BASELINE: dict[str, list[tuple[int, Check]]] = {
    "appArmorProfile": [(0, apparmor)],
    "capabilities_baseline": [(0, capabilities_baseline)],
    "hostNamespaces": [(0, host_namespaces)],
    "hostPathVolumes": [(0, host_paths)],
    "hostPorts": [(0, host_ports)],
    "hostProbesAndHostLifecycle": [(34, probe_hosts)],
    "privileged": [(0, check_privileged)],
    "procMount": [(0, proc_mount), (35, _unless(_own_users, proc_mount))],
    "seLinuxOptions": [(0, selinux(SELINUX)), (31, selinux(SELINUX | {"container_engine_t"}))],
    "seccompProfile_baseline": [(0, seccomp_annotations), (19, seccomp(required=False))],
    "sysctls": [(0, sysctls(5)), (27, sysctls(6)), (29, sysctls(10)), (32, sysctls(12))],
    "windowsHostProcess": [(0, host_process)],
}
"""The rules of the baseline level by upstream's id, each from the minor version that introduced that form."""
RESTRICTED: dict[str, list[tuple[int, Check]]] = {
    "allowPrivilegeEscalation": [(8, escalation), (25, _unless(_windows, escalation))],
    "capabilities_restricted": [(22, capabilities_restricted), (25, _unless(_windows, capabilities_restricted))],
    "procMount_restricted": [(35, proc_mount)],
    "restrictedVolumes": [(0, volumes)],
    "runAsNonRoot": [(0, non_root), (35, _unless(_own_users, non_root))],
    "runAsUser": [(23, non_root_user), (35, _unless(_own_users, non_root_user))],
    "seccompProfile_restricted": [(19, seccomp(required=True)), (25, _unless(_windows, seccomp(required=True)))],
}
OVERRIDES = {
    "capabilities_restricted": "capabilities_baseline",
    "procMount_restricted": "procMount",
    "restrictedVolumes": "hostPathVolumes",
    "seccompProfile_restricted": "seccompProfile_baseline",
}


def _at(rules: dict[str, list[tuple[int, Check]]], minor: int) -> dict[str, Check]:
    fitting = {name: [check for since, check in versions if since <= minor] for name, versions in rules.items()}
    return {name: checks[-1] for name, checks in fitting.items() if checks}


def findings(standard: Standard, meta: Json, spec: Json) -> list[Finding]:
    """Return the violations of a pod: baseline rules first, each level in the order of rule names."""
    if standard.level == "privileged":
        return []
    minor = NEWEST if standard.minor == LATEST else min(standard.minor, NEWEST)
    checks = _at(BASELINE, minor)
    if standard.level == "restricted":
        stricter = _at(RESTRICTED, minor)
        for name in stricter:
            checks.pop(OVERRIDES.get(name, ""), None)
        checks = {**checks, **stricter}
    found = (check(meta, spec) for check in checks.values())
    return [f for f in found if f is not None]


def detail(found: list[Finding]) -> str:
    """Return all findings in one line."""
    return ", ".join(f"{reason} ({text})" if text else reason for reason, text in found)
