//! Pod certificate requests (`pkg/registry/certificates/podcertificaterequest/strategy.go`).

mod key;
mod spec;
mod status;
mod table;

use hydrofoil_types::Path;

use crate::kind::Strategy;
use hydrofoil_internal::InternalCauses;
use hydrofoil_types::read::Read;

const SPEC: Path<'static> = Path::new("spec");

pub(crate) static STRATEGY: Strategy = Strategy {
    allow_unconditional_update: false,
    has_status: true,
    status_resets_metadata: true,
    // The store of the main resource has no strategy of its own for them.
    reset_fields: |subresource| subresource.is_empty().then_some(&[]),
    default: |_, object, _| spec::default(object),
    validate: |_, object, causes| spec::validate(object.field("spec"), causes),
    validate_update: |req, object, old, causes| match req.subresource {
        "status" => status::validate(object, old, req.now, causes),
        _ => causes.immutable_internal(
            &SPEC,
            "certificates.PodCertificateRequestSpec",
            object.field("spec"),
            old.field("spec"),
        ),
    },
    row: Some(table::row),
    ..Strategy::DEFAULT
};
