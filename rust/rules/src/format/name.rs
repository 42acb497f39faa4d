//! Names: DNS labels and subdomains, path segments, keys.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]
#![allow(clippy::indexing_slicing, reason = "the place was found in the list, or the length looked at before")]
#![allow(clippy::string_slice, reason = "it is cut at characters of ASCII that were found there")]

const LABEL: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const CASELESS: &str = "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'Example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const SUBDOMAIN: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const UNDERSCORE: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')";
const WILDCARD: &str = "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_1035: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const KEY: &str = "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
const LONG_63: &str = "must be no more than 63 characters";
const LONG_253: &str = "must be no more than 253 characters";

/// The bytes allowed in keys of labels and of configurations: letters, digits, `-`, `_` and `.`.
pub(super) static IN_KEYS: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        table[byte as usize] = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        byte += 1;
    }
    table
};

fn alnum(b: u8) -> bool {
    b.is_ascii_lowercase() || b.is_ascii_digit()
}

fn label_bytes(b: &[u8]) -> bool {
    !b.is_empty() && alnum(b[0]) && alnum(b[b.len() - 1]) && b.iter().all(|c| alnum(*c) || *c == b'-')
}

/// Report whether the text is an RFC 1123 subdomain.
pub fn is_subdomain(text: &str) -> bool {
    text.len() <= 253 && text.as_bytes().split(|b| *b == b'.').all(label_bytes)
}

/// `IsDNS1123Label`.
pub fn label(text: &str, bad: &mut dyn FnMut(&str)) {
    if text.len() > 63 {
        bad(LONG_63);
    }
    if !label_bytes(text.as_bytes()) {
        // Upstream hints at the other rule when only dots are invalid.
        if is_subdomain(text) {
            bad("must not contain dots");
        } else {
            bad(LABEL);
        }
    }
}

/// `IsDNS1123Subdomain`.
pub fn subdomain(text: &str, bad: &mut dyn FnMut(&str)) {
    if text.len() > 253 {
        bad(LONG_253);
    }
    if !text.as_bytes().split(|b| *b == b'.').all(label_bytes) {
        bad(SUBDOMAIN);
    }
}

/// `validate.ShortName`: a label whose length is counted in bytes.
pub fn short(text: &str, bad: &mut dyn FnMut(&str)) {
    label(text, &mut |detail| bad(if detail == LONG_63 { "must be no more than 63 bytes" } else { detail }));
}

/// `validate.LongName`: a subdomain whose length is counted in bytes.
pub fn long(text: &str, bad: &mut dyn FnMut(&str)) {
    subdomain(text, &mut |detail| bad(if detail == LONG_253 { "must be no more than 253 bytes" } else { detail }));
}

/// `validate.LongNameCaseless`: a subdomain that may have capitals.
pub fn caseless(text: &str, bad: &mut dyn FnMut(&str)) {
    long(&text.to_ascii_lowercase(), &mut |detail| bad(if detail == SUBDOMAIN { CASELESS } else { detail }));
}

/// `IsDNS1123SubdomainWithUnderscore`.
pub fn subdomain_underscore(text: &str, bad: &mut dyn FnMut(&str)) {
    if text.len() > 253 {
        bad(LONG_253);
    }
    let ok = text.as_bytes().split(|b| *b == b'.').all(|part| {
        let rest = part.strip_prefix(b"_").unwrap_or(part);
        let (Some(first), Some(last)) = (rest.first(), rest.last()) else { return false };
        alnum(*first) && alnum(*last) && rest.iter().all(|b| alnum(*b) || matches!(b, b'-' | b'_'))
    });
    if !ok {
        bad(UNDERSCORE);
    }
}

/// `IsWildcardDNS1123Subdomain`.
pub fn wildcard(text: &str, bad: &mut dyn FnMut(&str)) {
    if text.len() > 253 {
        bad(LONG_253);
    }
    if !text.strip_prefix("*.").is_some_and(|rest| rest.as_bytes().split(|b| *b == b'.').all(label_bytes)) {
        bad(WILDCARD);
    }
}

/// `IsDNS1035Label`.
pub fn label_1035(text: &str, bad: &mut dyn FnMut(&str)) {
    if text.len() > 63 {
        bad(LONG_63);
    }
    if !(label_bytes(text.as_bytes()) && text.as_bytes()[0].is_ascii_lowercase()) {
        bad(LABEL_1035);
    }
}

/// `IsValidPathSegmentName`.
pub fn path_segment(text: &str, bad: &mut dyn FnMut(&str)) {
    if text == "." || text == ".." {
        return bad(if text == "." { "may not be '.'" } else { "may not be '..'" });
    }
    if text.contains('/') {
        bad("may not contain '/'");
    }
    if text.contains('%') {
        bad("may not contain '%'");
    }
}

/// Report whether what is wrong of a path segment concerns whole ones alone, not prefixes of names.
pub fn is_of_whole(detail: &str) -> bool {
    detail.starts_with("may not be '.")
}

/// `IsConfigMapKey`.
pub fn config_key(text: &str, bad: &mut dyn FnMut(&str)) {
    if text.len() > 253 {
        bad(LONG_253);
    }
    if text.is_empty() || !text.bytes().all(|b| IN_KEYS[usize::from(b)]) {
        bad(KEY);
    }
    if text == "." {
        bad("must not be '.'");
    } else if text == ".." {
        bad("must not be '..'");
    } else if text.starts_with("..") {
        bad("must not start with '..'");
    }
}

/// `maskTrailingDash`: a name to be continued may end in a dash.
pub fn mask_trailing_dash(prefix: &str) -> std::borrow::Cow<'_, str> {
    match prefix.strip_suffix('-') {
        Some(rest) if !rest.is_empty() => {
            let mut end = rest.len() - 1;
            while !rest.is_char_boundary(end) {
                end -= 1;
            }
            format!("{}a", &rest[..end]).into()
        }
        _ => prefix.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bad(f: super::super::Format, text: &str) -> usize {
        let mut n = 0;
        f(text, &mut |_| n += 1);
        n
    }

    #[test]
    fn forms() {
        assert_eq!(bad(label, "a-b"), 0);
        assert_eq!(bad(label, "a.b"), 1);
        assert_eq!(bad(label, &"a".repeat(64)), 1);
        assert_eq!(bad(subdomain, "a.b-c"), 0);
        assert_eq!(bad(subdomain, "a..b"), 1);
        assert_eq!(bad(label_1035, "1a"), 1);
        assert_eq!(bad(label_1035, ""), 1);
        assert_eq!(bad(wildcard, "*.a"), 0);
        assert_eq!(bad(config_key, "..a"), 1);
        assert_eq!(bad(path_segment, "a/b%"), 2);
    }
}
