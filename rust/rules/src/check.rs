//! Short forms of common checks.

#![allow(clippy::string_slice, reason = "it is cut at characters of ASCII that were found there")]

use hydrofoil_text::quoted;
use hydrofoil_types::{CauseReason, Causes, Path, Value};

use hydrofoil_internal as internal;

/// A path without a name, as upstream prints it (`field.NewPath("")`).
pub const NAMELESS: Path<'static> = Path::new("[]");
/// The message for a field that may not change.
pub const IMMUTABLE: &str = "field is immutable";
/// The message for a negative number.
pub const NOT_NEGATIVE: &str = "must be greater than or equal to 0";

/// More ways to add causes.
pub trait Check {
    /// Add `Invalid` for each error of a text.
    fn format(&mut self, path: &Path<'_>, text: &str, format: impl Fn(&str, &mut dyn FnMut(&str)));
    /// Add `Required value` without detail.
    fn need(&mut self, path: &Path<'_>);
    /// Add `Unsupported value` of a text.
    fn unsupported(&mut self, path: &Path<'_>, text: &str, supported: &[&str]);
    /// Add `Unsupported value` unless the text is one of the supported.
    fn one_of(&mut self, path: &Path<'_>, text: &str, supported: &[&str]);
    /// Validate as `one_of`, but an empty text is `Required`.
    fn one_of_required(&mut self, path: &Path<'_>, text: &str, supported: &[&str]);
    /// Add `Invalid value` of a number.
    fn invalid_int(&mut self, path: &Path<'_>, number: i64, detail: &str);
    /// Add `Invalid value` that shows no value (`field.OmitValueType`).
    fn invalid_omitted(&mut self, path: &Path<'_>, detail: &str);
    /// Validate a number that may not be negative.
    fn not_negative(&mut self, path: &Path<'_>, number: i64);
    /// Validate a number between two bounds, with upstream's text for ranges.
    fn range(&mut self, path: &Path<'_>, number: i64, low: i64, high: i64);
    /// Validate a port number.
    fn port(&mut self, path: &Path<'_>, number: i64);
    /// Add `Duplicate value` of a text.
    fn duplicate_str(&mut self, path: &Path<'_>, text: &str);
}

impl Check for Causes {
    fn format(&mut self, path: &Path<'_>, text: &str, format: impl Fn(&str, &mut dyn FnMut(&str))) {
        format(text, &mut |detail| self.invalid_str(path, text, detail));
    }

    fn need(&mut self, path: &Path<'_>) {
        self.required(path, "");
    }

    fn unsupported(&mut self, path: &Path<'_>, text: &str, supported: &[&str]) {
        // In the caller's order: upstream sorts only where it keeps the values in a set.
        // Refused values have a type of their own in Go and so are shown as JSON.
        let mut message = format!("Unsupported value: {}", internal::json("s", &Value::from(text)));
        for (i, value) in supported.iter().enumerate() {
            message.push_str(if i == 0 { ": supported values: " } else { ", " });
            message.push_str(&quoted(value));
        }
        self.push(path, CauseReason::NotSupported, message);
    }

    fn one_of(&mut self, path: &Path<'_>, text: &str, supported: &[&str]) {
        if !supported.contains(&text) {
            self.unsupported(path, text, supported);
        }
    }

    fn one_of_required(&mut self, path: &Path<'_>, text: &str, supported: &[&str]) {
        if text.is_empty() {
            self.need(path);
        } else {
            self.one_of(path, text, supported);
        }
    }

    fn invalid_int(&mut self, path: &Path<'_>, number: i64, detail: &str) {
        self.invalid(path, &Value::Int(number), detail);
    }

    fn invalid_omitted(&mut self, path: &Path<'_>, detail: &str) {
        self.push(path, CauseReason::Invalid, format!("Invalid value: {detail}"));
    }

    fn not_negative(&mut self, path: &Path<'_>, number: i64) {
        if number < 0 {
            self.invalid_int(path, number, NOT_NEGATIVE);
        }
    }

    fn range(&mut self, path: &Path<'_>, number: i64, low: i64, high: i64) {
        if !(low..=high).contains(&number) {
            self.invalid_int(path, number, &format!("must be between {low} and {high}, inclusive"));
        }
    }

    fn port(&mut self, path: &Path<'_>, number: i64) {
        if !(1..=65535).contains(&number) {
            self.invalid_int(path, number, "must be between 1 and 65535, inclusive");
        }
    }

    fn duplicate_str(&mut self, path: &Path<'_>, text: &str) {
        self.duplicate(path, &Value::from(text));
    }
}
