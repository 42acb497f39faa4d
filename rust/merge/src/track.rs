//! Ownership after an update.

#![allow(clippy::indexing_slicing, reason = "places come from the list that they lead into")]

use hydrofoil_types::{Schema, Value};

use crate::compare::Comparison;
use crate::equal::equal;
use crate::fieldset::FieldSet;
use crate::managed::Managed;
use crate::owned::never_owned;
use crate::place::{Atom, Place};
use crate::typed;
use crate::versions::{Changes, ManagedRequest, Pending, Unconverted};

/// Write `metadata.managedFields` of `new` as every operation but Apply does (`FieldManager.UpdateNoErrors` of
/// apimachinery `pkg/util/managedfields/internal/fieldmanager.go`).
///
/// `old` is the live object, null on create; both are in loose form. Paths of `reset`, which the request cannot set,
/// get no owner. Malformed entries are kept as they were.
///
/// # Errors
/// A conversion that another server must do first; nothing is changed then.
pub fn track_update(
    schema: &Schema,
    old: Option<&Value>,
    new: &mut Value,
    req: &ManagedRequest<'_>,
    reset: &[&[&str]],
) -> Result<(), Box<Pending>> {
    let nothing = Value::object();
    let old = old.unwrap_or(&nothing);
    let live = || Managed::of(old).unwrap_or_default();
    let as_stored = |new: &Value| {
        let [old, new] = [old, new].map(|object| object.at(&["metadata", "managedFields"]));
        matches!((old, new), (Some(old), Some(new)) if equal(old, new))
    };
    let taken = as_stored(new);
    let mut managed = if taken {
        Managed::take_from(new)
    } else if !req.subresource.is_empty() {
        // A subresource cannot edit the entries.
        live()
    } else if Managed::is_reset(new) {
        Managed::default()
    } else {
        // Clients that do not know the entries must not lose them.
        Managed::of(new).filter(|m| !m.0.is_empty()).unwrap_or_else(live)
    };
    if managed.0.is_empty() && !old.str_at(&["metadata", "uid"]).is_empty() {
        // An untracked object stays so until it is applied.
        managed.write(new);
        return Ok(());
    }
    match update(Place::root(schema), old, new, &mut managed, req, &FieldSet::of_fields(reset)) {
        Ok(()) => {}
        Err(Unconverted::Pending(conversion)) => {
            if taken {
                let entries = old.at(&["metadata", "managedFields"]).cloned().unwrap_or_default();
                new.object_at_mut(&["metadata"]).set("managedFields", entries);
            }
            return Err(conversion);
        }
        // Upstream drops entries that it cannot update.
        Err(Unconverted::Failed(_)) => managed.0.clear(),
    }
    managed.cap();
    managed.write(new);
    Ok(())
}

/// Transfer the changed fields to the requester (`Updater.Update` of structured-merge-diff `merge/update.go`).
pub(crate) fn update(
    place: Place<'_>,
    old: &Value,
    new: &Value,
    managed: &mut Managed,
    req: &ManagedRequest<'_>,
    ignored: &FieldSet,
) -> Result<(), Unconverted> {
    managed.settle(req, old)?;
    let (before, after) = place.differing(old, new);
    let own = Comparison::of(place, &before, &after, ignored);
    // Built-in kinds always match their schema; definitions may change after their objects.
    let fits = || place.is_struct() || (typed::fits(place, old) && typed::fits(place, new));
    if own.broken || !fits() {
        return Err(Unconverted::Failed("the object does not match its schema".to_owned()));
    }
    let changes = Changes::between(own.split(), old, new, managed, req, ignored)?;
    let (written, removed) = changes.own();
    let changed = if managed.0.is_empty() { FieldSet::new() } else { removed.clone().union(written) };
    for entry in &mut managed.0 {
        let theirs;
        let changed = match changes.of(&entry.api_version) {
            Some((written, removed)) => {
                theirs = removed.clone().union(written);
                &theirs
            }
            None => &changed,
        };
        // The sets of a built-in kind match its current schema.
        if place.is_struct() && !entry.may_share(changed) {
            continue;
        }
        entry.open();
        reconcile(req.place(place, &entry.api_version), &mut entry.set);
        entry.set = std::mem::take(&mut entry.set).difference(changed);
    }
    managed.0.retain(|entry| entry.is_unread() || !entry.set.is_empty());
    let mut own = req.entry(false);
    own.set = changes.into_written().difference(never_owned());
    if own.set.is_empty() {
        return Ok(());
    }
    match managed.0.iter_mut().find(|entry| entry.is_same(&own)) {
        Some(entry) => {
            entry.open();
            entry.set = std::mem::take(&mut entry.set).union(&own.set);
            entry.time = own.time;
        }
        None => managed.0.push(own),
    }
    Ok(())
}

