"""The flags that select plug-ins (apiserver `pkg/server/options/admission.go`)."""

from __future__ import annotations

from hydrofoil.go_text import quote
from hydrofoil.options import Options, Refused, Texts, anything, flag, words

ORDER = (
    "AlwaysAdmit",
    "NamespaceAutoProvision",
    "NamespaceLifecycle",
    "NamespaceExists",
    "LimitPodHardAntiAffinityTopology",
    "LimitRanger",
    "ServiceAccount",
    "NodeRestriction",
    "TaintNodesByCondition",
    "AlwaysPullImages",
    "ImagePolicyWebhook",
    "PodSecurity",
    "PodNodeSelector",
    "Priority",
    "DefaultTolerationSeconds",
    "PodTolerationRestriction",
    "EventRateLimit",
    "ExtendedResourceToleration",
    "DefaultStorageClass",
    "StorageObjectInUseProtection",
    "PodGroupProtection",
    "OwnerReferencesPermissionEnforcement",
    "PersistentVolumeClaimResize",
    "RuntimeClass",
    "CertificateApproval",
    "CertificateSigning",
    "ClusterTrustBundleAttest",
    "CertificateSubjectRestriction",
    "DefaultIngressClass",
    "DenyServiceExternalIPs",
    "PodTopologyLabels",
    "PodGroupWorkloadExists",
    "NodeDeclaredFeatureValidator",
    "JobValidation",
    "PodResizeValidator",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionWebhook",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionWebhook",
    "ResourceQuota",
    "AlwaysDeny",
)
"""All plug-ins of kube-apiserver in their order (`AllOrderedPlugins` of `pkg/kubeapiserver/options/plugins.go`)."""


def plugins(text: str) -> Texts:
    """Read names of plug-ins. Raise Refused for an unknown one."""
    found = words(text)
    for name in found:
        if name not in ORDER:
            raise Refused(f"<flag> plugin {quote(name)} is unknown")
    return found


class AdmissionOptions(Options):
    """Admission plug-ins beyond those that are on by default."""

    enable_admission_plugins: Texts = flag(
        "--enable-admission-plugins", Texts(), plugins, "plug-ins to switch on", value="NAMES"
    )
    disable_admission_plugins: Texts = flag(
        "--disable-admission-plugins", Texts(), plugins, "plug-ins to switch off", value="NAMES"
    )
    admission_control: Texts = flag(
        "--admission-control",
        Texts(),
        plugins,
        "the only plug-ins to run (deprecated: switch on and off)",
        value="NAMES",
    )
    admission_control_config_file: str = flag(
        "--admission-control-config-file", "", anything, "configuration of plug-ins in a file", value="FILE"
    )

    def selected(self) -> tuple[frozenset[str], frozenset[str]]:
        """Return the plug-ins that are switched on, and those off. Raise ValueError where flags contradict each other.

        Upstream: `Validate` and `computePluginNames` of `pkg/kubeapiserver/options/admission.go`.
        """
        on, off = frozenset(self.enable_admission_plugins), frozenset(self.disable_admission_plugins)
        if self.admission_control:
            if on or off:
                both = "enable-admission-plugins/disable-admission-plugins"
                raise ValueError(f"admission-control and {both} flags are mutually exclusive")
            only = frozenset(self.admission_control)
            return only, frozenset(ORDER) - only
        if overlap := sorted(on & off):
            flags = "enable-admission-plugins and disable-admission-plugins"
            raise ValueError(f"[{' '.join(overlap)}] in {flags} overlapped")
        return on, off
