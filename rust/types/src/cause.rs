//! Causes of an Invalid answer, with upstream's texts (apimachinery `pkg/util/validation/field`).

#![allow(clippy::arithmetic_side_effects, reason = "causes are counted")]

use std::fmt::{self, Write as _};

use smol_str::{SmolStr, ToSmolStr};

use crate::{Value, notation};

/// The reason of one cause, as the wire names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CauseReason {
    /// A value that must be given is missing.
    Required,
    /// A value is wrong.
    Invalid,
    /// A value is not one of an enumeration.
    NotSupported,
    /// A value stands twice where it may stand once.
    Duplicate,
    /// A value may not be set here.
    Forbidden,
    /// A value has too many bytes.
    TooLong,
    /// A list has too many items.
    TooMany,
    /// A value is of the wrong type.
    TypeInvalid,
    /// A value names something that is not there.
    NotFound,
    /// The server failed.
    Internal,
}

impl CauseReason {
    /// The `reason` of a cause on the wire.
    pub const fn wire(self) -> &'static str {
        match self {
            Self::Required => "FieldValueRequired",
            Self::Invalid => "FieldValueInvalid",
            Self::NotSupported => "FieldValueNotSupported",
            Self::Duplicate => "FieldValueDuplicate",
            Self::Forbidden => "FieldValueForbidden",
            Self::TooLong => "FieldValueTooLong",
            Self::TooMany => "FieldValueTooMany",
            Self::TypeInvalid => "FieldValueTypeInvalid",
            Self::NotFound => "FieldValueNotFound",
            Self::Internal => "InternalError",
        }
    }
}

/// One cause: where, why, and the message after the field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The dotted path of the field.
    pub field: SmolStr,
    /// The reason.
    pub reason: CauseReason,
    /// The message, as `Invalid value: "x": detail`.
    pub message: SmolStr,
}

/// A path of fields while a value is walked: cheap to extend, written out only for a cause.
#[derive(Clone, Copy, Debug)]
pub struct Path<'a> {
    parent: Option<&'a Path<'a>>,
    part: Part<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Part<'a> {
    Field(&'a str),
    Index(usize),
    Key(&'a str),
}

impl<'a> Path<'a> {
    /// A path of one field.
    pub const fn new(field: &'a str) -> Self {
        Self { parent: None, part: Part::Field(field) }
    }

    /// The path of no field at all: causes show `[]`-free empty text, children start bare.
    pub const fn root() -> Self {
        Self { parent: None, part: Part::Field("") }
    }

    /// The member `name` of this.
    #[must_use]
    pub const fn child(&'a self, name: &'a str) -> Path<'a> {
        Path { parent: Some(self), part: Part::Field(name) }
    }

    /// The item `index` of this: `list[0]`.
    #[must_use]
    pub const fn index(&'a self, index: usize) -> Path<'a> {
        Path { parent: Some(self), part: Part::Index(index) }
    }

    /// The value of `key` of this: `map[key]`.
    #[must_use]
    pub const fn key(&'a self, key: &'a str) -> Path<'a> {
        Path { parent: Some(self), part: Part::Key(key) }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bare = true;
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
            bare = parent.parent.is_none() && matches!(parent.part, Part::Field(""));
        }
        match self.part {
            Part::Field(name) if bare => f.write_str(name),
            Part::Field(name) => write!(f, ".{name}"),
            Part::Index(i) => write!(f, "[{i}]"),
            Part::Key(key) => write!(f, "[{key}]"),
        }
    }
}

/// How many bytes of causes are told at most. Some show a whole list for each item of it: as long an answer as upstream
/// gives would take more memory than there is.
const MOST_BYTES: usize = 16 << 20;

/// The causes found so far, in the order of the checks.
#[derive(Clone, Debug, Default)]
pub struct Causes {
    list: Vec<Cause>,
    /// The bytes of their texts.
    bytes: usize,
    /// How many there are beyond the bound.
    beyond: usize,
    /// What is let pass, since it was so before.
    warnings: Vec<String>,
}

