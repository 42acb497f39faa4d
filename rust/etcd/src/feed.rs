//! The thread of the log: events of etcd become events of the view, writes become transactions.

use std::collections::BTreeMap;
use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use bytes::Bytes;
use hydrofoil_store::{Change, View};
use hydrofoil_types::Clock;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender};
use tokio::time::{Sleep, sleep};

use crate::asks::Asks;
use crate::client::{Client, Failure};
use crate::health;
use crate::lease::Leases;
use crate::load::{Loader, States};
use crate::messages::{
    Compare, DeleteRequest, Equals, Event, PutRequest, Request, TxnRequest, TxnResponse, WatchResponse,
};
use crate::options::end_of;
use crate::place::{Broken, Decoder, Followed, Place, State, prefix, split};
use crate::values::Values;
use crate::watch::Watch;
use crate::writes::{Answer, Done, Outcome, Write, Writes};

/// The time after which a transaction may be done or not: longer than requests wait.
const PATIENCE: Duration = Duration::from_secs(60);
/// The time for an answer to a question, which is asked again then.
const ASKING: Duration = Duration::from_secs(5);
/// The time after which the progress of the watch is asked for, if events have not shown it, and then again.
const PROGRESS: (Duration, Duration) = (Duration::from_millis(5), Duration::from_millis(100));
/// The number of questions without an answer after which the watch begins again.
const IN_VAIN: u32 = 30;
/// The time before a call that failed is repeated.
pub(crate) const AGAIN: Duration = Duration::from_millis(250);
/// The collections that are loaded at once.
const AT_ONCE: usize = 4;
/// The resource whose objects end by a lease.
const EVENTS: &str = "/events";

/// A request of the owner of the log.
#[derive(Debug)]
pub(crate) enum Command {
    Follow(u64, Followed),
    Write(Write),
    Ask(u64),
    /// All collections that existed at the start are followed.
    Started,
    Close,
}

/// A result of another task.
#[derive(Debug)]
pub(crate) enum Found {
    Answer(u64, Result<TxnResponse, Failure>),
    Revision(Result<u64, Failure>),
    /// A place was loaded into the view.
    Loaded(usize, Result<usize, Failure>),
    /// The state of a place at a revision, which is not in the view yet.
    Read(usize, u64, Result<States, Failure>),
    /// The state of all places at a revision.
    Whole(Result<(u64, Vec<(usize, States)>), Failure>),
}

/// The part of the log that other threads read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shared {
    /// Outcomes that the loop has not taken. Pushed before `notify` is called, so that the loop, woken once, finds all.
    pub(crate) done: Arc<Mutex<Vec<Done>>>,
    /// What health checks show: a text of its own, so that a check never waits for the feed.
    pub(crate) problem: Arc<Mutex<String>>,
    pub(crate) broken: Broken,
    pub(crate) values: Values,
    /// The number of objects that were read to load collections.
    pub(crate) read: Arc<AtomicUsize>,
}

pub(crate) struct Feed {
    pub(crate) client: Arc<Client>,
    pub(crate) view: Arc<View>,
    pub(crate) clock: Arc<Clock>,
    pub(crate) shared: Shared,
    pub(crate) notify: Box<dyn Fn() + Send>,
    pub(crate) loader: Loader,
    pub(crate) found: UnboundedSender<Found>,
    pub(crate) places: Vec<Place>,
    pub(crate) by_prefix: FxHashMap<String, usize>,
    by_name: FxHashMap<Arc<str>, usize>,
    /// All events up to this revision are applied.
    pub(crate) applied: u64,
    /// The revision that the view began with, and the events since then until all collections are followed.
    base: u64,
    history: Option<Vec<Event>>,
    /// States that were read before this revision lack events that were lost.
    pub(crate) gap: u64,
    pub(crate) writes: Writes,
    asks: Asks,
    leases: Arc<Leases>,
    values: Values,
    /// Outcomes that the view shows at a revision.
    later: BTreeMap<u64, Vec<Done>>,
    /// The revision that someone waits for.
    wanted: u64,
    asking: Option<Pin<Box<Sleep>>>,
    /// Whether there are outcomes or events of which the owner has not been notified.
    changed: bool,
    /// The questions since the last progress.
    in_vain: u32,
    pub(crate) watch: Option<Watch>,
    /// When the watch begins again.
    again: Option<Pin<Box<Sleep>>>,
}

async fn wait_for(timer: &mut Option<Pin<Box<Sleep>>>) {
    match timer {
        Some(timer) => timer.await,
        None => pending().await,
    }
}

