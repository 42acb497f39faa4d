//! Fields of a pod spec behind feature gates that 1.36 has off: dropped unless the stored object uses them.

use hydrofoil_types::Value;

use crate::read::{Read, Write};

/// `dropDisabledFields` of a pod spec.
pub(crate) fn pod_spec(spec: &mut Value, old: Option<&Value>) {
    // ContainerStopSignals
    let signals = old.is_some_and(|o| {
        ["containers", "initContainers"]
            .iter()
            .any(|l| o.list(l).iter().any(|c| c.field("lifecycle").has("stopSignal")))
    });
    // ClusterTrustBundleProjection, PodCertificateRequest
    let projected = |key: &str| {
        old.is_some_and(|o| {
            o.list("volumes").iter().any(|v| v.field("projected").list("sources").iter().any(|s| s.has(key)))
        })
    };
    let (bundles, certificates) = (projected("clusterTrustBundle"), projected("podCertificate"));
    if !signals {
        for list in ["containers", "initContainers", "ephemeralContainers"] {
            spec.each(list, |c| {
                let had = c.field("lifecycle").has("stopSignal");
                c.within("lifecycle", |l| l.drop("stopSignal"));
                if had && c.field("lifecycle").is_zero() {
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

/// Drop the disabled fields of the template in a spec.
pub(crate) fn template(holder: &mut Value, old: Option<&Value>) {
    let old = old.map(|o| o.field("template").field("spec"));
    holder.within("template", |t| t.within("spec", |s| pod_spec(s, old)));
}
