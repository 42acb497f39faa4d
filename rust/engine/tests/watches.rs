//! The guarantees of watches (etcd `tests/robustness/validate/watch.go`), checked by a replay of the writes.

#![allow(missing_docs, reason = "each test says what it proves by its name")]

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;

use hydrofoil_engine::read::Form;
use hydrofoil_engine::{Error, watch};
use hydrofoil_store::{Drained, StoreError, WatchStart};
use hydrofoil_types::Value;
use proptest::prelude::*;

use common::{Bytes, World, config_maps, parse};

/// The writes of a client, and the actions of watchers.
#[derive(Clone, Debug)]
enum Step {
    Put {
        key: usize,
        app: usize,
        data: u8,
    },
    Delete {
        key: usize,
    },
    /// Begin to watch a selection: with the present state, or after the revision of a past write, counted backwards;
    /// below 0 after a future one.
    Watch {
        selection: usize,
        back: Option<i64>,
        framed: bool,
    },
    Drain {
        watcher: usize,
        max: usize,
    },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..6_usize, 0..3_usize, any::<u8>()).prop_map(|(key, app, data)| Step::Put { key, app, data }),
        2 => (0..6_usize).prop_map(|key| Step::Delete { key }),
        1 => (0..SELECTIONS.len(), prop::option::of(-3..8_i64), any::<bool>())
            .prop_map(|(selection, back, framed)| Step::Watch { selection, back, framed }),
        3 => (0..8_usize, 1..1_500_usize).prop_map(|(watcher, max)| Step::Drain { watcher, max }),
    ]
}

/// Namespace, label selector, field selector.
const SELECTIONS: [(&str, &str, &str); 6] = [
    ("", "", ""),
    ("a", "", ""),
    ("", "app=x", ""),
    ("b", "app!=x", ""),
    ("a", "", "metadata.name=m0"),
    ("", "app", ""),
];

/// Return the namespace and the name of a key.
fn place(key: usize) -> (&'static str, String) {
    (if key.is_multiple_of(2) { "a" } else { "b" }, format!("m{}", key / 2))
}

/// An object of the model: its label, its data, and the revision that wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Object {
    app: usize,
    data: u8,
    revision: u64,
}

impl Object {
    fn body(&self, (namespace, name): (&str, &str)) -> String {
        let labels = ["", r#""app":"x""#, r#""app":"y""#][self.app];
        format!(
            r#"{{"kind":"ConfigMap","apiVersion":"v1","metadata":{{"name":"{name}","namespace":"{namespace}","labels":{{{labels}}}}},"data":{{"n":"{}"}}}}"#,
            self.data
        )
    }

    fn is_selected(&self, key: usize, selection: usize) -> bool {
        let (namespace, name) = place(key);
        match selection {
            0 => true,
            1 => namespace == "a",
            2 => self.app == 1,
            3 => namespace == "b" && self.app != 1,
            4 => namespace == "a" && name == "m0",
            _ => self.app != 0,
        }
    }
}

/// An event as a client understands it: type, key, revision, label and data of the object.
type Told = (String, String, u64, String, String);

fn reported(event_type: &str, key: usize, revision: u64, shown: &Object) -> Told {
    let (namespace, name) = place(key);
    let app = ["", "x", "y"][shown.app];
    (event_type.to_owned(), format!("{namespace}/{name}"), revision, app.to_owned(), shown.data.to_string())
}

/// The writes: each change with the object before and after it.
#[derive(Debug, Default)]
struct Model {
    present: BTreeMap<(String, usize), Object>,
    history: Vec<(u64, usize, Option<Object>, Option<Object>)>,
}

impl Model {
    fn write(&mut self, key: usize, revision: u64, now: Option<Object>) {
        let (namespace, name) = place(key);
        let place = (format!("{namespace}/{name}"), key);
        let before = match now.clone() {
            Some(now) => self.present.insert(place, now),
            None => self.present.remove(&place),
        };
        self.history.push((revision, key, before, now));
    }

