//! The steps of a write session: what each leaves to its caller, and that one which ended early is taken up where it was.

#![allow(missing_docs, reason = "each test says what it proves by its name")]

mod common;

use std::sync::Arc;
use std::time::Duration;

use hydrofoil_codec::json;
use hydrofoil_engine::Error;
use hydrofoil_engine::kind::{Media, ObjectKind};
use hydrofoil_engine::stored::Stored;
use hydrofoil_engine::write::{Change, Conversions, Draft, Outcome, Prepare, Prepared, Read};

use common::{NOW, World, builtin, catalog, config_maps, draft, parse, things};

const NOBODY: [&str; 0] = [];

fn read(draft: &mut Draft, namespace: Option<&str>, manager: &str, old: Option<&Stored>) -> Outcome {
    Read::new(namespace, manager, "", NOW).run(draft, old, &Conversions::default()).expect("it needs no webhook")
}

fn prepare(draft: &mut Draft, old: Option<&Stored>) -> Prepared {
    Prepare::new("", NOW, true).run(draft, old, None).expect("it can be read").expect("there is time")
}

fn fields(prepared: &Prepared) -> Vec<&str> {
    prepared.causes.as_slice().iter().map(|cause| cause.field.as_str()).collect()
}

fn text(draft: &Draft, path: &[&str]) -> String {
    String::from_utf8(draft.get(path).unwrap_or_default()).expect("text")
}

fn owner(uid: &str) -> String {
    format!(r#"{{"apiVersion":"v1","kind":"Pod","name":"p","uid":"{uid}"}}"#)
}

fn thing(version: &str, spec: &str, owners: &str) -> String {
    format!(
        r#"{{"apiVersion":"e.com/{version}","kind":"Thing","metadata":{{"name":"m","namespace":"a","ownerReferences":[{owners}]}},"spec":{spec}}}"#
    )
}

/// Answer as a webhook of versions that differ in name only; owners stay in theirs.
fn converted(object: &[u8], api_version: &str) -> Vec<u8> {
    let mut object = parse(object);
    object.object_at_mut(&[]).set("apiVersion", api_version);
    json::encode_any(&object)
}

/// The kind of a definition whose rule looks at each of many numbers.
fn ruled() -> Arc<dyn ObjectKind> {
    let text = r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.e.com"},
        "spec":{"group":"e.com","scope":"Namespaced","names":{"plural":"things","kind":"Thing","listKind":"ThingList"},
        "versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{
        "type":"object","properties":{"spec":{"type":"object","properties":{"sizes":{"type":"array","maxItems":5000,
        "items":{"type":"integer"},"x-kubernetes-validations":[{"rule":"self.all(size, size > 0)"}]}}}}}}}]},
        "status":{"acceptedNames":{"plural":"things","kind":"Thing","listKind":"ThingList"},"storedVersions":["v1"]}}"#;
    let definitions = builtin("apiextensions.k8s.io", "v1", "customresourcedefinitions");
    let (definition, _) = definitions.decode(text.as_bytes(), Media::Json).expect("a definition");
    catalog().custom(&definition).remove(0).1
}

