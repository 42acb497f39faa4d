//! The tag of an image reference, as far as pull policies care (`pkg/util/parsers`).

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

/// Report whether the reference names the tag `latest`, explicitly or by naming neither tag nor digest.
pub fn is_latest(image: &str) -> bool {
    if image.contains('@') {
        // A digest: upstream leaves the tag empty unless one is written as well.
        let named = image.split('@').next().unwrap_or("");
        return tag(named) == Some("latest");
    }
    // An unparsable reference has an empty tag and so `IfNotPresent`.
    reference_parses(image) && tag(image).is_none_or(|t| t == "latest")
}

fn tag(name: &str) -> Option<&str> {
    let last = name.rsplit('/').next().unwrap_or(name);
    last.split_once(':').map(|(_, tag)| tag)
}

/// Report whether `distribution/reference` accepts a name: lower-case path parts, an optional host and tag.
fn reference_parses(image: &str) -> bool {
    let (name, tag) = match image.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, Some(tag)),
        _ => (image, None),
    };
    if let Some(tag) = tag {
        let ok = !tag.is_empty()
            && tag.len() <= 128
            && tag
                .bytes()
                .enumerate()
                .all(|(i, b)| b.is_ascii_alphanumeric() || b == b'_' || (i > 0 && (b == b'.' || b == b'-')));
        if !ok {
            return false;
        }
    }
    if is_hex_id(image) {
        return false;
    }
    let mut parts = name.split('/').peekable();
    let mut first = true;
    // Names without a host and a slash are in the library.
    let mut length = if name.contains('/') { name.len() } else { "library/".len() + name.len() };
    while let Some(part) = parts.next() {
        let host = first
            && parts.peek().is_some()
            && (part.contains(['.', ':']) || part == "localhost" || part.bytes().any(|b| b.is_ascii_uppercase()));
        first = false;
        if host {
            length -= part.len() + 1;
        }
        if !(if host { host_parses(part) } else { path_parses(part) }) {
            return false;
        }
    }
    length <= 255
}

/// Report whether a text is an image id of sixty-four hexadecimal digits, which is not a reference.
fn is_hex_id(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
}

fn host_parses(host: &str) -> bool {
    let (name, port) = host.split_once(':').map_or((host, None), |(n, p)| (n, Some(p)));
    port.is_none_or(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit()))
        && name.split('.').all(|label| {
            !label.is_empty()
                && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
                && !label.starts_with('-')
                && !label.ends_with('-')
        })
}

/// `alnum+ ((\.|_|__|-+) alnum+)*`
fn path_parses(part: &str) -> bool {
    let alnum = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let bytes = part.as_bytes();
    if !bytes.first().copied().is_some_and(alnum) || !bytes.last().copied().is_some_and(alnum) {
        return false;
    }
    bytes.split(|b| alnum(*b)).all(|sep| matches!(sep, b"" | b"." | b"_" | b"__") || sep.iter().all(|b| *b == b'-'))
}

#[cfg(test)]
mod tests {
    use super::is_latest;

    #[test]
    fn tags() {
        for latest in ["a", "a:latest", "a/b", "host:5000/a", "Host.io/a"] {
            assert!(is_latest(latest), "{latest}");
        }
        for other in ["a:1", "host:5000/a:2", "a@sha256:0", "", "A", "a b", "a:b c", "-a"] {
            assert!(!is_latest(other), "{other}");
        }
    }
}
