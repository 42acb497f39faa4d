//! Causes of an Invalid answer, with upstream's messages (apimachinery `pkg/util/validation/field`).

#![allow(clippy::arithmetic_side_effects, reason = "causes are counted")]

use std::fmt;

use smol_str::{SmolStr, ToSmolStr};

use crate::{Value, notation};
use hydrofoil_text::quoted;

/// The reason of a cause, by its name on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CauseReason {
    /// A required value is missing.
    Required,
    /// A value is invalid.
    Invalid,
    /// A value is not one of an enumeration.
    NotSupported,
    /// A value that must be unique is repeated.
    Duplicate,
    /// A value may not be set here.
    Forbidden,
    /// A value has too many bytes.
    TooLong,
    /// A list has too many items.
    TooMany,
    /// A value is of the wrong type.
    TypeInvalid,
    /// A value refers to an object that does not exist.
    NotFound,
    /// An internal error of the server.
    Internal,
}

impl CauseReason {
    /// Return the `reason` of a cause on the wire.
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

/// One cause: field, reason and message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The dotted path of the field.
    pub field: SmolStr,
    /// The reason.
    pub reason: CauseReason,
    /// The message, as `Invalid value: "x": detail`.
    pub message: SmolStr,
}

/// A path of fields while a value is visited: cheap to extend, formatted only for a cause.
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
    /// Return the path of a field at the root.
    pub const fn new(field: &'a str) -> Self {
        Self { parent: None, part: Part::Field(field) }
    }

    /// Return the path of the whole value: causes show an empty field, children have no prefix.
    pub const fn root() -> Self {
        Self { parent: None, part: Part::Field("") }
    }

    /// Return the path of the member `name`.
    #[must_use]
    pub const fn child(&'a self, name: &'a str) -> Path<'a> {
        Path { parent: Some(self), part: Part::Field(name) }
    }

    /// Return the path of the item `index`: `list[0]`.
    #[must_use]
    pub const fn index(&'a self, index: usize) -> Path<'a> {
        Path { parent: Some(self), part: Part::Index(index) }
    }

    /// Return the path of the value of `key`: `map[key]`.
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

/// The limit on the bytes of the reported causes. Some show a whole list for each of its items: an answer as long as
/// upstream's would take more memory than there is.
const MOST_BYTES: usize = 16 << 20;

/// The causes found so far, in the order of the checks.
#[derive(Clone, Debug, Default)]
pub struct Causes {
    list: Vec<Cause>,
    /// The bytes of their messages.
    bytes: usize,
    /// The number of causes beyond the limit.
    beyond: usize,
    /// The warnings of ratcheting validation: the old object has the same fault.
    warnings: Vec<String>,
}

impl Causes {
    /// Return an empty collection.
    pub fn new() -> Self {
        Self::default()
    }

    /// Report whether there are no causes.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Return the number of causes, those beyond the limit included.
    pub fn len(&self) -> usize {
        self.list.len() + self.beyond
    }

    /// Report whether the limit is reached: further causes are counted only.
    pub fn is_full(&self) -> bool {
        self.bytes > MOST_BYTES
    }

    /// Report whether another cause fits; if not, count it.
    fn has_room(&mut self) -> bool {
        let full = self.is_full();
        self.beyond += usize::from(full);
        !full
    }

    /// Return the causes.
    pub fn as_slice(&self) -> &[Cause] {
        &self.list
    }

    /// Add causes as warnings: they do not reject the object.
    pub fn warn(&mut self, passed: &Self) {
        self.warnings.extend(passed.list.iter().map(|c| format!("{}: {}", c.field, c.message)));
    }

    /// Return the warnings so far and remove them.
    pub fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    /// Add a cause with a complete message.
    pub fn push(&mut self, field: &Path<'_>, reason: CauseReason, message: impl Into<SmolStr>) {
        if self.has_room() {
            self.add(Cause { field: field.to_smolstr(), reason, message: message.into() });
        }
    }

    /// Add a cause once more: both have the same text in memory.
    pub fn repeat(&mut self, cause: &Cause) {
        if self.has_room() {
            self.add(cause.clone());
        }
    }

    fn add(&mut self, cause: Cause) {
        self.bytes += cause.field.len() + cause.message.len();
        self.list.push(cause);
    }

    /// Add `Required value: detail`.
    pub fn required(&mut self, field: &Path<'_>, detail: &str) {
        self.push(field, CauseReason::Required, join("Required value", None, detail));
    }

    /// Add `Invalid value: value: detail`.
    pub fn invalid(&mut self, field: &Path<'_>, value: &Value, detail: &str) {
        self.show(field, CauseReason::Invalid, "Invalid value", value, detail);
    }

    /// Add `Invalid value: "value": detail`.
    pub fn invalid_str(&mut self, field: &Path<'_>, value: &str, detail: &str) {
        self.push(field, CauseReason::Invalid, join("Invalid value", Some(&quoted(value)), detail));
    }

    /// Add `Unsupported value: "value": supported values: "a", "b"`, the values sorted as upstream does.
    pub fn not_supported(&mut self, field: &Path<'_>, value: &Value, supported: &[&str]) {
        let mut sorted = supported.to_vec();
        sorted.sort_by_key(|s| quoted(s));
        self.not_supported_in_order(field, value, &sorted);
    }

    /// Add the same with the values in the given order (`field.NotSupported`).
    pub fn not_supported_in_order(&mut self, field: &Path<'_>, value: &Value, supported: &[&str]) {
        let shown_values: Vec<_> = supported.iter().map(|s| quoted(s)).collect();
        let detail =
            if supported.is_empty() { String::new() } else { format!("supported values: {}", shown_values.join(", ")) };
        self.push(field, CauseReason::NotSupported, join("Unsupported value", Some(&cause_text(value)), &detail));
    }

    /// Add `Duplicate value: value`.
    pub fn duplicate(&mut self, field: &Path<'_>, value: &Value) {
        self.show(field, CauseReason::Duplicate, "Duplicate value", value, "");
    }

    /// Add a cause that shows a value, which may be large.
    fn show(&mut self, field: &Path<'_>, reason: CauseReason, head: &str, value: &Value, detail: &str) {
        if self.is_full() {
            self.beyond += 1;
        } else {
            self.push(field, reason, join(head, Some(&cause_text(value)), detail));
        }
    }

    /// Add `Forbidden: detail`.
    pub fn forbidden(&mut self, field: &Path<'_>, detail: &str) {
        self.push(field, CauseReason::Forbidden, join("Forbidden", None, detail));
    }

    /// Add `Too long: may not be more than N bytes`.
    pub fn too_long(&mut self, field: &Path<'_>, max: usize) {
        self.push(field, CauseReason::TooLong, format!("Too long: may not be more than {max} bytes"));
    }

    /// Add `Too many: N: must have at most MAX items`.
    pub fn too_many(&mut self, field: &Path<'_>, actual: usize, max: usize) {
        let noun = if max == 1 { "item" } else { "items" };
        self.push(field, CauseReason::TooMany, format!("Too many: {actual}: must have at most {max} {noun}"));
    }

    /// Add `Not found: value`.
    pub fn not_found(&mut self, field: &Path<'_>, value: &Value) {
        self.show(field, CauseReason::NotFound, "Not found", value, "");
    }

    /// Append the causes and warnings of another check.
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

/// Format a value for a cause: strings quoted, numbers and booleans plain, others as JSON.
pub(crate) fn cause_text(value: &Value) -> String {
    match value {
        Value::Str(s) => quoted(s),
        Value::Null => "null".to_owned(),
        Value::Float(f) => crate::go::float(f.get()),
        other => {
            let mut out = String::new();
            notation::write(&mut out, other);
            out
        }
    }
}
