//! The changes between two objects, as sets of paths.

#![allow(clippy::arithmetic_side_effects, reason = "places and depths are bounded by what is in memory")]

use std::collections::BTreeMap;

use hydrofoil_types::{Map, SmolStr, Value, notation};

use crate::equal::equal;
use crate::fieldset::{FieldSet, PathElement};
use crate::place::{Atom, Place};

/// Three disjoint sets (structured-merge-diff `typed/compare.go`).
#[derive(Debug, Default)]
pub(crate) struct Comparison {
    /// Paths of the old object only.
    pub removed: FieldSet,
    /// Paths in both with different values.
    pub modified: FieldSet,
    /// Paths of the new object only.
    pub added: FieldSet,
    /// Whether an item of the new object has no path element, so that ownership cannot be tracked.
    pub broken: bool,
}

impl Comparison {
    /// Return the difference of two objects; paths at or below `ignored` are left out.
    pub fn of(place: Place<'_>, old: &Value, new: &Value, ignored: &FieldSet) -> Self {
        let (mut out, _) = both(place, Some(old), Some(new), 0);
        for set in [&mut out.removed, &mut out.modified, &mut out.added] {
            *set = std::mem::take(set).recursive_difference(ignored);
        }
        out
    }

    /// Return the written paths (added or modified) and the removed ones.
    pub fn split(self) -> (FieldSet, FieldSet) {
        let written = if self.modified.is_empty() { self.added } else { self.modified.union(&self.added) };
        (written, self.removed)
    }

    /// Add the changes found at a path element.
    fn take(&mut self, element: &PathElement, (below, own): Found) {
        self.broken |= below.broken;
        let is = |change| own == Some(change);
        let sets = [
            (&mut self.removed, below.removed, is(Change::Removed)),
            (&mut self.modified, below.modified, is(Change::Modified)),
            (&mut self.added, below.added, is(Change::Added)),
        ];
        for (set, below, member) in sets {
            if member || !below.is_empty() {
                set.set_node(element.clone(), member, below);
            }
        }
    }

    /// Add the change of a path element as a whole, besides the changes below it.
    fn mark(&mut self, element: &PathElement, change: Change) {
        let set = match change {
            Change::Removed => &mut self.removed,
            Change::Modified => &mut self.modified,
            Change::Added => &mut self.added,
        };
        set.insert(std::slice::from_ref(element));
    }
}

/// The change of a value as a whole.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Change {
    Removed,
    Modified,
    Added,
}

/// The depth to which equal parts are detected, so that an object of a thousand levels is not compared a thousand
/// times.
const LOOKS: usize = 12;

/// The changes below a place, and the change of the place as a whole.
type Found = (Comparison, Option<Change>);

fn both(place: Place<'_>, old: Option<&Value>, new: Option<&Value>, depth: usize) -> Found {
    let mut out = Comparison::default();
    // Most of an object is unchanged. Deep down, the check costs more than it saves.
    if let (Some(old), Some(new)) = (old, new)
        && depth < LOOKS
        && equal(old, new)
    {
        return (out, None);
    }
    let as_map = |v: Option<&Value>| matches!(v, Some(Value::Object(_)));
    let whole = match place.atom {
        Atom::Struct(_) | Atom::Map(_) => maps(place, old, new, &mut out, depth),
        Atom::List(..) => lists(place, old, new, &mut out, depth),
        Atom::Free if as_map(old) || as_map(new) => {
            // The keys of a map that became another type are removed one by one, too.
            let whole = maps(place, old, new, &mut out, depth);
            whole || [old, new].into_iter().flatten().any(|v| !matches!(v, Value::Object(_) | Value::Null))
        }
        Atom::Free | Atom::Leaf => true,
    };
    let own = match (old, new) {
        (None, _) => Some(Change::Added),
        (_, None) => Some(Change::Removed),
        (Some(old), Some(new)) => (whole && !same(old, new)).then_some(Change::Modified),
    };
    (out, own)
}

/// Report whether two values are equal; values kept as text are compared by meaning.
fn same(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Raw(old), Value::Raw(new)) if old != new => match (notation::parse(old), notation::parse(new)) {
            (Some(old), Some(new)) => equal(&old, &new),
            _ => false,
        },
        _ => equal(old, new),
    }
}