async fn answer(watch: &mut Option<Watch>) -> Result<WatchResponse, Failure> {
    match watch {
        Some(watch) => {
            let ended = || Err(Failure::Lost("the watch ended".to_owned()));
            watch.answers.recv().await.unwrap_or_else(ended)
        }
        None => pending().await,
    }
}

impl Feed {
    pub(crate) fn new(
        client: Arc<Client>,
        view: Arc<View>,
        clock: Arc<Clock>,
        shared: Shared,
        notify: Box<dyn Fn() + Send>,
        found: UnboundedSender<Found>,
        base: u64,
    ) -> Self {
        let places = Arc::new(Semaphore::new(AT_ONCE));
        let loader = Loader { client: Arc::clone(&client), places, count: Arc::clone(&shared.read) };
        let leases = Arc::new(Leases::new(Arc::clone(&client), Arc::clone(&clock)));
        let values = shared.values.clone();
        Self {
            client,
            view,
            clock,
            shared,
            notify,
            loader,
            found,
            places: Vec::new(),
            by_prefix: FxHashMap::default(),
            by_name: FxHashMap::default(),
            applied: base,
            base,
            history: Some(Vec::new()),
            gap: 0,
            writes: Writes::default(),
            asks: Asks::default(),
            leases,
            values,
            later: BTreeMap::new(),
            wanted: 0,
            asking: None,
            changed: false,
            in_vain: 0,
            watch: None,
            again: None,
        }
    }

    /// Work until the log is closed.
    pub(crate) async fn run(mut self, mut commands: UnboundedReceiver<Command>, mut found: UnboundedReceiver<Found>) {
        self.watch = Some(Watch::begin(&self.client, self.applied.saturating_add(1)));
        loop {
            tokio::select! {
                command = commands.recv() => match command {
                    None | Some(Command::Close) => break,
                    Some(command) => self.command(command),
                },
                Some(found) = found.recv() => self.find(found),
                answer = answer(&mut self.watch) => self.take_watch(answer),
                () = wait_for(&mut self.asking) => self.ask_progress(),
                () = wait_for(&mut self.again) => {
                    self.again = None;
                    self.watch = Some(Watch::begin(&self.client, self.applied.saturating_add(1)));
                }
            }
            // All that is there already, so that its owner is woken once.
            while let Ok(found) = found.try_recv() {
                self.find(found);
            }
            while let Some(answer) = self.watch.as_mut().and_then(|watch| watch.answers.try_recv().ok()) {
                self.take_watch(answer);
            }
            if std::mem::take(&mut self.changed) {
                (self.notify)();
            }
        }
        let left = self.writes.give_up("the server is stopping");
        self.finish(left);
        (self.notify)();
    }

    fn command(&mut self, command: Command) {
        match command {
            Command::Follow(id, followed) => self.follow(id, followed),
            Command::Write(write) => self.write(write),
            Command::Ask(id) => {
                if self.asks.add(id) {
                    self.ask();
                }
            }
            Command::Started => self.history = None,
            Command::Close => {}
        }
    }

    fn find(&mut self, found: Found) {
        match found {
            Found::Answer(id, answer) => self.take_answer(id, answer),
            Found::Revision(revision) => self.take_revision(revision.ok()),
            Found::Loaded(at, Ok(_)) => self.finish_load(at),
            Found::Loaded(at, Err(_)) => self.load_again(at),
            Found::Read(at, revision, states) => self.read(at, revision, states),
            Found::Whole(states) => self.whole(states),
        }
    }

    /// Report outcomes.
    pub(crate) fn finish(&mut self, done: Vec<Done>) {
        self.shared.done.lock().extend(done);
        self.changed = true;
    }

    pub(crate) fn send(&self, work: impl Future<Output = Found> + Send + 'static) {
        let found = self.found.clone();
        tokio::spawn(async move {
            // After the end of the log there is no receiver.
            let _ = found.send(work.await);
        });
    }

    pub(crate) fn decoder(&self, place: &Place) -> Decoder {
        let (clock, broken) = (Arc::clone(&self.clock), Arc::clone(&self.shared.broken));
        Decoder { followed: place.followed.clone(), clock, broken, values: self.values.clone() }
    }

