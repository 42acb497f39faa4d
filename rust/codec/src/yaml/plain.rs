//! The meaning of a plain scalar in YAML 1.1 (go.yaml.in/yaml/v2 `resolve.go`).

#![allow(clippy::arithmetic_side_effects, reason = "places in a body and depths are bounded by its bytes")]
#![allow(clippy::string_slice, reason = "it is cut at characters of ASCII that were found there")]

use hydrofoil_text::calendar;
use hydrofoil_types::Value;

/// Return the value of a word for null, true or false.
pub(super) fn word(text: &str) -> Option<Value> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Some(Value::Null),
        "true" | "True" | "TRUE" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "y" | "Y" => Some(Value::Bool(true)),
        "false" | "False" | "FALSE" | "no" | "No" | "NO" | "off" | "Off" | "OFF" | "n" | "N" => {
            Some(Value::Bool(false))
        }
        _ => None,
    }
}

/// Report whether a reader takes the plain scalar for anything but a string (`resolve.go`).
pub(super) fn means_otherwise(text: &str) -> bool {
    word(text).is_some()
        || matches!(
            text,
            ".nan"
                | ".NaN"
                | ".NAN"
                | ".inf"
                | ".Inf"
                | ".INF"
                | "+.inf"
                | "+.Inf"
                | "+.INF"
                | "-.inf"
                | "-.Inf"
                | "-.INF"
        )
        || text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'))
            && (is_number(text) || is_time(text) || is_base_60(text))
}

fn is_number(text: &str) -> bool {
    let clean = if text.starts_with('.') { text.to_owned() } else { text.replace('_', "") };
    let digits = clean.strip_prefix(['+', '-']).unwrap_or(&clean);
    let all = |digits: &str, radix| !digits.is_empty() && u64::from_str_radix(digits, radix).is_ok();
    let prefixed =
        [("0x", 16), ("0X", 16), ("0o", 8), ("0O", 8), ("0b", 2), ("0B", 2)].into_iter().any(|(prefix, radix)| {
            digits.strip_prefix(prefix).is_some_and(|rest| !rest.starts_with('+') && all(rest, radix))
        });
    prefixed || is_float(digits)
}

/// Report whether it has the form `1`, `1.`, `1.5` or `.5`, with or without an exponent.
fn is_float(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let numeric = |digits: &str| digits.bytes().all(|b| b.is_ascii_digit());
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let some = !whole.is_empty() || !part.is_empty();
    let exponent = exponent.is_none_or(|e| {
        let digits = e.strip_prefix(['+', '-']).unwrap_or(e);
        !digits.is_empty() && numeric(digits)
    });
    some && numeric(whole) && numeric(part) && exponent
}

/// Report whether it has the form `2001-1-2`, optionally with a time of day after `T`, `t` or a space.
pub(super) fn is_time(text: &str) -> bool {
    let Some((year, rest)) = text.split_once('-') else { return false };
    let Some((month, rest)) = rest.split_once('-') else { return false };
    let (day, clock) = match rest.find(['T', 't', ' ']) {
        Some(at) => (&rest[..at], Some((&rest[at..=at], &rest[at + 1..]))),
        None => (rest, None),
    };
    let (Some(year), Some(month), Some(day)) = (number(year, 4, 4), number(month, 1, 2), number(day, 1, 2)) else {
        return false;
    };
    let (year, month, day) = (i64::from(year), i64::from(month), i64::from(day));
    (1..=12).contains(&month)
        && (1..=calendar::days_in(year, month)).contains(&day)
        && clock.is_none_or(|(mark, clock)| is_clock(clock, mark != " "))
}

fn is_clock(text: &str, zoned: bool) -> bool {
    let text = match (zoned, text.strip_suffix('Z'), text.rfind(['+', '-'])) {
        (false, ..) => text,
        (true, Some(text), _) => text,
        (true, None, Some(at)) => {
            let Some((hours, minutes)) = text[at + 1..].split_once(':') else { return false };
            if number(hours, 2, 2).is_none_or(|h| h > 24) || number(minutes, 2, 2).is_none_or(|m| m > 60) {
                return false;
            }
            &text[..at]
        }
        _ => return false,
    };
    let mut parts = text.splitn(3, ':');
    let (Some(hour), Some(minute), Some(second)) = (parts.next(), parts.next(), parts.next()) else { return false };
    let (second, fraction) = second.split_once('.').unwrap_or((second, "0"));
    number(hour, 1, 2).is_some_and(|h| h < 24)
        && number(minute, 1, 2).is_some_and(|m| m < 60)
        && number(second, 1, 2).is_some_and(|s| s < 60)
        && !fraction.is_empty()
        && fraction.bytes().all(|b| b.is_ascii_digit())
}

fn number(digits: &str, least: usize, most: usize) -> Option<u32> {
    let fits = (least..=most).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_digit());
    fits.then(|| digits.parse().ok()).flatten()
}

/// Report whether it has the form `1:30:00`: a number in YAML 1.1.
fn is_base_60(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let mut parts = digits.split(':');
    let first = parts.next().unwrap_or("");
    let rest: Vec<&str> = parts.collect();
    let Some((last, middle)) = rest.split_last() else { return false };
    let sixty = |part: &str| number(part, 1, 2).is_some_and(|n| part.len() == 1 || n < 60);
    let (last, fraction) = last.split_once('.').unwrap_or((last, ""));
    first.starts_with(|c: char| c.is_ascii_digit())
        && first.bytes().all(|b| b.is_ascii_digit() || b == b'_')
        && middle.iter().all(|part| sixty(part))
        && sixty(last)
        && fraction.bytes().all(|b| b.is_ascii_digit() || b == b'_')
}
