//! The log of all objects of a server, in a folder.

use std::path::Path;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use hydrofoil_store::{Change, Checkpoint, StoreError, View};
use parking_lot::Mutex;

use crate::disk::{Disk, Faults};
use crate::error::Result;
use crate::files::Files;
use crate::folder::{self, Folder};
use crate::load;
use crate::manifest;
use crate::options::Options;
use crate::queue::{Done, Queue, Submitted, Target};
use crate::seal::{Fault, Seal};
use crate::state::{self, Content, Head};
use crate::writer::Writer;

/// The log of a view on a disk. `T` is a property of a write that its outcome is returned with.
#[derive(Debug)]
pub struct Log<T> {
    queue: Arc<Queue<T>>,
    disk: Arc<Disk>,
    view: Arc<View>,
    seal: Arc<Seal>,
    /// Taken by whoever closes the log first: a second close returns at once.
    thread: Mutex<Option<JoinHandle<()>>>,
    /// Released at the end of the log.
    folder: Mutex<Option<Folder>>,
}

impl<T: Send + 'static> Log<T> {
    /// Load the state of a folder into a view without shards, and write to it from now on. `notify` is called by
    /// another thread whenever there are outcomes.
    pub fn open(path: &Path, view: &Arc<View>, options: Options, notify: Box<dyn Fn() + Send>) -> Result<Self> {
        let disk = Arc::new(Disk::default());
        let folder = folder::open(&disk, path)?;
        let seal = Arc::new(Seal::new(options.transformers));
        let files = if folder.is_new {
            view.log_from(options.first, std::time::Duration::ZERO);
            begin(&disk, path, &seal, &Checkpoint::default(), options.first)?
        } else {
            let loaded = load::load(path, view, &seal)?;
            // Whatever the end of the last process lost, no revision is assigned again.
            let reserved = loaded.manifest.reserved;
            let files = Files::resume(&disk, path, loaded)?;
            view.skip(reserved);
            files
        };
        let queue = Arc::new(Queue::new(Arc::clone(&seal)));
        let writer = Writer {
            queue: Arc::clone(&queue),
            view: Arc::clone(view),
            seal: Arc::clone(&seal),
            files,
            sync: options.sync,
            notify,
            due: None,
            writing: None,
        };
        let thread = Mutex::new(Some(thread::spawn(move || writer.run())));
        Ok(Self { queue, disk, view: Arc::clone(view), seal, thread, folder: Mutex::new(Some(folder)) })
    }

    /// Judge a write by the view and by the writes under way, and begin it: `expected` is the revision of the object,
    /// or 0 if it must not exist; `change` is called if it is begun. It is written after [`Log::write`] at the latest,
    /// together with others that were submitted before.
    pub fn submit<E: From<StoreError>>(
        &self,
        target: Target,
        expected: u64,
        ticket: T,
        change: impl FnOnce() -> std::result::Result<Change, E>,
    ) -> std::result::Result<Submitted, E> {
        self.queue.submit(target, expected, ticket, change)
    }

    /// Begin the deletion of an object of a revision that cannot be read; its last state has no content.
    pub fn discard(&self, target: Target, revision: u64, ticket: T) -> std::result::Result<Submitted, StoreError> {
        self.queue.discard(target, revision, ticket)
    }

    /// Write everything that was submitted.
    pub fn write(&self) {
        self.queue.wake();
    }

    /// Take the outcomes since the last call, in the order of their revisions.
    pub fn outcomes(&self) -> Vec<Done<T>> {
        self.queue.outcomes()
    }

    /// Return the latest revision.
    pub fn revision(&self) -> u64 {
        self.view.reached_revision()
    }

    /// Return why nothing is written any more; `None` if writes go on.
    pub fn problem(&self) -> Option<String> {
        self.queue.halt_reason()
    }

    /// End the history now, in the view and on the disk.
    pub fn compact(&self) {
        self.queue.ask(|work| work.compact = true);
    }

    /// Return the objects of a collection that cannot be read, in the order of their keys.
    pub fn faults(&self, collection: &str) -> Vec<Fault> {
        self.seal.unread.of(collection).into_iter().map(|(key, kept)| Fault::new(collection, &key, &kept)).collect()
    }

    /// Return why an object cannot be read; `None` if it can, or does not exist.
    pub fn fault(&self, collection: &str, key: &str) -> Option<Fault> {
        self.seal.unread.get(collection, key).map(|kept| Fault::new(collection, key, &kept))
    }

    /// Return the number of objects that cannot be read.
    pub fn unread(&self) -> usize {
        self.seal.unread.len()
    }

    /// Report whether an object of a revision is stored in another form than it would be written in now.
    pub fn is_stale(&self, collection: &str, key: &str, revision: u64) -> bool {
        self.seal.is_stale(collection, key, revision)
    }

    /// Read objects again that could not be read: the configuration has changed, or a plug-in answers. Those that can
    /// be read become events soon, at their revisions; the history of their collections begins anew. It may wait for
    /// plug-ins.
    pub fn read_again(&self) {
        let found = self.seal.readable();
        if !found.is_empty() {
            self.queue.ask(|work| work.readable.extend(found));
        }
    }

    /// Fail from now on as a test wants it.
    pub fn fail(&self, faults: Faults) {
        self.disk.fail(faults);
    }

    /// Write what waits, and end.
    pub fn close(&self) {
        self.queue.ask(|work| work.closing = true);
        if let Some(thread) = self.thread.lock().take() {
            // A panic of the thread has been reported by it.
            drop(thread.join());
        }
        drop(self.folder.lock().take());
    }
}

/// Write the first state of a folder, above which revisions begin.
pub(crate) fn begin(disk: &Arc<Disk>, path: &Path, seal: &Seal, objects: &Checkpoint, revision: u64) -> Result<Files> {
    let head = Head { revision, reserved: revision, running: std::time::Duration::ZERO, last: 0 };
    let length = state::write(&manifest::state(path, 1), Content { objects, unread: &seal.unread.all(), seal }, head)?;
    Files::open_existing(disk, path, 1, head, length)
}
