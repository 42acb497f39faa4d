//! A version in a block of shared memory, from which other processes make the same version.
//!
//! ```text
//! length of the JSON  JSON  key  revision  outline (`saved.rs`)  whether there is another JSON  JSON
//! ```

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use hydrofoil_shared::{Block, Heap};
use hydrofoil_types::SmolStr;

use crate::view::json::{Json, PREFIX};
use crate::view::saved::{Reader, SavedError, number, text};
use crate::{Draft, Version};

impl Version {
    /// Return the version with its bytes in a heap, where other processes can read them.
    pub(crate) fn share(mut self, heap: &Heap) -> Self {
        let (block, length) = (self.write_block(heap), self.json().len() as u32);
        self.set_json(Json::Shared(Arc::new(block), length));
        self
    }

    /// Return a new block with all that another process makes the version of.
    pub(crate) fn write_block(&self, heap: &Heap) -> Block {
        let mut rest = Vec::with_capacity(256);
        text(&mut rest, self.key().as_bytes());
        number(&mut rest, self.revision());
        self.outline().write(&mut rest);
        match self.given_text() {
            Some(given) => {
                number(&mut rest, 1);
                text(&mut rest, &given);
            }
            None => number(&mut rest, 0),
        }
        let json = self.json();
        heap.write(&[&(json.len() as u64).to_le_bytes(), json, &rest])
    }

    /// Return the version in a block. Its cached forms are counted in `history`.
    pub(crate) fn of_block(block: Block, history: Option<Arc<AtomicUsize>>) -> Result<Self, SavedError> {
        let mut reader = Reader::new(&block);
        let length = reader.size()?;
        reader.skip(length)?;
        let key: Arc<str> = Arc::from(reader.str()?);
        let revision = reader.number()?;
        let outline = reader.outline()?;
        let given = if reader.number()? == 0 { None } else { Some(reader.bytes()?.to_vec()) };
        let json = Json::Shared(Arc::new(block), u32::try_from(length).map_err(|_| SavedError::Damaged)?);
        if outline.rv_at > json.len() || outline.head > json.len() {
            return Err(SavedError::Damaged);
        }
        let labels: Box<[(SmolStr, SmolStr)]> = outline.labels;
        let draft = Draft {
            json: Vec::new(),
            given: None,
            rv_at: outline.rv_at,
            head: outline.head,
            labels,
            fields: outline.fields,
            fingerprint: outline.fingerprint,
        };
        Ok(Self::of_json(key, revision, json, draft, given.as_deref(), history))
    }

    /// Report whether two versions have their bytes in the same block: a process must have one value of it.
    pub(crate) fn has_block_of(&self, other: &Self) -> bool {
        self.block().zip(other.block()).is_some_and(|(one, other)| one.place() == other.place())
    }

    /// End a second value of a block, which the process has by the first one.
    pub(crate) fn keep_lent(self) {
        if let Some(block) = self.into_block() {
            block.keep_lent();
        }
    }

    /// Return the block that has the bytes of the version, if one has.
    pub(crate) fn block(&self) -> Option<&Arc<Block>> {
        match self.own_json()? {
            Json::Shared(block, _) => Some(block),
            Json::Own(_) => None,
        }
    }
}

/// The prefix is one number of the reader.
const _: () = assert!(PREFIX == size_of::<u64>());