/// Compare members; return true if both sides are empty, as null and empty differ as a whole.
fn maps(place: Place<'_>, old: Option<&Value>, new: Option<&Value>, out: &mut Comparison, depth: usize) -> bool {
    let members = |v: Option<&Value>| v.and_then(Value::as_object).is_some_and(|m| !m.is_empty());
    if !members(old) && !members(new) {
        return true;
    }
    let nothing = Map::new();
    let [mut old, mut new] = [old, new].map(|side| {
        let map = side.and_then(Value::as_object).unwrap_or(&nothing);
        let mut members: Vec<(&SmolStr, &Value)> = map.iter().map(|(k, v)| (k, v)).collect();
        members.sort_by(|a, b| a.0.cmp(b.0));
        members.into_iter().peekable()
    });
    loop {
        let key = match (old.peek(), new.peek()) {
            (None, None) => return false,
            (Some((key, _)), None) | (None, Some((key, _))) => *key,
            (Some((a, _)), Some((b, _))) => (*a).min(*b),
        };
        let before = old.next_if(|(k, _)| *k == key).map(|(_, v)| v);
        let after = new.next_if(|(k, _)| *k == key).map(|(_, v)| v);
        if let Some(child) = place.member(key) {
            out.take(&PathElement::Field(key.clone()), both(child, before, after, depth + 1));
        }
    }
}

