//! URLs (apiserver `pkg/cel/library/urls.go`; Go `net/url`, as far as requests have them).

#![allow(
    clippy::arithmetic_side_effects,
    reason = "sizes and costs are bounded by the budget of a run; numbers of a rule are calculated with checks"
)]
#![allow(clippy::string_slice, reason = "it is cut at characters that were found there")]

use std::fmt::Write as _;
use std::rc::Rc;

use crate::library::{Native, no_overload};
use crate::value::{Fail, Out, Table, Val};

/// An absolute URL or an absolute path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Url {
    scheme: String,
    host: String,
    path: String,
    query: String,
    fragment: String,
}

pub(crate) fn find(name: &str) -> Option<Native> {
    Some(match name {
        "url" => |a| match a {
            [Val::Str(s)] => match Url::parse(s) {
                Ok(url) => Ok(Val::Url(Rc::new(url))),
                Err(why) => {
                    Err(Fail::new(format!("URL parse error during conversion from string: parse {:?}: {why}", &**s)))
                }
            },
            _ => no_overload("url", a),
        },
        "isURL" => |a| match a {
            [Val::Str(s)] => Ok(Val::Bool(Url::parse(s).is_ok())),
            _ => no_overload("isURL", a),
        },
        "getScheme" => |a| part(a, |url| url.scheme.clone()),
        "getHost" => |a| part(a, |url| url.host.clone()),
        "getHostname" => |a| part(a, |url| url.split_host().0.trim_matches(['[', ']']).to_owned()),
        "getPort" => |a| part(a, |url| url.split_host().1.to_owned()),
        "getEscapedPath" => |a| part(a, |url| escaped(&url.path)),
        "getQuery" => |a| match a {
            [Val::Url(url)] => Ok(query(&url.query)),
            _ => no_overload("getQuery", a),
        },
        _ => return None,
    })
}

fn part<'a>(a: &[Val<'_>], get: fn(&Url) -> String) -> Out<'a> {
    match a {
        [Val::Url(url)] => Ok(Val::text(get(url))),
        _ => Err(Fail::overload()),
    }
}

impl Url {
    /// `url.ParseRequestURI`, then `url.Parse`.
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
            // Opaque: `mailto:a@b`.
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
        let path = unescaped(path)?;
        Ok(Self { scheme, host, path, query: query.to_owned(), fragment: fragment.to_owned() })
    }

    fn split_host(&self) -> (&str, &str) {
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
        None => unescaped(host),
    }
}

fn unescaped(text: &str) -> Result<String, String> {
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

fn escaped(path: &str) -> String {
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

/// The values of each name of a query.
fn query<'a>(text: &str) -> Val<'a> {
    let mut out: Vec<(String, Vec<Val<'a>>)> = Vec::new();
    for pair in text.split('&').filter(|p| !p.is_empty() && !p.contains(';')) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let plain = |t: &str| unescaped(&t.replace('+', " "));
        let (Ok(key), Ok(value)) = (plain(key), plain(value)) else { continue };
        match out.iter_mut().find(|(k, _)| *k == key) {
            Some((_, values)) => values.push(Val::text(value)),
            None => out.push((key, vec![Val::text(value)])),
        }
    }
    let entries = out.into_iter().map(|(k, v)| (Val::text(k), Val::list(v))).collect();
    Val::Map(Table::Own(Rc::new(entries)))
}
