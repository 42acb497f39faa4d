//! Names of drivers, pools and attributes (`pkg/apis/resource/validation/validation.go`).

use hydrofoil_types::{Causes, Path};

use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::{name, text};

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
pub(super) fn qualified_name(text_: &str, at: &Path<'_>, causes: &mut Causes) {
    let Some((domain, own)) = text_.split_once('/') else { return identifier(text_, at, causes) };
    if own.contains('/') {
        // Upstream accepts names of more than two parts unchecked.
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
    qualified_name(text_, at, causes);
    if !text_.contains('/') {
        causes.invalid_str(at, text_, "a fully qualified name must be a domain and a name separated by a slash");
    }
}

/// Return a key as paths show it: without its middle where it is long (`truncateIfTooLong`).
pub(super) fn truncate_key(key: &str, most: usize) -> String {
    if key.len() <= most {
        return key.to_owned();
    }
    let rest = most.saturating_sub("...".len());
    let bytes = key.as_bytes();
    let head = bytes.get(..rest.div_ceil(2)).unwrap_or_default();
    let tail = bytes.get(key.len().saturating_sub(rest / 2)..).unwrap_or_default();
    format!("{}...{}", String::from_utf8_lossy(head), String::from_utf8_lossy(tail))
}

/// How much of the name of an attribute or a capacity paths show.
pub(super) const LONGEST: usize = 63 + 1 + 32;