/// Compare items by their path elements; return true if both sides are empty.
fn lists(place: Place<'_>, old: Option<&Value>, new: Option<&Value>, out: &mut Comparison, depth: usize) -> bool {
    let items = |v: Option<&'_ Value>| v.and_then(Value::as_array).is_some_and(|a| !a.is_empty());
    if !items(old) && !items(new) {
        return true;
    }
    let mut sides: BTreeMap<PathElement, (Vec<&Value>, Vec<&Value>)> = BTreeMap::new();
    for item in old.and_then(Value::as_array).unwrap_or(&[]) {
        if let Ok(element) = place.element(item) {
            sides.entry(element).or_default().0.push(item);
        }
    }
    for item in new.and_then(Value::as_array).unwrap_or(&[]) {
        match place.element(item) {
            Ok(element) => sides.entry(element).or_default().1.push(item),
            Err(_) => out.broken = true,
        }
    }
    for (element, (old, new)) in sides {
        let once = |side: &[&Value]| side.len() <= 1;
        match (once(&old), once(&new)) {
            (true, true) => {
                out.take(&element, both(place.item(), old.first().copied(), new.first().copied(), depth + 1));
            }
            // Items of the same key are compared as one atomic value.
            (false, false) if old.len() == new.len() && old.iter().zip(&new).all(|(x, y)| equal(x, y)) => {}
            (false, false) => out.mark(&element, Change::Modified),
            (false, true) => {
                if let Some(item) = new.first() {
                    out.take(&element, both(place.item(), None, Some(item), depth + 1));
                }
                out.mark(&element, Change::Removed);
            }
            (true, false) => {
                if let Some(item) = old.first() {
                    out.take(&element, both(place.item(), Some(item), None, depth + 1));
                }
                out.mark(&element, Change::Added);
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::Comparison;
    use crate::FieldSet;
    use crate::owned::never_owned;
    use crate::place::Place;
    use crate::testing::{json, schema, text};

    fn describe(old: &str, new: &str) -> String {
        let pod = schema("core.v1.Pod");
        let place = Place::root(&pod);
        let (old, new) = (place.canonical(&json(old)), place.canonical(&json(new)));
        let change = Comparison::of(place, &old, &new, &FieldSet::new());
        text(&change.split().0.difference(never_owned()).to_value())
    }

    /// The golden entries of the scenario `managed_fields` for `pod` and `pod-status`.
    #[test]
    fn a_defaulted_pod_and_its_status() {
        let pod = r#"{"metadata":{"name":"p","labels":{"a":"b"}},"spec":{"nodeName":"n","containers":[{"name":"c","image":"i","args":["x","y"],"env":[{"name":"A","value":"1"}],"ports":[{"containerPort":80,"name":"web","protocol":"TCP"},{"containerPort":53,"protocol":"UDP"}],"resources":{"limits":{"cpu":"1"},"requests":{"cpu":"1"}},"volumeMounts":[{"name":"v","mountPath":"/v"}],"imagePullPolicy":"Always","terminationMessagePath":"/t","terminationMessagePolicy":"File"}],"volumes":[{"name":"v","emptyDir":{}}],"tolerations":[{"key":"k","operator":"Exists"}],"imagePullSecrets":[{"name":"s"}],"nodeSelector":{"x":"y"},"hostAliases":[{"ip":"1.2.3.4","hostnames":["h"]}],"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule"}],"dnsPolicy":"ClusterFirst","enableServiceLinks":true,"restartPolicy":"Always","schedulerName":"s","securityContext":{},"terminationGracePeriodSeconds":30}}"#;
        let expected = r#"{"f:metadata":{"f:labels":{".":{},"f:a":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:args":{},"f:env":{".":{},"k:{\"name\":\"A\"}":{".":{},"f:name":{},"f:value":{}}},"f:image":{},"f:imagePullPolicy":{},"f:name":{},"f:ports":{".":{},"k:{\"containerPort\":53,\"protocol\":\"UDP\"}":{".":{},"f:containerPort":{},"f:protocol":{}},"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:containerPort":{},"f:name":{},"f:protocol":{}}},"f:resources":{".":{},"f:limits":{".":{},"f:cpu":{}},"f:requests":{".":{},"f:cpu":{}}},"f:terminationMessagePath":{},"f:terminationMessagePolicy":{},"f:volumeMounts":{".":{},"k:{\"mountPath\":\"/v\"}":{".":{},"f:mountPath":{},"f:name":{}}}}},"f:dnsPolicy":{},"f:enableServiceLinks":{},"f:hostAliases":{".":{},"k:{\"ip\":\"1.2.3.4\"}":{".":{},"f:hostnames":{},"f:ip":{}}},"f:imagePullSecrets":{".":{},"k:{\"name\":\"s\"}":{}},"f:nodeName":{},"f:nodeSelector":{},"f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{},"f:terminationGracePeriodSeconds":{},"f:tolerations":{},"f:topologySpreadConstraints":{".":{},"k:{\"topologyKey\":\"zone\",\"whenUnsatisfiable\":\"DoNotSchedule\"}":{".":{},"f:maxSkew":{},"f:topologyKey":{},"f:whenUnsatisfiable":{}}},"f:volumes":{".":{},"k:{\"name\":\"v\"}":{".":{},"f:emptyDir":{},"f:name":{}}}}}"#;
        assert_eq!(describe("{}", pod), expected);
        let (old, new) = (
            r#"{"status":{"phase":"Pending"}}"#,
            r#"{"status":{"phase":"Running","podIP":"10.1.1.1","podIPs":[{"ip":"10.1.1.1"}],"conditions":[{"type":"Ready","status":"True"}],"containerStatuses":[{"name":"c"}]}}"#,
        );
        assert_eq!(
            describe(old, new),
            r#"{"f:status":{"f:conditions":{".":{},"k:{\"type\":\"Ready\"}":{".":{},"f:lastProbeTime":{},"f:lastTransitionTime":{},"f:status":{},"f:type":{}}},"f:containerStatuses":{},"f:phase":{},"f:podIP":{},"f:podIPs":{".":{},"k:{\"ip\":\"10.1.1.1\"}":{".":{},"f:ip":{}}}}}"#
        );
    }

    #[test]
    fn items_of_one_key_count_as_one() {
        let env = |values: &[&str]| {
            let items: Vec<_> = values.iter().map(|v| format!(r#"{{"name":"A","value":"{v}"}}"#)).collect();
            format!(r#"{{"spec":{{"containers":[{{"name":"c","env":[{}]}}]}}}}"#, items.join(","))
        };
        let path = |below: &str| {
            format!(
                r#"{{"f:spec":{{"f:containers":{{"k:{{\"name\":\"c\"}}":{{"f:env":{{"k:{{\"name\":\"A\"}}":{below}}}}}}}}}}}"#
            )
        };
        assert_eq!(describe(&env(&["1", "2"]), &env(&["1", "2"])), "{}");
        assert_eq!(describe(&env(&["1", "2"]), &env(&["1", "3"])), path("{}"));
        assert_eq!(describe(&env(&["1"]), &env(&["1", "3"])), path("{}"));
        assert_eq!(describe(&env(&["1", "3"]), &env(&["1"])), path(r#"{".":{},"f:name":{},"f:value":{}}"#));
    }
}
