//! The order of keys and the form of numbers (go-yaml v2, `sorter.go`, `encode.go`).

#![allow(clippy::arithmetic_side_effects, reason = "places in a body and depths are bounded by its bytes")]
#![allow(clippy::string_slice, reason = "it is cut at characters of ASCII that were found there")]

use std::cmp::Ordering;

/// Compare keys: other characters precede letters, and digits compare as numbers (`sorter.go`).
pub(super) fn order(a: &str, b: &str) -> Ordering {
    let shared: usize = a.chars().zip(b.chars()).take_while(|(x, y)| x == y).map(|(x, _)| x.len_utf8()).sum();
    let (before, a, b) = (&a[..shared], &a[shared..], &b[shared..]);
    let (Some(x), Some(y)) = (a.chars().next(), b.chars().next()) else { return a.len().cmp(&b.len()) };
    match (x.is_alphabetic(), y.is_alphabetic()) {
        (true, true) => return x.cmp(&y),
        (true, false) => return Ordering::Greater,
        (false, true) => return Ordering::Less,
        (false, false) => {}
    }
    // A zero in the middle of a number is one of its digits.
    let inside =
        (x == '0' || y == '0') && before.chars().rev().take_while(char::is_ascii_digit).any(|digit| digit != '0');
    let value = |text: &str| {
        let digits = text.chars().map_while(|c| c.to_digit(10));
        let start = (i64::from(inside), 0_usize);
        digits.fold(start, |(n, len), d| (n.wrapping_mul(10).wrapping_add(i64::from(d)), len + 1))
    };
    value(a).cmp(&value(b)).then(x.cmp(&y))
}

/// Return a number as Go's `%g` prints it.
pub(super) fn float(number: f64) -> String {
    if number.is_nan() {
        return ".nan".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    let text = format!("{number:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if number != 0.0 && !(-4..6).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    number.to_string()
}

#[cfg(test)]
mod tests {
    use super::{float, order};

    #[test]
    fn keys_come_in_natural_order() {
        let mut keys = ["a10", "a2", "B", "b", ".", "f:x", "a", "a01", "_"];
        keys.sort_by(|a, b| order(a, b));
        assert_eq!(keys, [".", "_", "B", "a", "a01", "a2", "a10", "b", "f:x"]);
    }

    #[test]
    fn numbers_are_those_of_go() {
        for (number, wanted) in
            [(1.5, "1.5"), (0.0, "0"), (1e6, "1e+06"), (123_456.5, "123456.5"), (1e-5, "1e-05"), (-2.0, "-2")]
        {
            assert_eq!(float(number), wanted);
        }
    }
}
