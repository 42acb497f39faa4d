//! The thread that writes: groups of waiting changes, each durable before it is shown.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use hydrofoil_store::{Change, Version, View};

use crate::error::{LogError, Result};
use crate::files::Files;
use crate::group::HEADER;
use crate::manifest::StateFile;
use crate::options::Sync;
use crate::queue::{Done, Queue, Refusal, Work, Write};
use crate::record;
use crate::seal::{Readable, Seal};
use crate::segment::SIZE;
use crate::state::{self, Content, Head};

/// The segments after which a state is written, however small they are: restarts make them.
const SEGMENTS: u64 = 32;
/// The time between two looks for files that are no longer needed, while nothing is written.
const TIDY: Duration = Duration::from_secs(1);

/// The stored form of an object, and the number of its kind.
type Form = (Vec<u8>, u64);

pub(crate) struct Writer<T> {
    pub(crate) queue: Arc<Queue<T>>,
    pub(crate) view: Arc<View>,
    pub(crate) seal: Arc<Seal>,
    pub(crate) files: Files,
    pub(crate) sync: Sync,
    pub(crate) notify: Box<dyn Fn() + Send>,
    /// When groups that are not durable must be.
    pub(crate) due: Option<Duration>,
    /// The state that is being written: what is known of it.
    pub(crate) writing: Option<StateFile>,
}