    /// Load a collection, then feed it.
    fn follow(&mut self, id: u64, followed: Followed) {
        if let Some(place) = self.by_name.get(&followed.name).and_then(|at| self.places.get_mut(*at)) {
            match place.state {
                State::Current => self.finish(vec![Done { id, outcome: Outcome::Loaded }]),
                State::Loading { .. } => place.waiting.push(id),
            }
            return;
        }
        let below = prefix(&*followed.kind);
        let whole: Arc<str> = format!("{}{below}", self.client.options().prefix).into();
        let (begin, end) = (whole.as_bytes(), end_of(&whole));
        let here = |event: &&Event| *event.kv.key >= *begin && *event.kv.key < *end;
        let (base, events) = match &self.history {
            Some(history) => (self.base, history.iter().filter(here).cloned().collect()),
            None => (self.applied, Vec::new()),
        };
        let at = self.places.len();
        self.by_prefix.insert(below, at);
        self.by_name.insert(Arc::clone(&followed.name), at);
        let state = State::Loading { base, events };
        let place = Place { followed, prefix: Arc::clone(&whole), state, waiting: vec![id] };
        let (loader, decoder) = (self.loader.clone(), self.decoder(&place));
        self.places.push(place);
        self.send(async move { Found::Loaded(at, loader.load(decoder, whole, base).await) });
    }

    /// Make the events that arrived during a load, and the collection is as far as the others.
    pub(crate) fn finish_load(&mut self, at: usize) {
        let Some(place) = self.places.get_mut(at) else { return };
        if matches!(place.state, State::Loading { base, .. } if base < self.gap) {
            self.load_again(at);
            return;
        }
        let State::Loading { base, events } = std::mem::replace(&mut place.state, State::Current) else { return };
        let waiting = std::mem::take(&mut place.waiting);
        let name = Arc::clone(&place.followed.name);
        for event in events.into_iter().filter(|event| event.revision() > base) {
            self.apply(event.revision(), at, &[&event]);
        }
        let mut done = self.writes.settle(&name, base);
        done.extend(waiting.into_iter().map(|id| Done { id, outcome: Outcome::Loaded }));
        self.finish(done);
    }

    fn take_watch(&mut self, answer: Result<WatchResponse, Failure>) {
        match answer {
            Ok(answer) if answer.created => {}
            Ok(answer) if answer.events.is_empty() => {
                // No event up to its revision will follow.
                let revision = answer.header.map_or(0, |header| header.revision as u64);
                self.reach(revision);
            }
            Ok(answer) => self.deliver(&answer.events),
            Err(Failure::Compacted) => {
                self.watch = None;
                self.resync();
            }
            Err(_) => {
                self.watch = None;
                self.again = Some(Box::pin(sleep(AGAIN)));
            }
        }
    }

    /// Apply events in the order of their revisions, those of one revision together.
    fn deliver(&mut self, events: &[Event]) {
        for group in events.chunk_by(|one, other| one.revision() == other.revision()) {
            let Some(revision) = group.first().map(Event::revision).filter(|revision| *revision > self.applied) else {
                continue;
            };
            let mut places: BTreeMap<usize, Vec<&Event>> = BTreeMap::new();
            for event in group {
                if let Some(at) = self.place_of(&event.kv.key) {
                    places.entry(at).or_default().push(event);
                }
            }
            if let Some(history) = &mut self.history {
                history.extend(group.iter().cloned());
            }
            for (at, events) in places {
                match self.places.get_mut(at).map(|place| &mut place.state) {
                    Some(State::Loading { events: waiting, .. }) => waiting.extend(events.into_iter().cloned()),
                    _ => self.apply(revision, at, &events),
                }
            }
            self.view.skip(revision);
            self.applied = revision;
        }
        self.reach(self.applied);
    }

    fn place_of(&self, key: &[u8]) -> Option<usize> {
        let key = std::str::from_utf8(key).ok()?;
        let below = key.strip_prefix(&*self.client.options().prefix)?;
        split(below).find_map(|(prefix, _)| self.by_prefix.get(prefix).copied())
    }

    /// Apply the events of a revision to a collection.
    fn apply(&mut self, revision: u64, at: usize, events: &[&Event]) {
        let Some(place) = self.places.get(at) else { return };
        let decoder = self.decoder(place);
        let mut keys = Vec::with_capacity(events.len());
        let mut changes = Vec::with_capacity(events.len());
        for event in events {
            let Some(key) = event.kv.key.get(place.prefix.len()..).and_then(|key| std::str::from_utf8(key).ok()) else {
                continue;
            };
            let own = if event.deletes() { None } else { self.writes.own(&event.kv.key, &event.kv.value) };
            let change = match own {
                Some(draft) => {
                    decoder.heal(key);
                    self.values.record_write(&place.followed.name, key, revision);
                    Change::Put(draft)
                }
                None => decoder.change(key, event),
            };
            keys.push(event.kv.key.clone());
            changes.push((Arc::from(key), change));
        }
        let made = place.followed.shard.apply_all(revision, changes);
        let done: Vec<Done> =
            keys.iter().zip(&made).filter_map(|(key, made)| self.writes.event(key, made.as_ref()?)).collect();
        if !done.is_empty() {
            self.shared.done.lock().extend(done);
        }
    }

