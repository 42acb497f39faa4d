//! Functions of strings (cel-go `common/stdlib`, `ext/strings.go`; apiserver `pkg/cel/library/regex.go`). Indexes count
//! characters.

#![allow(
    clippy::arithmetic_side_effects,
    reason = "sizes and costs are bounded by the budget of a run; numbers of a rule are calculated with checks"
)]
#![allow(clippy::indexing_slicing, reason = "numbers of nodes, arguments and tokens are given out by the parser")]
#![allow(clippy::string_slice, reason = "it is cut at characters that were found there")]

use std::cell::RefCell;
use std::sync::Arc;

use hydrofoil_pattern::{Pattern, problem};

use super::{Native, no_overload};
use crate::value::{Fail, LARGEST, Out, Val, check_size};

/// The patterns that a thread keeps: those of a rule that runs for each object are compiled once.
const KEPT: usize = 16;

thread_local! {
    /// The latest patterns, the latest first.
    static RECENT: RefCell<Vec<Arc<Pattern>>> = const { RefCell::new(Vec::new()) };
}

/// Return a pattern, which is compiled when it is first used, or Go's error.
pub(crate) fn pattern(text: &str) -> Result<Arc<Pattern>, String> {
    RECENT.with_borrow_mut(|recent| {
        if let Some(at) = recent.iter().position(|kept| kept.text() == text) {
            let found = recent.remove(at);
            recent.insert(0, Arc::clone(&found));
            return Ok(found);
        }
        if let Some(why) = problem(text) {
            return Err(why);
        }
        let made = Arc::new(Pattern::new(text));
        recent.truncate(KEPT - 1);
        recent.insert(0, Arc::clone(&made));
        Ok(made)
    })
}

/// Return the parts of a text that match a pattern, at most so many.
fn parts<'t>(text: &'t str, by: &str, limit: usize) -> Result<Vec<&'t str>, Fail> {
    let illegal = |why: &str| Fail::new(format!("Illegal regex: {why}"));
    let by = pattern(by).map_err(|why| illegal(&why))?;
    let found = by.parts(text).ok_or_else(|| illegal("the pattern is too large"))?;
    Ok(found.take(limit).collect())
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
            [Val::Str(s), Val::Str(p)] => compile(p).map(|p| Val::Bool(p.matches(s))),
            _ => no_overload("matches", a),
        },
        "find" => |a| match a {
            [Val::Str(s), Val::Str(p)] => Ok(Val::text(parts(s, p, 1)?.first().copied().unwrap_or_default())),
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
            [Val::Str(s)] => Ok(Val::text(quote(s))),
            _ => no_overload("strings.quote", a),
        },
        "format" => |a| match a {
            [Val::Str(s), Val::List(list)] => super::printf::format(s, &list.items()?),
            _ => no_overload("format", a),
        },
        _ => return None,
    })
}

fn compile(text: &str) -> Result<Arc<Pattern>, Fail> {
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
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    Ok(Val::list(parts(s, p, limit)?.into_iter().map(Val::text).collect()))
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
        check_size(out.len() / 10)?;
    }
    Ok(Val::text(out))
}

fn quote(s: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::{KEPT, RECENT, parts, pattern};

    #[test]
    fn patterns_are_those_of_go() {
        assert_eq!(parts("a:5000/b:v1", r":[\w][\w.-]{0,127}(\/)?", 9).ok(), Some(vec![":5000/", ":v1"]));
        assert_eq!(parts("a b", r"\w", 1).ok(), Some(vec!["a"]));
        assert!(pattern(r"^\d$").is_ok_and(|digit| digit.matches("3") && !digit.matches("٣")));
        assert_eq!(pattern("(").err().as_deref(), Some("error parsing regexp: missing closing ): `(`"));
    }

    #[test]
    fn only_the_latest_patterns_are_kept() {
        for n in 0..3 * KEPT {
            assert!(pattern(&format!("a{n}")).is_ok_and(|found| found.matches(&format!("a{n}"))));
        }
        RECENT.with_borrow(|recent| assert_eq!(recent.len(), KEPT));
    }
}