impl<T: Send + 'static> Writer<T> {
    pub(crate) fn run(mut self) {
        self.view.allow(self.files.reserved_revision());
        self.checkpoint_if_due();
        loop {
            let work = self.queue.take(self.patience());
            let closing = work.closing;
            if let Err(e) = self.work(work) {
                self.halt(&e);
            }
            if closing {
                break;
            }
        }
        if self.queue.halt_reason().is_none()
            && let Err(e) = self.close()
        {
            self.halt(&e);
        }
    }

    /// Return how long to wait for writes.
    fn patience(&self) -> Option<Duration> {
        let due = self.due.map(|due| due.saturating_sub(self.view.running()));
        let tidy = (self.queue.halt_reason().is_none() && self.is_untidy()).then_some(TIDY);
        due.into_iter().chain(tidy).min()
    }

    fn is_untidy(&self) -> bool {
        self.writing.is_none() && (self.is_long() || self.files.has_older(u64::MAX))
    }

    /// Report whether many events follow the last state.
    fn is_long(&self) -> bool {
        let (events, state) = self.files.sizes();
        events > SIZE.max(state / 2) || self.files.segments() > SEGMENTS
    }

    fn work(&mut self, work: Work<T>) -> Result<()> {
        if self.queue.halt_reason().is_some() {
            return Ok(());
        }
        let idle = work.writes.is_empty();
        if let Some(written) = work.state {
            self.finish_state(written)?;
        }
        if work.compact {
            self.view.compact();
            self.checkpoint_after_roll()?;
        }
        if !work.readable.is_empty() {
            self.reveal(work.readable);
        }
        if !idle {
            self.commit(work.writes)?;
        }
        if self.due.is_some_and(|due| due <= self.view.running()) {
            self.due = None;
            self.files.sync(self.view.running()).map_err(LogError::lasting)?;
        }
        if idle && !work.closing { self.tidy() } else { Ok(()) }
    }

    /// Write a group, and show its changes; only without space the log continues after a failure.
    fn commit(&mut self, writes: Vec<Write<T>>) -> Result<()> {
        let now = self.view.running();
        let mut body = vec![0; HEADER];
        let (writes, forms) = self.seal_writes(writes);
        if writes.is_empty() {
            return Ok(());
        }
        // Revisions below are reserved with more than enough for readers, which take some meanwhile.
        if let Err(e) = self.reserve(writes.len() as u64) {
            return self.refuse_writes(writes, e);
        }
        let before = self.view.assign(writes.len() as u64);
        let mut revision = before;
        for (write, form) in writes.iter().zip(&forms) {
            revision = revision.saturating_add(1);
            let (resource, key) = (&write.target.resource, &write.target.key);
            match form {
                Some((form, _)) => record::put(&mut body, resource, revision, key, form),
                None => record::delete(&mut body, resource, revision, key),
            }
        }
        if let Err(e) = self.write(body, now) {
            return self.refuse_writes(writes, e);
        }
        let first = before.saturating_add(1);
        for (at, (write, form)) in (first..).zip(writes.iter().zip(forms)) {
            if let Some((_, kind)) = form {
                self.seal.record_write(&write.target.resource, &write.target.key, kind, at);
            }
        }
        let done: Vec<_> = (first..).zip(writes).map(|(at, write)| show(&self.seal, at, write)).collect();
        self.queue.settle(done);
        (self.notify)();
        Ok(())
    }

    /// Return writes with the forms of their objects, and refuse those whose objects cannot be encrypted now.
    fn seal_writes(&self, writes: Vec<Write<T>>) -> (Vec<Write<T>>, Vec<Option<Form>>) {
        let (mut taken, mut forms) = (Vec::with_capacity(writes.len()), Vec::with_capacity(writes.len()));
        for write in writes {
            let form = match &write.change {
                Change::Put(draft) => self.seal.close(&write.target.resource, &write.target.key, draft).map(Some),
                Change::Delete => Ok(None),
            };
            match form {
                Ok(form) => {
                    forms.push(form);
                    taken.push(write);
                }
                Err(why) => self.refuse(vec![write], &Refusal::Unencrypted(why.to_string())),
            }
        }
        (taken, forms)
    }

    /// Show objects that could not be read, and were read meanwhile; their records stay as they are.
    fn reveal(&self, found: Vec<Readable>) {
        for Readable { collection, key, revision, draft, stale } in found {
            if self.seal.unread.revision(&collection, &key) == Some(revision) {
                self.view.shard(&collection).reveal(revision, &key, draft);
                self.seal.record_reveal(&collection, &key, stale);
            }
        }
        (self.notify)();
    }

    /// Refuse writes after an error, which is returned unless the log continues.
    fn refuse_writes(&self, writes: Vec<Write<T>>, error: LogError) -> Result<()> {
        if error.is_full() {
            self.refuse(writes, &Refusal::Full(error.to_string()));
            // Their revisions are not assigned again.
            self.view.skip(self.view.assigned_revision());
            return Ok(());
        }
        // They may be whole on the disk, and be found by the next start.
        self.refuse(writes, &Refusal::Lost(error.to_string()));
        Err(error)
    }

    /// Make sure that a number of revisions may be assigned.
    fn reserve(&mut self, count: u64) -> Result<()> {
        self.files.reserve(self.view.assigned_revision().saturating_add(count))?;
        self.view.allow(self.files.reserved_revision());
        Ok(())
    }

    fn write(&mut self, mut body: Vec<u8>, now: Duration) -> Result<()> {
        if !self.files.has_space(body.len()) {
            self.files.roll(body.len())?;
            self.checkpoint_if_due();
        }
        self.files.append(&mut body, now)?;
        self.harden(now)
    }

    fn harden(&mut self, now: Duration) -> Result<()> {
        match self.sync {
            // A sync that failed has lost what it was to write: trying again would succeed without it.
            Sync::Always => self.files.sync(now).map_err(LogError::lasting),
            Sync::Interval(time) => {
                self.due.get_or_insert(now.saturating_add(time));
                Ok(())
            }
            Sync::Never => Ok(()),
        }
    }

    fn refuse(&self, writes: Vec<Write<T>>, why: &Refusal) {
        let outcome =
            |write: Write<T>| (write.target, Done { id: write.id, ticket: write.ticket, outcome: Err(why.clone()) });
        self.queue.settle(writes.into_iter().map(outcome));
        (self.notify)();
    }

    fn halt(&mut self, error: &LogError) {
        let why = error.to_string();
        let waiting = self.queue.halt(&why);
        self.due = None;
        self.refuse(waiting, &Refusal::Halted(why));
    }

    /// Return the latest revision whose later events are all that is kept.
    fn begin(&self) -> u64 {
        self.view.history_begin().unwrap_or(u64::MAX)
    }

    /// Write a state in another thread, if many events follow the last one. A segment has just begun, and has no group.
    fn checkpoint_if_due(&mut self) {
        if self.writing.is_none() && self.is_long() {
            self.checkpoint();
        }
    }

    fn checkpoint_after_roll(&mut self) -> Result<()> {
        if self.writing.is_some() {
            return Ok(());
        }
        match self.files.roll(0) {
            Ok(()) => self.checkpoint(),
            Err(e) if e.is_full() => {}
            Err(e) => return Err(e),
        }
        Ok(())
    }

    fn checkpoint(&mut self) {
        let (objects, unread, seal) = (self.view.checkpoint(), self.seal.unread.all(), Arc::clone(&self.seal));
        let (path, segment) = self.files.state();
        let head = Head {
            revision: self.view.reached_revision(),
            reserved: self.files.reserved_revision(),
            running: self.view.running(),
            last: self.files.last(),
        };
        self.writing = Some(StateFile { segment, revision: head.revision, length: 0 });
        let queue = Arc::clone(&self.queue);
        thread::spawn(move || {
            let written = state::write(&path, Content { objects: &objects, unread: &unread, seal: &seal }, head);
            queue.ask(|work| work.state = Some(written));
        });
    }

    /// Count a state that was written in, and remove the files that it replaces. Without space it is tried again later.
    fn finish_state(&mut self, written: Result<u64>) -> Result<()> {
        let Some(file) = self.writing.take() else { return Ok(()) };
        match written.and_then(|length| self.files.keep(Some(StateFile { length, ..file }), self.begin())) {
            Err(e) if !e.is_full() => Err(e),
            _ => Ok(()),
        }
    }

    /// Remove files whose events are too old.
    fn tidy(&mut self) -> Result<()> {
        if self.writing.is_some() {
            return Ok(());
        }
        let begin = self.begin();
        if begin >= self.view.reached_revision() && self.is_long() {
            return self.checkpoint_after_roll();
        }
        match if self.files.has_older(begin) { self.files.keep(None, begin) } else { Ok(()) } {
            Err(e) if !e.is_full() => Err(e),
            _ => Ok(()),
        }
    }

    /// End with everything durable, and with no revision skipped by the next start.
    fn close(&mut self) -> Result<()> {
        while self.writing.is_some() {
            if let Some(written) = self.queue.take(None).state {
                self.finish_state(written)?;
            }
        }
        self.files.sync(self.view.running())?;
        // Readers take no further revisions.
        self.view.allow(0);
        self.files.release(self.view.assigned_revision())
    }
}

/// Apply a change to the view; return its outcome. An object that could not be read is in no view.
fn show<T>(seal: &Seal, revision: u64, write: Write<T>) -> (crate::queue::Target, Done<T>) {
    let Write { id, ticket, target, change } = write;
    let hidden = seal.unread.remove(&target.resource, &target.key);
    let made = target.shard.apply(revision, &target.key, change);
    let made = made.or_else(|| hidden.then(|| Arc::new(Version::unread(&target.key, revision))));
    let outcome = made.ok_or_else(|| Refusal::Lost("the view has a later state".to_owned()));
    (target, Done { id, ticket, outcome })
}
