//! Other texts: environment variables, ports' names, percentages, headers.

#![allow(clippy::arithmetic_side_effects, reason = "durations are summed with checks, of fractions 18 digits at most")]
#![allow(clippy::indexing_slicing, reason = "the text is not empty")]
#![allow(clippy::string_slice, reason = "it is cut where a unit was found")]

const RELAXED: &str =
    "a valid environment variable name must consist only of printable ASCII characters other than '='";
const HEADER: &str = "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";
const PERCENT: &str = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";
const C_IDENTIFIER: &str = "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')";

/// `IsRelaxedEnvVarName`.
pub(crate) fn env_name(text: &str, bad: &mut dyn FnMut(&str)) {
    if text.is_empty() {
        return bad("environment variable name must be non-empty");
    }
    if !text.chars().all(|c| (' '..='~').contains(&c) && c != '=') {
        bad(RELAXED);
    }
}

/// `IsEnvVarName`, for names that become files.
pub(crate) fn c_identifier(text: &str, bad: &mut dyn FnMut(&str)) {
    let b = text.as_bytes();
    if b.is_empty() || b[0].is_ascii_digit() || !b.iter().all(|c| c.is_ascii_alphanumeric() || *c == b'_') {
        bad(C_IDENTIFIER);
    }
}

/// `IsHTTPHeaderName`.
pub(crate) fn header(text: &str, bad: &mut dyn FnMut(&str)) {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
        bad(HEADER);
    }
}

/// `IsValidPercent`.
pub(crate) fn percent(text: &str, bad: &mut dyn FnMut(&str)) {
    if percent_value(text).is_none() {
        bad(PERCENT);
    }
}

/// The number of a percentage.
pub(crate) fn percent_value(text: &str) -> Option<i64> {
    let digits = text.strip_suffix('%')?;
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then(|| digits.parse().unwrap_or(i64::MAX))
}

/// `IsValidPortName`.
pub(crate) fn port_name(text: &str, bad: &mut dyn FnMut(&str)) {
    let b = text.as_bytes();
    if b.len() > 15 {
        bad("must be no more than 15 characters");
    }
    if !b.iter().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || *c == b'-') || b.is_empty() {
        bad("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
    }
    if !b.iter().any(u8::is_ascii_lowercase) {
        bad("must contain at least one letter (a-z)");
    }
    if text.contains("--") {
        bad("must not contain consecutive hyphens");
    }
    if !b.is_empty() && (b[0] == b'-' || b[b.len() - 1] == b'-') {
        bad("must not begin or end with a hyphen");
    }
}

/// Go's `time.ParseDuration`, in nanoseconds.
pub(crate) fn duration_nanos(text: &str) -> Option<i128> {
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
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').filter(|end| *end > 0)?;
        let (number, after) = rest.split_at(end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
            return None;
        }
        let end = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let unit: i128 = match &after[..end] {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => 1_000_000_000,
            "m" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        };
        let whole: i128 = if whole.is_empty() { 0 } else { whole.parse::<i64>().ok()?.into() };
        total = total.checked_add(whole.checked_mul(unit)?)?;
        let digits = fraction.get(..fraction.len().min(18))?;
        if !digits.is_empty() {
            let part: i128 = digits.parse().ok()?;
            total = total.checked_add(part.checked_mul(unit)? / 10i128.pow(digits.len() as u32))?;
        }
        rest = &after[end..];
    }
    (total <= i128::from(i64::MAX)).then_some(if negative { -total } else { total })
}