    /// Record that all events up to a revision are applied.
    pub(crate) fn reach(&mut self, revision: u64) {
        if revision > self.applied {
            self.view.skip(revision);
            self.applied = revision;
        }
        self.in_vain = 0;
        while let Some(entry) = self.later.first_entry().filter(|entry| *entry.key() <= self.applied) {
            self.shared.done.lock().extend(entry.remove());
        }
        if self.wanted <= self.applied {
            self.asking = None;
        }
        self.changed = true;
    }

    /// Find out soon whether the view is at a revision, if events do not show it.
    fn want(&mut self, revision: u64) {
        self.wanted = self.wanted.max(revision);
        if self.wanted > self.applied && self.asking.is_none() {
            self.asking = Some(Box::pin(sleep(PROGRESS.0)));
        }
    }

    fn ask_progress(&mut self) {
        self.in_vain = self.in_vain.saturating_add(1);
        if self.in_vain > IN_VAIN && self.watch.is_some() {
            // The stream stands still though etcd answers: another one may not.
            self.in_vain = 0;
            self.watch = Some(Watch::begin(&self.client, self.applied.saturating_add(1)));
        } else if let Some(watch) = &self.watch {
            watch.ask();
        }
        self.asking = Some(Box::pin(sleep(PROGRESS.1)));
    }

    fn ask(&self) {
        let client = Arc::clone(&self.client);
        self.send(async move { Found::Revision(health::ask(&client, ASKING).await) });
    }

    fn take_revision(&mut self, revision: Option<u64>) {
        let Some(revision) = revision else {
            let client = Arc::clone(&self.client);
            self.send(async move {
                sleep(AGAIN).await;
                Found::Revision(health::ask(&client, ASKING).await)
            });
            return;
        };
        let (ids, more) = self.asks.take_answered();
        if more {
            self.ask();
        }
        self.want(revision);
        self.finish(ids.into_iter().map(|id| Done { id, outcome: Outcome::Revision(revision) }).collect());
    }

    /// Begin a write.
    fn write(&mut self, write: Write) {
        let id = write.id;
        let fail = |why: String| vec![Done { id, outcome: Outcome::Failed("refused", why) }];
        let Some(place) = self.by_name.get(&write.resource).and_then(|at| self.places.get(*at)) else {
            self.finish(fail(format!("{} is not followed", write.resource)));
            return;
        };
        let key = Bytes::from(format!("{}{}", place.prefix, write.key));
        let encode = |draft| self.values.write(&write.resource, &key, &*write.kind, draft);
        let value = match write.draft.as_ref().map(encode).transpose() {
            Ok(value) => value.map(Bytes::from),
            Err(why) => {
                self.finish(fail(why));
                return;
            }
        };
        let compare = Compare::new(key.clone(), Equals::Modified(write.precondition() as i64));
        let ttl = self.client.options().event_ttl;
        let leased = &*write.resource == EVENTS && value.is_some() && !ttl.is_zero();
        let (client, leases) = (Arc::clone(&self.client), Arc::clone(&self.leases));
        self.writes.begin(write, key.clone(), value.clone());
        self.send(async move {
            let work = async {
                let request = match value {
                    None => Request::Delete(DeleteRequest { key }),
                    Some(value) => {
                        let lease = if leased { leases.of(ttl).await? } else { 0 };
                        Request::Put(PutRequest { key, value, lease })
                    }
                };
                client.call("/etcdserverpb.KV/Txn", TxnRequest::when(compare, request), PATIENCE).await
            };
            Found::Answer(id, work.await)
        });
    }

    fn take_answer(&mut self, id: u64, answer: Result<TxnResponse, Failure>) {
        match self.writes.take_answer(id, answer) {
            Some(Answer::Done(outcome)) => self.finish(vec![Done { id, outcome }]),
            Some(Answer::Given(revision)) => self.want(revision),
            Some(Answer::Shown(revision, outcome)) if revision <= self.applied => {
                self.finish(vec![Done { id, outcome }]);
            }
            Some(Answer::Shown(revision, outcome)) => {
                self.later.entry(revision).or_default().push(Done { id, outcome });
                self.want(revision);
            }
            None => {}
        }
    }
}
