//! Resources that may be used only under a quota (`limitedResources` of the plug-in's configuration).

use std::collections::BTreeSet;

use hydrofoil_types::Value;
use smol_str::SmolStr;

use super::amounts::Amounts;
use super::refusal::Refusal;
use super::scope;
use hydrofoil_types::read::Read;

/// The usage and the scopes of a write that need a quota.
#[derive(Default)]
pub(super) struct Uncovered<'a> {
    names: BTreeSet<SmolStr>,
    scopes: Vec<&'a Value>,
}

impl<'a> Uncovered<'a> {
    /// Return what the write of an object of a resource (group, plural) uses of the limited resources
    /// (`limitedByDefault`, `getMatchedLimitedScopes`).
    pub fn of(
        (group, resource): (&str, &str),
        object: &Value,
        limited: &'a [Value],
        usage: impl Fn() -> Amounts,
    ) -> Self {
        let mut found = Self::default();
        for limited in limited {
            let scopes = limited.list("matchScopes").iter();
            found.scopes.extend(scopes.filter(|scope| scope::matches_one(resource, scope, object)));
            if (limited.text("apiGroup"), limited.text("resource")) != (group, resource) {
                continue;
            }
            let parts: Vec<&str> = limited.list("matchContains").iter().filter_map(Value::as_str).collect();
            found.names.extend(usage().0.into_keys().filter(|name| parts.iter().any(|part| name.contains(part))));
        }
        found
    }

    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.scopes.is_empty()
    }

    /// Refuse a write whose usage or scopes no quota covers.
    pub fn refuse(
        &self,
        (resource, object): (&str, &Value),
        covered: &BTreeSet<SmolStr>,
        quotas: &[Value],
    ) -> Result<(), Refusal> {
        let names: Vec<&str> = self.names.difference(covered).map(SmolStr::as_str).collect();
        if !names.is_empty() {
            return Err(Refusal::Forbidden(format!("insufficient quota to consume: {}", names.join(","))));
        }
        let restricted: BTreeSet<&str> =
            quotas.iter().flat_map(|quota| scope::matching(quota, resource, object)).collect();
        let open: Vec<String> = self
            .scopes
            .iter()
            .filter(|scope| !restricted.contains(scope.text("scopeName")))
            .map(|scope| {
                let values: Vec<&str> = scope.list("values").iter().filter_map(Value::as_str).collect();
                format!("{{{} {} [{}]}}", scope.text("scopeName"), scope.text("operator"), values.join(" "))
            })
            .collect();
        if open.is_empty() {
            return Ok(());
        }
        Err(Refusal::Internal(format!("insufficient quota to match these scopes: [{}]", open.join(" "))))
    }
}
