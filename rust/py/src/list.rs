//! Lists, given in pieces.

use std::collections::VecDeque;
use std::sync::Arc;

use hydrofoil_codec::gzip::{self, Sum};
use hydrofoil_codec::{cbor, json, proto};
use hydrofoil_store::{Page, Part, Shard};
use hydrofoil_types::Value;
use parking_lot::Mutex;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::block::{Maker, Piece};
use crate::error::decode_error;
use crate::render::{Encoding, Form, Shape, render, table_head};
use crate::stored::Stored;
use crate::typed::Typed;

/// The bytes of pieces that a list may hold which were made to learn their length.
const HELD: u64 = 8 << 20;

/// How many bytes of stored JSON are encoded while others wait: about 100 microseconds.
const LITTLE: usize = 16 << 10;

/// Among how many objects selected ones are looked for while others wait.
const LOOKED_AT: usize = 1000;

/// How many objects of a page are converted at a time at least, where it is not known which ones it selects.
const CONVERTED: usize = 500;

/// After a full page: the key to go on at, and how many objects follow, if that is known.
type Rest = Option<(String, Option<usize>)>;

/// The cursor of one list.
#[pyclass(frozen)]
pub(crate) struct ListCursor {
    maker: Maker,
    state: Mutex<State>,
}

struct State {
    page: Page,
    /// Whether an item was given.
    begun: bool,
    /// The sum of what was given, when it is packed.
    sum: Sum,
    /// The first pieces, made already.
    made: VecDeque<Arc<Piece>>,
}

impl ListCursor {
    /// Whether the items are longer than `size` bytes, unpacked.
    fn is_longer(&self, size: usize) -> PyResult<bool> {
        let mut page = self.state.lock().page.clone();
        let Maker { typed, form, shard, .. } = &self.maker;
        let now = shard.clock().now();
        let (mut length, mut scratch) = (0, Vec::new());
        while length <= size
            && let Some(part) = page.part(usize::MAX)
        {
            if let Some(piece) = part.is_whole().then(|| self.maker.kept(part.leaf())).flatten() {
                length += piece.plain as usize;
                continue;
            }
            for version in part.versions() {
                scratch.clear();
                if self.is_gathered() {
                    length += version.item().len();
                } else if length <= size {
                    render(typed, form, version, false, now, &mut scratch)?;
                    length += scratch.len();
                }
            }
        }
        Ok(length > size)
    }

    pub(crate) fn new(typed: Arc<Typed>, form: Form, selection: Arc<str>, shard: Arc<Shard>, page: Page) -> Self {
        Self::over(Maker::new(typed, form, false, selection, shard), page)
    }

    fn over(maker: Maker, page: Page) -> Self {
        let state = State { page, begun: false, sum: Sum::default(), made: VecDeque::new() };
        Self { maker, state: Mutex::new(state) }
    }

    fn is_gathered(&self) -> bool {
        self.maker.form.is_stored_json(&self.maker.typed) && !self.maker.gzip
    }

    /// The next piece, unless it was made already.
    fn piece(&self, py: Python<'_>, page: &mut Page, made: Option<Arc<Piece>>) -> PyResult<Option<Arc<Piece>>> {
        let Some(part) = page.part(usize::MAX) else { return Ok(None) };
        made.map_or_else(|| self.maker.piece(py, &part), Ok).map(Some)
    }
}

#[pymethods]
impl ListCursor {
    /// The revision of the list.
    #[getter]
    fn revision(&self) -> u64 {
        self.state.lock().page.revision()
    }

    /// Whether the next chunk costs little: it is copied or kept, or what has to be encoded or packed is short.
    fn cheap(&self) -> bool {
        if self.is_gathered() {
            return true;
        }
        let state = self.state.lock();
        if !state.made.is_empty() {
            return true;
        }
        let mut page = state.page.clone();
        page.part(usize::MAX).is_none_or(|part| self.maker.cost(&part) <= LITTLE)
    }

    /// Whether all that is left of the page costs little to look for and to make: a handful of small objects.
    fn short(&self) -> bool {
        let state = self.state.lock();
        let mut page = state.page.clone();
        if !page.selector().is_plain() && page.following() > LOOKED_AT {
            return false;
        }
        let mut cost = 0;
        while cost <= LITTLE
            && let Some(part) = page.part(usize::MAX)
        {
            cost += self.maker.cost(&part);
        }
        cost <= LITTLE
    }