impl Causes {
    /// No causes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len() + self.beyond
    }

    /// Whether no more are told: what is found still counts.
    pub fn is_full(&self) -> bool {
        self.bytes > MOST_BYTES
    }

    /// Whether one more is told; it counts in any case.
    fn has_room(&mut self) -> bool {
        let full = self.is_full();
        self.beyond += usize::from(full);
        !full
    }

    /// The causes.
    pub fn as_slice(&self) -> &[Cause] {
        &self.list
    }

    /// Has causes told as warnings: the object is not refused for them.
    pub fn warn(&mut self, passed: &Self) {
        self.warnings.extend(passed.list.iter().map(|c| format!("{}: {}", c.field, c.message)));
    }

    /// The warnings so far, which are taken out.
    pub fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// Adds a cause with a finished message.
    pub fn push(&mut self, field: &Path<'_>, reason: CauseReason, message: impl Into<SmolStr>) {
        if self.has_room() {
            let cause = Cause { field: field.to_smolstr(), reason, message: message.into() };
            self.bytes += cause.field.len() + cause.message.len();
            self.list.push(cause);
        }
    }

    /// `Required value: detail`.
    pub fn required(&mut self, field: &Path<'_>, detail: &str) {
        self.push(field, CauseReason::Required, join("Required value", None, detail));
    }

    /// `Invalid value: value: detail`.
    pub fn invalid(&mut self, field: &Path<'_>, value: &Value, detail: &str) {
        self.show(field, CauseReason::Invalid, "Invalid value", value, detail);
    }

    /// `Invalid value: "value": detail`.
    pub fn invalid_str(&mut self, field: &Path<'_>, value: &str, detail: &str) {
        self.push(field, CauseReason::Invalid, join("Invalid value", Some(&quoted(value)), detail));
    }

    /// `Unsupported value: "value": supported values: "a", "b"`, the values sorted as upstream does.
    pub fn not_supported(&mut self, field: &Path<'_>, value: &Value, supported: &[&str]) {
        let mut sorted = supported.to_vec();
        sorted.sort_by_key(|s| quoted(s));
        self.not_supported_in_order(field, value, &sorted);
    }

    /// The same, the values in their order (`field.NotSupported`).
    pub fn not_supported_in_order(&mut self, field: &Path<'_>, value: &Value, supported: &[&str]) {
        let shown_values: Vec<_> = supported.iter().map(|s| quoted(s)).collect();
        let detail =
            if supported.is_empty() { String::new() } else { format!("supported values: {}", shown_values.join(", ")) };
        self.push(field, CauseReason::NotSupported, join("Unsupported value", Some(&shown(value)), &detail));
    }

    /// `Duplicate value: value`.
    pub fn duplicate(&mut self, field: &Path<'_>, value: &Value) {
        self.show(field, CauseReason::Duplicate, "Duplicate value", value, "");
    }

    /// Adds a cause that shows a value, which may be large.
    fn show(&mut self, field: &Path<'_>, reason: CauseReason, head: &str, value: &Value, detail: &str) {
        if self.is_full() {
            self.beyond += 1;
        } else {
            self.push(field, reason, join(head, Some(&shown(value)), detail));
        }
    }

    /// `Forbidden: detail`.
    pub fn forbidden(&mut self, field: &Path<'_>, detail: &str) {
        self.push(field, CauseReason::Forbidden, join("Forbidden", None, detail));
    }

    /// `Too long: may not be more than N bytes`.
    pub fn too_long(&mut self, field: &Path<'_>, max: usize) {
        self.push(field, CauseReason::TooLong, format!("Too long: may not be more than {max} bytes"));
    }

    /// `Too many: N: must have at most MAX items`.
    pub fn too_many(&mut self, field: &Path<'_>, actual: usize, max: usize) {
        let noun = if max == 1 { "item" } else { "items" };
        self.push(field, CauseReason::TooMany, format!("Too many: {actual}: must have at most {max} {noun}"));
    }

    /// `Not found: value`.
    pub fn not_found(&mut self, field: &Path<'_>, value: &Value) {
        self.show(field, CauseReason::NotFound, "Not found", value, "");
    }

    /// Appends the causes of another check.
    pub fn extend(&mut self, other: Causes) {
        self.list.extend(other.list);
        self.bytes += other.bytes;
        self.beyond += other.beyond;
    }
}

fn join(head: &str, value: Option<&str>, detail: &str) -> SmolStr {
    let mut out = String::from(head);
    for part in value.into_iter().chain((!detail.is_empty()).then_some(detail)) {
        out.push_str(": ");
        out.push_str(part);
    }
    out.into()
}

/// A text as Go's `%q` writes it.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{7}' => out.push_str("\\a"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\u{b}' => out.push_str("\\v"),
            c if (c as u32) < 0x20 || c as u32 == 0x7f => {
                let _ = write!(out, "\\x{:02x}", c as u32);
            }
            c if !printable(c) => {
                let _ = if c as u32 > 0xffff {
                    write!(out, "\\U{:08x}", c as u32)
                } else {
                    write!(out, "\\u{:04x}", c as u32)
                };
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Whether Go's `unicode.IsPrint` holds, for what is assigned: no controls, spaces other than ASCII's or formats.
fn printable(c: char) -> bool {
    !matches!(
        c as u32,
        0x80..=0xa0
            | 0xad
            | 0x600..=0x605
            | 0x61c
            | 0x6dd
            | 0x70f
            | 0x1680
            | 0x180e
            | 0x2000..=0x200f
            | 0x2028..=0x202f
            | 0x205f..=0x206f
            | 0x3000
            | 0xe000..=0xf8ff
            | 0xfeff
            | 0xfff9..=0xfffb
            | 0xfffe..=0xffff
            | 0xe0000..=0xe0fff
            | 0xf0000..
    )
}

/// Appends a text as Go's `json.Marshal` writes it: with HTML's characters escaped.
pub fn go_json_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\0'..='\u{1f}' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// A value as a cause shows it: texts quoted, numbers and booleans plain, others as JSON.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Str(s) => quoted(s),
        Value::Null => "null".to_owned(),
        Value::Float(f) => crate::go::float(*f),
        other => {
            let mut out = String::new();
            notation::write(&mut out, other);
            out
        }
    }
}
