//! Paths with a domain as prefix (`IsDomainPrefixedPath`).

use hydrofoil_types::{Causes, Path};

use crate::check::Check;
use crate::format::name;

/// `IsDomainPrefixedPath`.
pub fn domain_path(value: &str, at: &Path<'_>, causes: &mut Causes) {
    if value.is_empty() {
        return causes.need(at);
    }
    let Some((host, rest)) = value.split_once('/').filter(|(h, r)| !h.is_empty() && !r.is_empty()) else {
        return causes.invalid_str(at, value, "must be a domain-prefixed path (such as \"acme.io/foo\")");
    };
    causes.format(at, host, name::subdomain);
    if !rest.bytes().all(|b| b.is_ascii_alphanumeric() || b"/-._~%!$&'()*+,;=:".contains(&b)) {
        let detail = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";
        causes.invalid_str(at, rest, detail);
    }
}