    /// The next items as parts of the body, with what separates them from the items before; `None` at the end.
    /// `size` bounds what is copied together.
    fn chunk<'py>(&self, py: Python<'py>, size: usize) -> PyResult<Option<Vec<Bound<'py, PyBytes>>>> {
        let mut state = self.state.lock();
        let state = &mut *state;
        if self.is_gathered() {
            return Ok(gather(py, &self.maker, state, size)?.map(|bytes| vec![bytes]));
        }
        let made = state.made.pop_front();
        let Some(piece) = self.piece(py, &mut state.page, made)? else { return Ok(None) };
        let mut parts = Vec::with_capacity(2);
        if std::mem::replace(&mut state.begun, true) && self.maker.form.is_text() {
            parts.push(PyBytes::new(py, if self.maker.gzip { &COMMA_PACKED } else { b"," }));
            state.sum.add(&Sum::of(b","));
        }
        if self.maker.gzip {
            state.sum.add(&piece.sum);
        }
        parts.push(piece.bytes.bind(py).clone());
        Ok(Some(parts))
    }

    /// What stands at the beginning of the body; packed with the head of the stream.
    fn open<'py>(&self, py: Python<'py>, text: &[u8]) -> Bound<'py, PyBytes> {
        if !self.maker.gzip {
            return PyBytes::new(py, text);
        }
        self.state.lock().sum.add(&Sum::of(text));
        let mut out = gzip::HEAD.to_vec();
        out.extend(gzip::deflate(text));
        PyBytes::new(py, &out)
    }

    /// What stands at the end of the body; packed with the end of the stream.
    fn close<'py>(&self, py: Python<'py>, text: &[u8]) -> Bound<'py, PyBytes> {
        if !self.maker.gzip {
            return PyBytes::new(py, text);
        }
        let mut sum = std::mem::take(&mut self.state.lock().sum);
        sum.add(&Sum::of(text));
        let mut out = gzip::stored(text);
        out.extend(sum.tail());
        PyBytes::new(py, &out)
    }

    /// What a webhook has yet to convert of what the list will give. Where it selects by what is converted, more may
    /// have to be after that.
    fn pending(&self) -> PyResult<Vec<Stored>> {
        let Some(custom) = &self.maker.typed.custom else { return Ok(Vec::new()) };
        let mut out = Vec::new();
        let mut failed = Ok(());
        let mut page = self.state.lock().page.clone();
        let fields = page.selector().fields.clone();
        if fields.is_viewed() {
            page.widen(CONVERTED);
        }
        page.take(|version| {
            match custom.is_pending(&self.maker.typed.schema, version, !fields.knows(version)) {
                Ok(true) => out.push(Stored::new(&self.maker.typed, Arc::clone(version))),
                Ok(false) => {}
                Err(e) => failed = Err(e),
            }
            failed.is_ok()
        });
        failed.map(|()| out)
    }

    /// The versions selected, at most `size` of them.
    fn versions(&self, size: usize) -> Vec<Stored> {
        let mut out = Vec::new();
        self.state.lock().page.take(|v| {
            out.push(Stored::new(&self.maker.typed, Arc::clone(v)));
            out.len() < size
        });
        out
    }

    /// Whether the items are longer than `size` bytes, unpacked.
    fn exceeds(&self, py: Python<'_>, size: usize) -> PyResult<bool> {
        if self.is_gathered() { self.is_longer(size) } else { py.detach(|| self.is_longer(size)) }
    }

    /// The same list from the beginning, packed with gzip.
    fn packed(&self) -> Self {
        let Maker { typed, form, selection, shard, .. } = &self.maker;
        let maker = Maker::new(Arc::clone(typed), form.clone(), true, Arc::clone(selection), Arc::clone(shard));
        Self::over(maker, self.state.lock().page.clone())
    }

    #[getter]
    fn is_packed(&self) -> bool {
        self.maker.gzip
    }

    /// Walks ahead to the end of the page: how long its items are in protobuf, unpacked, or else how many they are;
    /// the key to go on at, and how many objects follow, if that is known.
    fn ahead(&self, py: Python<'_>) -> PyResult<(u64, Rest)> {
        let mut state = self.state.lock();
        let mut page = state.page.clone();
        let mut length = 0;
        if self.maker.form.encoding == Encoding::Protobuf {
            while let Some(piece) = self.piece(py, &mut page, None)? {
                length += piece.plain;
                if length <= HELD {
                    state.made.push_back(piece);
                }
            }
        } else {
            while let Some(part) = page.part(usize::MAX) {
                length += part.len() as u64;
            }
        }
        Ok((length, page.rest().map(|(last, remaining)| (format!("{last}\0"), remaining))))
    }

    /// What stands before the items of a protobuf list whose items have a length: the envelope and the metadata.
    fn envelope<'py>(&self, py: Python<'py>, items: u64, token: &str, remaining: Option<i64>) -> Bound<'py, PyBytes> {
        let typed = &self.maker.typed;
        let head = proto::list_head(&self.revision().to_string(), token, remaining);
        let (api_version, kind) = match &self.maker.form.shape {
            Shape::Metadata(version) => (format!("meta.k8s.io/{version}"), "PartialObjectMetadataList"),
            _ => (typed.api_version.to_string(), typed.resource.list_kind.as_str()),
        };
        PyBytes::new(py, &proto::envelope_head(&api_version, kind, &head, items))
    }

    /// What stands before the items of a CBOR list of so many. `rest` holds further members of the metadata.
    fn cbor_head<'py>(&self, py: Python<'py>, items: u64, rest: &str) -> PyResult<Bound<'py, PyBytes>> {
        let text = [self.head(py, rest).as_bytes(), b"]}"].concat();
        let value = json::parse(&text).map_err(|e| decode_error(&e))?.value;
        let members = value.as_object().expect("the head of a list is an object");
        let mut out = cbor::SELF_DESCRIBED.to_vec();
        cbor::map_head(members.len() as u64, &mut out);
        for (i, (name, member)) in members.iter().enumerate() {
            cbor::encode(None, &Value::Str(name.clone()), &mut out);
            if i + 1 < members.len() {
                cbor::encode(None, member, &mut out);
            }
        }
        cbor::array_head(items, &mut out);
        Ok(PyBytes::new(py, &out))
    }

    /// What stands before the first item. `rest` holds further members of the metadata.
    fn head<'py>(&self, py: Python<'py>, rest: &str) -> Bound<'py, PyBytes> {
        let revision = self.revision().to_string();
        let typed = &self.maker.typed;
        let (kind, version) = match &self.maker.form.shape {
            Shape::Table { version, .. } => {
                return PyBytes::new(py, &table_head(typed, version, &revision, rest, true));
            }
            Shape::Metadata(version) => ("PartialObjectMetadataList", format!("meta.k8s.io/{version}")),
            Shape::Object | Shape::Bare => (typed.resource.list_kind.as_str(), typed.api_version.to_string()),
        };
        // Lists of unstructured objects have a token even when there is nothing to go on with.
        let unstructured =
            typed.custom.is_some() && self.maker.form.shape == Shape::Object && !rest.contains("continue");
        let token = if unstructured { r#","continue":"""# } else { "" };
        let head = format!(
            r#"{{"kind":"{kind}","apiVersion":"{version}","metadata":{{"resourceVersion":"{revision}"{token}{rest}}},"items":["#
        );
        PyBytes::new(py, head.as_bytes())
    }
}

