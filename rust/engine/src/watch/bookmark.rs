//! Bookmarks of watches.

use hydrofoil_store::Version;
use hydrofoil_types::Value;

use super::chunk::Chunk;
use super::watcher::Watcher;
use crate::error::Result;
use crate::frame::Frame;

impl<F: Frame> Watcher<F> {
    /// Return a BOOKMARK: an empty object at the revision up to which the watcher has all events; `initial` marks the end of
    /// the initial state. `None` before that end.
    pub fn bookmark(&self, initial: bool) -> Result<Option<F>> {
        let Some(revision) = self.shard.seen_revision(self.id) else { return Ok(None) };
        let mut value = Value::object();
        self.kind.info().set_type(&mut value);
        value.object_at_mut(&["metadata"]);
        self.kind.complete_empty(&mut value);
        if initial {
            value.object_at_mut(&["metadata", "annotations"]).set("k8s.io/initial-events-end", "true");
        }
        let version = Version::detach("", revision, self.kind.to_shown(&value));
        let mut chunk = Chunk::new(self.framed, 256);
        self.write("BOOKMARK", &version, self.shard.clock().now(), chunk.out())?;
        Ok(Some(F::make(chunk.end())))
    }
}
