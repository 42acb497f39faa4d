//! Writes of the server's own: several steps in one call come to the same as one after the other.

#![allow(missing_docs, reason = "each test says what it proves by its name")]

mod common;

use hydrofoil_engine::stored::Stored;
use hydrofoil_engine::write::{Change, Conversions, Draft, Hindrance, Outcome, Prepare, Read};

use common::{NOW, World, builtin, draft};

const POD: &str = r#"{"metadata":{"generateName":"web-","labels":{"app":"web"}},
    "spec":{"containers":[{"name":"main","image":"x:1"}]}}"#;
const REPORT: &str = r#"{"phase":"Running","podIP":"10.0.0.1","conditions":[{"type":"Ready","status":"True"}]}"#;

fn pods() -> World {
    World::new(builtin("", "v1", "pods"), 10)
}

fn read(draft: &mut Draft, namespace: Option<&str>, old: Option<&Stored>) -> Outcome {
    Read::new(namespace, "m", "", NOW).run(draft, old, &Conversions::default()).expect("it needs no webhook")
}

fn text(draft: &Draft, path: &[&str]) -> String {
    String::from_utf8(draft.get(path).unwrap_or_default()).expect("text")
}

fn admit() -> Draft {
    let mut new = draft(&builtin("", "v1", "pods"), POD);
    read(&mut new, Some("a"), None);
    new
}

fn create(world: &World, name: &str) -> Stored {
    let (mut copy, _) = admit().replicate(name, "u", NOW).expect("a pod");
    world.commit(&Change::create(&mut copy)).expect("a new object")
}

#[test]
fn a_replica_is_a_new_object_with_a_name_of_its_own() {
    let of_steps = {
        let mut new = admit();
        new.fill_metadata("web-1", "u-1", NOW);
        Prepare::new("", NOW, true).run(&mut new, None, None).expect("a pod").expect("there is time");
        new.json()
    };
    let first = admit();
    let (one, prepared) = first.replicate("web-1", "u-1", NOW).expect("a pod");
    assert!(prepared.causes.as_slice().is_empty() && !prepared.deleting);
    assert_eq!(one.json(), of_steps);
    let (two, _) = first.replicate("web-2", "u-2", NOW).expect("a pod");
    assert_eq!([text(&two, &["metadata", "name"]), text(&two, &["metadata", "uid"])], [r#""web-2""#, r#""u-2""#]);
    let (_, refused) = first.replicate("no name", "u-3", NOW).expect("a pod");
    assert_eq!(refused.causes.as_slice().first().map(|cause| cause.field.as_str()), Some("metadata.name"));
}

#[test]
fn a_revision_is_all_steps_of_an_update() {
    let old = create(&pods(), "web-1");
    let report = |draft: &mut Draft| draft.merge_status(REPORT.as_bytes()).expect("JSON");
    let mut of_steps = Draft::new(old.kind().clone(), old.thaw().expect("a pod"));
    report(&mut of_steps);
    Read::new(None, "kubelet", "status", NOW)
        .run(&mut of_steps, Some(&old), &Conversions::default())
        .expect("it needs no webhook");
    of_steps.keep_metadata(&old).expect("a pod");
    Prepare::new("status", NOW, true).run(&mut of_steps, Some(&old), None).expect("a pod").expect("there is time");
    let mut new = Draft::new(old.kind().clone(), old.thaw().expect("a pod"));
    report(&mut new);
    let (read, prepared) = new.revise(&old, "kubelet", "status", NOW, true).expect("a pod");
    assert_eq!(read.revision(), old.version().revision());
    assert!(prepared.causes.as_slice().is_empty());
    assert_eq!(new.json(), of_steps.json());
    assert!(text(&new, &["metadata", "managedFields"]).contains(r#""manager":"kubelet""#));
}

#[test]
fn conditions_of_others_stay_where_they_are() {
    let mut pod = admit();
    pod.merge_status(b"5").expect("JSON");
    assert_eq!(text(&pod, &["status", "conditions"]), "");
    pod.merge_status(br#"{"conditions":[{"type":"Ready","status":"False"},{"type":"Own","status":"True"}]}"#)
        .expect("JSON");
    pod.merge_status(
        br#"{"phase":"Running","conditions":[{"type":"New","status":"True"},{"type":"Ready","status":"True"}]}"#,
    )
    .expect("JSON");
    assert_eq!(
        text(&pod, &["status", "conditions"]),
        r#"[{"type":"Ready","status":"True"},{"type":"Own","status":"True"},{"type":"New","status":"True"}]"#
    );
    assert_eq!(text(&pod, &["status", "phase"]), r#""Running""#);
    assert!(pod.merge_status(b"{").is_err());
}

#[test]
fn a_pod_is_assigned_once_and_not_while_it_is_held_back() {
    let mut pod = admit();
    pod.set(&["status", "conditions"], Some(br#"[{"type":"PodScheduled","status":"False"},{"type":"Own"}]"#))
        .expect("JSON");
    pod.set(&["spec", "schedulingGates"], Some(br#"[{"name":"g"}]"#)).expect("JSON");
    assert_eq!(pod.assign_node("n", "t"), Err(Hindrance::Gates));
    pod.set(&["spec", "schedulingGates"], None).expect("JSON");
    assert_eq!(pod.assign_node("n", "t"), Ok(()));
    assert_eq!(
        text(&pod, &["status", "conditions"]),
        r#"[{"type":"Own"},{"type":"PodScheduled","status":"True","lastProbeTime":null,"lastTransitionTime":"t"}]"#
    );
    assert_eq!(pod.assign_node("m", "t"), Err(Hindrance::Node("n".to_owned())));
    pod.set(&["metadata", "deletionTimestamp"], Some(br#""2026-01-01T00:00:00Z""#)).expect("JSON");
    assert_eq!(pod.assign_node("m", "t"), Err(Hindrance::Deletion));
}
