//! The files of a log that is written: the active segment, those before it, and the states.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::disk::Disk;
use crate::error::{LogError, Result};
use crate::folder;
use crate::group::{self, HEADER, Kind, Mark};
use crate::load::Loaded;
use crate::manifest::{self, Manifest, Sealed, StateFile};
use crate::segment::{self, BEGIN, SIZE};
use crate::state::Head;

/// The revisions that are reserved at a time: restarts skip them, at a rate far below one in a microsecond.
const RESERVED: u64 = 1 << 14;

/// More than the space of a mark behind a group.
const MARK: u64 = 128;

/// The files of a log.
#[derive(Debug)]
pub(crate) struct Files {
    disk: Arc<Disk>,
    folder: PathBuf,
    manifest: Manifest,
    file: File,
    path: PathBuf,
    position: u64,
    /// The number of the last group that was written, and of the last that is durable.
    last: u64,
    durable: u64,
}

impl Files {
    /// Continue after the loaded events, in a new segment; revisions continue above all that may have been assigned.
    pub(crate) fn resume(disk: &Arc<Disk>, folder: &Path, loaded: Loaded) -> Result<Self> {
        let Loaded { mut manifest, place, .. } = loaded;
        let (active, _) = manifest.active;
        manifest.sealed.push(Sealed { segment: active, length: place.length, last: place.last });
        let found = Self::begin(disk, folder, manifest, active.saturating_add(1), place.last)?;
        // The space behind the last group; without success it is removed with the file.
        let former = File::options().write(true).open(manifest::segment(folder, active));
        drop(former.and_then(|file| file.set_len(place.length)));
        Ok(found)
    }

    /// Begin with a state that was written to the folder as that before a segment.
    pub(crate) fn open_existing(disk: &Arc<Disk>, folder: &Path, number: u64, head: Head, length: u64) -> Result<Self> {
        let states = vec![StateFile { segment: number, revision: head.revision, length }];
        let manifest = Manifest { reserved: head.reserved, states, sealed: Vec::new(), active: (0, 0) };
        Self::begin(disk, folder, manifest, number, head.last)
    }

    fn begin(disk: &Arc<Disk>, folder: &Path, mut manifest: Manifest, number: u64, last: u64) -> Result<Self> {
        let path = manifest::segment(folder, number);
        let file = disk.make(&path, SIZE, &segment::begin(number))?;
        manifest.active = (number, SIZE);
        manifest.reserved = manifest.reserved.saturating_add(RESERVED);
        manifest.write(disk, folder)?;
        let (disk, folder) = (Arc::clone(disk), folder.to_owned());
        let found = Self { disk, folder, manifest, file, path, position: BEGIN as u64, last, durable: last };
        found.clean();
        Ok(found)
    }

    /// Return the revision above which none may be assigned.
    pub(crate) fn reserved_revision(&self) -> u64 {
        self.manifest.reserved
    }

    /// Return the path of a state before the active segment, and the number of that.
    pub(crate) fn state(&self) -> (PathBuf, u64) {
        (manifest::state(&self.folder, self.manifest.active.0), self.manifest.active.0)
    }

    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    /// Make sure that revisions up to this one, and some more, may be assigned.
    pub(crate) fn reserve(&mut self, revision: u64) -> Result<()> {
        if revision.saturating_add(RESERVED / 2) < self.manifest.reserved {
            return Ok(());
        }
        self.replace(|manifest| manifest.reserved = revision.saturating_add(RESERVED))
    }

    /// Record that revisions up to this one were assigned, and no others.
    pub(crate) fn release(&mut self, revision: u64) -> Result<()> {
        self.replace(|manifest| manifest.reserved = revision)
    }

    fn replace(&mut self, change: impl FnOnce(&mut Manifest)) -> Result<()> {
        let mut manifest = self.manifest.clone();
        change(&mut manifest);
        manifest.write(&self.disk, &self.folder)?;
        self.manifest = manifest;
        Ok(())
    }

    /// Report whether the active segment has space for a group, and for the mark that follows it.
    pub(crate) fn has_space(&self, size: usize) -> bool {
        self.position.saturating_add(size as u64).saturating_add(MARK) <= self.manifest.active.1
    }

