//! Large input takes bounded time: much managed data, long patches and patches of many members.

mod common;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use common::schema;
use hydrofoil_codec::json;
use hydrofoil_merge::{FieldSet, ManagedRequest, OneVersion, apply, json_merge, json_patch, strategic, track_update};
use hydrofoil_types::Value;

/// The time limit, which quadratic work in any of these sizes exceeds; unoptimized builds are slower.
const BOUND: Duration = Duration::from_secs(if cfg!(debug_assertions) { 10 } else { 1 });

#[allow(clippy::disallowed_methods, reason = "it measures work")]
fn within<T>(what: &str, run: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let out = run();
    let took = start.elapsed();
    assert!(took < BOUND, "{what} took {took:?}");
    out
}

fn by(manager: &str) -> ManagedRequest<'_> {
    ManagedRequest { manager, api_version: "v1", subresource: "", now: "2001-01-01T00:00:01Z", versions: &OneVersion }
}

fn map(entries: &[String], data: &str) -> Value {
    let text = format!(
        r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"n","uid":"u","managedFields":[{}]}},"data":{{{data}}}}}"#,
        entries.join(",")
    );
    json::decode(&schema("core.v1.ConfigMap"), text.as_bytes()).expect("the object is a config map").value
}

fn entry(manager: &str, operation: &str, fields: &str) -> String {
    format!(
        r#"{{"manager":"{manager}","operation":"{operation}","apiVersion":"v1","time":"2001-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{{"f:data":{{{fields}}}}}}}"#
    )
}

/// Return a configuration of one key and an update of another.
fn written(what: &str, live: &Value) -> Value {
    let schema = schema("core.v1.ConfigMap");
    let config = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"n"},"data":{"new":"1"}}"#;
    let config = json::parse(config.as_bytes()).expect("the text is JSON").value;
    within(what, || {
        let applied = apply(&schema, Some(live), &config, &by("applier"), false, &FieldSet::new());
        let applied = applied.expect("nobody owns the key").object;
        let mut new = applied.clone();
        new.object_at_mut(&["data"]).set("k0", "other");
        track_update(&schema, Some(&applied), &mut new, &by("updater"), &[]).expect("no conversion");
        new
    })
}

#[test]
fn a_thousand_managers() {
    let entries: Vec<_> = (0..1000).map(|i| entry(&format!("m{i}"), "Apply", &format!(r#""f:k{i}":{{}}"#))).collect();
    let data: Vec<_> = (0..1000).map(|i| format!(r#""k{i}":"v""#)).collect();
    let new = written("a thousand entries", &map(&entries, &data.join(",")));
    // The first lost its key, two were added.
    assert_eq!(new.list_at(&["metadata", "managedFields"]).len(), 1001);
}

#[test]
fn a_megabyte_of_fields() {
    let mut fields = String::new();
    let mut data = String::new();
    for i in 0..50_000 {
        let comma = if i > 0 { "," } else { "" };
        write!(fields, r#"{comma}"f:k{i}":{{}},"f:not{i}":{{}}"#).expect("a text takes all");
        write!(data, r#"{comma}"k{i}":"v""#).expect("a text takes all");
    }
    assert!(fields.len() > 1 << 20);
    let new = written("a megabyte of fields", &map(&[entry("one", "Update", &fields)], &data));
    assert_eq!(new.list_at(&["metadata", "managedFields"]).len(), 3);
}

#[test]
fn a_patch_of_fifty_thousand_members() {
    let of = |prefix: &str| {
        let members: Vec<_> = (0..50_000).map(|i| format!(r#""{prefix}{i}":"v""#)).collect();
        json::parse(format!(r#"{{"data":{{{}}}}}"#, members.join(",")).as_bytes()).expect("the text is JSON").value
    };
    let schema = schema("core.v1.ConfigMap");
    let (live, same, other) = (of("k"), of("k"), of("other"));
    for (patch, left) in [(same, 50_000), (other, 100_000)] {
        let mut merged = live.clone();
        within("a merge patch", || json_merge(&mut merged, patch.clone()));
        let mut laid = live.clone();
        within("a strategic patch", || strategic(&schema, &mut laid, patch)).expect("the patch fits");
        assert_eq!(merged, laid);
        assert_eq!(merged.get("data").and_then(Value::as_object).map(hydrofoil_types::Map::len), Some(left));
    }
}

#[test]
fn ten_thousand_operations() {
    let of = |value: &str| json::parse(value.as_bytes()).expect("the text is JSON").value;
    let patch = |operation: &dyn Fn(usize) -> String| {
        of(&format!("[{}]", (0..10_000).map(operation).collect::<Vec<_>>().join(",")))
    };
    let add = patch(&|i| format!(r#"{{"op":"add","path":"/data/k{i}","value":"v"}}"#));
    let mut doc = of(r#"{"data":{}}"#);
    within("additions of members", || json_patch(&mut doc, &add)).expect("all are added");
    let test = patch(&|i| format!(r#"{{"op":"test","path":"/data/k{i}","value":"v"}}"#));
    within("tests", || json_patch(&mut doc, &test)).expect("all hold");
    let remove = patch(&|i| format!(r#"{{"op":"remove","path":"/data/k{i}"}}"#));
    within("removals", || json_patch(&mut doc, &remove)).expect("all are there");
    assert_eq!(doc, of(r#"{"data":{}}"#));
    let old: Vec<_> = (0..50_000).map(|i| format!(r#""old{i}":"v""#)).collect();
    let large = of(&format!(r#"{{"data":{{{}}}}}"#, old.join(",")));
    let mut doc = large.clone();
    within("additions to many members", || json_patch(&mut doc, &add)).expect("all are added");
    within("removals from many members", || json_patch(&mut doc, &remove)).expect("all are there");
    assert_eq!(doc, large);
    let mut doc = of(r#"{"l":[]}"#);
    let insert = patch(&|_| r#"{"op":"add","path":"/l/0","value":1}"#.to_owned());
    within("insertions at the front", || json_patch(&mut doc, &insert)).expect("all are added");
    assert_eq!(doc.list_at(&["l"]).len(), 10_000);
}
