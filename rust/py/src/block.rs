//! What lists are put together from: the joined encoding of a leaf's versions, kept for the next list.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use hydrofoil_codec::gzip::{self, Sum};
use hydrofoil_store::{Leaf, Part, Shard, Version};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rustc_hash::FxHasher;

use crate::render::{Form, render};
use crate::typed::Typed;

/// How much more it costs to pack than to encode.
const PACKING: usize = 4;

/// A piece of a list in its form, packed or not.
pub(crate) struct Piece {
    /// What is written.
    pub(crate) bytes: Py<PyBytes>,
    /// The length of the items, unpacked.
    pub(crate) plain: u64,
    /// The sum of the items; only of packed ones.
    pub(crate) sum: Sum,
    /// Where each item ends, unpacked.
    ends: Box<[u32]>,
    /// Until when ages in it hold, in seconds of Unix time.
    until: i64,
}

/// Items before they become a Python object.
struct Encoded {
    bytes: Vec<u8>,
    ends: Box<[u32]>,
    until: i64,
}

/// How the pieces of one list are made.
pub(crate) struct Maker {
    pub(crate) typed: Arc<Typed>,
    pub(crate) form: Form,
    pub(crate) gzip: bool,
    /// What is selected.
    pub(crate) selection: Arc<str>,
    /// Where the leaves are from.
    pub(crate) shard: Arc<Shard>,
    /// Under which pieces of whole leaves are kept: as they are written, and unpacked.
    key: u64,
    plain: u64,
    /// Under which the selected pieces of leaves are kept.
    selected: u64,
}

impl Maker {
    /// `selection` names what is selected: lists with the same one share their pieces.
    pub(crate) fn new(typed: Arc<Typed>, form: Form, gzip: bool, selection: Arc<str>, shard: Arc<Shard>) -> Self {
        let key = |gzip: bool, selection: &str| {
            let mut hasher = FxHasher::default();
            (typed.id, &form, gzip, selection).hash(&mut hasher);
            hasher.finish()
        };
        let (whole, plain, selected) = (key(gzip, ""), key(false, ""), key(gzip, &selection));
        Self { typed, form, gzip, selection, shard, key: whole, plain, selected }
    }

    /// The kept piece of a whole leaf, if there is one that still holds.
    pub(crate) fn kept(&self, leaf: &Leaf) -> Option<Arc<Piece>> {
        self.held(leaf, self.key)
    }

    /// Whether the piece of a part can be had without encoding or packing.
    fn is_kept(&self, part: &Part) -> bool {
        let has = |key| self.held(part.leaf(), key).is_some();
        if part.is_whole() {
            return has(self.key);
        }
        (part.is_complete() && has(self.selected)) || (!self.gzip && has(self.plain))
    }

    /// How many bytes of stored JSON have to be read, or as much packed, for the piece of a part.
    pub(crate) fn cost(&self, part: &Part) -> usize {
        if self.is_kept(part) {
            return 0;
        }
        let length = |version: &Arc<Version>| version.json().len();
        let bytes: usize = if self.takes_whole(part) {
            part.leaf().versions().iter().map(length).sum()
        } else {
            part.versions().map(length).sum()
        };
        bytes * if self.gzip { PACKING } else { 1 }
    }

    /// Whether a part is made out of its whole leaf. A good part of one is worth to encode all of it: the next page takes
    /// up where this one ends. But of what a webhook converts only what was asked for is known.
    fn takes_whole(&self, part: &Part) -> bool {
        part.is_whole() || (part.len() * 4 >= part.leaf().versions().len() && !self.typed.is_converted())
    }

