//! Semantic versions (apiserver `pkg/cel/library/semverlib.go`).

#![allow(clippy::indexing_slicing, reason = "numbers of nodes, arguments and tokens are given out by the parser")]
#![allow(clippy::string_slice, reason = "it is cut at characters that were found there")]

use std::rc::Rc;

use super::{Native, no_overload};
use crate::value::{Fail, Out, Semver, Val};

pub(crate) fn find(name: &str) -> Option<Native> {
    Some(match name {
        "semver" => |a| match a {
            [Val::Str(s)] => semver_value(Semver::parse(s)),
            [Val::Str(s), Val::Bool(loose)] => semver_value(Semver::parse(&normal(s, *loose))),
            _ => no_overload("semver", a),
        },
        "isSemver" => |a| match a {
            [Val::Str(s)] => Ok(Val::Bool(Semver::parse(s).is_ok())),
            [Val::Str(s), Val::Bool(loose)] => Ok(Val::Bool(Semver::parse(&normal(s, *loose)).is_ok())),
            _ => no_overload("isSemver", a),
        },
        "major" => |a| number(a, 0),
        "minor" => |a| number(a, 1),
        "patch" => |a| number(a, 2),
        _ => return None,
    })
}

fn semver_value<'a>(parsed: Result<Semver, String>) -> Out<'a> {
    parsed.map(|v| Val::Semver(Rc::new(v))).map_err(Fail::new)
}

fn number<'a>(a: &[Val<'_>], which: usize) -> Out<'a> {
    match a {
        [Val::Semver(v)] => Ok(Val::Int(v.numbers[which] as i64)),
        _ => Err(Fail::overload()),
    }
}

/// Return a version with missing parts added, and without leading zeros and `v`.
fn normal(text: &str, loose: bool) -> String {
    if !loose {
        return text.to_owned();
    }
    let text = text.strip_prefix('v').unwrap_or(text);
    let end = text.find(['-', '+']).unwrap_or(text.len());
    let (core, rest) = text.split_at(end);
    let mut parts: Vec<&str> = core.split('.').collect();
    for part in &mut parts {
        let trimmed = part.trim_start_matches('0');
        *part = if trimmed.is_empty() && !part.is_empty() { "0" } else { trimmed };
    }
    while parts.len() < 3 && rest.is_empty() {
        parts.push("0");
    }
    format!("{}{rest}", parts.join("."))
}
