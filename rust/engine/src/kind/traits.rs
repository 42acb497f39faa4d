//! The settings of a kind in the generic flows.

/// The switches of a strategy, by upstream's names of its methods (apiserver `pkg/registry/rest`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "upstream's strategies are independent switches")]
pub struct Traits {
    /// Whether PUT to an absent object creates it.
    pub allow_create_on_update: bool,
    /// Whether PUT may omit the resource version.
    pub allow_unconditional_update: bool,
    /// Whether DELETE returns the object.
    pub returns_deleted_object: bool,
    /// Whether DELETE uses a grace period.
    pub graceful_delete: bool,
}

impl Traits {
    /// Return the names of the enabled switches.
    pub fn names(self) -> Vec<&'static str> {
        let all = [
            (self.allow_create_on_update, "create_on_update"),
            (self.allow_unconditional_update, "unconditional_update"),
            (self.returns_deleted_object, "returns_deleted_object"),
            (self.graceful_delete, "graceful_deletion"),
        ];
        all.into_iter().filter_map(|(on, name)| on.then_some(name)).collect()
    }
}
