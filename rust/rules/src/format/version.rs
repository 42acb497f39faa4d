//! Semantic versions (blang `semver`).

use std::cmp::Ordering;

/// A version, of which metadata of the build does not count.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Version<'a> {
    numbers: [u64; 3],
    pre: Vec<&'a str>,
}

impl<'a> Version<'a> {
    /// Read a version, if it is one.
    pub fn parse(text: &'a str) -> Option<Self> {
        let (rest, build) = text.split_once('+').map_or((text, None), |(r, b)| (r, Some(b)));
        let (core, pre) = rest.split_once('-').map_or((rest, None), |(c, p)| (c, Some(p)));
        let mut parts = core.split('.');
        let mut numbers = [0; 3];
        for number in &mut numbers {
            *number = parts.next().filter(|p| is_number(p))?.parse().ok()?;
        }
        let pre: Vec<&str> = pre.map_or_else(Vec::new, |p| p.split('.').collect());
        let fine = pre.iter().all(|p| is_word(p) && (is_number(p) || !is_digits(p)));
        (parts.next().is_none() && fine && build.is_none_or(|b| b.split('.').all(is_word)))
            .then_some(Self { numbers, pre })
    }

    /// Compare by precedence.
    pub fn compare(&self, other: &Self) -> Ordering {
        // A version without identifiers is the final one.
        let pre = match (self.pre.is_empty(), other.pre.is_empty()) {
            (false, false) => self.pre.iter().map(|p| rank(p)).cmp(other.pre.iter().map(|p| rank(p))),
            (is_final, other_is) => is_final.cmp(&other_is),
        };
        self.numbers.cmp(&other.numbers).then(pre)
    }
}

/// How an identifier is compared: numbers precede words.
fn rank(identifier: &str) -> (bool, u64, &str) {
    identifier.parse().map_or((true, 0, identifier), |number| (false, number, ""))
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_digit())
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && is_digits(text) && (text == "0" || !text.starts_with('0'))
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

#[cfg(test)]
mod tests {
    use super::Version;

    #[test]
    fn versions_are_ordered_by_precedence() {
        let ascending = ["0.9.10", "1.0.0-1", "1.0.0-2", "1.0.0-11", "1.0.0-a", "1.0.0-a.1", "1.0.0", "1.0.1-0"];
        let read: Vec<_> = ascending.iter().map(|t| Version::parse(t).expect("a version")).collect();
        for (i, a) in read.iter().enumerate() {
            for (j, b) in read.iter().enumerate() {
                assert_eq!(a.compare(b), i.cmp(&j), "{a:?} {b:?}");
            }
        }
        let [built, plain] = ["1.0.0+b", "1.0.0"].map(|t| Version::parse(t).expect("a version"));
        assert!(built.compare(&plain).is_eq());
    }

    #[test]
    fn other_texts_are_no_versions() {
        for text in
            ["", "1", "1.0", "v1.0.0", "1.0.0.0", "01.0.0", "1.0.0-", "1.0.0-01", "1.0.0-a..b", "1.0.0+", "1.0.0+é"]
        {
            assert!(Version::parse(text).is_none(), "{text}");
        }
    }
}
