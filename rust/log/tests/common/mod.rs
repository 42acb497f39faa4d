//! A log in a folder of its own, written to by one caller.

#![allow(dead_code, reason = "each test uses some of it")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use hydrofoil_log::{Done, Encryption, Log, LogError, Options, Refusal, Submitted, Sync, Target};
use hydrofoil_store::{Change, Draft, Limits, StoreError, View};
use hydrofoil_types::Fingerprint;

/// The revision after which those of a new folder begin.
pub const FIRST: u64 = 1000;

static FOLDERS: AtomicU64 = AtomicU64::new(0);

/// A folder that is removed at the end.
pub struct Temporary(pub PathBuf);

impl Temporary {
    pub fn new() -> Self {
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("hydrofoil-log-{}-{number}", std::process::id()));
        Self(path)
    }

    /// Return a copy of the folder, as a crash leaves it.
    pub fn copy(&self) -> Self {
        let copy = Self::new();
        fs::create_dir(&copy.0).expect("a folder");
        for entry in fs::read_dir(&self.0).expect("a folder") {
            let entry = entry.expect("a file");
            fs::copy(entry.path(), copy.0.join(entry.file_name())).expect("a copy");
        }
        copy
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// Keys, revisions and JSON of objects.
pub type Objects = Vec<(String, u64, String)>;

/// A log, and the signals of its outcomes.
pub struct Opened {
    pub log: Log<()>,
    pub view: Arc<View>,
    signals: Receiver<()>,
}

/// Return a draft with a text.
pub fn draft(text: &str) -> Draft {
    let head = r#"{"metadata":{"resourceVersion":""#;
    let json = format!(r#"{head}"}},"data":"{text}"}}"#).into_bytes();
    let (labels, fields) = (Box::default(), Box::default());
    Draft { json, given: None, rv_at: head.len(), head: 0, labels, fields, fingerprint: Fingerprint::BUILTIN }
}

pub fn open(path: &Path) -> Result<Opened, LogError> {
    open_with(path, Sync::Always, Limits::default())
}

pub fn open_with(path: &Path, sync: Sync, limits: Limits) -> Result<Opened, LogError> {
    open_encrypted(path, sync, limits, None)
}

pub fn open_encrypted(path: &Path, sync: Sync, limits: Limits, transformers: Encryption) -> Result<Opened, LogError> {
    let view = Arc::new(View::new(limits, None, Arc::default()));
    let (sender, signals) = channel();
    let notify = Box::new(move || sender.send(()).unwrap_or_default());
    let log = Log::open(path, &view, Options { sync, first: FIRST, transformers }, notify)?;
    Ok(Opened { log, view, signals })
}

impl Opened {
    pub fn begin(&self, key: &str, expected: u64, change: Change) -> Result<Submitted, StoreError> {
        let target = Target { resource: "/maps".into(), shard: self.view.shard("/maps"), key: key.into() };
        let begun = self.log.submit(target, expected, (), || Ok(change));
        self.log.write();
        begun
    }

    /// Return the outcomes of a number of writes.
    pub fn outcomes(&self, count: usize) -> Vec<Done<()>> {
        let mut found = Vec::new();
        while found.len() < count {
            self.signals.recv_timeout(Duration::from_secs(20)).expect("an outcome");
            found.extend(self.log.outcomes());
        }
        found
    }

    /// Wait for the signal of other work than writes.
    pub fn signalled(&self) {
        self.signals.recv_timeout(Duration::from_secs(20)).expect("a signal");
    }

    fn commit(&self, key: &str, expected: u64, change: Change) -> Result<u64, Refusal> {
        let submitted = self.begin(key, expected, change).expect("the view allows it");
        let number = match submitted {
            Submitted::Begun(number) => number,
            Submitted::Refused(refusal) => return Err(refusal),
            Submitted::After(_) => panic!("nothing is under way"),
        };
        let done = self.outcomes(1).pop().expect("an outcome");
        assert_eq!(done.id, number);
        done.outcome.map(|version| version.revision())
    }

    /// Put an object in place of the present one, if any.
    pub fn put(&self, key: &str, text: &str) -> Result<u64, Refusal> {
        self.commit(key, self.at(key), Change::Put(draft(text)))
    }

    pub fn delete(&self, key: &str) -> Result<u64, Refusal> {
        self.commit(key, self.at(key), Change::Delete)
    }

    pub fn at(&self, key: &str) -> u64 {
        self.view.shard("/maps").get(key).map_or(0, |version| version.revision())
    }

    pub fn objects(&self) -> Objects {
        let mut found = Vec::new();
        for (_, tree) in self.view.checkpoint().resources() {
            tree.each(|version| {
                let json = String::from_utf8(version.json().to_vec()).expect("a text");
                found.push((version.key().to_string(), version.revision(), json));
            });
        }
        found
    }
}

/// Return the files of a folder, with their content.
pub fn files(path: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found: Vec<_> = fs::read_dir(path)
        .expect("a folder")
        .map(|entry| {
            let entry = entry.expect("a file");
            (entry.file_name().to_string_lossy().into_owned(), fs::read(entry.path()).expect("a file"))
        })
        .collect();
    found.sort();
    found
}

/// Return the path of the segment that was written to last.
pub fn active(path: &Path) -> PathBuf {
    let names = files(path).into_iter().map(|(name, _)| name).filter(|name| name.starts_with("log-"));
    path.join(names.max().expect("a segment"))
}
