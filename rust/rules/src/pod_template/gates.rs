//! Fields of a pod behind feature gates: dropped where the gate is off, unless the stored object uses them (`pkg/api/pod`).

use hydrofoil_types::Value;

use crate::{Gate, Release};
use hydrofoil_types::read::{Read, Write};

const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];
const STATUSES: [&str; 3] = ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"];

/// `dropDisabledFields` of a pod spec.
pub fn pod_spec(release: Release, spec: &mut Value, old: Option<&Value>) {
    let off = |gate, in_use: &dyn Fn(&Value) -> bool| !release.enabled(gate) && !old.is_some_and(in_use);
    if off(Gate::PodLevelResources, &|o| {
        ["requests", "limits"].iter().any(|key| o.field("resources").entries(key).next().is_some())
    }) {
        spec.drop("resources");
    }
    if off(Gate::MatchLabelKeysInPodTopologySpread, &|o| {
        o.list("topologySpreadConstraints").iter().any(|c| !c.list("matchLabelKeys").is_empty())
    }) {
        spec.each("topologySpreadConstraints", |c| c.drop("matchLabelKeys"));
    }
    projections(release, spec, old);
    if off(Gate::GenericWorkload, &|o| o.has("workloadRef")) {
        spec.drop("workloadRef");
    }
    if off(Gate::GenericWorkload, &|o| o.has("schedulingGroup")) {
        spec.drop("schedulingGroup");
    }
    if off(Gate::ContainerRestartRules, &has_restart_rules) {
        drop_restart_rules(spec);
    }
    if off(Gate::HostnameOverride, &|o| o.has("hostnameOverride")) {
        spec.drop("hostnameOverride");
    }
    if off(Gate::EnvFiles, &|o| any_container(o, &CONTAINERS, |c| c.list("env").iter().any(has_file))) {
        for list in CONTAINERS {
            spec.each(list, |c| c.each("env", |e| e.within("valueFrom", |from| from.drop("fileKeyRef"))));
        }
    }
    if off(Gate::ContainerStopSignals, &|o| {
        any_container(o, &["containers", "initContainers"], |c| c.field("lifecycle").has("stopSignal"))
    }) {
        drop_stop_signals(spec);
    }
}

/// `dropDisabledPodStatusFields`.
pub fn pod_status(release: Release, status: &mut Value, old: Option<&Value>) {
    let off = |gate, in_use: &dyn Fn(&Value) -> bool| !release.enabled(gate) && !old.is_some_and(in_use);
    if off(Gate::InPlacePodLevelResourcesVerticalScaling, &|o| o.has("resources") || o.has("allocatedResources")) {
        status.drop("resources");
        status.drop("allocatedResources");
    }
    if off(Gate::DRAExtendedResource, &|o| o.has("extendedResourceClaimStatus")) {
        status.drop("extendedResourceClaimStatus");
    }
    if off(Gate::ResourceHealthStatus, &|o| {
        any_container(o, &STATUSES, |c| !c.list("allocatedResourcesStatus").is_empty())
    }) {
        for list in STATUSES {
            status.each(list, |c| c.drop("allocatedResourcesStatus"));
        }
    }
    if off(Gate::ResourceHealthStatusMessage, &|o| any_container(o, &STATUSES, has_health_message)) {
        for list in STATUSES {
            status.each(list, |c| {
                c.each("allocatedResourcesStatus", |s| s.each("resources", |r| r.drop("message")));
            });
        }
    }
}

/// Drop the disabled fields of the template in a spec.
pub fn template(release: Release, holder: &mut Value, old: Option<&Value>) {
    let old = old.map(|o| o.field("template").field("spec"));
    holder.within("template", |t| t.within("spec", |s| pod_spec(release, s, old)));
}

/// `dropDisabledClusterTrustBundleProjection`, `dropDisabledPodCertificateProjection`.
fn projections(release: Release, spec: &mut Value, old: Option<&Value>) {
    let off = |gate, key: &str| {
        let in_use = |o: &Value| {
            o.list("volumes").iter().any(|v| v.field("projected").list("sources").iter().any(|s| s.has(key)))
        };
        !release.enabled(gate) && !old.is_some_and(in_use)
    };
    let bundles = off(Gate::ClusterTrustBundleProjection, "clusterTrustBundle");
    let certificates = off(Gate::PodCertificateRequest, "podCertificate");
    if !bundles && !certificates {
        return;
    }
    spec.each("volumes", |v| {
        v.within("projected", |p| {
            p.each("sources", |s| {
                if bundles {
                    s.drop("clusterTrustBundle");
                }
                if certificates {
                    s.drop("podCertificate");
                }
            });
        });
    });
}

/// `containerRestartRulesInUse`.
fn has_restart_rules(spec: &Value) -> bool {
    spec.list("containers").iter().any(|c| c.has("restartPolicy"))
        || spec.list("initContainers").iter().any(|c| {
            c.opt("restartPolicy").is_some_and(|p| p.as_str() != Some("Always"))
                || !c.list("restartPolicyRules").is_empty()
        })
}

/// `dropContainerRestartRules`: a sidecar remains one.
fn drop_restart_rules(spec: &mut Value) {
    for list in CONTAINERS {
        spec.each(list, |c| {
            if list != "initContainers" || c.text("restartPolicy") != "Always" {
                c.drop("restartPolicy");
            }
            c.drop("restartPolicyRules");
        });
    }
}

/// `dropContainerStopSignals`.
fn drop_stop_signals(spec: &mut Value) {
    for list in CONTAINERS {
        spec.each(list, |c| {
            let had = c.field("lifecycle").has("stopSignal");
            c.within("lifecycle", |l| l.drop("stopSignal"));
            if had && c.field("lifecycle").is_zero() {
                c.drop("lifecycle");
            }
        });
    }
}

fn any_container(of: &Value, lists: &[&str], is: impl Fn(&Value) -> bool) -> bool {
    lists.iter().any(|list| of.list(list).iter().any(&is))
}

fn has_file(variable: &Value) -> bool {
    variable.field("valueFrom").has("fileKeyRef")
}

fn has_health_message(container: &Value) -> bool {
    container.list("allocatedResourcesStatus").iter().any(|s| s.list("resources").iter().any(|r| r.has("message")))
}
