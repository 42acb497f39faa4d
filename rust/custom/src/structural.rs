//! Structural schemas, compiled from the `openAPIV3Schema` of a version (apiextensions-apiserver
//! `pkg/apiserver/schema/structural.go` and `convert.go`).

#![allow(clippy::indexing_slicing, reason = "the place was found in the list, or the length looked at before")]

use std::collections::HashSet;

use hydrofoil_pattern::Pattern;
use hydrofoil_types::{SmolStr, Value};

use super::string_format::StringFormat;

/// One node of a structural schema, or of the value validations below a junctor.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is an extension of its own")]
pub struct Node {
    /// The JSON type; absent where the extensions leave it open.
    pub kind: Option<Kind>,
    /// Whether null is allowed.
    pub nullable: bool,
    /// `x-kubernetes-int-or-string`.
    pub int_or_string: bool,
    /// `x-kubernetes-preserve-unknown-fields`.
    pub preserve: bool,
    /// `x-kubernetes-embedded-resource`.
    pub embedded: bool,
    /// `x-kubernetes-map-type: atomic`.
    pub map_atomic: bool,
    /// Whether it or anything below has a default.
    pub defaulted: bool,
    /// Whether it or anything below is an embedded resource.
    pub embeds: bool,
    /// Whether it or anything below is a set or a map by keys.
    pub keyed: bool,
    /// Whether it or anything below has `x-kubernetes-validations`.
    pub ruled: bool,
    /// The named members, sorted by name.
    pub properties: Box<[(SmolStr, Node)]>,
    /// The schema of additional properties.
    pub additional: Additional,
    /// The items of a list.
    pub items: Option<Box<Node>>,
    /// The type of a list.
    pub list: List,
    /// The default.
    pub default: Option<Box<Value>>,
    /// `x-kubernetes-validations`, where they have been compiled.
    pub validations: Option<Box<super::rule::Rules>>,
    /// Restrictions of the value.
    pub rules: Option<Box<Rules>>,
}

/// A JSON type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An object.
    Object,
    /// A list.
    Array,
    /// A string.
    String,
    /// An integer.
    Integer,
    /// A number.
    Number,
    /// A boolean.
    Boolean,
}

impl Kind {
    /// Return the type of a name.
    pub(super) fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "object" => Self::Object,
            "array" => Self::Array,
            "string" => Self::String,
            "integer" => Self::Integer,
            "number" => Self::Number,
            "boolean" => Self::Boolean,
            _ => return None,
        })
    }

    /// Return the name of the type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Array => "array",
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
        }
    }
}

/// `additionalProperties`.
#[derive(Debug, Default)]
pub enum Additional {
    /// Unspecified: unknown members are pruned, but valid.
    #[default]
    Unsaid,
    /// `true`: anything; `false`: nothing.
    Any(bool),
    /// Values of one schema.
    Of(Box<Node>),
}

/// `x-kubernetes-list-type`.
#[derive(Debug, Default, PartialEq, Eq)]
pub enum List {
    /// Replaced as a whole.
    #[default]
    Atomic,
    /// Distinct values.
    Set,
    /// Items identified by keys.
    Map(Box<[SmolStr]>),
}

/// The value validations of a node.
#[derive(Debug, Default)]
pub struct Rules {
    /// The format of strings, if it is one that is checked.
    pub format: Option<(StringFormat, SmolStr)>,
    /// The format of numbers: `int32`, `int64`, `float`, `double`.
    pub number_format: SmolStr,
    /// The bounds of a number.
    pub range: Option<Box<Range>>,
    /// The least number of characters of a string.
    pub min_length: Option<i64>,
    /// The largest number of characters of a string.
    pub max_length: Option<i64>,
    /// The pattern of strings.
    pub pattern: Option<Box<Pattern>>,
    /// The limits for the number of items or members.
    pub counts: Option<Box<Counts>>,
    /// The allowed values.
    pub enums: Enums,
    /// The required members.
    pub required: Box<[SmolStr]>,
    /// The junctors: schemas of which all, any, one or none must hold.
    pub junction: Option<Box<Junction>>,
}

/// The values that a schema allows.
#[derive(Debug, Default)]
pub struct Enums {
    /// In their order.
    pub list: Box<[Value]>,
    /// The strings among them, if they are many.
    texts: Option<HashSet<SmolStr>>,
}

impl Enums {
    /// The number of values from which strings are found by an index.
    const MANY: usize = 16;

    /// Return the values of a list.
    pub(super) fn of(list: &[Value]) -> Self {
        let texts = list.iter().filter_map(Value::as_str).map(SmolStr::new);
        Self { list: list.into(), texts: (list.len() > Self::MANY).then(|| texts.collect()) }
    }

    /// Report whether a text is one of them, where that is known at once.
    pub fn text(&self, text: &str) -> Option<bool> {
        self.texts.as_ref().map(|texts| texts.contains(text))
    }
}

/// The bounds of a number.
#[derive(Debug, Default)]
pub struct Range {
    /// The lower bound, and whether it is exclusive.
    pub minimum: Option<(f64, bool)>,
    /// The upper bound.
    pub maximum: Option<(f64, bool)>,
    /// The number that the value must be a multiple of.
    pub multiple_of: Option<f64>,
}

/// The limits for the items of a list, or the members of an object.
#[derive(Debug, Default)]
pub struct Counts {
    /// The least number of items.
    pub min_items: Option<i64>,
    /// The largest number of items.
    pub max_items: Option<i64>,
    /// The least number of members.
    pub min_properties: Option<i64>,
    /// The largest number of members.
    pub max_properties: Option<i64>,
}

/// Schemas that apply to the same value.
#[derive(Debug, Default)]
pub struct Junction {
    /// All of these must hold.
    pub all_of: Box<[Node]>,
    /// At least one of these must hold.
    pub any_of: Box<[Node]>,
    /// Exactly one of these must hold.
    pub one_of: Box<[Node]>,
    /// This must not hold.
    pub not: Option<Box<Node>>,
}

impl Node {
    /// Iterate over the schemas of members and items.
    pub(super) fn children(&self) -> impl Iterator<Item = &Self> {
        let additional = match &self.additional {
            Additional::Of(node) => Some(&**node),
            _ => None,
        };
        self.properties.iter().map(|(_, node)| node).chain(additional).chain(self.items.as_deref())
    }

    /// Return the schema of a named member.
    pub fn property(&self, key: &str) -> Option<&Self> {
        if self.properties.len() <= 8 {
            return self.properties.iter().find(|(k, _)| k == key).map(|(_, node)| node);
        }
        let at = self.properties.binary_search_by(|(k, _)| k.as_str().cmp(key)).ok()?;
        Some(&self.properties[at].1)
    }

    /// Return the schema of a member, named or not.
    pub fn member(&self, key: &str) -> Option<&Self> {
        self.property(key).or(match &self.additional {
            Additional::Of(node) => Some(node),
            _ => None,
        })
    }
}
