//! Semantic versions (apiserver `pkg/cel/library/semverlib.go`; blang `semver`).

#![allow(clippy::indexing_slicing, reason = "numbers of nodes, arguments and tokens are given out by the parser")]
#![allow(clippy::string_slice, reason = "it is cut at characters that were found there")]

use std::cmp::Ordering;
use std::rc::Rc;

use crate::library::{Native, no_overload};
use crate::value::{Fail, Out, Val};

/// A version. Its build is parsed and then of no account.
#[derive(Clone, Debug)]
pub(crate) struct Semver {
    numbers: [u64; 3],
    pre: Vec<String>,
}

pub(crate) fn find(name: &str) -> Option<Native> {
    Some(match name {
        "semver" => |a| match a {
            [Val::Str(s)] => made(Semver::parse(s)),
            [Val::Str(s), Val::Bool(loose)] => made(Semver::parse(&normal(s, *loose))),
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

fn made<'a>(parsed: Result<Semver, String>) -> Out<'a> {
    parsed.map(|v| Val::Semver(Rc::new(v))).map_err(Fail::new)
}

fn number<'a>(a: &[Val<'_>], which: usize) -> Out<'a> {
    match a {
        [Val::Semver(v)] => Ok(Val::Int(v.numbers[which] as i64)),
        _ => Err(Fail::overload()),
    }
}

/// A version with what may be missing added, and leading zeros and `v` taken away.
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

impl Semver {
    fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("Version string empty".to_owned());
        }
        let (rest, build) = text.split_once('+').map_or((text, None), |(r, b)| (r, Some(b)));
        let (core, pre) = rest.split_once('-').map_or((rest, None), |(c, p)| (c, Some(p)));
        let parts: Vec<&str> = core.split('.').collect();
        let [major, minor, patch] = parts.as_slice() else {
            return Err("No Major.Minor.Patch elements found".to_owned());
        };
        let mut numbers = [0; 3];
        for (slot, (name, part)) in numbers.iter_mut().zip([("major", major), ("minor", minor), ("patch", patch)]) {
            if part.is_empty() || !part.bytes().all(|b| b.is_ascii_digit()) {
                let title = format!("{}{}", name[..1].to_uppercase(), &name[1..]);
                return Err(format!("Invalid character(s) found in {} number {part:?}", title.to_lowercase()));
            }
            if part.len() > 1 && part.starts_with('0') {
                let title = format!("{}{}", name[..1].to_uppercase(), &name[1..]);
                return Err(format!("{title} number must not contain leading zeroes {part:?}"));
            }
            *slot = part.parse().map_err(|_| format!("strconv.ParseUint: parsing {part:?}: value out of range"))?;
        }
        let valid = |p: &&str| !p.is_empty() && p.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        let digits = |p: &str| p.bytes().all(|b| b.is_ascii_digit());
        let pre: Vec<String> = pre.map_or(Vec::new(), |p| p.split('.').map(str::to_owned).collect());
        if let Some(wrong) = pre.iter().find(|p| !valid(&p.as_str())) {
            return Err(format!("Invalid character(s) found in prerelease {wrong:?}"));
        }
        if let Some(wrong) = pre.iter().find(|p| digits(p) && p.len() > 1 && p.starts_with('0')) {
            return Err(format!("Numeric PreRelease version must not contain leading zeroes {wrong:?}"));
        }
        if let Some(wrong) = build.and_then(|b| b.split('.').find(|p| !valid(p))) {
            return Err(format!("Invalid character(s) found in build meta data {wrong:?}"));
        }
        Ok(Self { numbers, pre })
    }

    /// Which comes first.
    pub fn compare(&self, other: &Self) -> Ordering {
        let by_pre = || match (self.pre.is_empty(), other.pre.is_empty()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => {
                let each = self.pre.iter().zip(&other.pre).map(|(a, b)| match (a.parse::<u64>(), b.parse::<u64>()) {
                    (Ok(a), Ok(b)) => a.cmp(&b),
                    (Ok(_), Err(_)) => Ordering::Less,
                    (Err(_), Ok(_)) => Ordering::Greater,
                    _ => a.cmp(b),
                });
                let found = each.into_iter().find(|o| o.is_ne());
                found.unwrap_or_else(|| self.pre.len().cmp(&other.pre.len()))
            }
        };
        self.numbers.cmp(&other.numbers).then_with(by_pre)
    }
}
