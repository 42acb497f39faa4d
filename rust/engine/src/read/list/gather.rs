//! Lists of stored JSON, which is copied without a cache.

use hydrofoil_store::{Page, Part};

use super::block::Maker;
use super::search::Search;
use crate::error::Result;
use crate::frame::Frame;
use crate::read::form::Form;
use crate::read::render::render;

/// Copy the next items of a page, about `size` bytes in total as far as they are searched for; `returned` counts the
/// items. `None` at the end of the page.
pub(super) fn gather<F: Frame>(
    maker: &Maker,
    page: &mut Page,
    returned: &mut u64,
    size: usize,
    mut search: Search,
) -> Result<Option<F>> {
    let mut parts = Vec::new();
    let (mut length, mut count) = (0_usize, 0_usize);
    // As many at a time as fit, by the size of the previous ones.
    let mut most = 1;
    while length < size
        && search.find_apart::<F>(page)
        && let Some(part) = page.part(most)
    {
        let more: usize = part.versions().map(|v| v.item().len().saturating_add(2)).sum();
        (length, count) = (length.saturating_add(more), count.saturating_add(part.len()));
        most = size.saturating_sub(length).saturating_mul(count).checked_div(length).unwrap_or(1).max(1);
        parts.push(part);
    }
    if parts.is_empty() {
        return Ok(None);
    }
    let kind = &*maker.kind;
    if kind.stores_many_versions() && !parts.iter().flat_map(Part::versions).all(|v| kind.is_stored_form(v)) {
        return rewritten(maker, returned, &parts).map(Some);
    }
    let mut comma = *returned > 0;
    *returned = returned.saturating_add(count as u64);
    Ok(Some(F::fill(length.saturating_sub(usize::from(!comma)), |mut out| {
        for version in parts.iter().flat_map(Part::versions) {
            if std::mem::replace(&mut comma, true) {
                out = put_byte(out, b',');
            }
            out = put(put_byte(out, b'{'), version.item());
        }
    })))
}

/// Write one byte to the beginning of a buffer and return the rest: a copy of one byte costs more than everything
/// around it.
fn put_byte(out: &mut [u8], byte: u8) -> &mut [u8] {
    let Some((here, rest)) = out.split_first_mut() else { return &mut [] };
    *here = byte;
    rest
}

/// Copy bytes to the beginning of a buffer and return the rest.
fn put<'o>(out: &'o mut [u8], bytes: &[u8]) -> &'o mut [u8] {
    let Some((here, rest)) = out.split_at_mut_checked(bytes.len()) else { return &mut [] };
    here.copy_from_slice(bytes);
    rest
}

/// Copy custom resources of which some are stored in another version than the requested one.
fn rewritten<F: Frame>(maker: &Maker, returned: &mut u64, parts: &[Part]) -> Result<F> {
    let now = maker.shard.clock().now();
    let mut out = Vec::new();
    for version in parts.iter().flat_map(Part::versions) {
        if *returned > 0 {
            out.push(b',');
        }
        *returned = returned.saturating_add(1);
        render(&*maker.kind, &Form::JSON, version, false, now, &mut out)?;
    }
    Ok(F::make(&out))
}
