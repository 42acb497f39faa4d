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
pub fn env_name(text: &str, bad: &mut dyn FnMut(&str)) {
    if text.is_empty() {
        return bad("environment variable name must be non-empty");
    }
    if !text.chars().all(|c| (' '..='~').contains(&c) && c != '=') {
        bad(RELAXED);
    }
}

/// `IsEnvVarName`, for names that become files.
pub fn c_identifier(text: &str, bad: &mut dyn FnMut(&str)) {
    let b = text.as_bytes();
    if b.is_empty() || b[0].is_ascii_digit() || !b.iter().all(|c| c.is_ascii_alphanumeric() || *c == b'_') {
        bad(C_IDENTIFIER);
    }
}

/// `IsHTTPHeaderName`.
pub fn header(text: &str, bad: &mut dyn FnMut(&str)) {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
        bad(HEADER);
    }
}

/// `IsValidPercent`.
pub fn percent(text: &str, bad: &mut dyn FnMut(&str)) {
    if percent_value(text).is_none() {
        bad(PERCENT);
    }
}

/// Return the number of a percentage.
pub fn percent_value(text: &str) -> Option<i64> {
    let digits = text.strip_suffix('%')?;
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then(|| digits.parse().unwrap_or(i64::MAX))
}

/// `IsValidPortName`.
pub fn port_name(text: &str, bad: &mut dyn FnMut(&str)) {
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
