//! The cursor of one list.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hydrofoil_codec::gzip::{self, Sum};
use hydrofoil_pace::LITTLE;
use hydrofoil_store::{Page, Shard};
use parking_lot::{Mutex, MutexGuard};

use super::block::{Maker, Piece};
use super::gather::gather;
use super::head;
use super::search::Search;
use crate::error::Result;
use crate::frame::Frame;
use crate::kind::ObjectKind;
use crate::read::form::{Encoding, Form};
use crate::read::render::render;
use crate::stored::Stored;

/// The maximum bytes of pieces that a list may hold after they were made to compute their length.
const HELD: u64 = 8 << 20;

/// The minimum number of objects of a page to convert at a time if the selection is not known yet.
const CONVERTED: usize = 500;

/// A comma as an uncompressed block of a deflate stream.
const COMMA_PACKED: [u8; 6] = [0, 1, 0, 0xfe, 0xff, b','];

/// The end of a full page: the key of the next one, and the number of remaining objects, if known.
pub type Rest = Option<(String, Option<usize>)>;

/// The cursor of one list.
#[derive(Debug)]
pub struct ListCursor<F> {
    maker: Maker,
    revision: u64,
    /// The number of objects from the first one of the page to the end of the namespace, selected or not.
    fetched: u64,
    /// The number of returned items: a request that is cancelled counts them while a thread makes the next ones.
    returned: AtomicU64,
    /// Held while pieces are made, that is, also while the GIL is not: see [`Self::state`].
    state: Mutex<State<F>>,
}

#[derive(Debug)]
struct State<F> {
    page: Page,
    /// The check sum of the output so far, if compressed.
    sum: Sum,
    /// The first pieces, if already made.
    made: VecDeque<Arc<Piece<F>>>,
}

impl<F: Frame> ListCursor<F> {
    /// Return a list of a page of a shard; lists with equal `selection` share their pieces.
    pub fn new(kind: Arc<dyn ObjectKind>, form: Form, selection: Arc<str>, shard: Arc<Shard>, page: Page) -> Self {
        Self::over(Maker::new(kind, form, false, selection, shard), page)
    }

    fn over(maker: Maker, page: Page) -> Self {
        let (revision, fetched) = (page.revision(), page.following() as u64);
        let state = State { page, sum: Sum::default(), made: VecDeque::new() };
        Self { maker, revision, fetched, returned: AtomicU64::new(0), state: Mutex::new(state) }
    }

