//! Semantic versions (blang `semver`).

#![allow(clippy::string_slice, reason = "it is cut at characters that were found there")]

use std::cmp::Ordering;

/// A version. Its build metadata is parsed and then ignored.
#[derive(Clone, Debug)]
pub(crate) struct Semver {
    pub numbers: [u64; 3],
    pre: Vec<String>,
}

impl Semver {
    /// Parse a version; the error is the library's message.
    pub fn parse(text: &str) -> Result<Self, String> {
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

    /// Compare by precedence.
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
