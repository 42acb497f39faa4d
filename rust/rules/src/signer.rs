//! Names of signers (`pkg/apis/core/validation/names.go`).

use hydrofoil_text::quoted;
use hydrofoil_types::{Causes, Path};

use super::check::Check;
use super::format::{Format, name};

const LONGEST_DOMAIN: usize = 253;
const LONGEST: usize = 571;

/// `IsKubernetesSignerName`.
pub fn is_of_kubernetes(signer: &str) -> bool {
    let domain = signer.split('/').next().unwrap_or("");
    domain == "kubernetes.io" || domain.ends_with(".kubernetes.io")
}

/// `ValidateSignerName`.
pub fn signer(text: &str, at: &Path<'_>, causes: &mut Causes) {
    if text.is_empty() {
        return causes.need(at);
    }
    let segments: Vec<&str> = text.split('/').collect();
    let [domain, path] = segments.as_slice() else {
        let detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
        return causes.invalid_str(at, text, detail);
    };
    if domain.len() > LONGEST_DOMAIN {
        causes.too_long(at, LONGEST_DOMAIN);
    }
    first_bad(domain, name::label, at, causes);
    if !domain.contains('.') {
        causes.invalid_str(at, domain, "should be a domain with at least two segments separated by dots");
    }
    first_bad(path, name::subdomain, at, causes);
    if text.len() > LONGEST {
        causes.too_long(at, LONGEST);
    }
}

/// Add the errors of the first part between dots that has any.
fn first_bad(text: &str, format: Format, at: &Path<'_>, causes: &mut Causes) {
    for part in text.split('.') {
        let mut good = true;
        format(part, &mut |detail| {
            causes.invalid_str(at, text, &format!("validating label {}: {detail}", quoted(part)));
            good = false;
        });
        if !good {
            return;
        }
    }
}
