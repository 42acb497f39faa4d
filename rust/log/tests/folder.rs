//! The promises of a log on a disk, with and without faults of the disk.

use std::fs;
use std::time::Duration;

use hydrofoil_log::{Faults, Refusal, Submitted, Sync, backup, check, compact, restore};
use hydrofoil_store::{Change, Limits, StoreError};

use crate::common::{FIRST, Temporary, draft, files, open, open_with};

mod common;

#[test]
fn objects_history_and_revisions_go_on_after_a_crash() {
    let place = Temporary::new();
    let log = open(&place.0).expect("a new folder");
    let first = log.put("a/one", "1").expect("it is written");
    assert_eq!(first, log.view.reached_revision());
    let second = log.put("a/one", "2").expect("it is written");
    let third = log.delete("a/one").expect("it is deleted");
    log.put("a/two", "3").expect("it is written");
    let before = log.objects();
    let crashed = place.copy();
    log.log.close();
    for (place, clean) in [(&crashed, false), (&place, true)] {
        let log = open(&place.0).expect("it is whole");
        assert_eq!(log.objects(), before);
        let maps = log.view.shard("/maps");
        let text = |revision| {
            let state = maps.snapshot_at(revision).expect("it is within the window");
            state.tree.get("a/one").map(|version| version.json().to_vec())
        };
        assert!(text(first).is_some() && text(first) != text(second) && text(third).is_none());
        assert_eq!(maps.snapshot_at(FIRST).expect("the empty state").tree.len(), 0);
        let next = log.put("a/three", "4").expect("it is written");
        assert_eq!(next == before[0].1 + 1, clean, "only a clean end leaves no gap");
        assert!(next > before[0].1);
        log.log.close();
    }
}

#[test]
fn no_revision_is_assigned_twice_whatever_was_lost() {
    let place = Temporary::new();
    let log = open_with(&place.0, Sync::Never, Limits::default()).expect("a new folder");
    let empty = place.copy();
    let last = (0..100).map(|n| log.put(&format!("a/{n}"), "x").expect("it is written")).max();
    log.log.close();
    let log = open(&empty.0).expect("a folder that lost every write");
    assert!(log.objects().is_empty() && log.put("a/0", "y").ok() > last);
    log.log.close();
}

#[test]
fn writes_are_judged_by_the_view_and_by_those_under_way() {
    let place = Temporary::new();
    let log = open(&place.0).expect("a new folder");
    let put = |text| Change::Put(draft(text));
    log.log.fail(Faults { delay: Duration::from_millis(50), ..Faults::default() });
    let Ok(Submitted::Begun(first)) = log.begin("a/one", 0, put("1")) else { panic!("it is new") };
    assert_eq!(log.begin("a/one", 0, put("2")), Ok(Submitted::After(first)));
    assert!(log.objects().is_empty(), "it is not durable");
    let at = log.outcomes(1).pop().and_then(|done| done.outcome.ok()).expect("it is written").revision();
    assert_eq!(log.begin("a/one", 0, put("2")), Err(StoreError::Exists));
    assert_eq!(log.begin("a/one", at + 1, put("2")), Err(StoreError::Conflict { current: at }));
    assert_eq!(log.begin("a/two", at, put("2")), Err(StoreError::NotFound));
    log.log.close();
}

#[test]
fn writes_that_wait_together_are_one_group_in_their_order() {
    let place = Temporary::new();
    let log = open(&place.0).expect("a new folder");
    log.log.fail(Faults { delay: Duration::from_millis(20), ..Faults::default() });
    for n in 0..50 {
        log.begin(&format!("a/{n}"), 0, Change::Put(draft("x"))).expect("they are new");
    }
    let revisions: Vec<_> =
        log.outcomes(50).into_iter().map(|done| done.outcome.expect("it is written").revision()).collect();
    assert_eq!(revisions, (FIRST + 1..).skip((revisions[0] - FIRST - 1) as usize).take(50).collect::<Vec<_>>());
    log.log.close();
    assert_eq!(check(&place.0, &None).expect("it is whole").objects, 50);
}

#[test]
fn without_space_nothing_is_written_until_there_is_some() {
    let place = Temporary::new();
    let log = open(&place.0).expect("a new folder");
    log.put("a/one", "1").expect("it is written");
    log.log.fail(Faults { full: true, ..Faults::default() });
    for _ in 0..3 {
        let Err(Refusal::Full(why)) = log.put("a/two", "2") else { panic!("there is no space") };
        assert!(why.contains("no space left") && why.contains("log-"), "{why}");
    }
    assert!(log.log.problem().is_none() && log.at("a/two") == 0);
    log.log.fail(Faults::default());
    log.put("a/three", "3").expect("there is space again");
    let crashed = place.copy();
    log.log.close();
    let again = open(&crashed.0).expect("it is whole");
    assert_eq!(again.objects().into_iter().map(|(key, ..)| key).collect::<Vec<_>>(), ["a/one", "a/three"]);
    again.log.close();
}

#[test]
fn a_sync_that_failed_is_not_tried_again() {
    for faults in [Faults { sync: true, ..Faults::default() }, Faults { torn: true, ..Faults::default() }] {
        let place = Temporary::new();
        let log = open(&place.0).expect("a new folder");
        log.put("a/one", "1").expect("it is written");
        log.log.fail(faults);
        assert!(matches!(log.put("a/two", "2"), Err(Refusal::Lost(_))));
        log.log.fail(Faults::default());
        assert!(matches!(log.put("a/three", "3"), Err(Refusal::Halted(_))));
        assert!(log.log.problem().is_some_and(|why| why.contains("log-")));
        assert_eq!(log.objects().len(), 1, "reads go on");
        log.log.close();
        // The write that was lost may be there; the acknowledged one is.
        let again = open(&place.0).expect("it is whole");
        assert!(again.at("a/one") > 0 && again.at("a/three") == 0);
        assert_eq!(again.at("a/two") == 0, faults.torn);
        again.log.close();
    }
}

