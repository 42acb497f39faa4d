//! The bytes of one version: its own, or a part of a block that several processes use.

use std::ops::Deref;
use std::sync::Arc;

use hydrofoil_shared::Block;

/// Canonical JSON.
#[derive(Clone, Debug)]
pub(crate) enum Json {
    /// In the memory of this process.
    Own(Box<[u8]>),
    /// At the start of what a block has after its prefix (`block.rs`): the block, and the length of the JSON.
    Shared(Arc<Block>, u32),
}

/// The bytes of a block before the JSON: its length.
pub(crate) const PREFIX: usize = 8;

impl Deref for Json {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Own(json) => json,
            Self::Shared(block, length) => {
                block.get(PREFIX..PREFIX.saturating_add(*length as usize)).unwrap_or_default()
            }
        }
    }
}