fn sizes(last: &str) -> String {
    thing("v1", &format!(r#"{{"sizes":[{}{last}]}}"#, "1,".repeat(4000)), "")
}

#[test]
fn the_first_step_reports_owners_and_version_as_sent() {
    let owners = [owner("u1"), owner("u2"), owner("u1")].join(",");
    let body = format!(r#"{{"metadata":{{"name":"m","resourceVersion":"007","ownerReferences":[{owners}]}}}}"#);
    let mut new = draft(&config_maps(), &body);
    let outcome = read(&mut new, Some("a"), "tester", None);
    assert_eq!(outcome, Outcome { duplicates: vec!["u1".to_owned()], resource_version: "007".to_owned() });
    assert_eq!(outcome.revision(), 7);
    assert_eq!(new.metadata()[2..], ["m", "", "a", "", ""], "only a create refuses the version, and none stores it");
    assert!(text(&new, &["metadata", "managedFields"]).contains(r#""manager":"tester""#));
}

#[test]
fn bookkeeping_without_a_manager_owns_nothing() {
    let mut new = draft(&config_maps(), r#"{"metadata":{"name":"m"},"data":{"a":"1"}}"#);
    read(&mut new, Some("a"), "", None);
    assert_eq!(text(&new, &["metadata", "managedFields"]), "");
}

#[test]
fn versions_are_numbers_of_64_bits_or_count_as_none() {
    let revision = |text: &str| Outcome { resource_version: text.to_owned(), ..Outcome::default() }.revision();
    let largest = u64::MAX.to_string();
    assert_eq!([revision(""), revision("12"), revision("0012")], [0, 12, 12]);
    assert_eq!([revision(&largest), revision("18446744073709551616")], [u64::MAX, 0]);
    assert_eq!([revision("+1"), revision("-1"), revision("1a"), revision("٣")], [0; 4]);
}

#[test]
fn a_first_step_that_needs_a_webhook_goes_on_where_it_was() {
    let [v1, v2] = things("Webhook");
    let world = World::new(Arc::clone(&v1), 10);
    let mut first = draft(&v1, &thing("v1", r#"{"size":1}"#, ""));
    read(&mut first, Some("a"), "one", None);
    first.fill_metadata("m", "u-1", NOW);
    world.commit(&Change::create(&mut first)).expect("a new object");
    let old = world.shard.get(&v2, "a", "m").expect("it was created");
    let source = v2.to_convert(old.version()).expect("it is read").expect("it is of another version");
    v2.set_converted(old.version(), &converted(&source, "e.com/v2")).expect("a good conversion");

    let owners = [owner("u1"), owner("u1")].join(",");
    let mut second = draft(&v2, &thing("v2", r#"{"size":2}"#, &owners));
    let (mut step, known) = (Read::new(None, "two", "", NOW), Conversions::default());
    let mut asked = 0;
    let outcome = loop {
        match step.run(&mut second, Some(&old), &known) {
            Ok(outcome) => break outcome,
            Err(Error::Pending { object, api_version }) => {
                asked += 1;
                known.add(&object, &api_version, Ok(&converted(&object, &api_version)));
            }
            Err(error) => panic!("{error}"),
        }
    };
    assert!((1..5).contains(&asked), "{asked} conversions");
    assert_eq!(outcome.duplicates, ["u1"], "found by the first attempt, before the conversion");
    let entries = text(&second, &["metadata", "managedFields"]);
    assert!(entries.contains(r#""manager":"one""#) && entries.contains(r#""manager":"two""#), "{entries}");
}

#[test]
fn a_failed_conversion_is_an_answer_too() {
    let [v1, v2] = things("Webhook");
    let world = World::new(Arc::clone(&v1), 10);
    let mut first = draft(&v1, &thing("v1", r#"{"size":1}"#, ""));
    read(&mut first, Some("a"), "one", None);
    first.fill_metadata("m", "u-1", NOW);
    world.commit(&Change::create(&mut first)).expect("a new object");
    let old = world.shard.get(&v2, "a", "m").expect("it was created");
    let source = v2.to_convert(old.version()).expect("it is read").expect("it is of another version");
    v2.set_converted(old.version(), &converted(&source, "e.com/v2")).expect("a good conversion");

    let mut second = draft(&v2, &thing("v2", r#"{"size":2}"#, ""));
    let (mut step, known) = (Read::new(None, "two", "", NOW), Conversions::default());
    let Err(Error::Pending { object, api_version }) = step.run(&mut second, Some(&old), &known) else {
        panic!("the owner is of another version")
    };
    known.add(&object, &api_version, Err("no answer"));
    step.run(&mut second, Some(&old), &known).expect("entries that cannot be updated are dropped, as upstream does");
    assert_eq!(text(&second, &["metadata", "managedFields"]), "");
}

#[test]
fn the_second_step_reports_causes_warnings_and_deletion() {
    let mut new = draft(&config_maps(), r#"{"metadata":{"name":"M"},"data":{"a":"1"}}"#);
    read(&mut new, Some("a"), "tester", None);
    let refused = prepare(&mut new, None);
    assert_eq!((fields(&refused), refused.deleting), (vec!["metadata.name"], false));

    let pods = builtin("", "v1", "pods");
    let container = r#"{"name":"c","image":"i","env":[{"name":"E","value":"1"},{"name":"E","value":"2"}]}"#;
    let mut pod = draft(&pods, &format!(r#"{{"metadata":{{"name":"p"}},"spec":{{"containers":[{container}]}}}}"#));
    read(&mut pod, Some("a"), "tester", None);
    let valid = prepare(&mut pod, None);
    assert_eq!(fields(&valid), NOBODY);
    assert_eq!(valid.warnings.len(), 1, "the second value of a variable hides the first: {:?}", valid.warnings);

    let world = World::new(config_maps(), 10);
    let old = world.create(
        r#"{"metadata":{"name":"m","namespace":"a","uid":"u","finalizers":["e.com/f"],"deletionTimestamp":"2026-01-01T00:00:00Z"}}"#,
    );
    let mut update = old.thaw().map(|value| Draft::new(config_maps(), value)).expect("it is read");
    assert!(prepare(&mut update, Some(&old)).deleting);
}

#[test]
fn what_is_not_validated_is_prepared_all_the_same() {
    let mut new = draft(&config_maps(), r#"{"metadata":{"name":"M"}}"#);
    let done = Prepare::new("", NOW, false).run(&mut new, None, Some(Duration::ZERO));
    assert_eq!(fields(&done.expect("it can be read").expect("there are no expressions")), NOBODY);
}

#[test]
fn rules_that_take_too_long_are_begun_anew_and_the_preparation_is_not() {
    let kind = ruled();
    let world = World::new(Arc::clone(&kind), 10);
    let mut new = draft(&kind, &sizes("1"));
    read(&mut new, Some("a"), "tester", None);
    new.fill_metadata("m", "u-1", NOW);
    assert_eq!(fields(&prepare(&mut new, None)), NOBODY);
    let old = world.commit(&Change::create(&mut new)).expect("a new object");

    let mut update = draft(&kind, &sizes("2"));
    update.keep_metadata(&old).expect("it can be read");
    let mut step = Prepare::new("", NOW, true);
    let early = step.run(&mut update, Some(&old), Some(Duration::ZERO)).expect("it can be read");
    assert!(early.is_none(), "there was no time");
    let done = step.run(&mut update, Some(&old), None).expect("it can be read").expect("there is time");
    assert_eq!(fields(&done), NOBODY);
    assert_eq!(text(&update, &["metadata", "generation"]), "2", "a second preparation would count again");

    let mut refused = draft(&kind, &sizes("0"));
    let mut step = Prepare::new("", NOW, true);
    assert!(step.run(&mut refused, None, Some(Duration::ZERO)).expect("it can be read").is_none());
    let done = step.run(&mut refused, None, None).expect("it can be read").expect("there is time");
    assert_eq!(fields(&done), ["spec.sizes"]);
}
