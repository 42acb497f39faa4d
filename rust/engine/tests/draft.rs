//! The steps of a write: a built-in kind and a custom one.

#![allow(missing_docs, reason = "each test says what it proves by its name")]

mod common;

use std::sync::Arc;

use hydrofoil_engine::Error;
use hydrofoil_engine::kind::{Media, ObjectKind, Traits};
use hydrofoil_engine::write::{Apply, Change, Draft};
use hydrofoil_store::StoreError;
use hydrofoil_types::Causes;

use common::{NOW, World, builtin, config_maps, draft, parse, things};

const NOBODY: [&str; 0] = [];

fn shown(draft: &Draft) -> String {
    String::from_utf8(draft.json()).expect("text")
}

fn reported(causes: &Causes) -> Vec<String> {
    causes.as_slice().iter().map(|c| format!("{}: {} {}", c.reason.wire(), c.field, c.message)).collect()
}

/// Take the steps of a create before validation.
fn begun(kind: &Arc<dyn ObjectKind>, text: &str) -> Draft {
    let mut draft = draft(kind, text);
    draft.default(Some("a"), NOW);
    draft.track(None, "tester", "", NOW, None).expect("it is new");
    draft.fill_metadata("m", "u-1", NOW);
    draft.prepare(None, "", NOW).expect("it is new");
    draft
}

