//! URLs, as far as validation uses Go's `net/url`.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]
#![allow(clippy::indexing_slicing, reason = "the place was found in the list, or the length looked at before")]
#![allow(clippy::string_slice, reason = "it is cut at characters of ASCII that were found there")]

/// The parts of a URL.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Url<'a> {
    /// The scheme.
    pub scheme: &'a str,
    /// The user, and a password with it.
    pub user: Option<&'a str>,
    /// The host, with a port if there is one.
    pub host: &'a str,
    /// The path.
    pub path: &'a str,
    /// The query, without its question mark.
    pub query: &'a str,
    /// The fragment, without its sign.
    pub fragment: &'a str,
}

/// `url.Parse`; the error is Go's text after `parse "...": `.
pub fn parse(text: &str) -> Result<Url<'_>, String> {
    let fail = |detail: &str| Err(format!("parse {}: {detail}", quote(text)));
    if text.bytes().any(|b| b < 0x20 || b == 0x7f) {
        return fail("net/url: invalid control character in URL");
    }
    let (rest, fragment) = text.split_once('#').unwrap_or((text, ""));
    if rest.is_empty() {
        return Ok(Url { fragment, ..Url::default() });
    }
    let Ok((scheme, rest)) = scheme(rest) else { return fail("missing protocol scheme") };
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    if !rest.starts_with('/') {
        if !scheme.is_empty() {
            return Ok(Url { scheme, query, fragment, ..Url::default() });
        }
        if rest.split('/').next().is_some_and(|segment| segment.contains(':')) {
            return fail("first path segment in URL cannot contain colon");
        }
    }
    let (authority, path) = match rest.strip_prefix("//") {
        Some(rest) if !rest.starts_with('/') || !scheme.is_empty() => {
            let end = rest.find('/').unwrap_or(rest.len());
            (&rest[..end], &rest[end..])
        }
        _ => ("", rest),
    };
    let (user, host) = authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
    if let Some(bad) = host.chars().find(|c| matches!(c, ' ' | '<' | '>' | '"' | '\\' | '^' | '`' | '{' | '|' | '}')) {
        return fail(&format!("invalid character {} in host name", quote(&bad.to_string())));
    }
    let port = host.rfind(']').map_or(host, |end| &host[end + 1..]);
    if let Some(at) = port.rfind(':')
        && !port[at + 1..].bytes().all(|b| b.is_ascii_digit())
    {
        return fail(&format!("invalid port {} after host", quote(&port[at..])));
    }
    for part in [host, path, fragment] {
        if let Some(bad) = bad_escape(part) {
            return fail(&format!("invalid URL escape {}", quote(bad)));
        }
    }
    Ok(Url { scheme, user, host, path, query, fragment })
}

fn scheme(text: &str) -> Result<(&str, &str), ()> {
    for (i, b) in text.bytes().enumerate() {
        match b {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if i > 0 => {}
            b':' if i == 0 => return Err(()),
            b':' => return Ok((&text[..i], &text[i + 1..])),
            _ => return Ok(("", text)),
        }
    }
    Ok(("", text))
}

fn bad_escape(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let at = (0..bytes.len())
        .find(|i| bytes[*i] == b'%' && !bytes.get(i + 1..i + 3).is_some_and(|h| h.iter().all(u8::is_ascii_hexdigit)))?;
    let mut end = (at + 3).min(text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    Some(&text[at..end])
}

fn quote(text: &str) -> String {
    format!("{text:?}")
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn parts() {
        let u = parse("https://u@h:1/p?q#f").unwrap();
        assert_eq!(
            (u.scheme, u.user, u.host, u.path, u.query, u.fragment),
            ("https", Some("u"), "h:1", "/p", "q", "f")
        );
        assert!(parse("a b").is_ok());
        for bad in [":x", "http://a:b", "http://a b", "%zz", "a:b\u{1}"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
