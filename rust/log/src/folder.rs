//! The folder of a log: its version, and the lock that one process holds on it.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

use crate::disk::{self, Disk};
use crate::error::{LogError, Result};
use crate::group;
use crate::manifest;

const VERSION: &str = "VERSION";
const LOCK: &str = "LOCK";
/// The format of this program.
const FORMAT: &str = "hydrofoil 1";
/// More than the length of a state without objects.
const EMPTY: u64 = 256;

/// A folder that no other process uses.
#[derive(Debug)]
pub(crate) struct Folder {
    /// The kernel takes the lock away when the process ends, however it ends.
    _lock: File,
    /// Whether it has no state yet.
    pub(crate) is_new: bool,
}

/// Lock a folder, which is made if it does not exist. One with other files is refused and stays as it is.
pub(crate) fn open(disk: &Disk, path: &Path) -> Result<Folder> {
    let at = |e: &std::io::Error| LogError::io(path, e);
    match fs::metadata(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => {
            DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(|e| at(&e))?;
        }
        Err(e) => return Err(at(&e)),
        Ok(found) if !found.is_dir() => return Err(LogError::content(path, "it is no folder")),
        Ok(_) => {}
    }
    let versioned = has_version(path)?;
    if !versioned && has_files(path)? {
        return Err(LogError::content(path, "it has files, but no VERSION: it is no data folder"));
    }
    let lock = lock_file(path, true)?;
    // Another process may have made the state before it released the lock.
    if !has_version(path)? {
        disk.replace(&path.join(VERSION), format!("{FORMAT}\n").as_bytes())?;
    }
    let is_new = !manifest::path(path).exists();
    if is_new && has_states(path)? {
        return Err(LogError::content(&manifest::path(path), "no such file"));
    }
    Ok(Folder { _lock: lock, is_new })
}

/// Lock a folder that has a state, and change nothing in it.
pub(crate) fn look(path: &Path) -> Result<File> {
    readable(path)?;
    lock_file(path, false)
}

/// Check that a folder has a state of this format.
pub(crate) fn readable(path: &Path) -> Result<()> {
    fs::read_dir(path).map_err(|e| LogError::io(path, &e))?;
    if !has_version(path)? {
        return Err(LogError::content(path, "it has no VERSION: it is no data folder"));
    }
    Ok(())
}

fn lock_file(path: &Path, create: bool) -> Result<File> {
    let place = path.join(LOCK);
    let mut options = OpenOptions::new();
    options.read(true).write(create).create(create).mode(0o600);
    let file = options.open(&place).map_err(|e| LogError::io(&place, &e))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(LogError::content(path, "another process uses this folder")),
        Err(TryLockError::Error(e)) => Err(LogError::io(&place, &e)),
    }
}

/// Report whether a folder has a version, which must be that of this program.
fn has_version(path: &Path) -> Result<bool> {
    let place = path.join(VERSION);
    let text = match fs::read(&place) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(false),
        Err(e) => return Err(LogError::io(&place, &e)),
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
    };
    let shown = text.trim_end_matches('\n');
    if shown == FORMAT {
        return Ok(true);
    }
    let number = |text: &str| text.strip_prefix("hydrofoil ").and_then(|number| number.parse::<u64>().ok());
    Err(match (number(shown), number(FORMAT)) {
        (Some(other), Some(own)) => {
            LogError::content(path, format!("it has the format {other}, this program reads the format {own}"))
        }
        _ => LogError::content(&place, "it is damaged"),
    })
}

fn has_files(path: &Path) -> Result<bool> {
    let names = names(path)?;
    // A lock alone is left by a start that was ended early; the other is made by file systems.
    Ok(names.iter().any(|name| name != LOCK && name != "lost+found" && name != "VERSION.new"))
}

/// Report whether a folder without a manifest had one: a start that was ended early leaves an empty state and one segment
/// without groups.
fn has_states(path: &Path) -> Result<bool> {
    let names = names(path)?;
    let of = |prefix: &str| {
        names.iter().filter(|name| name.starts_with(prefix) && Path::new(name).extension().is_none()).collect()
    };
    let (segments, states): (Vec<_>, Vec<_>) = (of("log-"), of("state-"));
    for name in &segments {
        if group::remains(&disk::read(&path.join(name))?).next().is_some() {
            return Ok(true);
        }
    }
    let mut larger = false;
    for name in &states {
        larger |= fs::metadata(path.join(name)).is_ok_and(|found| found.len() > EMPTY);
    }
    Ok(larger || segments.len() > 1 || states.len() > 1)
}

/// Return the names of the files in a folder.
pub(crate) fn names(path: &Path) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(path).map_err(|e| LogError::io(path, &e))? {
        let entry = entry.map_err(|e| LogError::io(path, &e))?;
        found.push(entry.file_name().to_string_lossy().into_owned());
    }
    Ok(found)
}