fn config_map(more: &str) -> String {
    format!(r#"{{"kind":"ConfigMap","apiVersion":"v1","metadata":{{"name":"m"{more}}},"data":{{"a":"1"}}}}"#)
}

fn thing(version: &str, spec: &str) -> String {
    format!(
        r#"{{"apiVersion":"e.com/{version}","kind":"Thing","metadata":{{"name":"m","namespace":"a"}},"spec":{spec}}}"#
    )
}

#[test]
fn a_new_object_gets_what_only_the_server_sets() {
    let kind = config_maps();
    let mut draft = draft(
        &kind,
        r#"{"metadata":{"generateName":"m-","selfLink":"s","deletionTimestamp":"2026-01-01T00:00:00Z","deletionGracePeriodSeconds":3,"resourceVersion":"7"}}"#,
    );
    assert_eq!(draft.default(Some("a"), NOW), "7");
    draft.fill_metadata("m-x", "u-1", NOW);
    assert_eq!(draft.metadata(), ["v1", "ConfigMap", "m-x", "m-", "a", "u-1", ""]);
    assert_eq!(
        shown(&draft),
        r#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"m-x","generateName":"m-","namespace":"a","uid":"u-1","creationTimestamp":"2027-01-15T08:00:00Z"}}"#
    );
    assert_eq!(draft.key(), "a/m-x");
}

#[test]
fn an_object_of_no_namespace_names_none() {
    let mut draft = draft(&builtin("", "v1", "nodes"), r#"{"metadata":{"name":"n","namespace":"a"}}"#);
    draft.default(Some(""), NOW);
    assert_eq!((draft.metadata()[4], draft.key()), ("", "n".to_owned()));
}

#[test]
fn a_custom_resource_says_itself_what_it_is() {
    let [kind, _] = things("None");
    let refusal = kind.decode(br#"{"metadata":{"name":"m"},"spec":{"size":1}}"#, Media::Json);
    let decoded = refusal.map(|(value, _)| value.str_at(&["kind"]).to_owned());
    assert!(decoded.is_err() || decoded == Ok(String::new()));
    let mut draft = draft(&kind, &thing("v1", r#"{"size":2}"#));
    assert_eq!(draft.get(&["spec", "color"]).as_deref(), Some(&b"\"red\""[..]), "it has its defaults at once");
    draft.default(Some("b"), NOW);
    assert_eq!(draft.metadata()[..5], ["e.com/v1", "Thing", "m", "", "b"]);
}

#[test]
fn members_are_read_and_set_by_path() {
    let mut draft = draft(&config_maps(), &config_map(""));
    assert_eq!(draft.get(&["data", "a"]).as_deref(), Some(&b"\"1\""[..]));
    assert_eq!(draft.get(&["data", "b"]), None);
    draft.set(&["data", "b"], Some(b"\"2\"")).expect("JSON");
    draft.set(&["metadata", "labels", "x"], Some(b"\"y\"")).expect("JSON");
    draft.set(&["data", "a"], None).expect("nothing to parse");
    draft.set(&["binaryData", "none"], None).expect("nothing to parse");
    assert!(shown(&draft).ends_with(r#""labels":{"x":"y"}},"data":{"b":"2"}}"#), "{}", shown(&draft));
    assert_eq!(draft.set(&["data"], Some(b"{")).expect_err("no JSON").reason(), "syntax");
}

#[test]
fn the_manager_owns_what_it_says() {
    let draft = begun(&config_maps(), &config_map(""));
    let owner = parse(&draft.get(&["metadata", "managedFields"]).expect("owners"));
    let owner = &owner.as_array().expect("a list")[0];
    assert_eq!(owner.str_at(&["manager"]), "tester");
    assert_eq!(
        owner.get("fieldsV1").map(hydrofoil_types::Value::to_json).as_deref(),
        Some(r#"{"f:data":{".":{},"f:a":{}}}"#)
    );
    let mut nobody = common::draft(&config_maps(), &config_map(""));
    nobody.track(None, "", "", NOW, None).expect("it is new");
    assert_eq!(nobody.get(&["metadata", "managedFields"]), None);
}

#[test]
fn a_good_object_has_no_causes_and_no_warnings() {
    for (kind, text) in
        [(config_maps(), config_map("")), (Arc::clone(&things("None")[0]), thing("v1", r#"{"size":1}"#))]
    {
        let mut draft = begun(&kind, &text);
        assert_eq!(reported(&draft.validate(None, "").expect("it is new")), NOBODY);
        assert_eq!(draft.warnings(None, "").expect("it is new"), NOBODY);
    }
}

#[test]
fn causes_are_those_of_the_kind() {
    let mut bad = begun(&config_maps(), r#"{"metadata":{"name":"m"},"data":{"a/b":"1"}}"#);
    let causes = reported(&bad.validate(None, "").expect("it is new"));
    assert_eq!(causes.len(), 1);
    assert!(
        causes[0].starts_with("FieldValueInvalid: data[a/b] Invalid value: \"a/b\": a valid config key"),
        "{causes:?}"
    );
    let mut bad = begun(&things("None")[0], &thing("v1", r#"{"size":0}"#));
    let causes = reported(&bad.validate(None, "").expect("it is new"));
    assert_eq!(
        causes,
        ["FieldValueInvalid: spec.size Invalid value: 0: spec.size in body should be greater than or equal to 1"]
    );
}

#[test]
fn the_status_of_a_custom_resource_is_written_alone() {
    let world = World::new(Arc::clone(&things("None")[0]), 100);
    let mut new = begun(&world.kind, &thing("v1", r#"{"size":1},"status":{"ready":true}"#));
    assert_eq!(new.get(&["status"]), None, "a new object has none");
    let old = world.commit(&Change::create(&mut new)).expect("a new object");
    let mut update = draft(&world.kind, &thing("v1", r#"{"size":2},"status":{"ready":true}"#));
    update.keep_metadata(&old).expect("it is stored");
    update.prepare(Some(&old), "status", NOW).expect("it is stored");
    assert_eq!(update.get(&["spec", "size"]).as_deref(), Some(&b"1"[..]));
    assert_eq!(update.get(&["status", "ready"]).as_deref(), Some(&b"true"[..]));
    assert_eq!(world.kind.reset_fields("status"), [&["metadata"][..], &["spec"]]);
    assert_eq!(world.kind.reset_fields(""), [&["status"][..]]);
    assert_eq!(world.kind.traits(), Traits::default());
}

#[test]
fn an_update_keeps_what_it_may_not_change() {
    let world = World::new(config_maps(), 100);
    let old = world.commit(&Change::create(&mut begun(&world.kind, &config_map("")))).expect("a new object");
    let text = config_map(
        r#","uid":"","creationTimestamp":"2020-01-01T00:00:00Z","generation":9,"selfLink":"s","namespace":"b""#,
    );
    let mut draft = draft(&world.kind, &text);
    draft.keep_metadata(&old).expect("it is stored");
    assert_eq!(draft.metadata(), ["v1", "ConfigMap", "m", "", "a", "u-1", "101"]);
    assert_eq!(draft.get(&["metadata", "creationTimestamp"]).as_deref(), Some(&b"\"2027-01-15T08:00:00Z\""[..]));
    assert_eq!((draft.get(&["metadata", "generation"]), draft.get(&["metadata", "selfLink"])), (None, None));
    let mut named = common::draft(
        &world.kind,
        &config_map(r#","uid":"u-2","resourceVersion":"7","deletionTimestamp":"2026-01-01T00:00:00Z""#),
    );
    named.keep_metadata(&old).expect("it is stored");
    assert_eq!(named.metadata()[5..], ["u-2", "7"]);
    assert!(named.get(&["metadata", "deletionTimestamp"]).is_some(), "validation refuses it");
}

#[test]
fn owners_named_twice_are_dropped() {
    let owner = |uid: &str| format!(r#"{{"apiVersion":"v1","kind":"Pod","name":"p","uid":"{uid}"}}"#);
    let owners = [owner("1"), owner("2"), owner("1"), owner("1")].join(",");
    let mut draft = draft(&config_maps(), &config_map(&format!(r#","ownerReferences":[{owners}]"#)));
    assert_eq!(draft.dedup_owners(), ["1", "1"]);
    assert_eq!(draft.dedup_owners(), NOBODY);
}

#[test]
fn a_sealed_object_is_committed_as_it_was() {
    let world = World::new(config_maps(), 100);
    let mut draft = begun(&world.kind, &config_map(""));
    let json = shown(&draft);
    draft.seal();
    let stored = world.commit(&Change::create(&mut draft)).expect("a new object");
    let rv = r#","resourceVersion":"101","creationTimestamp""#;
    assert_eq!(stored.json().expect("it is stored"), json.replace(r#","creationTimestamp""#, rv).as_bytes());
}

#[test]
fn a_fork_is_written_on_its_own() {
    let mut draft = draft(&config_maps(), &config_map(""));
    let fork = draft.fork();
    draft.set(&["data"], None).expect("nothing to parse");
    assert!(fork.get(&["data"]).is_some() && draft.get(&["data"]).is_none());
}

#[test]
fn a_preview_has_no_revision() {
    let kind = config_maps();
    let draft = begun(&kind, &config_map(""));
    let preview = draft.preview(0).expect("it is shown");
    assert_eq!(preview.json().expect("it is shown"), draft.json());
    let [_, second] = things("None");
    let preview = common::draft(&second, &thing("v2", r#"{"size":1}"#)).preview(5).expect("it is shown");
    let value = parse(&preview.json().expect("it is shown"));
    assert_eq!((value.str_at(&["apiVersion"]), value.str_at(&["metadata", "resourceVersion"])), ("e.com/v2", "5"));
}

#[test]
fn what_does_not_change_is_not_to_be_written() {
    let world = World::new(config_maps(), 100);
    let old = world.commit(&Change::create(&mut begun(&world.kind, &config_map("")))).expect("a new object");
    let change = |at: &str, data: &str| {
        let mut draft = Draft::new(Arc::clone(&world.kind), old.thaw().expect("it is stored"));
        let owners = String::from_utf8(draft.get(&["metadata", "managedFields"]).expect("owners")).expect("text");
        draft.set(&["metadata", "managedFields"], Some(owners.replace("2027-01-15", at).as_bytes())).expect("JSON");
        draft.set(&["data", "a"], Some(data.as_bytes())).expect("JSON");
        Change::update(&old, &mut draft)
    };
    assert!(change("2027-01-15", "\"1\"").present_object().is_some());
    let later = change("2028-11-25", "\"1\"");
    assert_eq!(
        later.present_object().map(|old| old.version().revision()),
        Some(101),
        "only the times of owners differ"
    );
    assert_eq!((&**later.key(), later.precondition(), later.deletes()), ("a/m", 101, false));
    assert!(change("2028-11-25", "\"2\"").present_object().is_none());
    assert!(change("2027-01-15", "\"2\"").present_object().is_none());
}

#[test]
fn changes_are_committed_once_and_on_what_they_were_made_from() {
    let world = World::new(config_maps(), 100);
    let mut draft = begun(&world.kind, &config_map(""));
    let change = Change::create(&mut draft);
    let old = world.commit(&change).expect("a new object");
    assert_eq!(world.commit(&change).expect_err("it was committed"), Error::Committed);
    assert_eq!(world.commit(&Change::create(&mut draft)).expect_err("it exists"), Error::Store(StoreError::Exists));
    draft.set(&["data", "a"], Some(b"\"2\"")).expect("JSON");
    world.commit(&Change::update(&old, &mut draft)).expect("it stands there");
    let late = Change::delete(&old);
    assert!(late.deletes());
    assert_eq!(world.commit(&late).expect_err("it changed"), Error::Store(StoreError::Conflict { current: 102 }));
}

/// Writes of another server are applied at their revisions there.
#[test]
fn feeds_bring_changes_of_others() {
    let [ours, theirs] = [config_maps(), config_maps()].map(|kind| World::new(kind, 100));
    let change = Change::create(&mut begun(&theirs.kind, &config_map("")));
    assert_eq!(ours.view.apply("fed", &change, 0).map(|s| s.version().revision()), None, "no news");
    let fed = hydrofoil_engine::View::<common::Bytes>::new(hydrofoil_store::Limits::default(), None, Arc::default())
        .expect("a signal");
    fed.load("fed", [(5, &change)].into_iter(), 10);
    let shard = fed.shard("fed");
    assert_eq!((&**shard.name(), shard.store().revision()), ("fed", 10));
    let stored = shard.get(&ours.kind, "a", "m").expect("it was loaded");
    assert_eq!(stored.version().revision(), 5);
    let gone = fed.apply("fed", &Change::delete(&stored), 12).expect("it was there");
    assert_eq!(gone.version().revision(), 12);
    fed.progress("fed", 20);
    fed.replace("fed", [(25, &change)].into_iter(), 30);
    assert_eq!(shard.get(&ours.kind, "a", "m").map(|s| s.version().revision()), Some(25));
}

fn applied(world: &World, config: &str, manager: &str, force: bool) -> hydrofoil_engine::Result<Draft> {
    let live = world.get("a", "m");
    let apply =
        Apply { config: config.as_bytes(), manager, subresource: "", force, now: "2026-01-01T00:00:00Z", known: None };
    let (value, strict) = apply.to(&world.kind, live.as_ref())?;
    assert_eq!(strict, NOBODY);
    Ok(Draft::new(Arc::clone(&world.kind), value))
}

#[test]
fn an_apply_merges_and_finds_conflicts() {
    for (kind, version, member) in [
        (config_maps(), "kind: ConfigMap\napiVersion: v1", "data: {a: '1'}"),
        (Arc::clone(&things("None")[0]), "kind: Thing\napiVersion: e.com/v1", "spec: {size: 1}"),
    ] {
        let world = World::new(kind, 100);
        let config = |member: &str| format!("{version}\nmetadata: {{name: m, namespace: a}}\n{member}\n");
        let mut draft = applied(&world, &config(member), "one", false).expect("it is new");
        world.commit(&Change::create(&mut draft)).expect("it is new");
        let other = config(&member.replace('1', "2"));
        let Err(Error::Apply(hydrofoil_merge::ApplyError::Conflict(conflicts))) = applied(&world, &other, "two", false)
        else {
            panic!("it is owned")
        };
        assert_eq!(conflicts.causes().len(), 1);
        let forced = shown(&applied(&world, &other, "two", true).expect("it is taken over"));
        assert!(forced.contains("\"a\":\"2\"") || forced.contains("\"size\":2"), "{forced}");
        let wrong = applied(&world, &config(member).replace("apiVersion: ", "apiVersion: x"), "one", false);
        assert_eq!(wrong.expect_err("another type").reason(), "bad request");
    }
}

#[test]
fn events_are_stored_in_the_older_group() {
    let world = World::new(builtin("events.k8s.io", "v1", "events"), 100);
    let stored = world.create(
        r#"{"kind":"Event","apiVersion":"events.k8s.io/v1","metadata":{"name":"m","namespace":"a"},"regarding":{"name":"p"},"note":"n"}"#,
    );
    assert!(stored.version().json().starts_with(br#"{"kind":"Event","apiVersion":"v1","#));
    let value = stored.object().expect("it is stored");
    assert_eq!((value.str_at(&["apiVersion"]), value.str_at(&["regarding", "name"])), ("events.k8s.io/v1", "p"));
    let old = builtin("", "v1", "events");
    assert_eq!(stored.value(&old).expect("it is stored").str_at(&["involvedObject", "name"]), "p");
    assert!(!world.kind.stores_own_version() && old.stores_own_version());
    let filter = world.filter("", "", "regarding.name=p");
    assert!(filter.selector.matches(stored.version()));
}

/// An older server stored a link: upstream shows it until the next write, and stores none.
#[test]
fn a_stored_link_is_shown_and_not_written() {
    let kind = config_maps();
    let stored = br#"{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"m","selfLink":"/link"}}"#;
    let draft = kind.read_shared(stored, NOW).expect("an object");
    assert!(String::from_utf8_lossy(&draft.json).contains(r#""selfLink":"/link""#));
    let written = kind.write_shared(&draft).expect("it is written");
    assert!(!written.windows(5).any(|window| window == b"/link"));
}