/// Update a set to the current schema: an owner of a part of a value that is now atomic owns all of it
/// (`typed/reconcile_schema.go`).
pub(crate) fn reconcile(place: Place<'_>, set: &mut FieldSet) {
    set.change_below(|element, member, below| match place.below(element) {
        None => {}
        Some(child) if matches!(child.atom, Atom::Leaf) => {
            *member = true;
            *below = FieldSet::new();
        }
        Some(child) => reconcile(child, below),
    });
}

#[cfg(test)]
mod tests {
    use hydrofoil_types::Value;

    use super::{ManagedRequest, track_update};
    use crate::OneVersion;
    use crate::testing::{json, schema, text};

    const T1: &str = "2001-01-01T00:00:01Z";
    const T2: &str = "2001-01-01T00:00:02Z";

    fn by<'a>(manager: &'a str, now: &'a str) -> ManagedRequest<'a> {
        ManagedRequest { manager, api_version: "v1", subresource: "", now, versions: &OneVersion }
    }

    fn entries(object: &Value) -> Vec<String> {
        let shown = |e: &Value| {
            let sub = e.str_at(&["subresource"]);
            let who = format!("{} {}{sub} {}", e.str_at(&["manager"]), e.str_at(&["operation"]), e.str_at(&["time"]));
            format!("{} {}", who.replace("2001-01-01T00:00:0", ""), text(e.get("fieldsV1").expect("fields")))
        };
        object.list_at(&["metadata", "managedFields"]).iter().map(shown).collect()
    }

    fn with(object: &Value, body: &str) -> Value {
        let mut out = json(body);
        out.object_at_mut(&["metadata"]).set("uid", "u");
        if let Some(managed) = object.at(&["metadata", "managedFields"]) {
            let metadata = out.object_at_mut(&["metadata"]);
            if !metadata.contains_key("managedFields") {
                metadata.set("managedFields", managed.clone());
            }
        }
        out
    }