    /// The piece of a part. Those of whole leaves are kept; parts of them are cut out of these.
    pub(crate) fn piece(&self, py: Python<'_>, part: &Part) -> PyResult<Arc<Piece>> {
        let leaf = part.leaf();
        if part.is_whole() {
            return match self.kept(leaf) {
                Some(piece) => Ok(piece),
                None => self.whole(py, leaf, self.key, self.gzip),
            };
        }
        if part.is_complete()
            && let Some(piece) = self.held(leaf, self.selected)
        {
            return Ok(piece);
        }
        let mut plain = self.held(leaf, self.plain);
        if plain.is_none() && self.takes_whole(part) {
            plain = Some(self.whole(py, leaf, self.plain, false)?);
        }
        let encoded = match plain {
            Some(whole) => cut(whole.bytes.bind(py).as_bytes(), &whole, part, self.form.is_text()),
            None => py.detach(|| self.encode(part.versions()))?,
        };
        let piece = Arc::new(Piece::new(py, encoded, self.gzip));
        if part.is_complete() {
            self.keep(py, leaf, self.selected, &piece);
        }
        Ok(piece)
    }

    fn held(&self, leaf: &Leaf, key: u64) -> Option<Arc<Piece>> {
        let piece = leaf.block(key)?.get()?.downcast::<Piece>().ok()?;
        let lasts = piece.until == i64::MAX || piece.until > self.shard.clock().now().seconds;
        lasts.then_some(piece)
    }

    fn keep(&self, py: Python<'_>, leaf: &Leaf, key: u64, piece: &Arc<Piece>) {
        let size = piece.bytes.bind(py).as_bytes().len() + piece.ends.len() * size_of::<u32>();
        let made: Arc<Piece> = Arc::clone(piece);
        leaf.keep(key, self.shard.keep(made, size));
    }

    /// Makes and keeps the piece of a whole leaf, without Python's lock.
    fn whole(&self, py: Python<'_>, leaf: &Leaf, key: u64, gzip: bool) -> PyResult<Arc<Piece>> {
        py.detach(|| {
            leaf.make(
                |leaf| self.held(leaf, key).map(Ok),
                || {
                    let encoded = self.encode(leaf.versions().iter())?;
                    Python::attach(|py| {
                        let piece = Arc::new(Piece::new(py, encoded, gzip));
                        self.keep(py, leaf, key, &piece);
                        Ok(piece)
                    })
                },
            )
        })
    }

    fn encode<'v>(&self, versions: impl Iterator<Item = &'v Arc<Version>>) -> PyResult<Encoded> {
        let mut bytes = Vec::with_capacity(1 << 16);
        let mut ends = Vec::new();
        let (now, mut until) = (self.shard.clock().now(), i64::MAX);
        for version in versions {
            if !ends.is_empty() && self.form.is_text() {
                bytes.push(b',');
            }
            until = until.min(render(&self.typed, &self.form, version, false, now, &mut bytes)?);
            ends.push(bytes.len() as u32);
        }
        Ok(Encoded { bytes, ends: ends.into_boxed_slice(), until })
    }
}

impl Piece {
    fn new(py: Python<'_>, encoded: Encoded, gzip: bool) -> Self {
        let Encoded { bytes, ends, until } = encoded;
        let plain = bytes.len() as u64;
        let (bytes, sum) =
            py.detach(|| if gzip { (gzip::deflate(&bytes), Sum::of(&bytes)) } else { (bytes, Sum::default()) });
        Self { bytes: PyBytes::new(py, &bytes).unbind(), plain, sum, ends, until }
    }
}

/// The items of a part, out of the bytes of its whole leaf.
fn cut(bytes: &[u8], whole: &Piece, part: &Part, commas: bool) -> Encoded {
    let mut out = Vec::new();
    let mut ends = Vec::with_capacity(part.len());
    for place in part.places() {
        let start = match place.checked_sub(1) {
            Some(before) => whole.ends[before] as usize + usize::from(commas),
            None => 0,
        };
        if commas && !ends.is_empty() {
            out.push(b',');
        }
        out.extend_from_slice(&bytes[start..whole.ends[place] as usize]);
        ends.push(out.len() as u32);
    }
    Encoded { bytes: out, ends: ends.into_boxed_slice(), until: whole.until }
}
