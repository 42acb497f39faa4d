//! Cluster trust bundles (`pkg/registry/certificates/clustertrustbundle/strategy.go`).

use hydrofoil_types::Value;

use crate::kind::{NameRule, Strategy};
use crate::read::Read;
use crate::rules::table::text::or;
use crate::rules::table::{Subject, cells};

pub(crate) static STRATEGY: Strategy =
    Strategy { name_rule: NameRule::Other, allow_unconditional_update: false, row: Some(row), ..Strategy::DEFAULT };

/// `printClusterTrustBundle`.
fn row(of: &Subject<'_>) -> Vec<Value> {
    cells![of.name(), or(of.spec().text("signerName"), "<none>")]
}
