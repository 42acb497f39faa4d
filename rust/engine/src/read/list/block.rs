//! The pieces of lists: the joined encoding of a leaf's versions, cached for the next list.

use std::sync::{Arc, OnceLock};

use hydrofoil_codec::gzip::{self, Sum};
use hydrofoil_store::{BlockKey, Leaf, Part, Shard, Version};

use super::key::Keys;
use crate::error::Result;
use crate::frame::Frame;
use crate::kind::ObjectKind;
use crate::read::form::Form;
use crate::read::render::render;

/// The cost of compression relative to encoding.
const PACKING: usize = 4;

/// A piece of a list in its form, compressed or not.
#[derive(Debug)]
pub(super) struct Piece<F> {
    /// The bytes of the body.
    pub(super) bytes: F,
    /// The uncompressed length of the items.
    pub(super) plain: u64,
    /// The check sum of the items, if compressed.
    pub(super) sum: Sum,
    /// The length of the bytes.
    size: usize,
    /// The end of each item, uncompressed.
    ends: Box<[u32]>,
    /// The end of the validity of its ages, in seconds of Unix time.
    until: i64,
}

/// Encoded items that are not a frame yet.
#[derive(Debug)]
struct Encoded {
    bytes: Vec<u8>,
    ends: Box<[u32]>,
    until: i64,
}

/// The parameters by which the pieces of a list are made.
#[derive(Debug)]
pub(super) struct Maker {
    pub(super) kind: Arc<dyn ObjectKind>,
    pub(super) form: Form,
    pub(super) gzip: bool,
    /// The shard of the leaves.
    pub(super) shard: Arc<Shard>,
    /// The identity of the selection.
    selection: Arc<str>,
    /// Made when first needed: lists that are gathered from stored JSON have no use for them.
    keys: OnceLock<Keys>,
}

impl Maker {
    /// Return the maker of a list; lists with the same `selection` share their pieces.
    pub(super) fn new(
        kind: Arc<dyn ObjectKind>,
        form: Form,
        gzip: bool,
        selection: Arc<str>,
        shard: Arc<Shard>,
    ) -> Self {
        Self { kind, form, gzip, shard, selection, keys: OnceLock::new() }
    }

    /// Return the maker of the same list compressed with gzip.
    pub(super) fn with_gzip(&self) -> Self {
        let (kind, shard) = (Arc::clone(&self.kind), Arc::clone(&self.shard));
        Self::new(kind, self.form.clone(), true, Arc::clone(&self.selection), shard)
    }

    fn keys(&self) -> &Keys {
        self.keys.get_or_init(|| Keys::new(self.kind.info().id, &self.form, self.gzip, &self.selection))
    }

    /// Report whether the list is gathered from stored JSON, without a cache.
    pub(super) fn is_gathered(&self) -> bool {
        self.form.is_stored_json(&*self.kind) && !self.gzip
    }

    /// Return the cached piece of a whole leaf, if it is still valid.
    pub(super) fn cached_piece<F: Frame>(&self, leaf: &Leaf) -> Option<Arc<Piece<F>>> {
        self.find_piece(leaf, &self.keys().whole)
    }

    /// Report whether the piece of a part is available without encoding or compression.
    fn is_kept<F: Frame>(&self, part: &Part) -> bool {
        let (keys, has) = (self.keys(), |key| self.find_piece::<F>(part.leaf(), key).is_some());
        if part.is_whole() {
            return has(&keys.whole);
        }
        (part.is_complete() && has(&keys.selected)) || (!self.gzip && has(&keys.plain))
    }

    /// Return the cost of the piece of a part in bytes of stored JSON to encode, with the cost of compression added.
    pub(super) fn cost<F: Frame>(&self, part: &Part) -> usize {
        if self.is_kept::<F>(part) {
            return 0;
        }
        let length = |version: &Arc<Version>| version.json().len();
        let bytes: usize = if self.takes_whole(part) {
            part.leaf().versions().iter().map(length).sum()
        } else {
            part.versions().map(length).sum()
        };
        bytes.saturating_mul(if self.gzip { PACKING } else { 1 })
    }

    /// Report whether a part is made from its whole leaf. For a large part it pays to encode the whole leaf: the next
    /// page starts at its end. With a webhook, only requested objects are converted.
    fn takes_whole(&self, part: &Part) -> bool {
        let good = || part.len().saturating_mul(4) >= part.leaf().versions().len();
        part.is_whole() || (good() && !self.kind.has_webhook())
    }

