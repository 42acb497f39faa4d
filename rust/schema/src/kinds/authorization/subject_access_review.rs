//! Subject access reviews (`pkg/registry/authorization/subjectaccessreview/rest.go`).

use hydrofoil_types::{Causes, Value};

use super::review;
use crate::kind::{MetadataOrder, Strategy};
use hydrofoil_types::read::Read;

pub(crate) static STRATEGY: Strategy = Strategy {
    metadata_order: MetadataOrder::Own,
    metadata_on_update: &[],
    metadata_on_status: &[],
    validate: |_, object, causes| validate(object, causes),
    ..Strategy::DEFAULT
};

/// `ValidateSubjectAccessReview`.
fn validate(object: &Value, causes: &mut Causes) {
    let spec = object.field("spec");
    review::attributes(spec, causes);
    review::subject(spec, causes);
    review::metadata(object, false, causes);
}
