//! Segments: the files that groups are appended to.
//!
//! A segment has its space from the beginning, so that a full disk shows before a group is written, and a file that
//! lost its end is recognized by its length.

use std::path::Path;
use std::time::Duration;

use crate::disk;
use crate::error::{LogError, Result};
use crate::group::{self, HEADER};
use crate::record::{self, Record};

const MAGIC: &[u8; 16] = b"hydrofoil log  \n";
/// The length of the beginning of a file.
pub(crate) const BEGIN: usize = 24;
/// The size of a segment without large groups.
pub(crate) const SIZE: u64 = 4 << 20;

/// Return the beginning of a segment.
pub(crate) fn begin(number: u64) -> [u8; BEGIN] {
    let mut out = [0; BEGIN];
    for (to, byte) in out.iter_mut().zip(MAGIC.iter().copied().chain(number.to_le_bytes())) {
        *to = byte;
    }
    out
}

/// The place to which a log was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    /// The number of the last group.
    pub(crate) last: u64,
    /// How long the state had been served for then.
    pub(crate) running: Duration,
    /// The length of the last segment up to there.
    pub(crate) length: u64,
}

/// The end of a segment.
#[derive(Clone, Copy, Debug)]
pub(crate) enum End {
    /// It is sealed: every group up to this length and number was durable.
    Sealed(u64, u64),
    /// It was written to, and has this size.
    Active(u64),
}

/// Read a segment: call `each` for its records.
pub(crate) fn read(
    path: &Path,
    number: u64,
    end: End,
    place: &mut Place,
    mut each: impl FnMut(Record<'_>, Duration) -> Option<()>,
) -> Result<()> {
    let bytes = disk::read(path)?;
    let damaged = |at: usize| LogError::content(path, format!("it is damaged at byte {at}"));
    let least = match end {
        End::Sealed(length, _) => length,
        End::Active(size) => size,
    };
    if (bytes.len() as u64) < least {
        return Err(LogError::content(path, format!("it has {} bytes of {least}", bytes.len())));
    }
    if bytes.get(..BEGIN) != Some(&begin(number)) {
        return Err(damaged(0));
    }
    let mut at = BEGIN;
    loop {
        let rest = match end {
            End::Sealed(length, _) => bytes.get(at..usize::try_from(length).unwrap_or(usize::MAX)),
            End::Active(_) => bytes.get(at..),
        };
        let rest = rest.unwrap_or_default();
        let Some(found) = group::read(rest).filter(|found| found.mark.number == place.last.wrapping_add(1)) else {
            break;
        };
        let running = found.mark.at;
        record::read(found.body, |record| each(record, running)).ok_or_else(|| damaged(at))?;
        place.last = found.mark.number;
        place.running = place.running.max(running);
        at = at.saturating_add(HEADER).saturating_add(found.body.len());
    }
    place.length = at as u64;
    match end {
        End::Sealed(length, last) if place.length != length || place.last != last => Err(damaged(at)),
        // The rest was begun before a crash, and never acknowledged, unless a later group shows otherwise.
        End::Active(_) if group::remains(bytes.get(at..).unwrap_or_default()).any(|m| m.durable > place.last) => {
            Err(damaged(at))
        }
        _ => Ok(()),
    }
}