    /// Return the piece of a part. Those of whole leaves are cached; parts are cut from them.
    pub(super) fn piece<F: Frame>(&self, part: &Part) -> Result<Arc<Piece<F>>> {
        let (leaf, keys) = (part.leaf(), self.keys());
        if part.is_whole() {
            return match self.cached_piece(leaf) {
                Some(piece) => Ok(piece),
                None => self.whole(leaf, &keys.whole, self.gzip),
            };
        }
        if part.is_complete()
            && let Some(piece) = self.find_piece(leaf, &keys.selected)
        {
            return Ok(piece);
        }
        let mut plain = self.find_piece::<F>(leaf, &keys.plain);
        if plain.is_none() && self.takes_whole(part) {
            plain = Some(self.whole(leaf, &keys.plain, false)?);
        }
        let encoded = match plain {
            Some(whole) => whole.bytes.read(|bytes| cut(bytes, &whole, part, self.form.is_text())),
            None => F::apart(|| self.encode(part.versions()))?,
        };
        let piece = Arc::new(Piece::new(encoded, self.gzip));
        if part.is_complete() {
            self.keep(leaf, &keys.selected, &piece);
        }
        Ok(piece)
    }

    fn find_piece<F: Frame>(&self, leaf: &Leaf, key: &BlockKey) -> Option<Arc<Piece<F>>> {
        let piece = leaf.block(key)?.get()?.downcast::<Piece<F>>().ok()?;
        let lasts = piece.until == i64::MAX || piece.until > self.shard.clock().now().seconds;
        lasts.then_some(piece)
    }

    fn keep<F: Frame>(&self, leaf: &Leaf, key: &BlockKey, piece: &Arc<Piece<F>>) {
        // A client chooses the length of its selectors, and thereby of the key.
        let size = piece.size.saturating_add(size_of_val(&*piece.ends)).saturating_add(key.len());
        let made: Arc<Piece<F>> = Arc::clone(piece);
        leaf.keep(key, self.shard.keep(made, size));
    }

    /// Make and cache the piece of a whole leaf, without blocking others.
    fn whole<F: Frame>(&self, leaf: &Leaf, key: &BlockKey, gzip: bool) -> Result<Arc<Piece<F>>> {
        F::apart(|| {
            leaf.make(
                |leaf| self.find_piece(leaf, key).map(Ok),
                || {
                    let piece = Arc::new(Piece::new(self.encode(leaf.versions().iter())?, gzip));
                    self.keep(leaf, key, &piece);
                    Ok(piece)
                },
            )
        })
    }

    fn encode<'v>(&self, versions: impl Iterator<Item = &'v Arc<Version>>) -> Result<Encoded> {
        let mut bytes = Vec::with_capacity(1 << 16);
        let mut ends = Vec::new();
        let (now, mut until) = (self.shard.clock().now(), i64::MAX);
        for version in versions {
            if !ends.is_empty() && self.form.is_text() {
                bytes.push(b',');
            }
            until = until.min(render(&*self.kind, &self.form, version, false, now, &mut bytes)?);
            ends.push(bytes.len() as u32);
        }
        Ok(Encoded { bytes, ends: ends.into_boxed_slice(), until })
    }
}

impl<F: Frame> Piece<F> {
    fn new(encoded: Encoded, gzip: bool) -> Self {
        let Encoded { bytes, ends, until } = encoded;
        let plain = bytes.len() as u64;
        let (bytes, sum) =
            F::apart(|| if gzip { (gzip::deflate(&bytes), Sum::of(&bytes)) } else { (bytes, Sum::default()) });
        Self { bytes: F::make(&bytes), plain, sum, size: bytes.len(), ends, until }
    }
}

/// Cut the items of a part from the bytes of its whole leaf.
fn cut<F>(bytes: &[u8], whole: &Piece<F>, part: &Part, commas: bool) -> Encoded {
    let mut out = Vec::new();
    let mut ends = Vec::with_capacity(part.len());
    let end = |place: usize| whole.ends.get(place).map_or(bytes.len(), |end| *end as usize);
    for place in part.places() {
        let start = place.checked_sub(1).map_or(0, |before| end(before).saturating_add(usize::from(commas)));
        if commas && !ends.is_empty() {
            out.push(b',');
        }
        out.extend_from_slice(bytes.get(start..end(place)).unwrap_or_default());
        ends.push(out.len() as u32);
    }
    Encoded { bytes: out, ends: ends.into_boxed_slice(), until: whole.until }
}