    /// The steps of the scenario `managed_fields`, with its golden sets.
    #[test]
    fn a_config_map_through_its_writers() {
        let kind = schema("core.v1.ConfigMap");
        let mut a = json(
            r#"{"metadata":{"name":"a","labels":{"l":"1"},"annotations":{"x.y/z":"2"},"finalizers":["a.b/c"]},"data":{"k":"v","k2":"v2"},"binaryData":{"b":"dg=="}}"#,
        );
        track_update(&kind, None, &mut a, &by("named", T1), &[]).expect("no conversion");
        assert_eq!(
            entries(&a),
            [
                r#"named Update 1Z {"f:binaryData":{".":{},"f:b":{}},"f:data":{".":{},"f:k":{},"f:k2":{}},"f:metadata":{"f:annotations":{".":{},"f:x.y/z":{}},"f:finalizers":{".":{},"v:\"a.b/c\"":{}},"f:labels":{".":{},"f:l":{}}}}"#
            ]
        );
        let old = with(&a, &text(&a));
        let mut a = with(
            &Value::Null,
            r#"{"metadata":{"name":"a","labels":{"l":"1"},"finalizers":["a.b/c"]},"data":{"k":"changed","new":"n"}}"#,
        );
        track_update(&kind, Some(&old), &mut a, &by("named", T2), &[]).expect("no conversion");
        let own = r#"{"f:data":{".":{},"f:k":{},"f:new":{}},"f:metadata":{"f:finalizers":{".":{},"v:\"a.b/c\"":{}},"f:labels":{".":{},"f:l":{}}}}"#;
        assert_eq!(entries(&a), [format!("named Update 2Z {own}")]);

        // Another manager takes one label; the first one keeps the map itself.
        let old = a.clone();
        a.object_at_mut(&["metadata", "labels"]).set("l", "2");
        track_update(&kind, Some(&old), &mut a, &by("other", T1), &[]).expect("no conversion");
        let rest = own.replace(r#"{".":{},"f:l":{}}"#, "{}");
        let other = r#"other Update 1Z {"f:metadata":{"f:labels":{"f:l":{}}}}"#;
        assert_eq!(entries(&a), [other.to_owned(), format!("named Update 2Z {rest}")]);

        // Without changes all times stay, for any manager. A removed path has no owner.
        let old = a.clone();
        track_update(&kind, Some(&old), &mut a, &by("third", "2001-01-01T00:00:09Z"), &[]).expect("no conversion");
        assert_eq!(a, old);
        a.as_object_mut().expect("object").remove("data");
        track_update(&kind, Some(&old), &mut a, &by("third", "2001-01-01T00:00:09Z"), &[]).expect("no conversion");
        let rest = r#"{"f:metadata":{"f:finalizers":{".":{},"v:\"a.b/c\"":{}},"f:labels":{}}}"#;
        assert_eq!(entries(&a), [other.to_owned(), format!("named Update 2Z {rest}")]);
    }

    #[test]
    fn zero_values_that_go_writes_are_no_additions() {
        let mut s = json(
            r#"{"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}},"status":{"replicas":1}}"#,
        );
        track_update(&schema("apps.v1.Deployment"), None, &mut s, &by("m", T1), &[&["status"]]).expect("no conversion");
        assert_eq!(
            entries(&s),
            [
                r#"m Update 1Z {"f:spec":{"f:selector":{},"f:template":{"f:metadata":{"f:labels":{".":{},"f:a":{}}},"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:image":{},"f:name":{},"f:resources":{}}}}}}}"#
            ]
        );
    }

    #[test]
    fn resets_edits_and_subresources() {
        let kind = schema("core.v1.ConfigMap");
        let mut live = json(r#"{"metadata":{"name":"a"},"data":{"k":"v"}}"#);
        track_update(&kind, None, &mut live, &by("one", T1), &[]).expect("no conversion");
        let live = with(&live, &text(&live));
        let kept = entries(&live);
        let body =
            |managed: &str| json(&format!(r#"{{"metadata":{{"name":"a","uid":"u"{managed}}},"data":{{"k":"v"}}}}"#));
        let tracked = |managed: &str, req: &ManagedRequest<'_>| {
            let mut new = body(managed);
            track_update(&kind, Some(&live), &mut new, req, &[]).expect("no conversion");
            entries(&new)
        };
        assert!(tracked(r#","managedFields":[{}]"#, &by("two", T2)).is_empty());
        for kept_by in [
            "",
            r#","managedFields":null"#,
            r#","managedFields":[]"#,
            r#","managedFields":[{"manager":"x","operation":"Spin","apiVersion":"v1","fieldsType":"FieldsV1"}]"#,
            r#","managedFields":[{"manager":"x","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV2"}]"#,
            r#","managedFields":[{"manager":"x","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"oops":1}}]"#,
            r#","managedFields":[5]"#,
        ] {
            assert_eq!(tracked(kept_by, &by("two", T2)), kept, "{kept_by}");
        }
        let edit = r#","managedFields":[{"manager":"x","operation":"Update","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:k":{}}}}]"#;
        assert_eq!(tracked(edit, &by("two", T2)), [r#"x Update  {"f:data":{"f:k":{}}}"#]);
        let through_status = ManagedRequest { subresource: "status", ..by("two", T2) };
        assert_eq!(tracked(edit, &through_status), kept);

        // An untracked object stays so.
        let old = body("");
        let mut new = json(r#"{"metadata":{"name":"a","uid":"u"},"data":{"k":"w"}}"#);
        track_update(&kind, Some(&old), &mut new, &by("two", T2), &[]).expect("no conversion");
        assert!(entries(&new).is_empty());
    }

    #[test]
    fn more_than_ten_updates_are_folded() {
        let kind = schema("core.v1.ConfigMap");
        let mut a = json(r#"{"metadata":{"name":"a"},"data":{"k":"v"}}"#);
        for i in 10..23 {
            let old = with(&a, &text(&a));
            a.object_at_mut(&["data"]).set(format!("k{i}"), "v");
            let now = format!("2001-01-01T00:00:{i}Z");
            let old = (i > 10).then_some(&old);
            track_update(&kind, old, &mut a, &by(&format!("m{i}"), &now), &[]).expect("no conversion");
        }
        let entries = entries(&a);
        assert_eq!(entries.len(), 10);
        assert!(entries[0].starts_with("ancient-changes Update 2001-01-01T00:00:13Z"), "{entries:?}");
        assert!(
            entries[0].ends_with(r#"{"f:data":{".":{},"f:k":{},"f:k10":{},"f:k11":{},"f:k12":{},"f:k13":{}}}"#),
            "{entries:?}"
        );
    }

    #[test]
    fn what_is_no_object_is_left_alone() {
        for body in ["null", "5", "[]", "{}", r#"{"metadata":5}"#] {
            let mut new = json(body);
            track_update(&schema("core.v1.Pod"), Some(&json("[1]")), &mut new, &by("m", T1), &[&["status"]])
                .expect("no conversion");
            assert_eq!(new, json(body));
        }
    }
}
