//! Durations as Go writes them: `1h2m3.5s` (Go `time.ParseDuration`).

#![allow(
    clippy::arithmetic_side_effects,
    reason = "whole parts are added with checks, parts of a unit are less than one"
)]

/// The largest number of nanoseconds, which only a negative duration reaches.
const MOST: u64 = 1 << 63;

/// Return the nanoseconds of a duration; `None` if it is invalid or does not fit into 64 bits.
pub fn parse(text: &str) -> Option<i64> {
    parse_with(text, |unit| {
        Some(match unit {
            "ns" => 1,
            "us" | "\u{b5}s" | "\u{3bc}s" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        })
    })
}

/// Return the same with custom units: `unit` returns the nanoseconds of one.
pub fn parse_with(text: &str, unit: impl Fn(&str) -> Option<u64>) -> Option<i64> {
    let (negative, mut rest) = match text.strip_prefix(['-', '+']) {
        Some(rest) => (text.starts_with('-'), rest),
        None => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut total = 0u64;
    while !rest.is_empty() {
        let (whole, after) = digits(rest);
        let (part, after) = match after.strip_prefix('.') {
            Some(after) => digits(after),
            None => ("", after),
        };
        if whole.is_empty() && part.is_empty() {
            return None;
        }
        let end = after.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(after.len());
        let (name, after) = after.split_at_checked(end)?;
        let unit = unit(name)?;
        let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().ok()? };
        let amount = whole.checked_mul(unit)?.checked_add(fraction(part, unit))?;
        total = total.checked_add(amount).filter(|total| *total <= MOST)?;
        rest = after;
    }
    if negative { 0i64.checked_sub_unsigned(total) } else { i64::try_from(total).ok() }
}

fn digits(text: &str) -> (&str, &str) {
    text.split_at_checked(text.bytes().take_while(u8::is_ascii_digit).count()).unwrap_or((text, ""))
}

/// Return the nanoseconds of the digits after the point; digits beyond the precision of 64 bits are ignored.
fn fraction(digits: &str, unit: u64) -> u64 {
    let (mut number, mut scale) = (0u64, 1f64);
    for digit in digits.bytes() {
        let next = number.checked_mul(10).and_then(|n| n.checked_add(u64::from(digit - b'0')));
        let Some(next) = next.filter(|n| *n <= MOST) else { break };
        number = next;
        scale *= 10.0;
    }
    (number as f64 * (unit as f64 / scale)) as u64
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn reads_what_go_reads() {
        for (text, wanted) in [
            ("0", 0),
            ("+5s", 5_000_000_000),
            ("-1.5h", -5_400_000_000_000),
            ("1h2m3.5s", 3_723_500_000_000),
            (".5s", 500_000_000),
            ("1.s", 1_000_000_000),
            ("3\u{b5}s", 3_000),
            ("0.3333333333333333333h", 1_200_000_000_000),
            ("9223372036854775807ns", i64::MAX),
            ("-9223372036854775808ns", i64::MIN),
        ] {
            assert_eq!(parse(text), Some(wanted), "{text}");
        }
    }

    #[test]
    fn refuses_what_go_refuses() {
        let bad = ["", "-", "3", ".", "1", "s", ".s", "1x", "1s ", "1 s", "1e3s", "99999999999h", "1..5s"];
        for text in bad.into_iter().chain(["9223372036854775808ns"]) {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
