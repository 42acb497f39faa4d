//! A worker's end: writes, their outcomes, and what the owner publishes.

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use hydrofoil_shared::Region;
use hydrofoil_store::{Attachment, Draft, Mirror, View};
use parking_lot::Mutex;

use crate::frame::{self, Outcome};

/// The records that are applied before another thread may have the lock.
const TURN: usize = 256;
/// The time between two looks of the feed's thread: watchers get events within it, and a thousand writes a second wake
/// each worker a thousand times at most.
const PAUSE: Duration = Duration::from_millis(1);
/// The longest sleep of the feed's thread, which looks whether it shall end.
const SLEEP: Duration = Duration::from_millis(500);

/// The end of a write: the worker's number of it, and the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// The number.
    pub ticket: u64,
    /// The result.
    pub outcome: Outcome,
}

/// One worker.
#[derive(Debug)]
pub struct Worker {
    mirror: Mirror,
    requests: UnixStream,
    outcomes: UnixStream,
    /// Frames that were not sent yet.
    out: Mutex<Vec<u8>>,
    /// Bytes of which no whole frame is there yet.
    input: Mutex<Vec<u8>>,
    /// Set before the wake of the feed's thread, which looks at it whenever it wakes.
    ends: AtomicBool,
    /// Whether the owner's feed has passed this worker by: it must begin anew.
    lapped: AtomicBool,
    /// The revision that a reader waits for, at least.
    awaited: AtomicU64,
    /// Taken by whoever closes the worker first.
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Worker {
    /// Load what a worker begins with into a view without shards, and keep it up to date from now on. `notify` is
    /// called by another thread when there are events for watchers, when a revision is reached that was waited for, and
    /// at the end of the feed.
    pub fn begin(
        region: &Arc<Region>,
        view: &Arc<View>,
        start: &Attachment,
        requests: UnixStream,
        outcomes: UnixStream,
        notify: impl Fn() + Send + 'static,
    ) -> io::Result<Arc<Self>> {
        requests.set_nonblocking(true)?;
        outcomes.set_nonblocking(true)?;
        let worker = Arc::new(Self {
            mirror: Mirror::load(region, view, start),
            requests,
            outcomes,
            out: Mutex::default(),
            input: Mutex::default(),
            ends: AtomicBool::new(false),
            lapped: AtomicBool::new(false),
            awaited: AtomicU64::new(u64::MAX),
            thread: Mutex::default(),
        });
        worker.catch_up(usize::MAX);
        let own = Arc::clone(&worker);
        let thread = thread::Builder::new().name("feed".to_owned()).spawn(move || own.follow(&notify))?;
        *worker.thread.lock() = Some(thread);
        Ok(worker)
    }

    /// Return the socket that must be writable before the rest of the writes can be sent.
    pub fn requests_socket(&self) -> &UnixStream {
        &self.requests
    }

    /// Return the socket that becomes readable when there are outcomes.
    pub fn outcomes_socket(&self) -> &UnixStream {
        &self.outcomes
    }

    /// Return the region.
    pub fn region(&self) -> &Arc<Region> {
        self.mirror.region()
    }

    /// Report whether the feed has passed this worker by.
    pub fn is_lapped(&self) -> bool {
        self.lapped.load(Ordering::Acquire)
    }

    /// Apply what is published, some records at most. Return whether the view has all that was published before.
    pub fn catch_up(&self, most: usize) -> bool {
        if self.mirror.is_current() {
            return true;
        }
        let mut left = most;
        while left > 0 {
            match self.mirror.apply(left.min(TURN)) {
                Ok(0) => return true,
                Ok(count) => left = left.saturating_sub(count),
                Err(_) => {
                    self.lapped.store(true, Ordering::Release);
                    return false;
                }
            }
            if self.mirror.is_current() {
                return true;
            }
        }
        false
    }

    /// Call `notify` when the view is at a revision, which it is not yet.
    pub fn await_revision(&self, revision: u64) {
        self.awaited.fetch_min(revision, Ordering::AcqRel);
    }

    /// Add a write to those that are sent next.
    pub fn submit(&self, ticket: u64, resource: &str, key: &str, expected: u64, draft: Option<&Draft>) {
        frame::write_request(&mut self.out.lock(), ticket, (resource, key), expected, draft);
    }

    /// Send the writes that were added. Return whether all are sent: else the socket must be writable first.
    pub fn send(&self) -> io::Result<bool> {
        let mut out = self.out.lock();
        let mut sent = 0;
        let done = loop {
            let Some(left) = out.get(sent..).filter(|left| !left.is_empty()) else { break Ok(true) };
            match (&self.requests).write(left) {
                Ok(count) => sent = sent.saturating_add(count),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => break Ok(false),
                Err(e) => break Err(e),
            }
        };
        out.drain(..sent);
        done
    }

    /// Take the outcomes that have come; the view has what they did. An error is the end of the owner.
    pub fn outcomes(&self) -> io::Result<Vec<Done>> {
        let mut input = self.input.lock();
        let mut chunk = [0; 1 << 14];
        loop {
            match (&self.outcomes).read(&mut chunk) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => {
                    input.extend_from_slice(chunk.get(..count).unwrap_or_default());
                    // What comes after this look makes the socket readable again.
                    if count < chunk.len() {
                        break;
                    }
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(e) => return Err(e),
            }
        }
        let (mut at, mut done) = (0, Vec::new());
        while let Some(body) = frame::next(&input, &mut at) {
            let (ticket, outcome) = frame::read_outcome(body).ok_or(ErrorKind::InvalidData)?;
            done.push(Done { ticket, outcome });
        }
        input.drain(..at);
        // The owner publishes a write before it tells of it.
        self.catch_up(usize::MAX);
        Ok(done)
    }

    /// End the feed.
    pub fn close(&self) {
        self.ends.store(true, Ordering::Release);
        self.region().wake();
        if let Some(thread) = self.thread.lock().take() {
            // A panic of the thread has been reported by it.
            drop(thread.join());
        }
    }

    fn follow(&self, notify: &impl Fn()) {
        let ends = || self.ends.load(Ordering::Acquire);
        while !ends() {
            self.region().sleep(SLEEP, || ends() || self.mirror.has_records());
            loop {
                match self.mirror.apply(TURN) {
                    Ok(TURN) => {}
                    Ok(_) => break,
                    Err(_) => {
                        self.lapped.store(true, Ordering::Release);
                        notify();
                        return;
                    }
                }
            }
            let view = self.mirror.view();
            let reached = view.reached_revision() >= self.awaited.load(Ordering::Acquire);
            if reached {
                self.awaited.store(u64::MAX, Ordering::Release);
            }
            if reached || view.has_woken() {
                notify();
            }
            thread::sleep(PAUSE);
        }
    }
}
