//! Native admission: limit ranges, quotas and the room on a node.

pub use hydrofoil_admit::Refusal;
use hydrofoil_admit::{self as admit, limits, quota};
use hydrofoil_codec::json;
use hydrofoil_types::Value;

use super::draft::Draft;
use crate::error::Result;
use crate::stored::Stored;

/// The new `status.used` (JSON) of the quotas that a write changes, by the index of the quota.
pub type Used = Vec<(usize, Vec<u8>)>;

/// Set the defaults of a limit range (JSON) in the containers of a pod.
pub fn limit_fill(draft: &mut Draft, range: &[u8]) -> Result<()> {
    limits::fill(&mut draft.value, &json::parse(range)?.value);
    Ok(())
}

/// Return the reason if a limit range (JSON) rejects a pod or, with `claim`, a claim.
pub fn limit_refusal(draft: &Draft, range: &[u8], claim: bool) -> Result<Option<String>> {
    Ok(limits::refusal(claim, &draft.value, &json::parse(range)?.value))
}

/// Report whether a claim requests more storage than before.
pub fn storage_grows(draft: &Draft, old: &Stored) -> Result<bool> {
    Ok(admit::storage_grows(&*old.value(&draft.kind)?, &draft.value))
}

/// Return the requests of a pod that a node cannot allocate, as text; empty without any.
pub fn node_shortage(draft: &Draft, node: &Stored) -> Result<String> {
    Ok(admit::node::shortage(&draft.value, &*node.value(node.kind())?))
}

/// Return the usage (JSON) of a quota by further objects of a resource (group, plural), beside that of `earlier` ones
/// (JSON, or empty); empty if it has no limit for them.
pub fn quota_usage<'o>(
    resource: (&str, &str),
    quota: &Stored,
    earlier: &[u8],
    objects: impl Iterator<Item = &'o Stored>,
) -> Result<Vec<u8>> {
    let earlier = if earlier.is_empty() { Value::Null } else { json::parse(earlier)?.value };
    let objects = objects.map(|object| object.value(object.kind())).collect::<Result<Vec<_>>>()?;
    let used = quota::usage(resource, &*quota.value(quota.kind())?, &earlier, objects.into_iter());
    Ok(used.map_or_else(Vec::new, |used| json::encode_any(&used)))
}

/// Charge a write of a resource (group, plural, subresource) to quotas; or return the reason if one rejects it.
/// `limited` is the configuration of resources that need a quota (JSON), or empty.
pub fn quota_charge<'q>(
    draft: &Draft,
    old: Option<&Stored>,
    (group, resource, subresource): (&str, &str, &str),
    quotas: impl Iterator<Item = &'q Stored>,
    limited: &[u8],
) -> Result<Result<Used, Refusal>> {
    let limited = if limited.is_empty() { Value::Null } else { json::parse(limited)?.value };
    let limited = limited.as_array().unwrap_or_default();
    let old = old.map(|old| old.value(&draft.kind)).transpose()?;
    let quotas = quotas.map(|q| Ok(q.value(q.kind())?.into_owned())).collect::<Result<Vec<Value>>>()?;
    let charge = quota::Charge { group, resource, subresource, old: old.as_deref(), object: &draft.value, limited };
    let shown = |(at, used): &(usize, Value)| (*at, json::encode_any(used));
    Ok(charge.check(&quotas).map(|changed| changed.iter().map(shown).collect()))
}
