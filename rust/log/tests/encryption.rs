//! Encrypted folders: nothing of an object is in them in clear, and nothing is lost for want of a key.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hydrofoil_encryption::{Settings, Transformers};
use hydrofoil_log::{Encryption, Refusal, Submitted, Sync, Target, backup, check, compact, export, restore};
use hydrofoil_store::{Change, Limits, StoreError};

mod common;

use common::{Opened, Temporary, draft, files, open_encrypted};

const MARKER: &str = "plaintext-marker";

/// Return the encryption of all objects by a key for each letter, the first of which writes; `-` is clear text.
fn keys(letters: &str) -> Encryption {
    let provider = |letter: char| {
        let secret = STANDARD.encode(letter.to_string().repeat(32));
        let keys = format!(r#"{{"aesgcm":[{{"name":"{letter}","secret":"{secret}"}}]}}"#);
        if letter == '-' { r#""identity""#.to_owned() } else { keys }
    };
    let providers: Vec<_> = letters.chars().map(provider).collect();
    let text = format!(r#"{{"resources":[{{"resources":["maps"],"providers":[{}]}}]}}"#, providers.join(","));
    let settings = Settings::parse(&text).expect("valid");
    Encryption::from(Arc::new(Transformers::new(&settings).expect("valid")))
}

fn open(path: &Path, encryption: &Encryption) -> Opened {
    open_encrypted(path, Sync::Always, Limits::default(), encryption.clone()).expect("it starts")
}

fn has_marker(path: &Path) -> bool {
    let has = |bytes: &[u8]| bytes.windows(MARKER.len()).any(|window| window == MARKER.as_bytes());
    if path.is_dir() { files(path).iter().any(|(_, bytes)| has(bytes)) } else { has(&fs::read(path).expect("a file")) }
}

/// Return a folder with two objects and a deleted one, written with the key `a`.
fn written() -> Temporary {
    let place = Temporary::new();
    let log = open(&place.0, &keys("a"));
    log.put("x/one", MARKER).expect("it is written");
    log.put("x/gone", MARKER).expect("it is written");
    log.put("x/one", &format!("{MARKER} again")).expect("it is written");
    log.delete("x/gone").expect("it is deleted");
    log.put("x/two", MARKER).expect("it is written");
    log.log.close();
    place
}

#[test]
fn nothing_is_in_clear() {
    let place = written();
    assert!(!has_marker(&place.0));
    let file = place.0.with_extension("encrypted");
    assert_eq!(backup(&place.0, &file, &None).expect("no key is needed").objects, 2);
    assert!(!has_marker(&file));
    compact(&place.0, &keys("a")).expect("nobody uses it");
    assert!(!has_marker(&place.0));
    let log = open(&place.0, &keys("a"));
    assert_eq!(log.objects().iter().map(|(key, ..)| key.as_str()).collect::<Vec<_>>(), ["x/one", "x/two"]);
    log.log.compact();
    log.log.close();
    assert!(!has_marker(&place.0));
    let other = Temporary::new();
    restore(&file, &other.0, 0, &None).expect("no key is needed");
    assert_eq!(open(&other.0, &keys("a")).objects(), open(&place.0, &keys("a")).objects());
    fs::remove_file(file).expect("it exists");
}

#[test]
fn history_is_as_before() {
    let place = written();
    let revision = |log: &Opened| log.view.shard("/maps").snapshot_at(common::FIRST).expect("it is kept").revision;
    assert_eq!(revision(&open(&place.0, &keys("ba"))), common::FIRST);
}

#[test]
fn without_the_key_nothing_is_lost() {
    let place = written();
    let before = open(&place.0, &keys("a")).objects();
    for wrong in ["b", "-", "b-"] {
        let log = open(&place.0, &keys(wrong));
        assert_eq!((log.objects().len(), log.log.unread()), (0, 2), "{wrong}");
        let found = log.log.faults("/maps");
        let why = if wrong == "-" {
            "no matching prefix found"
        } else {
            "no matching key was found for the provided AES transformer"
        };
        let places: Vec<&str> = found.iter().map(|fault| fault.place.as_str()).collect();
        assert_eq!(places, ["/registry/maps/x/one", "/registry/maps/x/two"]);
        assert!(found.iter().all(|fault| fault.why == why));
        assert_eq!(log.log.fault("/maps", "x/two").map(|fault| fault.why).as_deref(), Some(why));
        assert!(log.log.faults("/others").is_empty() && log.log.fault("/maps", "x/gone").is_none());
        assert_eq!(log.begin("x/one", 0, Change::Put(draft("new"))).expect_err("it exists"), StoreError::Exists);
        assert!(log.view.shard("/maps").snapshot_at(common::FIRST).is_err(), "the history is not readable");
        if wrong != "b" {
            // A state without its history.
            log.log.compact();
        }
        log.log.close();
    }
    assert_eq!(check(&place.0, &None).expect("the checksums are right").objects, 2);
    assert!(check(&place.0, &keys("b")).is_err());
    assert_eq!(check(&place.0, &keys("a")).expect("it is the key").objects, 2);
    compact(&place.0, &None).expect("no key is needed");
    let file = place.0.with_extension("jsonl");
    let refused = export(&place.0, &file, &None).expect_err("it needs a key").to_string();
    assert!(
        refused.contains("\"/registry/maps/x/one\": identity transformer tried to read encrypted data"),
        "{refused}"
    );
    assert!(!file.exists());
    export(&place.0, &file, &keys("a")).expect("it is the key");
    assert!(has_marker(&file));
    fs::remove_file(file).expect("it exists");
    assert_eq!(open(&place.0, &keys("a")).objects(), before);
}

#[test]
fn a_folder_in_clear_is_encrypted_as_it_is_written() {
    let place = Temporary::new();
    let log = open(&place.0, &None);
    log.put("x/one", MARKER).expect("it is written");
    let old = log.put("x/two", "other").expect("it is written");
    assert!(!log.log.is_stale("/maps", "x/one", old), "nothing is configured");
    log.log.close();
    assert!(has_marker(&place.0));
    let log = open(&place.0, &keys("a-"));
    let at = log.at("x/one");
    assert!(log.log.is_stale("/maps", "x/one", at) && log.log.is_stale("/maps", "x/two", old));
    log.put("x/one", MARKER).expect("it is written");
    assert!(!log.log.is_stale("/maps", "x/one", log.at("x/one")) && log.log.is_stale("/maps", "x/two", old));
    log.log.close();
    compact(&place.0, &None).expect("nobody uses it");
    assert!(!has_marker(&place.0), "its history is gone");
    let log = open(&place.0, &keys("a"));
    assert_eq!(log.log.unread(), 1, "the other one was never written again");
    log.log.close();
    compact(&place.0, &keys("a-")).expect("nobody uses it");
    assert_eq!(open(&place.0, &keys("a")).objects().len(), 2, "all of them were written again");
}

#[test]
fn a_configuration_that_changes_brings_objects_back() {
    let place = written();
    let encryption = keys("b");
    let log = open(&place.0, &encryption);
    let own = log.put("x/own", "mine").expect("others may be written");
    assert!(!log.log.is_stale("/maps", "x/own", own));
    let (present, next) = (encryption.expect("it is configured"), keys("cba").expect("it is configured"));
    present.adopt(&next);
    assert!(log.log.is_stale("/maps", "x/own", own), "another key writes");
    log.log.read_again();
    log.signalled();
    assert_eq!(log.log.unread(), 0);
    assert_eq!(log.objects().len(), 3);
    assert!(log.at("x/one") < own, "it has the revision that it had");
    assert!(log.log.is_stale("/maps", "x/one", log.at("x/one")));
    assert!(log.view.shard("/maps").snapshot_at(own).is_ok_and(|found| found.tree.len() == 3));
    log.put("x/one", "new").expect("it is as any other");
    log.log.compact();
    log.log.close();
    assert_eq!(open(&place.0, &keys("cba")).objects().len(), 3);
}

#[test]
fn a_later_event_of_an_unreadable_object_counts() {
    let place = Temporary::new();
    let log = open(&place.0, &keys("a"));
    let first = log.put("x/one", "1").expect("it is written");
    log.put("x/two", "1").expect("it is written");
    log.log.close();
    let log = open(&place.0, &keys("ba"));
    log.put("x/one", "2").expect("it is written");
    log.delete("x/two").expect("it is deleted");
    let last = log.put("x/three", "3").expect("it is written");
    log.log.close();
    let log = open(&place.0, &keys("b"));
    assert_eq!((log.log.unread(), log.objects().len()), (0, 2));
    assert!(log.view.shard("/maps").snapshot_at(first).is_err(), "an event of then is not readable");
    assert!(log.view.shard("/maps").snapshot_at(last).is_ok());
}

#[test]
fn a_write_that_cannot_be_encrypted_is_refused_alone() {
    let kms = r#"{"kms":{"name":"k","path":"/nowhere/socket","timeout":0.01}}"#;
    let text = format!(r#"{{"resources":[{{"resources":["maps"],"providers":[{kms}]}}]}}"#);
    let settings = Settings::parse(&text).expect("valid");
    let encryption = Some(Arc::new(Transformers::new(&settings).expect("valid")));
    let place = Temporary::new();
    let log = open(&place.0, &encryption);
    let refused = log.put("x/one", "1").expect_err("the plug-in is away");
    assert_eq!(refused, Refusal::Unencrypted("got unexpected nil transformer".to_owned()));
    assert!(log.log.problem().is_none());
    let target = Target { resource: "/others".into(), shard: log.view.shard("/others"), key: "a".into() };
    log.log.submit(target, 0, (), || Ok::<_, StoreError>(Change::Put(draft("1")))).expect("it is begun");
    log.log.write();
    assert!(log.outcomes(1).pop().is_some_and(|done| done.outcome.is_ok()));
    log.log.close();
    assert_eq!(open(&place.0, &encryption).objects().len(), 1);
}

#[test]
fn an_object_that_cannot_be_read_is_deleted_at_its_revision() {
    let place = written();
    let log = open(&place.0, &keys("b"));
    let fault = log.log.fault("/maps", "x/one").expect("it cannot be read");
    let target = |key: &str| Target { resource: "/maps".into(), shard: log.view.shard("/maps"), key: key.into() };
    assert_eq!(log.log.discard(target("x/gone"), 1, ()), Err(StoreError::NotFound));
    let conflict = Err(StoreError::Conflict { current: fault.revision });
    assert_eq!(log.log.discard(target("x/one"), fault.revision.wrapping_sub(1), ()), conflict);
    let begun = log.log.discard(target("x/one"), fault.revision, ()).expect("it is there");
    assert!(matches!(log.log.discard(target("x/one"), fault.revision, ()), Ok(Submitted::After(_))), "{begun:?}");
    log.log.write();
    let last = log.outcomes(1).pop().expect("an outcome").outcome.expect("it is written");
    assert!(last.revision() > fault.revision && last.revision() == log.view.shard("/maps").revision());
    assert_eq!((log.log.unread(), log.objects().len()), (1, 0));
    log.put("x/one", "new").expect("its name is free");
    log.log.close();
    // With the key the other one is there again, and the deleted one is not.
    let log = open(&place.0, &keys("ba"));
    assert_eq!(log.log.unread(), 0);
    let found: Vec<String> = log.objects().into_iter().map(|(key, ..)| key).collect();
    assert_eq!(found, ["x/one", "x/two"]);
}
