//! Go's errors for invalid times (`time.Parse`).

#![allow(clippy::arithmetic_side_effects, reason = "places in a body and depths are bounded by its bytes")]
#![allow(clippy::indexing_slicing, reason = "the cursor never passes the end of the body")]
#![allow(clippy::string_slice, reason = "it is cut at characters of ASCII that were found there")]

/// Return the error of a string that is not RFC 3339, or with `micro` does not have six decimals.
pub(super) fn problem(text: &str, micro: bool) -> String {
    let form = if micro { "2006-01-02T15:04:05.000000Z07:00" } else { "2006-01-02T15:04:05Z07:00" };
    let cannot =
        |rest: &str, part: &str| format!("parsing time {text:?} as {form:?}: cannot parse {rest:?} as {part:?}");
    let range = |what: &str| format!("parsing time {text:?}: {what} out of range");
    let mut rest = text;
    let (mut numbers, mut found) = ([0u32; 6], None);
    let parts = [("2006", "-"), ("01", "-"), ("02", "T"), ("15", ":"), ("04", ":"), ("05", "")];
    for (i, (part, after)) in parts.into_iter().enumerate() {
        let Some((digits, tail)) = rest.split_at_checked(part.len()) else { return cannot(rest, part) };
        let Some(number) = digits.bytes().all(|b| b.is_ascii_digit()).then(|| digits.parse().ok()).flatten() else {
            return cannot(rest, part);
        };
        numbers[i] = number;
        // Days are checked last: their number depends on the month.
        found = found.or(match i {
            1 if !(1..=12).contains(&number) => Some("month"),
            3 if number > 23 => Some("hour"),
            4 if number > 59 => Some("minute"),
            5 if number > 59 => Some("second"),
            _ => None,
        });
        if let Some(what) = found {
            return range(what);
        }
        let Some(tail) = tail.strip_prefix(after) else { return cannot(tail, after) };
        rest = tail;
    }
    let decimals = rest.strip_prefix(['.', ',']).map_or(0, |t| t.bytes().take_while(u8::is_ascii_digit).count());
    if micro && decimals < 6 {
        return cannot(rest, ".000000");
    }
    rest = if micro { &rest[7..] } else { rest.get(if decimals > 0 { decimals + 1 } else { 0 }..).unwrap_or("") };
    let zone = rest.as_bytes();
    let digit = |i: usize| zone.get(i).is_some_and(u8::is_ascii_digit);
    rest = match zone.first() {
        Some(b'Z') => &rest[1..],
        Some(b'+' | b'-') if zone.get(3) == Some(&b':') && [1, 2, 4, 5].into_iter().all(digit) => &rest[6..],
        _ => return cannot(rest, "Z07:00"),
    };
    if rest.is_empty() { range("day") } else { format!("parsing time {text:?}: extra text: {rest:?}") }
}

#[cfg(test)]
mod tests {
    use super::problem;

    #[test]
    fn says_what_go_says() {
        for (text, micro, tail) in [
            ("2024-13-01T00:00:00Z", false, ": month out of range"),
            ("2024-02-30T00:00:00Z", false, ": day out of range"),
            ("yesterday", false, "cannot parse \"yesterday\" as \"2006\""),
            ("2024-01-02", false, "cannot parse \"\" as \"T\""),
            ("2024-01-02T03:04:05Z", true, "cannot parse \"Z\" as \".000000\""),
            ("2024-01-02T03:04:05", false, "cannot parse \"\" as \"Z07:00\""),
            ("2024-01-02T03:04:05Zx", false, ": extra text: \"x\""),
            ("2024-01-02T25:04:05Z", false, ": hour out of range"),
            ("\u{e9}\u{e9}\u{e9}", false, "as \"2006\""),
        ] {
            let why = problem(text, micro);
            assert!(why.ends_with(tail), "{why}");
        }
    }
}