    /// Return the present state as a selection sees it.
    fn state(&self, selection: usize) -> Vec<Told> {
        let selected = self.present.iter().filter(|((_, key), object)| object.is_selected(*key, selection));
        selected.map(|((_, key), object)| reported("ADDED", *key, object.revision, object)).collect()
    }

    /// Return the events after a revision as a selection sees them.
    fn events(&self, selection: usize, after: u64) -> Vec<Told> {
        let mut out = Vec::new();
        for (revision, key, before, now) in self.history.iter().filter(|(revision, ..)| *revision > after) {
            let selected = |object: &Option<Object>| object.as_ref().is_some_and(|o| o.is_selected(*key, selection));
            match (before, now, selected(before), selected(now)) {
                (_, Some(now), false, true) => out.push(reported("ADDED", *key, *revision, now)),
                (_, Some(now), true, true) => out.push(reported("MODIFIED", *key, *revision, now)),
                (Some(before), _, true, false) => out.push(reported("DELETED", *key, *revision, before)),
                _ => {}
            }
        }
        out
    }
}

/// A client with a watch.
struct Client {
    watcher: watch::Watcher<Bytes>,
    selection: usize,
    framed: bool,
    /// The revision after which it was to begin, and the state with which it was to begin.
    after: u64,
    state: Vec<Told>,
    got: Vec<Told>,
    /// The revisions of bookmarks, and the number of events received before each.
    bookmarks: Vec<(u64, usize)>,
    lapped: bool,
}

impl Client {
    fn drain(&mut self, max: usize) -> Drained {
        let (bytes, left) = self.watcher.drain(max).expect("it is JSON");
        self.got.extend(bytes.iter().flat_map(|bytes| events(bytes, self.framed)));
        if let Some(bookmark) = self.watcher.bookmark(false).expect("it is JSON") {
            let object = lines(&bookmark, self.framed).remove(0);
            assert_eq!(object.str_at(&["type"]), "BOOKMARK");
            self.bookmarks.push((revision(&object), self.got.len()));
        }
        self.lapped |= left == Drained::Lapped;
        left
    }

    fn drain_all(&mut self) {
        while !matches!(self.drain(700), Drained::All | Drained::Lapped) {}
    }
}

/// Return the documents of a piece of a stream.
fn lines(bytes: &[u8], framed: bool) -> Vec<Value> {
    let mut bytes = bytes;
    if framed {
        let (head, rest) =
            bytes.split_at(bytes.windows(2).position(|two| two == b"\r\n").expect("the head of a chunk"));
        let length = usize::from_str_radix(str::from_utf8(head).expect("hexadecimal"), 16).expect("hexadecimal");
        bytes = &rest[2..rest.len() - 2];
        assert_eq!((bytes.len(), &rest[rest.len() - 2..]), (length, &b"\r\n"[..]));
    }
    bytes.split_inclusive(|b| *b == b'\n').map(parse).collect()
}

fn revision(event: &Value) -> u64 {
    event.str_at(&["object", "metadata", "resourceVersion"]).parse().expect("a revision")
}

fn events(bytes: &[u8], framed: bool) -> Vec<Told> {
    let event = |event: Value| {
        let text = |path: &[&str]| event.str_at(path).to_owned();
        let key = ["namespace", "name"].map(|name| text(&["object", "metadata", name])).join("/");
        let app = text(&["object", "metadata", "labels", "app"]);
        (text(&["type"]), key, revision(&event), app, text(&["object", "data", "n"]))
    };
    lines(bytes, framed).into_iter().map(event).collect()
}

struct Run {
    world: World,
    model: Model,
    clients: Vec<Client>,
}

impl Run {
    fn new(kept: usize, steps: &[Step]) -> Self {
        let mut run = Self { world: World::new(config_maps(), kept), model: Model::default(), clients: Vec::new() };
        for step in steps {
            run.step(step);
        }
        run.clients.iter_mut().for_each(Client::drain_all);
        run
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Put { key, app, data } => {
                let (namespace, name) = place(key);
                let mut object = Object { app, data, revision: 0 };
                object.revision =
                    self.world.put(namespace, &name, &object.body((namespace, &name))).version().revision();
                self.model.write(key, object.revision, Some(object));
            }
            Step::Delete { key } => {
                let (namespace, name) = place(key);
                if let Some(gone) = self.world.delete(namespace, &name) {
                    self.model.write(key, gone.version().revision(), None);
                }
            }
            Step::Watch { selection, back, framed } => {
                let past =
                    |back: usize| self.model.history.iter().rev().nth(back).map_or(100, |(revision, ..)| *revision);
                let after = back.map(|back| usize::try_from(back).map_or_else(|_| past(0) + back.unsigned_abs(), past));
                self.clients.extend(self.watch(selection, after, framed));
            }
            Step::Drain { watcher, max } => {
                let count = self.clients.len();
                if let Some(client) = self.clients.get_mut(watcher % count.max(1)) {
                    client.drain(max);
                }
            }
        }
    }

