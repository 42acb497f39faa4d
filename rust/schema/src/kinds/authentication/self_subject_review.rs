//! Self subject reviews (`pkg/registry/authentication/selfsubjectreview/rest.go`).

use crate::kind::{MetadataOrder, Strategy};

pub(crate) static STRATEGY: Strategy = Strategy {
    metadata_order: MetadataOrder::Own,
    metadata_on_update: &[],
    metadata_on_status: &[],
    ..Strategy::DEFAULT
};
