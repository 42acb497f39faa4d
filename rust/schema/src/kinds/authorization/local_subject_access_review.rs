//! Local subject access reviews (`pkg/registry/authorization/localsubjectaccessreview/rest.go`).

use hydrofoil_types::{Causes, Path, Value};

use super::review;
use crate::kind::{MetadataOrder, Strategy};
use hydrofoil_internal::InternalCauses;
use hydrofoil_types::read::Read;

pub(crate) static STRATEGY: Strategy = Strategy {
    metadata_order: MetadataOrder::Own,
    metadata_on_update: &[],
    metadata_on_status: &[],
    validate: |_, object, causes| validate(object, causes),
    ..Strategy::DEFAULT
};

const SPEC: Path<'static> = Path::new("spec");

/// `ValidateLocalSubjectAccessReview`.
fn validate(object: &Value, causes: &mut Causes) {
    let spec = object.field("spec");
    review::attributes(spec, causes);
    review::subject(spec, causes);
    review::metadata(object, true, causes);
    let asked = spec.field("resourceAttributes");
    if spec.has("resourceAttributes") && asked.text("namespace") != object.field("metadata").text("namespace") {
        let at = SPEC.child("resourceAttributes");
        let detail = "must match metadata.namespace";
        causes.invalid_str(&at.child("namespace"), asked.text("namespace"), detail);
    }
    if let Some(other) = spec.opt("nonResourceAttributes") {
        let detail = "disallowed on this kind of request";
        causes.invalid_internal(&SPEC.child("nonResourceAttributes"), review::NON_RESOURCE, other, detail);
    }
}
