//! Dynamic resource allocation (`pkg/apis/resource/validation/validation.go`).

mod claim;
mod slice;
mod status;

pub(crate) use claim::{claim, class, template, update};
pub(crate) use slice::slice;

use hydrofoil_cel::Environment;
use hydrofoil_types::{Causes, Path, Value};

use crate::read::Read;
use crate::validate::admission::refuse;
use crate::validate::check::Check;
use crate::validate::format::{name, text};

/// `validateDriverName`.
pub(super) fn driver(driver: &str, at: &Path<'_>, causes: &mut Causes) {
    if driver.is_empty() {
        return causes.need(at);
    }
    if driver.len() > 63 {
        causes.too_long(at, 63);
    }
    name::subdomain(&driver.to_lowercase(), &mut |detail| causes.invalid_str(at, driver, detail));
}

/// `validatePoolName`: segments of subdomains.
pub(super) fn pool(pool: &str, at: &Path<'_>, causes: &mut Causes) {
    if pool.is_empty() {
        return causes.need(at);
    }
    if pool.len() > 253 {
        causes.too_long(at, 253);
    }
    for part in pool.split('/') {
        causes.format(at, part, name::subdomain);
    }
}

/// `validateQualifiedName` of attributes and capacities.
pub(super) fn qualified(text_: &str, at: &Path<'_>, causes: &mut Causes) {
    let Some((domain, own)) = text_.split_once('/') else { return identifier(text_, at, causes) };
    if own.contains('/') {
        // Upstream takes names of more than two parts as they are.
        return;
    }
    if domain.is_empty() {
        causes.invalid_str(at, "", "the domain must not be empty");
    } else {
        driver(domain, at, causes);
    }
    if own.is_empty() {
        causes.invalid_str(at, "", "the name must not be empty");
    } else {
        identifier(own, at, causes);
    }
}

fn identifier(own: &str, at: &Path<'_>, causes: &mut Causes) {
    if own.len() > 32 {
        causes.too_long(at, 32);
    }
    causes.format(at, own, text::c_identifier);
}

/// `validateFullyQualifiedName`.
pub(super) fn fully_qualified(text_: &str, at: &Path<'_>, causes: &mut Causes) {
    qualified(text_, at, causes);
    if !text_.contains('/') {
        causes.invalid_str(at, text_, "a fully qualified name must be a domain and a name separated by a slash");
    }
}

/// `validateSelector`s.
pub(super) fn selectors(list: &[Value], path: &Path<'_>, causes: &mut Causes) {
    if list.len() > 32 {
        causes.too_many(path, list.len(), 32);
    }
    for (i, selector) in list.iter().enumerate() {
        let at = path.index(i);
        let at = at.child("cel");
        match selector.opt("cel") {
            None => causes.need(&at),
            Some(cel) => expression(cel.s("expression"), &at.child("expression"), causes),
        }
    }
}

/// `validateCELSelector`.
fn expression(text: &str, at: &Path<'_>, causes: &mut Causes) {
    const LONGEST: usize = 10 * 1024;
    const COST: u64 = 1_000_000;
    if text.len() > LONGEST {
        return causes.too_long(at, LONGEST);
    }
    match Environment::device().check(text) {
        Err(why) => refuse(why, at, text, causes),
        Ok(output) if !output.is("bool") && !output.is("dyn") => {
            causes.invalid_str(at, text, &format!("must evaluate to bool or the unknown type, not {output}"));
        }
        Ok(output) if output.cost > COST => causes.forbidden(at, "too complex, exceeds cost limit"),
        Ok(_) => {}
    }
}

/// `validateDeviceConfiguration`.
pub(super) fn opaque(holder: &Value, path: &Path<'_>, causes: &mut Causes) {
    let at = path.child("opaque");
    let Some(value) = holder.opt("opaque") else { return causes.need(&at) };
    driver(value.s("driver"), &at.child("driver"), causes);
    raw(value.opt("parameters"), &at.child("parameters"), causes);
}

/// `validateRawExtension`. Nothing longer was ever stored, so that what is stored needs no leniency.
pub(super) fn raw(value: Option<&Value>, at: &Path<'_>, causes: &mut Causes) {
    const LONGEST: usize = 10 << 10;
    match value {
        None => causes.need(at),
        Some(Value::Raw(text)) if text.len() > LONGEST => causes.too_long(at, LONGEST),
        Some(Value::Raw(text)) if text.starts_with('{') => {}
        Some(_) => causes.invalid_str(at, "<value omitted>", "must be a valid JSON object"),
    }
}
