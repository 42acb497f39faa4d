//! The log of all objects of a server, in etcd.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use hydrofoil_store::View;
use hydrofoil_types::Clock;
use parking_lot::Mutex;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::sleep;

use bytes::Bytes;

use crate::client::{Client, Failure};
use crate::feed::{AGAIN, Command, Feed, Shared};
use crate::messages::RangeRequest;
use crate::options::Options;
use crate::place::{Fault, Followed};
use crate::values::Values;
use crate::writes::{Done, Write};
use crate::{compact, health, watch};

/// The threads that decode pages.
const DECODERS: usize = 2;
/// How often etcd is asked before a start fails, and the time for each answer.
const OPENING: (usize, Duration) = (40, Duration::from_secs(5));
/// The number of revisions before the present one whose events a start reads, so that watches resume there.
const HISTORY: u64 = 10_000;

/// Why etcd cannot be used: one line.
#[derive(Debug)]
pub struct OpenError(String);

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for OpenError {}

/// The log of a view in etcd.
#[derive(Debug)]
pub struct Log {
    commands: UnboundedSender<Command>,
    shared: Shared,
    /// Taken by whoever closes the log first.
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Log {
    /// Connect, and feed a view without shards from now on. `notify` is called by another thread whenever there are
    /// outcomes or events.
    pub fn open(
        view: &Arc<View>,
        clock: &Arc<Clock>,
        options: Options,
        notify: Box<dyn Fn() + Send>,
    ) -> Result<Self, OpenError> {
        let (commands, given) = unbounded_channel();
        let (opened, wait) = mpsc::channel();
        let values = Values::new(options.transformers.clone());
        let shared = Shared { values, ..Shared::default() };
        let own = shared.clone();
        let (view, clock) = (Arc::clone(view), Arc::clone(clock));
        let work = move || match runtime() {
            Err(why) => drop(opened.send(Err(OpenError(why.to_string())))),
            Ok(runtime) => {
                runtime.block_on(run(options, (view, clock), own, notify, given, opened));
                // Pages that are still being decoded are not needed.
                runtime.shutdown_background();
            }
        };
        let thread =
            thread::Builder::new().name("etcd".to_owned()).spawn(work).map_err(|e| OpenError(e.to_string()))?;
        match wait.recv() {
            Ok(Ok(())) => Ok(Self { commands, shared, thread: Mutex::new(Some(thread)) }),
            Ok(Err(why)) => Err(why),
            Err(_) => Err(OpenError("the thread of etcd ended".to_owned())),
        }
    }

    /// Load a collection, then feed it.
    pub fn follow(&self, id: u64, followed: Followed) {
        self.send(Command::Follow(id, followed));
    }

    /// Begin a write.
    pub fn write(&self, write: Write) {
        self.send(Command::Write(write));
    }

    /// Ask for the latest revision.
    pub fn ask(&self, id: u64) {
        self.send(Command::Ask(id));
    }

    /// Record that all collections of the start are followed.
    pub fn finish_start(&self) {
        self.send(Command::Started);
    }

    /// Take the outcomes since the last call.
    pub fn outcomes(&self) -> Vec<Done> {
        std::mem::take(&mut self.shared.done.lock())
    }

    /// Return the number of objects that were read to load collections.
    pub fn read(&self) -> usize {
        self.shared.read.load(Ordering::Relaxed)
    }

    /// Return why etcd does not answer; empty if it does.
    pub fn problem(&self) -> String {
        self.shared.problem.lock().clone()
    }

    /// Return why the value of an object cannot be read, if it cannot.
    pub fn fault(&self, resource: &str, key: &str) -> Option<Fault> {
        let broken = self.shared.broken.lock();
        if broken.is_empty() { None } else { broken.get(&(Arc::from(resource), key.to_owned())).cloned() }
    }

    /// Return the values of a collection that cannot be read, in the order of their keys.
    pub fn faults(&self, resource: &str) -> Vec<Fault> {
        let broken = self.shared.broken.lock();
        let mut found: Vec<Fault> =
            broken.iter().filter(|((name, _), _)| &**name == resource).map(|(_, fault)| fault.clone()).collect();
        found.sort_by(|one, other| one.place.cmp(&other.place));
        found
    }

    /// Report whether an object would be stored in another form now than it was at a revision.
    pub fn is_stale(&self, resource: &str, key: &str, revision: u64) -> bool {
        self.shared.values.is_stale(resource, key, revision)
    }

    /// End.
    pub fn close(&self) {
        self.send(Command::Close);
        if let Some(thread) = self.thread.lock().take() {
            // A panic of the thread has been reported by it.
            drop(thread.join());
        }
    }

    fn send(&self, command: Command) {
        // After the end of the thread there is no receiver.
        let _ = self.commands.send(command);
    }
}

fn runtime() -> std::io::Result<Runtime> {
    Builder::new_current_thread().enable_io().enable_time().max_blocking_threads(DECODERS).thread_name("etcd").build()
}

async fn run(
    options: Options,
    (view, clock): (Arc<View>, Arc<Clock>),
    shared: Shared,
    notify: Box<dyn Fn() + Send>,
    commands: UnboundedReceiver<Command>,
    opened: mpsc::Sender<Result<(), OpenError>>,
) {
    let interval = options.compaction;
    let client = Client::new(options);
    let base = match begin(&client).await {
        Ok(base) => base,
        Err(why) => {
            let servers = client.options().servers.join(",");
            let why = why.text();
            let text = if why.starts_with("http") { why.to_owned() } else { format!("{servers}: {why}") };
            // The caller waits for it.
            let _ = opened.send(Err(OpenError(format!("cannot use etcd: {text}"))));
            return;
        }
    };
    view.log_from(base, Duration::ZERO);
    let (send, found) = unbounded_channel();
    tokio::spawn(health::run(Arc::clone(&client), Arc::clone(&shared.problem)));
    if !interval.is_zero() {
        tokio::spawn(compact::run(Arc::clone(&client), interval));
    }
    let feed = Feed::new(client, view, clock, shared, notify, send, base);
    let _ = opened.send(Ok(()));
    feed.run(commands, found).await;
}

/// Return the revision to begin with: the oldest within reach, so that watches from before the start resume.
async fn begin(client: &Client) -> Result<u64, Failure> {
    let mut tries = 0;
    let present = loop {
        match health::ask(client, OPENING.1).await {
            Ok(present) => break present,
            Err(Failure::Refused(why)) => return Err(Failure::Refused(why)),
            Err(why) if tries == OPENING.0 => return Err(why),
            Err(_) => sleep(AGAIN).await,
        }
        tries = tries.saturating_add(1);
    };
    let oldest = present.saturating_sub(HISTORY).max(1);
    let key = Bytes::from_static(b"health");
    let probe = RangeRequest { key, revision: oldest as i64, count_only: true, ..RangeRequest::default() };
    match client.range(probe, OPENING.1).await {
        Err(Failure::Compacted) => watch::compact_revision(client).await,
        Err(why) => Err(why),
        Ok(_) => Ok(oldest),
    }
}
