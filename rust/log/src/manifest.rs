//! The manifest: the files that make up a state, and the revisions that may have been assigned.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::disk::{self, Disk};
use crate::error::{LogError, Result};

const NAME: &str = "MANIFEST";
const FIRST: &str = "hydrofoil manifest 1";

/// A state in a file: that before the first record of a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StateFile {
    /// The number of the segment that follows it.
    pub(crate) segment: u64,
    pub(crate) revision: u64,
    pub(crate) length: u64,
}

/// A segment that is not written to any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sealed {
    pub(crate) segment: u64,
    /// The length of its groups together, with the header.
    pub(crate) length: u64,
    /// The number of its last group.
    pub(crate) last: u64,
}

/// The files of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    /// No revision above this one was ever assigned.
    pub(crate) reserved: u64,
    /// The states, oldest first; the first one is where the history begins.
    pub(crate) states: Vec<StateFile>,
    pub(crate) sealed: Vec<Sealed>,
    /// The segment that is written to, and its size.
    pub(crate) active: (u64, u64),
}

/// Return the path of the manifest of a folder.
pub(crate) fn path(folder: &Path) -> PathBuf {
    folder.join(NAME)
}

/// Return the path of a segment.
pub(crate) fn segment(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("log-{number:010}"))
}

/// Return the path of the state before a segment.
pub(crate) fn state(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("state-{number:010}"))
}

impl Manifest {
    /// Write it in place of the present one.
    pub(crate) fn write(&self, disk: &Disk, folder: &Path) -> Result<()> {
        disk.replace(&path(folder), self.to_text().as_bytes())
    }

    fn to_text(&self) -> String {
        let mut out = format!("{FIRST}\nreserved {}\n", self.reserved);
        for StateFile { segment, revision, length } in &self.states {
            let _ = writeln!(out, "state {segment} {revision} {length}");
        }
        for Sealed { segment, length, last } in &self.sealed {
            let _ = writeln!(out, "sealed {segment} {length} {last}");
        }
        let _ = writeln!(out, "active {} {}", self.active.0, self.active.1);
        let sum = crc32fast::hash(out.as_bytes());
        let _ = writeln!(out, "sum {sum}");
        out
    }

    /// Read the manifest of a folder.
    pub(crate) fn read(folder: &Path) -> Result<Self> {
        let path = path(folder);
        let bytes = disk::read(&path)?;
        str::from_utf8(&bytes).ok().and_then(Self::of).ok_or_else(|| LogError::content(&path, "it is damaged"))
    }

    fn of(text: &str) -> Option<Self> {
        let end = text.rfind("sum ")?;
        let (content, sum) = text.split_at_checked(end)?;
        if sum != format!("sum {}\n", crc32fast::hash(content.as_bytes())) {
            return None;
        }
        let mut lines = content.lines();
        if lines.next()? != FIRST {
            return None;
        }
        let mut found = Self::default();
        for line in lines {
            let mut words = line.split(' ');
            let word = words.next()?;
            let numbers = words.map(str::parse).collect::<std::result::Result<Vec<u64>, _>>().ok()?;
            match (word, numbers.as_slice()) {
                ("reserved", &[reserved]) => found.reserved = reserved,
                ("state", &[segment, revision, length]) => found.states.push(StateFile { segment, revision, length }),
                ("sealed", &[segment, length, last]) => found.sealed.push(Sealed { segment, length, last }),
                ("active", &[segment, size]) => found.active = (segment, size),
                _ => return None,
            }
        }
        (found.active.1 > 0 && !found.states.is_empty()).then_some(found)
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, reason = "they cut bytes that they made")]
mod tests {
    use super::{Manifest, Sealed, StateFile};

    fn manifest() -> Manifest {
        Manifest {
            reserved: 99,
            states: vec![StateFile { segment: 3, revision: 40, length: 1000 }],
            sealed: vec![Sealed { segment: 3, length: 500, last: 8 }],
            active: (4, 4096),
        }
    }

    #[test]
    fn it_is_read_as_it_was_written() {
        assert_eq!(Manifest::of(&manifest().to_text()), Some(manifest()));
    }

    #[test]
    fn a_changed_byte_is_found() {
        let text = manifest().to_text();
        for at in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[at] ^= 1;
            assert!(String::from_utf8(bytes).ok().is_none_or(|text| Manifest::of(&text).is_none()), "byte {at}");
        }
    }
}
