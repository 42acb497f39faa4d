//! The forms of objects in answers.

use hydrofoil_types::Timestamp;

use crate::error::{Error, Result};
use crate::kind::ObjectKind;

/// The content of an answer about an object.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Shape {
    /// The object itself.
    Object,
    /// The metadata without its managed fields: for the controllers of this server.
    Bare,
    /// `PartialObjectMetadata` of a version of meta.k8s.io.
    Metadata(String),
    /// A row of a `Table` of a version of meta.k8s.io.
    Table {
        /// The version of meta.k8s.io.
        version: String,
        /// The content of a row: `None`, `Metadata` or `Object`.
        include: String,
    },
}

/// The encoding of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoding {
    /// JSON.
    Json,
    /// Protobuf.
    Protobuf,
    /// CBOR.
    Cbor,
}

/// The form of an object or of an item of a list.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Form {
    /// The content.
    pub shape: Shape,
    /// The encoding.
    pub encoding: Encoding,
}

impl Form {
    /// The object itself in JSON.
    pub(crate) const JSON: Self = Self { shape: Shape::Object, encoding: Encoding::Json };

    /// Parse `encoding`, `encoding:bare`, `encoding:metadata:version` or `encoding:table:version:include`.
    pub fn parse(text: &str) -> Result<Self> {
        let invalid = || Error::Invalid(text.to_owned());
        let mut parts = text.split(':');
        let encoding = match parts.next() {
            Some("json") => Encoding::Json,
            Some("protobuf") => Encoding::Protobuf,
            Some("cbor") => Encoding::Cbor,
            _ => return Err(invalid()),
        };
        let rest: Vec<&str> = parts.collect();
        let shape = match rest[..] {
            [] => Shape::Object,
            ["bare"] => Shape::Bare,
            ["metadata", version] => Shape::Metadata(version.to_owned()),
            ["table", version, include] => Shape::Table { version: version.to_owned(), include: include.to_owned() },
            _ => return Err(invalid()),
        };
        Ok(Self { shape, encoding })
    }

    /// Report whether it is text, with items separated by commas.
    pub fn is_text(&self) -> bool {
        self.encoding == Encoding::Json
    }

    /// Report whether it is the object itself in JSON.
    pub fn is_json(&self) -> bool {
        *self == Self::JSON
    }

    /// Report whether it is a table.
    pub fn is_table(&self) -> bool {
        matches!(self.shape, Shape::Table { .. })
    }

    /// Report whether it equals the stored bytes.
    pub(crate) fn is_stored_json(&self, kind: &dyn ObjectKind) -> bool {
        self.is_json() && kind.stores_own_version()
    }

    /// Return the same shape as JSON.
    pub(crate) fn as_json(&self) -> Self {
        Self { shape: self.shape.clone(), encoding: Encoding::Json }
    }
}

/// The parameters of an encoding besides its form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rendering {
    /// Whether it is a whole document, not an item or row of a list.
    pub(crate) whole: bool,
    /// Whether a table includes its columns, as only the first one of a stream does.
    pub(crate) columns: bool,
    /// The time to which ages are relative.
    pub(crate) now: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(shape: Shape, encoding: Encoding) -> Form {
        Form { shape, encoding }
    }

    #[test]
    fn each_form_has_a_name() {
        let version = || "v1".to_owned();
        let table = Shape::Table { version: version(), include: "Object".to_owned() };
        assert_eq!(Form::parse("json"), Ok(Form::JSON));
        assert_eq!(Form::parse("json:bare"), Ok(form(Shape::Bare, Encoding::Json)));
        assert_eq!(Form::parse("protobuf:metadata:v1"), Ok(form(Shape::Metadata(version()), Encoding::Protobuf)));
        assert_eq!(Form::parse("cbor:table:v1:Object"), Ok(form(table, Encoding::Cbor)));
    }

    #[test]
    fn other_names_are_refused() {
        for text in ["", "xml", "json:", "json:metadata", "json:table:v1", "json:bare:v1", "JSON"] {
            assert_eq!(Form::parse(text), Err(Error::Invalid(text.to_owned())));
        }
    }
}