    /// Return the state, once no other thread has it. Its holder may need the GIL, so that waiting must not hold that.
    fn state(&self) -> MutexGuard<'_, State<F>> {
        loop {
            if let Some(state) = self.state.try_lock() {
                return state;
            }
            F::apart(|| drop(self.state.lock()));
        }
    }

    /// Return the rest of the list, compressed with gzip.
    #[must_use]
    pub fn with_gzip(&self) -> Self {
        Self::over(self.maker.with_gzip(), self.state().page.clone())
    }

    /// Report whether it is compressed with gzip.
    pub fn is_packed(&self) -> bool {
        self.maker.gzip
    }

    /// Return the revision of the list.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Return the number of objects that a cache without indexes reads for the list: those from the first one of the page
    /// to the end of the namespace, selected or not.
    pub fn fetch_count(&self) -> u64 {
        self.fetched
    }

    /// Return the number of items that chunks have returned.
    pub fn item_count(&self) -> u64 {
        self.returned.load(Ordering::Relaxed)
    }

    /// Search for the next object. Return false if many others come first: the search continues on a thread then.
    pub fn is_near(&self) -> bool {
        Search::new(true).find(&mut self.state().page)
    }

    /// Report whether the next chunk is cheap: near, and copied, cached, or short enough to encode or compress.
    pub fn is_cheap(&self) -> bool {
        let mut state = self.state();
        if !state.made.is_empty() {
            return true;
        }
        if !Search::new(true).find(&mut state.page) {
            return false;
        }
        if self.maker.is_gathered() {
            return true;
        }
        let mut page = state.page.clone();
        page.part(usize::MAX).is_none_or(|part| self.maker.cost::<F>(&part) <= LITTLE)
    }

    /// Report whether the rest of the page is cheap to search and to encode: a few small objects.
    pub fn is_short(&self) -> bool {
        let mut page = self.state().page.clone();
        let (mut search, mut cost) = (Search::new(true), 0_usize);
        while cost <= LITTLE && search.find(&mut page) {
            let Some(part) = page.part(usize::MAX) else { return true };
            cost = cost.saturating_add(self.maker.cost::<F>(&part));
        }
        false
    }

    /// Report whether the items are longer than `size` bytes, uncompressed. `None` if a near search does not find out.
    pub fn exceeds(&self, size: usize, near: bool) -> Result<Option<bool>> {
        if near { self.is_longer(size, near) } else { F::apart(|| self.is_longer(size, near)) }
    }

    fn is_longer(&self, size: usize, near: bool) -> Result<Option<bool>> {
        let mut page = self.state().page.clone();
        let Maker { kind, form, shard, .. } = &self.maker;
        let now = shard.clock().now();
        let (mut length, mut scratch) = (0_usize, Vec::new());
        let mut search = Search::new(near);
        while length <= size {
            if !search.find(&mut page) {
                return Ok(None);
            }
            let Some(part) = page.part(usize::MAX) else { break };
            if let Some(piece) = part.is_whole().then(|| self.maker.cached_piece::<F>(part.leaf())).flatten() {
                length = length.saturating_add(piece.plain as usize);
                continue;
            }
            for version in part.versions() {
                scratch.clear();
                if self.maker.is_gathered() {
                    length = length.saturating_add(version.item().len());
                } else if length <= size {
                    render(&**kind, form, version, false, now, &mut scratch)?;
                    length = length.saturating_add(scratch.len());
                }
            }
        }
        Ok(Some(length > size))
    }

    /// Return the next items as parts of the body, after the separator from previous items; `None` at the end. `size`
    /// limits the bytes that are copied together. With `near`, the next item was found before, and no far ones are searched.
    pub fn chunk(&self, size: usize, near: bool) -> Result<Option<Vec<F>>> {
        let mut state = self.state();
        let state = &mut *state;
        let mut returned = self.item_count();
        if self.maker.is_gathered() {
            let bytes = gather(&self.maker, &mut state.page, &mut returned, size, Search::new(near))?;
            self.returned.store(returned, Ordering::Relaxed);
            return Ok(bytes.map(|bytes| vec![bytes]));
        }
        let made = state.made.pop_front();
        Search::new(near).find_apart::<F>(&mut state.page);
        let Some((piece, items)) = self.piece(&mut state.page, made)? else { return Ok(None) };
        let mut parts = Vec::with_capacity(2);
        let begun = returned > 0;
        self.returned.store(returned.saturating_add(items), Ordering::Relaxed);
        if begun && self.maker.form.is_text() {
            parts.push(F::make(if self.maker.gzip { &COMMA_PACKED } else { b"," }));
            state.sum.add(&Sum::of(b","));
        }
        if self.maker.gzip {
            state.sum.add(&piece.sum);
        }
        parts.push(piece.bytes.share());
        Ok(Some(parts))
    }

    /// Return the next piece, or `made` if it is already made, with the number of its items.
    fn piece(&self, page: &mut Page, made: Option<Arc<Piece<F>>>) -> Result<Option<(Arc<Piece<F>>, u64)>> {
        let Some(part) = page.part(usize::MAX) else { return Ok(None) };
        Ok(Some((made.map_or_else(|| self.maker.piece(&part), Ok)?, part.len() as u64)))
    }

    /// Return the beginning of the body; if compressed, with the head of the stream.
    pub fn open(&self, text: &[u8]) -> F {
        if !self.maker.gzip {
            return F::make(text);
        }
        self.state().sum.add(&Sum::of(text));
        F::make(&[&gzip::HEAD[..], &gzip::deflate(text)].concat())
    }

    /// Return the end of the body; if compressed, with the end of the stream.
    pub fn close(&self, text: &[u8]) -> F {
        if !self.maker.gzip {
            return F::make(text);
        }
        let mut sum = std::mem::take(&mut self.state().sum);
        sum.add(&Sum::of(text));
        F::make(&[gzip::store_block(text), sum.tail()].concat())
    }

    /// Return the objects of the list that a webhook must convert first. If the selection depends on the conversion,
    /// more may follow afterwards.
    pub fn pending(&self) -> Result<Vec<Stored>> {
        let kind = &self.maker.kind;
        if !kind.has_webhook() {
            return Ok(Vec::new());
        }
        let mut page = self.state().page.clone();
        F::apart(|| {
            let (mut out, mut failed) = (Vec::new(), Ok(()));
            let fields = page.selector().fields.clone();
            if fields.is_viewed() {
                page.widen(CONVERTED);
            }
            page.take(|version| {
                match kind.is_pending(version, !fields.knows(version)) {
                    Ok(true) => out.push(Stored::new(kind, Arc::clone(version))),
                    Ok(false) => {}
                    Err(e) => failed = Err(e),
                }
                failed.is_ok()
            });
            failed.map(|()| out)
        })
    }

    /// Return the next selected versions, at most `size`. With `near`, the next one was found before, and no far ones are
    /// searched.
    pub fn versions(&self, size: usize, near: bool) -> Vec<Stored> {
        let (mut out, mut search) = (Vec::new(), Search::new(near));
        let page = &mut self.state().page;
        while out.len() < size && search.find_apart::<F>(page) && !page.is_over() {
            page.take_found(|version| {
                out.push(Stored::new(&self.maker.kind, Arc::clone(version)));
                out.len() < size
            });
        }
        out
    }

    /// Scan to the end of the page. Return the uncompressed length of its items in protobuf, otherwise their number,
    /// and the start of the next page. `None` if a near search does not get there.
    pub fn ahead(&self, near: bool) -> Result<Option<(u64, Rest)>> {
        let is_encoded = self.maker.form.encoding == Encoding::Protobuf;
        if is_encoded && near && !self.is_short() {
            return Ok(None);
        }
        let mut state = self.state();
        let mut page = state.page.clone();
        let mut search = Search::new(near);
        let mut length = 0_u64;
        if is_encoded {
            while Search::new(false).find_apart::<F>(&mut page)
                && let Some((piece, _)) = self.piece(&mut page, None)?
            {
                length = length.saturating_add(piece.plain);
                if length <= HELD {
                    state.made.push_back(piece);
                }
            }
        } else {
            let mut count = || {
                while search.find(&mut page)
                    && let Some(part) = page.part(usize::MAX)
                {
                    length = length.saturating_add(part.len() as u64);
                }
            };
            if near { count() } else { F::apart(count) }
        }
        if !page.is_over() {
            return Ok(None);
        }
        Ok(Some((length, page.rest().map(|(last, remaining)| (format!("{last}\0"), remaining)))))
    }

    /// Return the text before the first item. `rest` has further members of the metadata, each after its comma.
    pub fn head(&self, rest: &str) -> Vec<u8> {
        head::text(&*self.maker.kind, &self.maker.form, self.revision(), rest)
    }

    /// Return the bytes before the items of a protobuf list; `items` is their total length.
    pub fn protobuf_head(&self, items: u64, token: &str, remaining: Option<i64>) -> Vec<u8> {
        head::protobuf(&*self.maker.kind, &self.maker.form, self.revision(), items, (token, remaining))
    }

    /// Return the bytes before the items of a CBOR list; `items` is their number. `rest` is as in [`Self::head`].
    pub fn cbor_head(&self, items: u64, rest: &str) -> Result<Vec<u8>> {
        head::cbor(&self.head(rest), items)
    }
}
