//! A view with a feed, and one with a local log.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use hydrofoil_store::EventType::{Added, Deleted, Modified};
use hydrofoil_store::{Change, Draft, Drained, EventType, Filter, Limits, Local, Shard, StoreError, View, WatchStart};
use hydrofoil_types::{Clock, Fingerprint};

fn draft(text: &str) -> Draft {
    let json = format!(r#"{{"kind":"K","text":"{text}","metadata":{{"resourceVersion":""}}}}"#).into_bytes();
    let rv_at = json.len() - 3;
    Draft {
        json,
        given: None,
        rv_at,
        head: 0,
        labels: Box::default(),
        fields: Box::default(),
        fingerprint: Fingerprint::BUILTIN,
    }
}

fn view() -> View {
    View::new(Limits::default(), None, Arc::default())
}

fn state(key: &str, revision: u64, text: &str) -> (String, u64, Draft) {
    (key.to_owned(), revision, draft(text))
}

fn put(shard: &Shard, revision: u64, key: &str) -> bool {
    shard.apply(revision, key, Change::Put(draft(key))).is_some()
}

/// Return the events for a watcher of everything after a revision: kinds, keys, revisions.
fn events(shard: &Shard, after: u64) -> Result<Vec<(EventType, String, u64)>, StoreError> {
    let id = shard.watch(Arc::new(Filter::default()), WatchStart::After(after), 1)?;
    let mut found = Vec::new();
    let (left, _, _) = shard.drain(id, |frame| {
        found.push((frame.kind, frame.version.key().to_string(), frame.revision));
        true
    });
    assert_eq!(left, Drained::All);
    shard.unwatch(id);
    Ok(found)
}

#[test]
fn events_are_applied_once_in_order_with_gaps() {
    let shard = view().shard("x");
    shard.load([state("a", 5, "old")], 10);
    assert_eq!((shard.revision(), shard.size().0), (10, 1));
    assert!(put(&shard, 15, "a") && put(&shard, 20, "b"));
    assert!(!put(&shard, 20, "c") && !put(&shard, 3, "c"));
    assert!(shard.apply(30, "c", Change::Delete).is_none(), "nothing was there");
    let gone = shard.apply(40, "b", Change::Delete).expect("it was there");
    assert_eq!((gone.revision(), shard.revision()), (40, 40));
    let reported = [(Modified, "a".to_owned(), 15), (Added, "b".to_owned(), 20), (Deleted, "b".to_owned(), 40)];
    assert_eq!(events(&shard, 10).expect("within reach"), reported);
    assert_eq!(shard.snapshot_at(17).expect("within reach").tree.len(), 1);
    assert_eq!(events(&shard, 9), Err(StoreError::Expired { asked: 9, oldest: 10 }));
}

#[test]
fn progress_promises_that_nothing_below_follows() {
    let shard = view().shard("x");
    shard.load([], 10);
    assert!(matches!(shard.snapshot_at(12), Err(StoreError::Future { asked: 12, current: 10 })));
    shard.progress(12);
    shard.progress(11);
    assert_eq!(shard.snapshot_at(12).expect("it is that far").revision, 12);
    assert!(!put(&shard, 12, "late") && put(&shard, 13, "new"));
}

/// A watch cannot resume after any event of a replacement but the last.
#[test]
fn what_a_replacement_tells_cannot_be_resumed_in_its_middle() {
    let shard = view().shard("x");
    shard.load([state("a", 1, "a"), state("b", 2, "b"), state("c", 3, "c"), state("d", 4, "d")], 10);
    let watcher = shard.watch(Arc::new(Filter::default()), WatchStart::After(10), 1).expect("within reach");
    shard.replace(
        [state("b", 2, "b"), state("c", 17, "new"), state("d", 16, "other"), state("e", 18, "e")],
        18,
        |version, _| &**version.key() != "d",
    );
    let mut found = Vec::new();
    shard.drain(watcher, |frame| {
        found.push((frame.kind, frame.version.key().to_string(), frame.revision));
        true
    });
    found[..2].sort_by(|a, b| a.1.cmp(&b.1));
    let reported = [(Deleted, "a", 10), (Deleted, "d", 10), (Added, "d", 16), (Modified, "c", 17), (Added, "e", 18)];
    assert_eq!(found, reported.map(|(kind, key, at)| (kind, key.to_owned(), at)));
    for seen in [10, 16, 17] {
        assert_eq!(events(&shard, seen), Err(StoreError::Expired { asked: seen, oldest: 18 }));
    }
    assert_eq!(events(&shard, 18), Ok(Vec::new()));
    assert_eq!((shard.size().0, shard.revision()), (4, 18));
}

#[test]
fn a_local_log_judges_and_counts_for_all_shards() {
    let view = view();
    let log = Local::open(&view, 100);
    let (x, y) = (view.shard("x"), view.shard("y"));
    let made = log.create(&x, "a", draft("1")).expect("it is new");
    assert_eq!(log.create(&x, "a", draft("2")).unwrap_err(), StoreError::Exists);
    let other = log.create(&y, "a", draft("1")).expect("it is new there");
    assert_eq!((made.revision(), other.revision(), x.revision(), log.revision()), (101, 102, 102, 102));
    assert_eq!(log.update(&x, "b", 101, draft("2")).unwrap_err(), StoreError::NotFound);
    assert_eq!(log.update(&x, "a", 100, draft("2")).unwrap_err(), StoreError::Conflict { current: 101 });
    assert_eq!(log.update(&x, "a", 101, draft("2")).expect("it stands there").revision(), 103);
    assert_eq!(log.delete(&x, "a", 103).expect("it stands there").revision(), 104);
    assert_eq!((x.size(), y.size().0), ((0, 0), 1));
}

/// Concurrent decisions each see the writes of the previous one.
#[test]
fn a_decision_under_the_lock_is_alone() {
    let view = view();
    let log = Local::open(&view, 0);
    let shard = view.shard("x");
    let log = Arc::new(log);
    log.create(&shard, "count", draft("")).expect("it is new");
    let writers = [0; 4].map(|_| {
        let (log, shard) = (Arc::clone(&log), Arc::clone(&shard));
        thread::spawn(move || {
            let mut written = 0;
            while written < 100 {
                let old = shard.get("count").expect("it is there");
                let changed = log.update(&shard, "count", old.revision(), draft("x"));
                written += u32::from(changed.is_ok());
            }
        })
    });
    for writer in writers {
        writer.join().expect("it ends");
    }
    assert_eq!(events(&shard, 1).expect("within reach").len(), 400);
    assert_eq!(shard.revision(), 401);
}

#[test]
fn history_that_was_ended_is_given_to_those_who_stand_in_it() {
    let view = view();
    let log = Local::open(&view, 0);
    let shard = view.shard("x");
    let slow = shard.watch(Arc::new(Filter::default()), WatchStart::After(0), 1).expect("within reach");
    log.create(&shard, "a", draft("")).expect("it is new");
    view.compact();
    let mut given = 0;
    shard.drain(slow, |_| {
        given += 1;
        true
    });
    assert_eq!(given, 1);
    assert_eq!(events(&shard, 0), Err(StoreError::Expired { asked: 0, oldest: 1 }));
}

/// WA-09: a resource that is used late was empty until then, as far as the history of the others reaches.
#[test]
fn the_history_of_a_late_shard_is_that_of_the_log() {
    let (clock, limits) = (Arc::new(Clock::default()), Limits { window: Duration::from_secs(8), ..Limits::default() });
    clock.freeze(None);
    let view = View::new(limits, None, Arc::clone(&clock));
    let log = Local::open(&view, 100);
    let early = view.shard("early");
    log.create(&early, "a", draft("")).expect("it is new");
    log.create(&early, "b", draft("")).expect("it is new");
    let late = view.shard("late");
    log.create(&late, "a", draft("")).expect("it is new");
    assert_eq!(events(&late, 101).expect("within reach"), [(Added, "a".to_owned(), 103)]);
    assert_eq!(late.snapshot_at(102).expect("within reach").tree.len(), 0);
    assert!(events(&view.shard("later"), 99).is_err(), "before the log");
    clock.advance(8_000_000_001);
    log.create(&early, "c", draft("")).expect("it is new");
    let last = view.shard("last");
    assert!(events(&last, 102).is_err(), "it has expired for all");
    assert_eq!(events(&last, 104).expect("within reach"), []);
    view.compact();
    log.create(&early, "d", draft("")).expect("it is new");
    assert!(events(&view.shard("other"), 103).is_err());
    assert!(events(&view.shard("another"), 104).is_ok());
}
