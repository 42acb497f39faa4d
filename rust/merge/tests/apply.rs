//! Server-side apply and the ownership after updates, in turns (`cases/apply.yaml`).

mod common;

use std::collections::BTreeMap;

use common::{cases, part, schema};
use hydrofoil_codec::json;
use hydrofoil_merge::{ApplyError, FieldSet, ManagedRequest, OneVersion, apply, track_update};
use hydrofoil_types::{Map, Schema, Value};

/// Return a pod; without a spec if it is empty, since a manager that sets an empty object owns it.
fn pod(spec: Value) -> Value {
    let mut metadata = Map::new();
    metadata.push("name", "n");
    let mut out = Map::new();
    out.push("apiVersion", "v1");
    out.push("kind", "Pod");
    out.push("metadata", metadata);
    if !spec.is_zero() {
        out.push("spec", spec);
    }
    Value::Object(out)
}

/// Return the object as it is stored.
fn decoded(pod: &Schema, value: &Value) -> Value {
    json::decode(pod, &json::encode_any(value)).expect("the object is a pod").value
}

/// Return the paths that each manager owns.
fn owners(object: &Value) -> BTreeMap<String, Vec<String>> {
    let mut out = BTreeMap::new();
    let entries = object.list_at(&["metadata", "managedFields"]);
    let managers: Vec<_> = entries.iter().map(|entry| entry.str_at(&["manager"])).collect();
    for entry in entries {
        let manager = entry.str_at(&["manager"]);
        let twice = managers.iter().filter(|m| **m == manager).count() > 1;
        let applied = twice && entry.str_at(&["operation"]) == "Apply";
        let set = entry.get("fieldsV1").and_then(FieldSet::from_value).expect("a set of fields");
        let path = |path: Vec<_>| path.iter().map(ToString::to_string).collect::<String>();
        let mut paths: Vec<_> = set.paths().into_iter().map(path).collect();
        paths.sort();
        out.insert(if applied { format!("{manager} by apply") } else { manager.to_owned() }, paths);
    }
    out
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().unwrap_or(&[]).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Return the live object after a turn; `None` if the turn is rejected as expected.
fn step(schema: &Schema, live: Option<&Value>, turn: &Value, name: &Value) -> Option<Value> {
    let (applier, updater) = (turn.str_at(&["apply"]), turn.str_at(&["update"]));
    let manager = if applier.is_empty() { updater } else { applier };
    let req = ManagedRequest { manager, api_version: "v1", subresource: "", now: "", versions: &OneVersion };
    let body = pod(part(turn, "spec"));
    if applier.is_empty() {
        let mut new = decoded(schema, &body);
        track_update(schema, live, &mut new, &req, &[]).expect("no conversion");
        return Some(new);
    }
    let force = turn.get("force").is_some();
    match apply(schema, live, &body, &req, force, &FieldSet::new()) {
        Ok(new) => {
            assert!(turn.get("conflicts").or(turn.get("fails")).is_none(), "{name:?} is applied");
            Some(decoded(schema, &new.object))
        }
        Err(ApplyError::Conflict(found)) => {
            let found: Vec<_> = found.causes().iter().map(|c| c.path.clone()).collect();
            assert_eq!(found, texts(&part(turn, "conflicts")), "{name:?}");
            None
        }
        Err(other) => {
            assert!(turn.get("fails").is_some(), "{name:?}: {other:?}");
            None
        }
    }
}

#[test]
fn turns() {
    let schema = schema("core.v1.Pod");
    for case in cases("apply.yaml") {
        let name = part(&case, "name");
        let mut live: Option<Value> = None;
        for turn in part(&case, "steps").as_array().unwrap_or(&[]) {
            live = step(&schema, live.as_ref(), turn, &name).or(live);
        }
        let Some(want) = case.get("want") else { continue };
        let live = live.expect("somebody wrote");
        let spec = json::encode(&schema, &pod(part(&live, "spec")));
        assert_eq!(spec, json::encode(&schema, &decoded(&schema, &pod(want.clone()))), "{name:?}");
        let wanted = part(&case, "owners");
        let wanted = wanted.as_object().into_iter().flat_map(Map::iter);
        let wanted: BTreeMap<_, _> = wanted.map(|(k, v)| (k.to_string(), texts(v))).collect();
        assert_eq!(owners(&live), wanted, "{name:?}");
    }
}
