//! Validation of new pods (`pkg/apis/core/validation/validation.go`).

use hydrofoil_types::{Causes, Path, Value};

use hydrofoil_rules::{meta, pod_template};
use hydrofoil_types::read::Read;

/// `ValidatePodCreate`.
pub(crate) fn create(kind: &crate::Kind, object: &Value, causes: &mut Causes) {
    metadata_and_spec(kind, object, causes);
    let (pod, at) = (object.field("spec"), Path::new("spec"));
    if !pod.list("ephemeralContainers").is_empty() {
        causes.forbidden(&at.child("ephemeralContainers"), "cannot be set on create");
    }
    if !pod.zero("nodeName") && !pod.list("schedulingGates").is_empty() {
        causes.forbidden(&at.child("nodeName"), "cannot be set until all schedulingGates have been cleared");
    }
    pod_template::validate::annotations::seccomp_matches(object.field("metadata"), pod, &at, causes);
    pod_template::validate::annotations::app_armor_matches(object.field("metadata"), pod, &at, causes);
}

/// `validatePodMetadataAndSpec`.
pub(crate) fn metadata_and_spec(kind: &crate::Kind, object: &Value, causes: &mut Causes) {
    meta::create(kind, object, causes);
    let (pod, metadata, at) = (object.field("spec"), object.field("metadata"), Path::new("spec"));
    pod_template::validate::annotations::check(
        kind.release,
        metadata,
        pod,
        &Path::new("metadata").child("annotations"),
        causes,
    );
    pod_template::validate::spec(kind.release, pod, Some(metadata), &at, causes);
    if pod.zero("serviceAccountName") {
        let at = at.child("volumes");
        for (i, volume) in pod.list("volumes").iter().enumerate() {
            for (j, source) in volume.field("projected").list("sources").iter().enumerate() {
                if source.has("serviceAccountToken") {
                    let at = at.index(i);
                    let (at, detail) =
                        (at.child("projected"), "must not be specified when serviceAccountName is not set");
                    let at = at.child("sources");
                    let at = at.index(j);
                    causes.forbidden(&at.child("serviceAccountToken"), detail);
                }
            }
        }
    }
    for list in ["containers", "initContainers"] {
        let at = at.child(list);
        for (i, container) in pod.list(list).iter().enumerate() {
            pod_template::validate::container::image_is_trimmed(container, &at.index(i), causes);
        }
    }
}
