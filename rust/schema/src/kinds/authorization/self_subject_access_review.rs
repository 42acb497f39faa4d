//! Self subject access reviews (`pkg/registry/authorization/selfsubjectaccessreview/rest.go`).

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

/// `ValidateSelfSubjectAccessReview`.
fn validate(object: &Value, causes: &mut Causes) {
    review::attributes(object.field("spec"), causes);
    review::metadata(object, false, causes);
}
