//! Functions of strings (cel-go `common/stdlib`, `ext/strings.go`; apiserver `pkg/cel/library/regex.go`). Indexes count
//! characters.

#![allow(
    clippy::arithmetic_side_effects,
    reason = "sizes and costs are bounded by the budget of a run; numbers of a rule are calculated with checks"
)]
#![allow(clippy::indexing_slicing, reason = "numbers of nodes, arguments and tokens are given out by the parser")]
#![allow(clippy::string_slice, reason = "it is cut at characters that were found there")]

use regex::{Regex, RegexBuilder};

use super::{Native, no_overload};
use crate::value::{Fail, LARGEST, Out, Val, bounded};

/// Return a compiled pattern of limited size.
pub(crate) fn pattern(text: &str) -> Result<Regex, String> {
    RegexBuilder::new(text).size_limit(4 << 20).build().map_err(|why| why.to_string())
}

pub(crate) fn find(name: &str) -> Option<Native> {
    Some(match name {
        "contains" => |a| match a {
            [Val::Str(s), Val::Str(part)] => Ok(Val::Bool(s.contains(&**part))),
            _ => no_overload("contains", a),
        },
        "startsWith" => |a| match a {
            [Val::Str(s), Val::Str(part)] => Ok(Val::Bool(s.starts_with(&**part))),
            _ => no_overload("startsWith", a),
        },
        "endsWith" => |a| match a {
            [Val::Str(s), Val::Str(part)] => Ok(Val::Bool(s.ends_with(&**part))),
            _ => no_overload("endsWith", a),
        },
        "matches" => |a| match a {
            [Val::Str(s), Val::Str(p)] => compiled(p).map(|p| Val::Bool(p.is_match(s))),
            _ => no_overload("matches", a),
        },
        "find" => |a| match a {
            [Val::Str(s), Val::Str(p)] => {
                let p = pattern(p).map_err(|why| Fail::new(format!("Illegal regex: {why}")))?;
                Ok(Val::text(p.find(s).map_or("", |m| m.as_str())))
            }
            _ => no_overload("find", a),
        },
        "findAll" => find_all,
        "charAt" => |a| match a {
            [Val::Str(s), Val::Int(n)] => {
                let at = place(*n, s.chars().count())?;
                Ok(Val::text(s.chars().nth(at).map(String::from).unwrap_or_default()))
            }
            _ => no_overload("charAt", a),
        },
        "lowerAscii" => |a| match a {
            [Val::Str(s)] => Ok(Val::text(s.to_ascii_lowercase())),
            _ => no_overload("lowerAscii", a),
        },
        "upperAscii" => |a| match a {
            [Val::Str(s)] => Ok(Val::text(s.to_ascii_uppercase())),
            _ => no_overload("upperAscii", a),
        },
        "trim" => |a| match a {
            [Val::Str(s)] => Ok(Val::text(s.trim())),
            _ => no_overload("trim", a),
        },
        "replace" => |a| match a {
            [Val::Str(s), Val::Str(from), Val::Str(to), ..]
                if s.matches(&**from).count().saturating_mul(to.len()) > 10 * LARGEST =>
            {
                Err(Fail::Budget)
            }
            [Val::Str(s), Val::Str(from), Val::Str(to)] => Ok(Val::text(s.replace(&**from, to))),
            [Val::Str(s), Val::Str(from), Val::Str(to), Val::Int(n)] => {
                let made = usize::try_from(*n).map_or_else(|_| s.replace(&**from, to), |n| s.replacen(&**from, to, n));
                Ok(Val::text(made))
            }
            _ => no_overload("replace", a),
        },
        "split" => split,
        "substring" => |a| match a {
            [Val::Str(s), Val::Int(from)] => substring(s, *from, s.chars().count() as i64),
            [Val::Str(s), Val::Int(from), Val::Int(to)] => substring(s, *from, *to),
            _ => no_overload("substring", a),
        },
        "join" => |a| match a {
            [Val::List(list)] => join(&list.items()?, ""),
            [Val::List(list), Val::Str(between)] => join(&list.items()?, between),
            _ => no_overload("join", a),
        },
        "strings.quote" => |a| match a {
            [Val::Str(s)] => Ok(Val::text(quoted(s))),
            _ => no_overload("strings.quote", a),
        },
        "format" => |a| match a {
            [Val::Str(s), Val::List(list)] => super::printf::format(s, &list.items()?),
            _ => no_overload("format", a),
        },
        _ => return None,
    })
}

