//! The owner's end: conditional writes of workers.

use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::sync::{Arc, OnceLock};
use std::thread;

use hydrofoil_shared::Region;
use hydrofoil_store::{Attachment, Local, StoreError, Version, View};
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

use crate::frame::{self, Outcome, Reason, Request};
use crate::outbox::Outbox;

/// The bytes that are read from a worker at once.
const CHUNK: usize = 256 << 10;

/// A request that another log than the local one decides.
#[derive(Debug)]
pub struct Asked {
    /// The worker.
    pub slot: usize,
    /// The request.
    pub request: Request,
}

/// The owner of a published view.
#[derive(Debug)]
pub struct Owner {
    region: Arc<Region>,
    view: Arc<View>,
    /// The log that commits on the threads of workers; `None` if somebody takes the requests.
    local: OnceLock<Local>,
    /// Locked for a look-up alone: what is sent through one worker's outbox never holds up another's.
    outboxes: Mutex<FxHashMap<usize, Arc<Outbox>>>,
    /// What the threads of workers add and the loop takes, in the order in which it came.
    asked: Mutex<Vec<Asked>>,
}

impl Owner {
    /// Publish a view without objects, whose log is opened later.
    pub fn new(region: &Arc<Region>, view: &Arc<View>) -> Arc<Self> {
        view.publish(region);
        Arc::new(Self {
            region: Arc::clone(region),
            view: Arc::clone(view),
            local: OnceLock::new(),
            outboxes: Mutex::default(),
            asked: Mutex::default(),
        })
    }

    /// Commit to a local log from now on; no worker is attached yet.
    pub fn commit_to(&self, local: Local) {
        let first = self.local.set(local).is_ok();
        debug_assert!(first, "a view has one log");
    }

    /// Serve the worker of a slot over two sockets: one for its requests, one for their outcomes. Return what it begins
    /// with. `notify` is called by the thread of the worker after commits, and when there are requests to take.
    pub fn attach(
        self: &Arc<Self>,
        slot: usize,
        requests: UnixStream,
        outcomes: UnixStream,
        notify: impl Fn() + Send + 'static,
    ) -> io::Result<Attachment> {
        requests.set_nonblocking(false)?;
        outcomes.set_nonblocking(true)?;
        let outbox = Outbox::new(outcomes);
        self.outboxes.lock().insert(slot, Arc::clone(&outbox));
        let start = self.view.attach(slot);
        let owner = Arc::clone(self);
        let work = move || owner.serve(slot, &requests, &outbox, &notify);
        thread::Builder::new().name(format!("worker {slot}")).spawn(work)?;
        Ok(start)
    }

    /// Forget the worker of a slot, whose process has ended.
    pub fn detach(&self, slot: usize) {
        self.outboxes.lock().remove(&slot);
        self.view.detach(slot);
    }

    /// Report whether there are requests to take.
    pub fn has_requests(&self) -> bool {
        !self.asked.lock().is_empty()
    }

    /// Take the requests that another log decides.
    pub fn requests(&self) -> Vec<Asked> {
        std::mem::take(&mut self.asked.lock())
    }

    /// Tell a worker the outcome of a request. It is nothing to a worker that has ended.
    pub fn answer(&self, slot: usize, ticket: u64, outcome: &Outcome) {
        let outbox = self.outboxes.lock().get(&slot).cloned();
        if let Some(outbox) = outbox {
            let mut out = Vec::new();
            frame::write_outcome(&mut out, ticket, outcome);
            outbox.send(&out);
        }
    }

    /// Return the region.
    pub fn region(&self) -> &Arc<Region> {
        &self.region
    }

    fn serve(&self, slot: usize, socket: &UnixStream, outbox: &Arc<Outbox>, notify: &impl Fn()) {
        let (mut buffer, mut filled) = (vec![0; CHUNK], 0_usize);
        let mut answers = Vec::new();
        loop {
            if buffer.len() == filled {
                buffer.resize(filled.saturating_mul(2), 0);
            }
            let Some(room) = buffer.get_mut(filled..) else { return };
            match read(socket, room) {
                Ok(0) | Err(_) => return,
                Ok(count) => filled = filled.saturating_add(count),
            }
            let mut at = 0;
            while let Some(body) = buffer.get(..filled).and_then(|buffer| frame::next(buffer, &mut at)) {
                // A worker that says what nobody can read is not one of this program.
                let Some(request) = frame::read_request(body) else { return };
                match self.local.get() {
                    Some(local) => {
                        let ticket = request.ticket;
                        frame::write_outcome(&mut answers, ticket, &self.commit(local, request));
                    }
                    None => self.asked.lock().push(Asked { slot, request }),
                }
            }
            buffer.copy_within(at..filled, 0);
            filled = filled.saturating_sub(at);
            if filled == 0 && buffer.len() > CHUNK {
                buffer = vec![0; CHUNK];
            }
            if !answers.is_empty() {
                outbox.send(&answers);
                answers.clear();
            }
            notify();
        }
    }

    fn commit(&self, local: &Local, request: Request) -> Outcome {
        let Request { resource, key, expected, draft, .. } = request;
        let shard = self.view.shard(&resource);
        let made: Result<Arc<Version>, StoreError> = match draft {
            None => local.delete(&shard, &key, expected),
            Some(draft) if expected == 0 => local.create(&shard, &key, draft),
            Some(draft) => local.update(&shard, &key, expected, draft),
        };
        made.map(|version| version.revision()).map_err(|why| {
            let reason = match why {
                StoreError::Exists => Reason::Exists,
                StoreError::NotFound => Reason::Missing,
                StoreError::Conflict { .. } => Reason::Conflict,
                StoreError::Expired { .. } | StoreError::Future { .. } => Reason::Refused,
            };
            (reason, String::new())
        })
    }
}

/// Read some bytes from a socket, once there are any.
fn read(mut socket: &UnixStream, room: &mut [u8]) -> io::Result<usize> {
    loop {
        match socket.read(room) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}
