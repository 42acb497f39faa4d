//! Label keys and values (apimachinery `pkg/api/validate/content/kube.go`).

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]
#![allow(clippy::indexing_slicing, reason = "the place was found in the list, or the length looked at before")]

use super::name;

const FORM: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const VALUE: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

fn word(b: &[u8]) -> bool {
    !b.is_empty()
        && b[0].is_ascii_alphanumeric()
        && b[b.len() - 1].is_ascii_alphanumeric()
        && b.iter().all(|c| name::IN_KEYS[usize::from(*c)])
}

/// `IsQualifiedName`, which is also the rule of label keys.
pub fn key(text: &str, bad: &mut dyn FnMut(&str)) {
    // Most have no prefix.
    if text.len() <= 63 && word(text.as_bytes()) {
        return;
    }
    let mut parts = text.split('/');
    let (first, second, third) = (parts.next().unwrap_or(""), parts.next(), parts.next());
    if third.is_some() {
        return bad(&format!(
            "a valid label key {FORM} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        ));
    }
    let name = second.unwrap_or(first);
    if second.is_some() {
        if first.is_empty() {
            bad("prefix part must be non-empty");
        } else {
            // The newer package behind label keys counts in bytes.
            name::subdomain(first, &mut |detail| {
                bad(&format!("prefix part {}", detail.replace("253 characters", "253 bytes")));
            });
        }
    }
    if name.is_empty() {
        bad("name part must be non-empty");
    } else if name.len() > 63 {
        bad("name part must be no more than 63 bytes");
    }
    if !word(name.as_bytes()) {
        bad(&format!("name part {FORM}"));
    }
}

/// `IsValidLabelValue`.
pub fn value(text: &str, bad: &mut dyn FnMut(&str)) {
    if text.len() > 63 {
        bad("must be no more than 63 bytes");
    }
    if !text.is_empty() && !word(text.as_bytes()) {
        bad(VALUE);
    }
}

/// Report whether a key has a valid prefix and name (`IsDomainPrefixedPath` and friends).
pub fn is_key(text: &str) -> bool {
    let mut ok = true;
    key(text, &mut |_| ok = false);
    ok
}