fn compiled(text: &str) -> Result<Regex, Fail> {
    pattern(text).map_err(Fail::new)
}

fn place(n: i64, length: usize) -> Result<usize, Fail> {
    let at = usize::try_from(n).ok().filter(|at| *at <= length);
    at.ok_or_else(|| Fail::new(format!("index out of range: {n}")))
}

fn find_all<'a>(a: &[Val<'a>]) -> Out<'a> {
    let (s, p, limit) = match a {
        [Val::Str(s), Val::Str(p)] => (s, p, -1),
        [Val::Str(s), Val::Str(p), Val::Int(n)] => (s, p, *n),
        _ => return no_overload("findAll", a),
    };
    let p = pattern(p).map_err(|why| Fail::new(format!("Illegal regex: {why}")))?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    Ok(Val::list(p.find_iter(s).take(limit).map(|m| Val::text(m.as_str())).collect()))
}

fn split<'a>(a: &[Val<'a>]) -> Out<'a> {
    let (s, by, limit) = match a {
        [Val::Str(s), Val::Str(by)] => (s, by, -1),
        [Val::Str(s), Val::Str(by), Val::Int(n)] => (s, by, *n),
        _ => return no_overload("split", a),
    };
    let mut parts: Vec<&str> = if by.is_empty() {
        s.char_indices().map(|(i, c)| &s[i..i + c.len_utf8()]).collect()
    } else {
        s.split(&**by).collect()
    };
    if let Ok(limit) = usize::try_from(limit) {
        if limit == 0 {
            parts.clear();
        } else if parts.len() > limit {
            // The last part is the unsplit rest.
            let kept: usize = parts[..limit - 1].iter().map(|p| p.len() + by.len()).sum();
            parts.truncate(limit - 1);
            parts.push(&s[kept..]);
        }
    }
    Ok(Val::list(parts.into_iter().map(Val::text).collect()))
}

fn substring<'a>(s: &str, from: i64, to: i64) -> Out<'a> {
    let length = s.chars().count();
    let (start, end) = (place(from, length)?, place(to, length)?);
    if start > end {
        return Err(Fail::new(format!("invalid substring range. start: {from}, end: {to}")));
    }
    Ok(Val::text(s.chars().skip(start).take(end - start).collect::<String>()))
}

fn join<'a>(items: &[Val<'a>], between: &str) -> Out<'a> {
    let mut out = String::new();
    for (i, item) in items.iter().enumerate() {
        let Val::Str(text) = item else { return Err(Fail::overload()) };
        if i > 0 {
            out.push_str(between);
        }
        out.push_str(text);
        bounded(out.len() / 10)?;
    }
    Ok(Val::text(out))
}

fn quoted(s: &str) -> String {
    let mut out = String::from("\"");
    for c in s.chars() {
        match c {
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{b}' => out.push_str("\\v"),
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Return the index of a string in another, from an index on; with `last`, up to it.
pub(crate) fn position(s: &str, part: &str, from: Option<i64>, last: bool) -> Result<i64, Fail> {
    let s: Vec<char> = s.chars().collect();
    let part: Vec<char> = part.chars().collect();
    if part.is_empty() {
        return Ok(from.unwrap_or(if last { s.len() as i64 } else { 0 }));
    }
    let from = match from {
        None if last => s.len(),
        None => 0,
        Some(n) => usize::try_from(n).map_err(|_| Fail::new(format!("index out of range: {n}")))?,
    };
    // Nothing is found beyond the end.
    if from > s.len() {
        return Ok(-1);
    }
    let fits = |at: &usize| s[*at..].starts_with(&part);
    let found = if last { (0..=from.min(s.len())).rev().find(fits) } else { (from..s.len()).find(fits) };
    Ok(found.map_or(-1, |at| at as i64))
}
