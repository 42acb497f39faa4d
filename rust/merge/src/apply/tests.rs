#![allow(clippy::indexing_slicing, reason = "places come from the list that they lead into")]

use hydrofoil_types::Value;

use super::{ApplyError, apply};
use crate::testing::{json, schema, text};
use crate::track::track_update;
use crate::versions::ManagedRequest;
use crate::{FieldSet, OneVersion};

const T1: &str = "2001-01-01T00:00:01Z";
const T2: &str = "2001-01-01T00:00:02Z";

fn by<'a>(manager: &'a str, now: &'a str) -> ManagedRequest<'a> {
    ManagedRequest { manager, api_version: "v1", subresource: "", now, versions: &OneVersion }
}

/// Apply to a config map; its name and version are filled in.
fn map(live: Option<&Value>, manager: &str, now: &str, force: bool, rest: &str) -> Result<Value, ApplyError> {
    let config = json(&format!(r#"{{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"a"}}{rest}}}"#));
    apply(&schema("core.v1.ConfigMap"), live, &config, &by(manager, now), force, &FieldSet::new()).map(|a| a.object)
}

fn data(object: &Value) -> String {
    object.get("data").map(text).unwrap_or_default()
}

fn owners(object: &Value) -> Vec<String> {
    let shown = |e: &Value| {
        let time = e.str_at(&["time"]).replace("2001-01-01T00:00:0", "");
        format!("{} {time} {}", e.str_at(&["manager"]), text(e.get("fieldsV1").expect("fields")))
    };
    object.list_at(&["metadata", "managedFields"]).iter().map(shown).collect()
}

/// The steps of the scenario `apply`, with its golden answers.
#[test]
fn two_appliers_share_give_up_and_force() {
    let a = map(None, "alpha", T1, false, r#","data":{"key":"v","two":"x"}"#).expect("created");
    assert_eq!(owners(&a), [r#"alpha 1Z {"f:data":{"f:key":{},"f:two":{}}}"#]);
    let again = map(Some(&a), "alpha", T2, false, r#","data":{"key":"v","two":"x"}"#).expect("the same");
    assert_eq!(again, a);

    let error = map(Some(&a), "beta", T2, false, r#","data":{"key":"other"}"#).expect_err("owned by alpha");
    assert_eq!(error.to_string(), r#"Apply failed with 1 conflict: conflict with "alpha": .data.key"#);
    let error = map(Some(&a), "beta", T2, false, r#","data":{"key":"o","two":"o"}"#).expect_err("owned by alpha");
    let text = "Apply failed with 2 conflicts: conflicts with \"alpha\":\n- .data.key\n- .data.two";
    assert_eq!(error.to_string(), text);
    let ApplyError::Conflict(conflicts) = error else { panic!("a conflict") };
    let causes: Vec<_> = conflicts.causes().iter().map(|c| (c.message(), c.path.clone())).collect();
    assert_eq!(causes[1], (r#"conflict with "alpha""#.to_owned(), ".data.two".to_owned()));

    let ours = FieldSet::of_fields(&[&["data", "key"]]);
    let left = conflicts.outside(&ours).expect("one is left");
    assert_eq!(left.to_string(), r#"Apply failed with 1 conflict: conflict with "alpha": .data.two"#);
    assert_eq!(left.outside(&FieldSet::of_fields(&[&["data", "two"]])), None);

    // A new co-owner changes no value, so its entry has no time.
    let a = map(Some(&a), "beta", T2, false, r#","data":{"key":"v"}"#).expect("shared");
    assert_eq!(owners(&a), [r#"beta  {"f:data":{"f:key":{}}}"#, r#"alpha 1Z {"f:data":{"f:key":{},"f:two":{}}}"#]);
    let a = map(Some(&a), "alpha", T2, false, r#","data":{"two":"x"}"#).expect("given up");
    assert_eq!(data(&a), r#"{"key":"v","two":"x"}"#);
    assert_eq!(owners(&a), [r#"beta  {"f:data":{"f:key":{}}}"#, r#"alpha 1Z {"f:data":{"f:two":{}}}"#]);
    let a = map(Some(&a), "beta", T2, true, r#","data":{"key":"f","two":"t"}"#).expect("forced");
    assert_eq!(data(&a), r#"{"key":"f","two":"t"}"#);
    assert_eq!(owners(&a), [r#"beta 2Z {"f:data":{"f:key":{},"f:two":{}}}"#]);
    let a = map(Some(&a), "beta", T2, false, r#","data":{"key":"f"}"#).expect("pruned");
    assert_eq!(data(&a), r#"{"key":"f"}"#);
    let a = map(Some(&a), "beta", T2, false, "").expect("emptied");
    assert_eq!((data(&a).as_str(), owners(&a).len()), ("", 0));
}

#[test]
fn updates_conflict_by_version_and_keep_what_they_own() {
    let kind = schema("core.v1.ConfigMap");
    let live = map(None, "one", T1, false, r#","data":{"a":"1","b":"2"}"#).expect("created");
    let mut new = live.clone();
    new.object_at_mut(&["data"]).set("b", "3");
    track_update(&kind, Some(&live), &mut new, &by("upd", T2), &[]).expect("no conversion");
    let error = map(Some(&new), "one", T2, false, r#","data":{"a":"1","b":"2"}"#).expect_err("owned by upd");
    assert_eq!(error.to_string(), r#"Apply failed with 1 conflict: conflict with "upd" using v1: .data.b"#);
    let out = map(Some(&new), "one", T2, false, "").expect("applied");
    assert_eq!(data(&out), r#"{"b":"3"}"#);
    assert_eq!(owners(&out), [r#"upd 2Z {"f:data":{"f:b":{}}}"#]);
}

#[test]
fn the_first_apply_finds_an_owner_for_what_is_there() {
    let live = json(r#"{"metadata":{"name":"a","uid":"u"},"data":{"k":"v"}}"#);
    let out = map(Some(&live), "three", T1, false, r#","data":{"t":"t"}"#).expect("applied");
    let before = r#"before-first-apply 1Z {"f:data":{".":{},"f:k":{}}}"#;
    // Apply sorts before Update.
    assert_eq!(owners(&out), [r#"three 1Z {"f:data":{"f:t":{}}}"#, before]);
    assert!(matches!(map(Some(&live), "three", T1, false, r#","data":{"k":"w"}"#), Err(ApplyError::Conflict(_))));
}

#[test]
fn lists_merge_by_key_and_order() {
    let pod = |live: Option<&Value>, manager: &str, spec: &str| {
        let config = format!(r#"{{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"p"}},"spec":{spec}}}"#);
        apply(&schema("core.v1.Pod"), live, &json(&config), &by(manager, T1), false, &FieldSet::new())
            .map(|applied| applied.object)
    };
    let names = |pod: &Value| -> Vec<String> {
        pod.list_at(&["spec", "containers"]).iter().map(|c| c.str_at(&["name"]).to_owned()).collect()
    };
    let a = pod(None, "a", r#"{"containers":[{"name":"x","image":"1"},{"name":"y","image":"2"}]}"#).expect("created");
    let b = pod(Some(&a), "b", r#"{"containers":[{"name":"new","image":"3"},{"name":"y","env":[{"name":"E"}]}]}"#)
        .expect("added");
    assert_eq!(names(&b), ["x", "new", "y"]);
    assert_eq!(b.list_at(&["spec", "containers"])[2].str_at(&["image"]), "2");
    // A shared item that one manager drops stays for the other; its own items are removed.
    let b = pod(Some(&b), "b", r#"{"containers":[{"name":"y"}]}"#).expect("dropped");
    assert_eq!(names(&b), ["x", "y"]);
    assert!(b.list_at(&["spec", "containers"])[1].list_at(&["env"]).is_empty());
    let b = pod(Some(&b), "a", r#"{"containers":[{"name":"x","image":"1"}]}"#).expect("dropped");
    assert_eq!(names(&b), ["x", "y"]);

    let first = pod(None, "a", r#"{"nodeSelector":{"a":"b"},"containers":[]}"#).expect("created");
    let error = pod(Some(&first), "b", r#"{"nodeSelector":{"c":"d"}}"#).expect_err("atomic");
    assert_eq!(error.to_string(), r#"Apply failed with 1 conflict: conflict with "a": .spec.nodeSelector"#);
}

#[test]
fn what_does_not_fit_is_refused() {
    let cases = [
        (r#","extra":5"#, ".extra: field not declared in schema"),
        (r#","data":5"#, ".data: expected map, got &{5}"),
        (r#","immutable":"x""#, ".immutable: expected boolean, got &{x}"),
        (r#","data":{"k":[1]}"#, ".data.k: expected string, got &value.valueUnstructured{Value:[]interface {}{1}}"),
        (r#","immutable":{"b":1,"a":null}"#, ".immutable: expected boolean, got &{map[a:<nil> b:1]}"),
    ];
    for (rest, text) in cases {
        let text = format!("failed to create typed patch object (/a; /v1, Kind=ConfigMap): {text}");
        assert_eq!(map(None, "m", T1, false, rest), Err(ApplyError::Internal(text)));
    }
    let twice = json(
        r#"{"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"name":"a"},{"name":"a"},5]},"metadata":{"finalizers":["x","x"]}}"#,
    );
    let error = apply(&schema("core.v1.Pod"), None, &twice, &by("m", T1), false, &FieldSet::new());
    let text = error.expect_err("duplicates").to_string();
    assert!(text.contains(r#".spec.containers: duplicate entries for key [name="a"]"#), "{text}");
    assert!(text.contains(r#".metadata.finalizers: duplicate entries for key [="x"]"#), "{text}");
    let body = json(r#"{"apiVersion":"v2","kind":"ConfigMap"}"#);
    let error = apply(&schema("core.v1.ConfigMap"), None, &body, &by("m", T1), false, &FieldSet::new());
    assert!(matches!(error, Err(ApplyError::BadRequest(_))));
    let body = json(r#"{"apiVersion":"v1","metadata":{"managedFields":[]}}"#);
    let error = apply(&schema("core.v1.ConfigMap"), None, &body, &by("m", T1), false, &FieldSet::new());
    assert_eq!(error.err(), Some(ApplyError::BadRequest("metadata.managedFields must be nil".into())));
}

#[test]
fn ignored_paths_are_not_owned() {
    let config = json(
        r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","labels":{"a":"b"}},"status":{"phase":"Running"}}"#,
    );
    let ignored = FieldSet::of_fields(&[&["status"]]);
    let out = apply(&schema("core.v1.Pod"), None, &config, &by("m", T1), false, &ignored).expect("applied");
    assert_eq!(owners(&out.object), [r#"m 1Z {"f:metadata":{"f:labels":{"f:a":{}}}}"#]);
}
