//! Workloads (`pkg/registry/scheduling/workload/strategy.go`).

use crate::kind::{GenerationRule, Strategy};

pub(crate) static STRATEGY: Strategy = Strategy {
    generation: GenerationRule::FIRST,
    row: Some(crate::rules::table::text::name_and_age),
    ..Strategy::DEFAULT
};