#[test]
fn one_process_uses_a_folder() {
    let place = Temporary::new();
    let log = open(&place.0).expect("a new folder");
    let refused = |found: Option<String>| found.is_some_and(|why| why.ends_with("another process uses this folder"));
    assert!(refused(open(&place.0).err().map(|e| e.to_string())));
    assert!(refused(check(&place.0, &None).err().map(|e| e.to_string())));
    assert!(refused(compact(&place.0, &None).err().map(|e| e.to_string())));
    log.log.close();
    check(&place.0, &None).expect("nobody uses it");
}

#[test]
fn other_folders_are_refused_and_stay_as_they_are() {
    let place = Temporary::new();
    let refused = |begin: &str| {
        let before = files(&place.0);
        let error = open(&place.0).err().map(|e| e.to_string());
        assert_eq!(files(&place.0), before);
        let text = error.unwrap_or_default();
        assert!(text.contains(begin) && text.starts_with(&place.0.display().to_string()), "{text}");
    };
    fs::create_dir(&place.0).expect("a folder");
    fs::write(place.0.join("notes"), "x").expect("a file");
    refused("it has files, but no VERSION");
    fs::write(place.0.join("VERSION"), "hydrofoil 2\n").expect("a file");
    refused("it has the format 2, this program reads the format 1");
    fs::write(place.0.join("VERSION"), "hydro").expect("a file");
    refused("VERSION: it is damaged");
    fs::remove_dir_all(&place.0).expect("a folder");
    fs::write(&place.0, "x").expect("a file");
    assert!(open(&place.0).err().is_some_and(|e| e.to_string().ends_with("it is no folder")));
    fs::remove_file(&place.0).expect("a file");
}

#[test]
fn files_are_removed_once_the_history_has_ended() {
    let place = Temporary::new();
    let limits = Limits { events: 100, ..Limits::default() };
    let log = open_with(&place.0, Sync::Never, limits).expect("a new folder");
    let text = "x".repeat(100_000);
    for _ in 0..400 {
        log.put("a/one", &text).expect("it is written");
    }
    let size = |place: &Temporary| files(&place.0).iter().map(|(_, bytes)| bytes.len()).sum::<usize>();
    assert!(size(&place) < 32 << 20, "40 MB were written: {}", size(&place));
    log.log.close();
    let before = check(&place.0, &None).expect("it is whole");
    assert_eq!(compact(&place.0, &None).expect("nobody uses it").objects, 1);
    assert!(size(&place) < 5 << 20, "{}", size(&place));
    let after = check(&place.0, &None).expect("it is whole");
    assert!(after.objects == 1 && after.revision >= before.revision);
    let log = open(&place.0).expect("it is whole");
    assert!(log.view.shard("/maps").snapshot_at(before.revision - 1).is_err(), "the history has ended");
    log.log.close();
}

#[test]
fn a_live_log_ends_its_history_when_it_is_asked_to() {
    let place = Temporary::new();
    let log = open(&place.0).expect("a new folder");
    let first = log.put("a/one", "1").expect("it is written");
    let last = log.put("a/one", "2").expect("it is written");
    log.log.compact();
    log.log.close();
    let log = open(&place.0).expect("it is whole");
    let maps = log.view.shard("/maps");
    assert!(maps.snapshot_at(first).is_err() && maps.snapshot_at(last).is_ok());
    log.log.close();
}

#[test]
fn a_restart_after_many_restarts_has_few_files() {
    let place = Temporary::new();
    let limits = Limits { window: Duration::ZERO, ..Limits::default() };
    for n in 0..80 {
        let log = open_with(&place.0, Sync::Never, limits).expect("it is whole");
        log.put("a/one", &n.to_string()).expect("it is written");
        log.log.close();
    }
    let count = files(&place.0).len();
    assert!(count < 45, "{count} files");
}

#[test]
fn a_backup_is_restored_to_a_new_folder_only() {
    let (place, other) = (Temporary::new(), Temporary::new());
    let log = open(&place.0).expect("a new folder");
    log.put("a/one", "1").expect("it is written");
    log.put("a/two", "2").expect("it is written");
    let file = place.0.with_extension("backup");
    drop(fs::remove_file(&file));
    let saved = backup(&place.0, &file, &None).expect("a server may use the folder");
    assert_eq!((saved.objects, saved.revision), (2, FIRST + 2));
    assert!(backup(&place.0, &file, &None).is_err(), "the file exists");
    let later = log.put("a/three", "3").expect("it is written");
    let before = log.objects();
    log.log.close();
    assert!(restore(&file, &place.0, 0, &None).is_err_and(|e| e.to_string().contains("it has files")));
    let restored = restore(&file, &other.0, 5, &None).expect("the folder is new");
    assert!(restored.revision > later);
    let log = open(&other.0).expect("it is whole");
    assert_eq!(log.objects(), before.into_iter().filter(|(key, ..)| key != "a/three").collect::<Vec<_>>());
    assert!(log.view.shard("/maps").snapshot_at(later).is_err(), "watches of before begin anew");
    assert!(log.put("a/two", "4").expect("it is written") > restored.revision);
    log.log.close();
    assert!(restore(&file, &Temporary::new().0, u64::MAX / 2, &None).is_ok_and(|found| found.revision == u64::MAX / 2));
    fs::remove_file(&file).expect("the backup");
}
