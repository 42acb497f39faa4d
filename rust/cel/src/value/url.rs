//! URLs (Go `net/url`, the part that requests use).

#![allow(
    clippy::arithmetic_side_effects,
    reason = "sizes and costs are bounded by the budget of a run; numbers of a rule are calculated with checks"
)]
#![allow(clippy::string_slice, reason = "it is cut at characters that were found there")]

use std::fmt::Write as _;

/// An absolute URL or an absolute path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url {
    pub scheme: String,
    pub host: String,
    pub path: String,
    pub query: String,
    pub fragment: String,
}

impl Url {
    /// Parse with the errors of `url.ParseRequestURI`, then `url.Parse`.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.bytes().any(|b| b < 0x20 || b == 0x7f) {
            return Err("net/url: invalid control character in URL".to_owned());
        }
        if text.is_empty() {
            return Err("empty url".to_owned());
        }
        let (scheme, rest) = scheme(text)?;
        if !rest.starts_with('/') && scheme.is_empty() {
            return Err("invalid URI for request".to_owned());
        }
        let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        if !rest.starts_with('/') {
            // An opaque URL: `mailto:a@b`.
            let url = Self {
                scheme,
                host: String::new(),
                path: String::new(),
                query: query.to_owned(),
                fragment: fragment.to_owned(),
            };
            return Ok(url);
        }
        let (host, path) = match rest.strip_prefix("//") {
            Some(rest) if !scheme.is_empty() || !rest.starts_with('/') => {
                let end = rest.find('/').unwrap_or(rest.len());
                let authority = &rest[..end];
                let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
                (checked_host(host)?, &rest[end..])
            }
            _ => (String::new(), rest),
        };
        let path = unescape(path)?;
        Ok(Self { scheme, host, path, query: query.to_owned(), fragment: fragment.to_owned() })
    }

    /// Split the host from its port.
    pub fn split_host(&self) -> (&str, &str) {
        match self.host.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !host.ends_with(':') => (host, port),
            _ => (&self.host, ""),
        }
    }
}

fn scheme(text: &str) -> Result<(String, &str), String> {
    for (i, b) in text.bytes().enumerate() {
        match b {
            b'a'..=b'z' | b'A'..=b'Z' => {}
            b'0'..=b'9' | b'+' | b'-' | b'.' if i > 0 => {}
            b':' if i == 0 => return Err("missing protocol scheme".to_owned()),
            b':' => return Ok((text[..i].to_ascii_lowercase(), &text[i + 1..])),
            _ => break,
        }
    }
    if text.split('/').next().is_some_and(|first| first.contains(':')) && !text.starts_with('/') {
        return Err("first path segment in URL cannot contain colon".to_owned());
    }
    Ok((String::new(), text))
}

fn checked_host(host: &str) -> Result<String, String> {
    let port = if host.starts_with('[') {
        let end = host.rfind(']').ok_or("missing ']' in host")?;
        &host[end + 1..]
    } else {
        host.rfind(':').map_or("", |at| &host[at..])
    };
    let digits = port.strip_prefix(':').is_some_and(|p| p.bytes().all(|b| b.is_ascii_digit()));
    if !port.is_empty() && !digits {
        return Err(format!("invalid port {port:?} after host"));
    }
    let wrong = |c: &char| matches!(c, ' ' | '"' | '<' | '>' | '\\' | '^' | '`' | '{' | '|' | '}');
    match host.chars().find(|c| wrong(c)) {
        Some(c) => Err(format!("invalid character {:?} in host name", c.to_string())),
        None => unescape(host),
    }
}

/// Resolve escapes.
pub(crate) fn unescape(text: &str) -> Result<String, String> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(b) = bytes.get(at) {
        if *b != b'%' {
            out.push(*b);
            at += 1;
            continue;
        }
        let code = text.get(at + 1..at + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        let end = (at + 3).min(text.len());
        out.push(code.ok_or_else(|| format!("invalid URL escape {:?}", text.get(at..end).unwrap_or("%")))?);
        at += 3;
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

/// Escape a path.
pub(crate) fn escape(path: &str) -> String {
    let mut out = String::new();
    for b in path.bytes() {
        if b.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@!*'()".contains(&b) {
            out.push(char::from(b));
        } else {
            let _ = write!(out, "%{b:02X}");
        }
    }
    out
}
