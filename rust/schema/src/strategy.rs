//! The options of strategies: differences between kinds without code.

use crate::Kind;
pub use crate::kind::NameRule;

/// The options of one kind.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "upstream's strategies are independent switches")]
pub struct Traits {
    /// Whether PUT to an absent object creates it.
    pub allow_create_on_update: bool,
    /// Whether PUT may leave out the resourceVersion.
    pub allow_unconditional_update: bool,
    /// Whether DELETE returns the object.
    pub returns_deleted_object: bool,
    /// Whether DELETE allows a grace period.
    pub graceful_delete: bool,
    /// The rule for names.
    pub name_rule: NameRule,
    /// Whether `/status` exists and the main resource leaves the status alone.
    pub has_status: bool,
    /// Whether `/scale` exists.
    pub has_scale: bool,
}

/// Return the switches of a kind.
pub fn traits(kind: &Kind) -> Traits {
    let strategy = kind.strategy;
    Traits {
        allow_create_on_update: strategy.allow_create_on_update,
        allow_unconditional_update: strategy.allow_unconditional_update,
        returns_deleted_object: strategy.returns_deleted_object,
        graceful_delete: strategy.graceful_delete,
        name_rule: strategy.name_rule,
        has_status: strategy.has_status,
        has_scale: strategy.has_scale,
    }
}

/// Return the fields that clients cannot set through an endpoint (`GetResetFields` of the strategies).
pub fn reset_fields(kind: &Kind, subresource: &str) -> &'static [&'static [&'static str]] {
    let strategy = kind.strategy;
    if let Some(own) = (strategy.reset_fields)(subresource) {
        return own;
    }
    match subresource {
        "" if strategy.has_status => &[&["status"]],
        "status" => &[&["spec"]],
        _ => &[],
    }
}