    /// Begin to watch; `None` if the history does not include the revision.
    fn watch(&self, selection: usize, after: Option<u64>, framed: bool) -> Option<Client> {
        let (namespace, labels, fields) = SELECTIONS[selection];
        let filter = self.world.filter(namespace, labels, fields);
        let start = after.map_or(WatchStart::State, WatchStart::After);
        let watcher =
            match self.world.shard.watch(&self.world.kind, &filter, Form::parse("json").ok()?, start, 1, framed) {
                Err(Error::Store(StoreError::Expired { .. })) => return None,
                other => other.expect("it is within reach"),
            };
        let state = if after.is_none() { self.model.state(selection) } else { Vec::new() };
        let after = after.unwrap_or_else(|| self.model.history.last().map_or(100, |(revision, ..)| *revision));
        let (got, bookmarks) = (Vec::new(), Vec::new());
        Some(Client { watcher, selection, framed, after, state, got, bookmarks, lapped: false })
    }

    /// Return the events for a client that begins after a revision.
    fn resumed(&self, selection: usize, after: u64) -> Option<Vec<Told>> {
        let mut client = self.watch(selection, Some(after), false)?;
        client.drain_all();
        Some(client.got)
    }

    fn check(&self) {
        for client in &self.clients {
            self.reliable_and_atomic(client);
            ordered_and_unique(client);
            self.resumable(client);
            self.bookmarkable(client);
        }
    }

    /// Check that no event is missing, and that each has the object as written at its revision.
    fn reliable_and_atomic(&self, client: &Client) {
        let mut expected = client.state.clone();
        expected.extend(self.model.events(client.selection, client.after));
        if client.lapped {
            expected.truncate(client.got.len());
        }
        assert_eq!(client.got, expected, "selection {}", client.selection);
    }

    /// Check that a watch interrupted anywhere after its state continues with the remaining events.
    fn resumable(&self, client: &Client) {
        for (at, event) in client.got.iter().enumerate().skip(client.state.len()) {
            if let Some(rest) = self.resumed(client.selection, event.2) {
                assert_eq!(rest, self.model.events(client.selection, event.2));
                assert!(client.lapped || rest == client.got[at + 1..]);
            }
        }
    }

    /// Check that events up to the revision of a bookmark precede it, and that the others follow.
    fn bookmarkable(&self, client: &Client) {
        let mut last = 0;
        for (revision, count) in &client.bookmarks {
            assert!(*revision >= last, "a bookmark does not go back");
            last = *revision;
            let (before, after) = client.got.split_at(*count);
            let (state, before) = before.split_at(client.state.len().min(before.len()));
            assert_eq!(state.len(), client.state.len(), "none before the end of the state");
            assert!(before.iter().all(|event| event.2 <= *revision));
            assert!(after.iter().all(|event| event.2 > *revision));
            if let Some(rest) = self.resumed(client.selection, *revision) {
                assert!(rest == after || (client.lapped && rest.starts_with(after)));
            }
        }
    }
}

