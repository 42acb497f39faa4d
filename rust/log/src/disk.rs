//! Files: every operation that a fault of the disk can make fail, and the faults of tests.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;

use crate::error::{LogError, Result};

/// Only the user of the server reads the files: they contain secrets.
const MODE: u32 = 0o600;
/// The piece in which space is filled.
static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

/// The faults that a test sets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// The time that each sync takes in addition.
    pub delay: Duration,
    /// Whether every write fails for lack of space, after a part of it was written.
    pub full: bool,
    /// Whether every sync fails.
    pub sync: bool,
    /// Whether every write fails after a part of it was written.
    pub torn: bool,
}

/// The disk of one log.
#[derive(Debug, Default)]
pub(crate) struct Disk {
    /// Whether there is a fault at all: without one no operation takes the lock.
    faulty: AtomicBool,
    /// Set before `faulty` (release): who sees the flag sees the faults.
    faults: Mutex<Faults>,
}

impl Disk {
    /// Fail from now on as a test wants it.
    pub(crate) fn fail(&self, faults: Faults) {
        *self.faults.lock() = faults;
        self.faulty.store(true, Ordering::Release);
    }

    fn faults(&self) -> Option<Faults> {
        self.faulty.load(Ordering::Acquire).then(|| *self.faults.lock())
    }

    /// Make a file of a size, filled with zeros, so that later writes find their space; durable with its folder.
    pub(crate) fn make(&self, path: &Path, size: u64, begin: &[u8]) -> Result<File> {
        let made = OpenOptions::new().read(true).write(true).create(true).truncate(true).mode(MODE).open(path);
        let file = made.map_err(|e| LogError::io(path, &e))?;
        let filled = self.fill(&file, path, size).and_then(|()| self.write(&file, path, begin, 0));
        if filled.is_err() {
            drop(fs::remove_file(path));
        }
        filled?;
        file.sync_all().map_err(|e| LogError::io(path, &e))?;
        Self::sync_folder(path)?;
        Ok(file)
    }

    fn fill(&self, file: &File, path: &Path, size: u64) -> Result<()> {
        let mut at = 0;
        while at < size {
            let piece = usize::try_from(size.saturating_sub(at)).map_or(ZEROS.len(), |left| left.min(ZEROS.len()));
            self.write(file, path, ZEROS.get(..piece).unwrap_or_default(), at)?;
            at = at.saturating_add(piece as u64);
        }
        Ok(())
    }

    /// Write bytes at a place.
    pub(crate) fn write(&self, file: &File, path: &Path, bytes: &[u8], at: u64) -> Result<()> {
        if let Some(faults) = self.faults()
            && (faults.full || faults.torn)
        {
            let part = bytes.get(..bytes.len() / 2).unwrap_or_default();
            file.write_all_at(part, at).map_err(|e| LogError::io(path, &e))?;
            let kind = if faults.full { io::ErrorKind::StorageFull } else { io::ErrorKind::Other };
            return Err(LogError::io(path, &io::Error::new(kind, "a fault of a test")));
        }
        file.write_all_at(bytes, at).map_err(|e| LogError::io(path, &e))
    }

    /// Make the content of a file durable.
    pub(crate) fn sync(&self, file: &File, path: &Path) -> Result<()> {
        if let Some(faults) = self.faults() {
            thread::sleep(faults.delay);
            if faults.sync {
                return Err(LogError::io(path, &io::Error::other("a fault of a test")));
            }
        }
        file.sync_data().map_err(|e| LogError::io(path, &e))
    }

    /// Replace a file by another content, so that a reader finds the one or the other.
    pub(crate) fn replace(&self, path: &Path, content: &[u8]) -> Result<()> {
        let beside = path.with_extension("new");
        let written = self.write_whole(&beside, content);
        if written.is_err() {
            drop(fs::remove_file(&beside));
        }
        written?;
        // From here on it is unknown which of the two a later start finds.
        fs::rename(&beside, path).map_err(|e| LogError::io(path, &e).lasting())?;
        Self::sync_folder(path).map_err(LogError::lasting)
    }

    fn write_whole(&self, path: &Path, content: &[u8]) -> Result<()> {
        let made = OpenOptions::new().write(true).create(true).truncate(true).mode(MODE).open(path);
        let file = made.map_err(|e| LogError::io(path, &e))?;
        self.write(&file, path, content, 0)?;
        self.sync(&file, path)
    }

    /// Make the names in the folder of a file durable.
    pub(crate) fn sync_folder(path: &Path) -> Result<()> {
        // A bare name is in the present folder, and has an empty parent.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let opened = File::open(folder).map_err(|e| LogError::io(folder, &e))?;
        opened.sync_all().map_err(|e| LogError::io(folder, &e))
    }
}

/// Read a file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|e| LogError::io(path, &e))
}
