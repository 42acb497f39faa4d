//! States in files: checkpoints of a log, and backups.
//!
//! A file has a group with the properties of the state, groups of objects, and a group with the number of objects, so
//! that a part of a file is no state.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, BufWriter, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use hydrofoil_store::Checkpoint;

use crate::disk;
use crate::error::{LogError, Result};
use crate::group::{self, Group, HEADER, Kind, Mark};
use crate::record;
use crate::seal::{Seal, unreadable};
use crate::unread::All;
use crate::wire::{Reader, number};

const MAGIC: &[u8; 16] = b"hydrofoil state\n";
/// The size from which objects get another group.
const PIECE: usize = 256 << 10;

/// The properties of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) revision: u64,
    /// No revision above this one was assigned before.
    pub(crate) reserved: u64,
    /// How long the state had been served for.
    pub(crate) running: Duration,
    /// The number of the last group of the log before it.
    pub(crate) last: u64,
}

/// A state, in the forms of its objects.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Content<'a> {
    pub(crate) objects: &'a Checkpoint,
    /// Objects that cannot be read.
    pub(crate) unread: &'a All,
    pub(crate) seal: &'a Seal,
}

/// Write a state to a file that appears when it is complete; return its length.
pub(crate) fn write(path: &Path, state: Content<'_>, head: Head) -> Result<u64> {
    let beside = path.with_extension("new");
    let written = write_to(&beside, state, head).and_then(|length| {
        fs::rename(&beside, path).map_err(|e| LogError::io(path, &e))?;
        disk::Disk::sync_folder(path)?;
        Ok(length)
    });
    if written.is_err() {
        drop(fs::remove_file(&beside));
    }
    written
}

fn write_to(path: &Path, state: Content<'_>, head: Head) -> Result<u64> {
    let made = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path);
    let file = made.map_err(|e| LogError::io(path, &e))?;
    let mut out = Output {
        path,
        file: BufWriter::with_capacity(1 << 20, file),
        length: 0,
        groups: 0,
        at: head.running,
        piece: vec![0; HEADER],
    };
    out.bytes(MAGIC)?;
    let mut body = vec![0; HEADER];
    for value in [head.revision, head.reserved, head.last] {
        number(&mut body, value);
    }
    out.group(Kind::Head, body)?;
    let mut count = 0_u64;
    for (name, tree) in state.objects.resources() {
        let mut done = Ok(());
        tree.each(|version| {
            if done.is_ok() {
                let closed = state.seal.close(name, version.key(), &version.draft());
                // A plug-in may be away.
                let closed =
                    closed.map_err(|why| LogError::later(path, unreadable(name, version.key(), &why.to_string())));
                done = closed.and_then(|(form, _)| out.object(name, version.revision(), version.key(), &form));
                count = count.saturating_add(1);
            }
        });
        done?;
    }
    for ((name, key), kept) in state.unread {
        out.object(name, kept.revision, key, &kept.form)?;
        count = count.saturating_add(1);
    }
    out.pieces()?;
    let mut body = vec![0; HEADER];
    number(&mut body, count);
    out.group(Kind::End, body)?;
    out.finish()
}

struct Output<'p> {
    path: &'p Path,
    file: BufWriter<File>,
    length: u64,
    groups: u64,
    at: Duration,
    /// The next group of objects.
    piece: Vec<u8>,
}

impl Output<'_> {
    fn bytes(&mut self, bytes: &[u8]) -> Result<()> {
        self.length = self.length.saturating_add(bytes.len() as u64);
        self.file.write_all(bytes).map_err(|e| LogError::io(self.path, &e))
    }

    fn object(&mut self, resource: &str, revision: u64, key: &str, form: &[u8]) -> Result<()> {
        record::put(&mut self.piece, resource, revision, key, form);
        if self.piece.len() > PIECE { self.pieces() } else { Ok(()) }
    }

    /// Write the objects that wait.
    fn pieces(&mut self) -> Result<()> {
        if self.piece.len() == HEADER {
            return Ok(());
        }
        let body = std::mem::replace(&mut self.piece, vec![0; HEADER]);
        self.group(Kind::Objects, body)
    }

    fn group(&mut self, kind: Kind, mut body: Vec<u8>) -> Result<()> {
        group::seal(&mut body, Mark { kind, number: self.groups, durable: 0, at: self.at });
        self.groups = self.groups.saturating_add(1);
        self.bytes(&body)
    }

    fn finish(mut self) -> Result<u64> {
        let done = self.file.flush().and_then(|()| self.file.get_ref().sync_all());
        done.map_err(|e| LogError::io(self.path, &e))?;
        Ok(self.length)
    }
}

/// Read a file: call `each` for its objects in their forms, and return its head.
pub(crate) fn read(path: &Path, mut each: impl FnMut(Head, &str, &str, u64, &[u8]) -> Option<()>) -> Result<Head> {
    let file = File::open(path).map_err(|e| LogError::io(path, &e))?;
    let mut input = Input { path, file: BufReader::with_capacity(1 << 20, file), bytes: Vec::new() };
    let damaged = || LogError::content(path, "it is damaged");
    let mut magic = [0; MAGIC.len()];
    if input.file.read_exact(&mut magic).is_err() || magic != *MAGIC {
        return Err(LogError::content(path, "it is no state"));
    }
    let (mut head, mut count) = (None, 0_u64);
    for groups in 0.. {
        let found = input.group()?.filter(|found| found.mark.number == groups).ok_or_else(damaged)?;
        let mut reader = Reader(found.body);
        match (found.mark.kind, head) {
            (Kind::Head, None) => {
                let mut next = || reader.number().ok_or_else(damaged);
                let (revision, reserved, last) = (next()?, next()?, next()?);
                head = Some(Head { revision, reserved, running: found.mark.at, last });
            }
            (Kind::Objects, Some(head)) => {
                let read = record::read(found.body, |record| {
                    let Some(form) = record.form else { return Some(()) };
                    count = count.saturating_add(1);
                    each(head, record.resource, record.key, record.revision, form)
                });
                read.ok_or_else(damaged)?;
            }
            (Kind::End, Some(head)) if reader.number() == Some(count) => {
                return if input.is_at_end()? { Ok(head) } else { Err(damaged()) };
            }
            _ => return Err(damaged()),
        }
    }
    Err(damaged())
}

struct Input<'p> {
    path: &'p Path,
    file: BufReader<File>,
    bytes: Vec<u8>,
}

impl Input<'_> {
    /// Return the next group; `None` if it is not valid.
    fn group(&mut self) -> Result<Option<Group<'_>>> {
        self.bytes.resize(HEADER, 0);
        if !self.fill(0)? {
            return Ok(None);
        }
        let Some(length) = group::length(&self.bytes) else { return Ok(None) };
        // A damaged length does not make room for itself.
        let left = self.file.get_ref().metadata().map_or(0, |found| found.len());
        if length as u64 > left {
            return Ok(None);
        }
        self.bytes.resize(HEADER.saturating_add(length), 0);
        Ok(if self.fill(HEADER)? { group::read(&self.bytes) } else { None })
    }

    fn fill(&mut self, from: usize) -> Result<bool> {
        match self.file.read_exact(self.bytes.get_mut(from..).unwrap_or_default()) {
            Ok(()) => Ok(true),
            Err(e) if e.kind() == ErrorKind::UnexpectedEof => Ok(false),
            Err(e) => Err(LogError::io(self.path, &e)),
        }
    }

    fn is_at_end(&mut self) -> Result<bool> {
        Ok(self.file.fill_buf().map_err(|e| LogError::io(self.path, &e))?.is_empty())
    }
}
