//! Work on a folder or a backup without a server.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hydrofoil_encryption::Transformers;
use hydrofoil_store::{Limits, View};
use hydrofoil_types::Clock;

use crate::disk::Disk;
use crate::error::{LogError, Result};
use crate::folder;
use crate::load::{self, Loaded};
use crate::log;
use crate::manifest;
use crate::seal::{Seal, unreadable};
use crate::state::{self, Content, Head};

/// The revisions that a restored folder skips at least.
const SKIPPED: u64 = 1_000_000_000;
/// How often a folder is read again that a server changes meanwhile.
const TRIES: usize = 100;

/// The size of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The number of its objects.
    pub objects: usize,
    /// Its revision.
    pub revision: u64,
}

impl Summary {
    fn of(view: &View, seal: &Seal) -> Self {
        Self { objects: count(view, seal), revision: view.reached_revision() }
    }
}

/// The encryption of objects in a folder; without one, encrypted objects stay as they are.
pub type Encryption = Option<Arc<Transformers>>;

/// Return the number of objects, those included that cannot be read.
fn count(view: &View, seal: &Seal) -> usize {
    view.checkpoint().objects().saturating_add(seal.unread.len())
}

/// Return the error of the first object that cannot be read.
fn refuse_unread(path: &Path, seal: &Seal) -> Result<()> {
    match seal.unread.all().into_iter().next() {
        Some(((resource, key), kept)) => Err(LogError::content(path, unreadable(&resource, &key, &kept.why))),
        None => Ok(()),
    }
}

/// Return a view that keeps no history.
fn view() -> Arc<View> {
    let limits = Limits { window: Duration::ZERO, events: 0, bytes: 0 };
    Arc::new(View::new(limits, Some(0), Arc::<Clock>::default()))
}

/// Read all of a folder that no server uses, and change nothing. With an encryption, it must read every object.
pub fn check(path: &Path, encryption: &Encryption) -> Result<Summary> {
    let _lock = folder::look(path)?;
    let (view, reads, seal) = (view(), encryption.is_some(), Seal::new(encryption.clone()));
    load_all(path, &view, &seal)?;
    if reads {
        refuse_unread(path, &seal)?;
    }
    Ok(Summary::of(&view, &seal))
}

/// Read a folder, the states beside the first one included.
fn load_all(path: &Path, view: &View, seal: &Seal) -> Result<Loaded> {
    let loaded = load::load(path, view, seal)?;
    for found in loaded.manifest.states.iter().skip(1) {
        state::read(&manifest::state(path, found.segment), |_, _, _, _, _| Some(()))?;
    }
    Ok(loaded)
}

/// Remove the history of a folder that no server uses; with an encryption, write all objects by it.
pub fn compact(path: &Path, encryption: &Encryption) -> Result<Summary> {
    folder::readable(path)?;
    let disk = Arc::new(Disk::default());
    let _folder = folder::open(&disk, path)?;
    let (view, seal) = (view(), Seal::new(encryption.clone()));
    let loaded = load::load(path, &view, &seal)?;
    let reserved = loaded.manifest.reserved;
    let number = loaded.manifest.active.0.saturating_add(1);
    let head = Head { revision: reserved, reserved, running: view.running(), last: loaded.place.last };
    let content = Content { objects: &view.checkpoint(), unread: &seal.unread.all(), seal: &seal };
    let length = state::write(&manifest::state(path, number), content, head)?;
    let mut files = crate::files::Files::open_existing(&disk, path, number, head, length)?;
    files.release(reserved)?;
    view.skip(reserved);
    Ok(Summary::of(&view, &seal))
}

/// Load a folder as of one moment; a server may use it.
fn load_used(path: &Path, encryption: &Encryption) -> Result<(Arc<View>, Loaded, Seal)> {
    folder::readable(path)?;
    let mut tries = 0_usize;
    loop {
        let (view, seal) = (view(), Seal::new(encryption.clone()));
        match load::load(path, &view, &seal) {
            Ok(loaded) => return Ok((view, loaded, seal)),
            // A server has removed files, or was writing the group that was read.
            Err(e) if tries >= TRIES || folder::look(path).is_ok() => return Err(e),
            Err(_) => tries = tries.saturating_add(1),
        }
    }
}

/// Write the state of a folder to a file, as of one moment; a server may use the folder.
pub fn backup(path: &Path, to: &Path, encryption: &Encryption) -> Result<Summary> {
    absent(to)?;
    let (view, loaded, seal) = load_used(path, encryption)?;
    let head = Head {
        revision: loaded.revision,
        reserved: loaded.manifest.reserved,
        running: view.running(),
        last: loaded.place.last,
    };
    let content = Content { objects: &view.checkpoint(), unread: &seal.unread.all(), seal: &seal };
    state::write(to, content, head)?;
    Ok(Summary { objects: count(&view, &seal), revision: loaded.revision })
}

/// Write the objects of a folder to a file, as lines of JSON; a server may use the folder.
pub fn export(path: &Path, to: &Path, encryption: &Encryption) -> Result<Summary> {
    absent(to)?;
    let (view, loaded, seal) = load_used(path, encryption)?;
    refuse_unread(path, &seal)?;
    let failed = |e: io::Error| LogError::io(to, &e);
    let made = File::options().write(true).create_new(true).mode(0o600).open(to).map_err(failed)?;
    let mut out = BufWriter::with_capacity(1 << 20, made);
    let (state, mut written) = (view.checkpoint(), Ok(()));
    for (_, tree) in state.resources() {
        tree.each(|version| {
            if written.is_ok() {
                written = out.write_all(version.json()).and_then(|()| out.write_all(b"\n"));
            }
        });
    }
    let written = written.and_then(|()| out.flush()).and_then(|()| out.get_ref().sync_all());
    if written.is_err() {
        drop(fs::remove_file(to));
    }
    written.map_err(failed)?;
    Ok(Summary { objects: state.objects(), revision: loaded.revision })
}

/// Check that a file does not exist yet.
fn absent(path: &Path) -> Result<()> {
    if path.exists() { Err(LogError::content(path, "it exists already")) } else { Ok(()) }
}

/// Make a folder of a backup. Its revisions are above `present`, which those of a server are never, and above all that
/// are likely to have been assigned since the backup.
pub fn restore(from: &Path, path: &Path, present: u64, encryption: &Encryption) -> Result<Summary> {
    let (view, seal) = (view(), Seal::new(encryption.clone()));
    let head = state::read(from, |head, resource, key, revision, form| {
        load::keep(&view, &seal, head, resource, key, revision, form)
    })?;
    if fs::metadata(path).is_ok() && !folder::names(path)?.is_empty() {
        return Err(LogError::content(path, "it has files: a backup is restored to a new folder"));
    }
    let disk = Arc::new(Disk::default());
    let _folder = folder::open(&disk, path)?;
    let revision = present.max(head.reserved.saturating_add(SKIPPED));
    log::begin(&disk, path, &seal, &view.checkpoint(), revision)?.release(revision)?;
    Ok(Summary { objects: count(&view, &seal), revision })
}