    /// Append a group, whose body has space for its header in front. It is not durable.
    pub(crate) fn append(&mut self, body: &mut [u8], at: Duration) -> Result<()> {
        let number = self.last.saturating_add(1);
        group::seal(body, Mark { kind: Kind::Changes, number, durable: self.durable, at });
        self.disk.write(&self.file, &self.path, body, self.position)?;
        self.position = self.position.saturating_add(body.len() as u64);
        self.last = number;
        Ok(())
    }

    /// Make all groups durable, and mark that they are.
    pub(crate) fn sync(&mut self, at: Duration) -> Result<()> {
        if self.durable == self.last {
            return Ok(());
        }
        self.disk.sync(&self.file, &self.path)?;
        self.durable = self.last;
        // Without it only a damage of the last group would be taken for a group that was not completed.
        if self.append(&mut [0; HEADER], at).is_ok() {
            self.durable = self.last;
        }
        Ok(())
    }

    /// Continue in another segment, with space for a group.
    pub(crate) fn roll(&mut self, group: usize) -> Result<()> {
        let number = self.manifest.active.0.saturating_add(1);
        let path = manifest::segment(&self.folder, number);
        let size = SIZE.max((group as u64).saturating_add(MARK).saturating_add(BEGIN as u64));
        if self.durable < self.last {
            // A sealed segment is whole, whenever writes are durable.
            self.disk.sync(&self.file, &self.path).map_err(LogError::lasting)?;
            self.durable = self.last;
        }
        let file = self.disk.make(&path, size, &segment::begin(number))?;
        let sealed = Sealed { segment: self.manifest.active.0, length: self.position, last: self.last };
        let replaced = self.replace(|manifest| {
            manifest.sealed.push(sealed);
            manifest.active = (number, size);
        });
        if let Err(e) = replaced {
            if e.is_full() {
                drop(fs::remove_file(&path));
            }
            return Err(e);
        }
        // The space behind the last group; without success it is removed with the file.
        drop(self.file.set_len(self.position));
        (self.file, self.path, self.position) = (file, path, BEGIN as u64);
        Ok(())
    }

    /// Return the bytes of events since the last state, and of that.
    pub(crate) fn sizes(&self) -> (u64, u64) {
        let Some(newest) = self.manifest.states.last() else { return (0, 0) };
        let sealed = self.manifest.sealed.iter().filter(|found| found.segment >= newest.segment);
        let events = sealed.fold(self.position, |sum, found| sum.saturating_add(found.length));
        (events, newest.length)
    }

    /// Return the number of segments since the last state.
    pub(crate) fn segments(&self) -> u64 {
        let newest = self.manifest.states.last().map_or(0, |found| found.segment);
        self.manifest.active.0.saturating_sub(newest)
    }

    /// Return whether events are kept that are older than a revision whose state is kept, too.
    pub(crate) fn has_older(&self, begin: u64) -> bool {
        self.manifest.states.get(1).is_some_and(|second| second.revision <= begin)
    }

    /// Add a state that was written, and remove all files that only serve for events before `begin`.
    pub(crate) fn keep(&mut self, state: Option<StateFile>, begin: u64) -> Result<()> {
        self.replace(|manifest| {
            manifest.states.extend(state);
            let kept = manifest.states.iter().rposition(|found| found.revision <= begin).unwrap_or(0);
            manifest.states.drain(..kept);
            let first = manifest.states.first().map_or(0, |found| found.segment);
            manifest.sealed.retain(|found| found.segment >= first);
        })?;
        self.clean();
        Ok(())
    }

    /// Remove the files that the manifest does not name.
    fn clean(&self) {
        let path = |path: PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let Manifest { states, sealed, active, .. } = &self.manifest;
        let segments = sealed.iter().map(|found| found.segment).chain([active.0]);
        let kept: Vec<_> = segments
            .map(|number| path(manifest::segment(&self.folder, number)))
            .chain(states.iter().map(|found| path(manifest::state(&self.folder, found.segment))))
            .flatten()
            .collect();
        for name in folder::names(&self.folder).unwrap_or_default() {
            if (name.starts_with("log-") || name.starts_with("state-")) && !kept.contains(&name) {
                drop(fs::remove_file(self.folder.join(name)));
            }
        }
    }
}