/// Check that revisions increase, and that no event is repeated.
fn ordered_and_unique(client: &Client) {
    let (state, events) = client.got.split_at(client.state.len().min(client.got.len()));
    assert!(events.windows(2).all(|two| two[0].2 < two[1].2));
    assert!(state.windows(2).all(|two| two[0].1 < two[1].1));
    assert!(events.iter().all(|event| event.2 > client.after));
}

proptest! {
    #[test]
    fn watches_keep_their_promises(steps in prop::collection::vec(step(), 1..60)) {
        Run::new(1_000, &steps).check();
    }

    #[test]
    fn a_history_that_is_too_short_ends_watches_and_nothing_else(
        kept in 1..12_usize,
        steps in prop::collection::vec(step(), 1..80),
    ) {
        Run::new(kept, &steps).check();
    }
}

/// Watchers with equal keys at the same cursor receive the same bytes, not only equal ones.
#[test]
fn watchers_of_one_kind_share_their_frames() {
    let run = Run::new(1_000, &[Step::Put { key: 0, app: 0, data: 1 }]);
    let watch = |framed| run.watch(0, Some(100), framed).expect("within reach").watcher;
    let [first, second, bare] = [true, true, false].map(watch);
    let frame = |watcher: &watch::Watcher<Bytes>| watcher.drain(1 << 16).expect("JSON").0.expect("an event");
    let (one, two, other) = (frame(&first), frame(&second), frame(&bare));
    assert!(Arc::ptr_eq(&one, &two));
    assert_ne!(one, other);
}

#[test]
fn the_first_table_of_a_stream_names_its_columns() {
    let run = Run::new(1_000, &[Step::Put { key: 0, app: 0, data: 1 }, Step::Put { key: 1, app: 0, data: 1 }]);
    let (world, form) = (&run.world, || Form::parse("json:table:v1:None").expect("a form"));
    let filter = world.filter("", "", "");
    for _ in 0..2 {
        let watcher =
            world.shard.watch(&world.kind, &filter, form(), WatchStart::After(100), 1, false).expect("within reach");
        let tables = lines(&watcher.drain(1 << 16).expect("JSON").0.expect("events"), false);
        let named = |table: &Value| table.at(&["object", "columnDefinitions"]).is_some_and(|c| c.as_array().is_some());
        assert_eq!(tables.iter().map(named).collect::<Vec<_>>(), [true, false]);
    }
}

#[test]
fn the_end_of_the_state_can_be_marked() {
    let run = Run::new(1_000, &[Step::Put { key: 0, app: 0, data: 1 }]);
    let watcher = run.watch(0, None, false).expect("a state").watcher;
    assert!(watcher.waits() && watcher.bookmark(true).expect("JSON").is_none());
    assert_eq!(watcher.drain(1 << 16).expect("JSON").1, Drained::InitialEnd);
    let bookmark = watcher.bookmark(true).expect("JSON").expect("the state is told");
    assert_eq!(
        str::from_utf8(&bookmark),
        Ok(
            "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"101\",\
            \"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}}\n"
        )
    );
}

#[test]
fn changes_show_what_was_before() {
    let run = Run::new(1_000, &[Step::Put { key: 0, app: 0, data: 1 }]);
    let watcher = run.watch(0, None, false).expect("a state").watcher;
    run.world.put("a", "m0", &Object { app: 0, data: 2, revision: 0 }.body(("a", "m0")));
    run.world.delete("a", "m0");
    let revisions = |(changes, left): (Vec<watch::Difference>, Drained)| {
        let shown = |s: Option<hydrofoil_engine::stored::Stored>| s.map(|s| s.version().revision());
        (changes.into_iter().map(|(before, now)| (shown(before), shown(now))).collect::<Vec<_>>(), left)
    };
    assert_eq!(revisions(watcher.changes(9)), (vec![(None, Some(101))], Drained::InitialEnd));
    assert_eq!(revisions(watcher.changes(1)), (vec![(Some(101), Some(102))], Drained::More));
    assert_eq!(revisions(watcher.changes(9)), (vec![(Some(102), None)], Drained::All));
}