/// A comma as a block of a deflate stream.
const COMMA_PACKED: [u8; 6] = [0, 1, 0, 0xfe, 0xff, b','];

/// Stored JSON is its own encoding: pieces of it are gathered, nothing is kept.
fn gather<'py>(
    py: Python<'py>,
    maker: &Maker,
    state: &mut State,
    size: usize,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let typed = &*maker.typed;
    let mut parts = Vec::new();
    let (mut length, mut count) = (0, 0);
    // As many at a time as fit if they are like the ones before.
    let mut most = 1;
    while length < size
        && let Some(part) = state.page.part(most)
    {
        length += part.versions().map(|v| v.item().len() + 2).sum::<usize>();
        count += part.len();
        most = (size.saturating_sub(length) * count / length).max(1);
        parts.push(part);
    }
    if parts.is_empty() {
        return Ok(None);
    }
    if typed.custom.is_some() && !parts.iter().flat_map(Part::versions).all(|v| typed.is_stored_form(v)) {
        return rewritten(py, maker, state, &parts).map(Some);
    }
    let skip = usize::from(!std::mem::replace(&mut state.begun, true));
    let bytes = PyBytes::new_with(py, length - skip, |out| {
        let mut at = 0;
        for version in parts.iter().flat_map(Part::versions) {
            if at > 0 || skip == 0 {
                out[at] = b',';
                at += 1;
            }
            out[at] = b'{';
            let item = version.item();
            out[at + 1..at + 1 + item.len()].copy_from_slice(item);
            at += item.len() + 1;
        }
        Ok(())
    })?;
    Ok(Some(bytes))
}

/// Custom resources of which some are stored in another version than the one to show.
fn rewritten<'py>(py: Python<'py>, maker: &Maker, state: &mut State, parts: &[Part]) -> PyResult<Bound<'py, PyBytes>> {
    let now = maker.shard.clock().now();
    let form = Form { shape: Shape::Object, encoding: Encoding::Json };
    let mut out = Vec::new();
    for version in parts.iter().flat_map(Part::versions) {
        if std::mem::replace(&mut state.begun, true) {
            out.push(b',');
        }
        render(&maker.typed, &form, version, false, now, &mut out)?;
    }
    Ok(PyBytes::new(py, &out))
}
