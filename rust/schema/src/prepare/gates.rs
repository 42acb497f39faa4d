//! Fields behind feature gates that 1.36 has off: dropped unless the stored object uses them.

use hydrofoil_types::Value;

use crate::Kind;
use crate::read::{Read, Write};

/// `dropDisabledFields` of the kind.
pub(super) fn drop_disabled(kind: &Kind, object: &mut Value, old: Option<&Value>) {
    match kind.key() {
        ("", "Pod") => object.within("spec", |s| pod_spec(s, old.map(|o| o.sub("spec")))),
        ("", "PodTemplate") => template(object, old),
        ("", "ReplicationController") | ("apps", _) | ("batch", "Job") => {
            object.within("spec", |s| template(s, old.map(|o| o.sub("spec"))));
            if kind.kind == "StatefulSet" {
                stateful(object, old);
            }
        }
        ("batch", "CronJob") => object.within("spec", |s| {
            s.within("jobTemplate", |t| {
                t.within("spec", |s| {
                    template(s, old.map(|o| o.sub("spec").sub("jobTemplate").sub("spec")));
                });
            });
        }),
        ("coordination.k8s.io", "Lease") => object.within("spec", |s| {
            // CoordinatedLeaderElection
            for key in ["strategy", "preferredHolder"] {
                if !old.is_some_and(|o| o.sub("spec").has(key)) {
                    s.drop(key);
                }
            }
        }),
        ("discovery.k8s.io", "EndpointSlice")
            // The v1 API takes no topology; what v1beta1 stored stays while the endpoints do.
            if old.is_none_or(|o| o.sub("endpoints") != object.sub("endpoints")) => {
                object.each("endpoints", |e| e.drop("deprecatedTopology"));
            }
        ("storage.k8s.io", "CSIDriver") => object.within("spec", |s| {
            for key in ["volumeHealth", "preventPodSchedulingIfMissing"] {
                if !old.is_some_and(|o| o.sub("spec").has(key)) {
                    s.drop(key);
                }
            }
        }),
        ("", "Node") => object.within("spec", |s| {
            // DynamicKubeletConfig is gone.
            if !old.is_some_and(|o| o.sub("spec").has("configSource")) {
                s.drop("configSource");
            }
        }),
        _ => {}
    }
}

fn template(holder: &mut Value, old: Option<&Value>) {
    let old = old.map(|o| o.sub("template").sub("spec"));
    holder.within("template", |t| t.within("spec", |s| pod_spec(s, old)));
}

/// `MaxUnavailableStatefulSet`.
fn stateful(object: &mut Value, old: Option<&Value>) {
    let used = old.is_some_and(|o| o.sub("spec").sub("updateStrategy").sub("rollingUpdate").has("maxUnavailable"));
    if !used {
        object.within("spec", |s| {
            s.within("updateStrategy", |u| u.within("rollingUpdate", |r| r.drop("maxUnavailable")));
        });
    }
}

fn pod_spec(spec: &mut Value, old: Option<&Value>) {
    // ContainerStopSignals
    let signals = old.is_some_and(|o| {
        ["containers", "initContainers"].iter().any(|l| o.list(l).iter().any(|c| c.sub("lifecycle").has("stopSignal")))
    });
    // ClusterTrustBundleProjection, PodCertificateRequest
    let projected = |key: &str| {
        old.is_some_and(|o| {
            o.list("volumes").iter().any(|v| v.sub("projected").list("sources").iter().any(|s| s.has(key)))
        })
    };
    let (bundles, certificates) = (projected("clusterTrustBundle"), projected("podCertificate"));
    if !signals {
        for list in ["containers", "initContainers", "ephemeralContainers"] {
            spec.each(list, |c| {
                let had = c.sub("lifecycle").has("stopSignal");
                c.within("lifecycle", |l| l.drop("stopSignal"));
                if had && c.sub("lifecycle").is_zero() {
                    c.drop("lifecycle");
                }
            });
        }
    }
    spec.each("volumes", |v| {
        v.within("projected", |p| {
            p.each("sources", |s| {
                if !bundles {
                    s.drop("clusterTrustBundle");
                }
                if !certificates {
                    s.drop("podCertificate");
                }
            });
        });
    });
    // GenericWorkload
    for key in ["workloadRef", "schedulingGroup"] {
        if !old.is_some_and(|o| o.has(key)) {
            spec.drop(key);
        }
    }
}
