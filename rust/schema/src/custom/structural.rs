//! Structural schemas, compiled from the `openAPIV3Schema` of a version (apiextensions-apiserver
//! `pkg/apiserver/schema/structural.go` and `convert.go`).

#![allow(clippy::indexing_slicing, reason = "the place was found in the list, or the length looked at before")]

use std::collections::HashSet;

use hydrofoil_types::{Map, SmolStr, Value};

use super::pattern::Pattern;
use super::validate::StringFormat;
use crate::read::Read;

/// One node of a structural schema, or of the value validations below a junctor.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is an extension of its own")]
pub struct Node {
    /// The JSON type; none where the extensions leave it open.
    pub kind: Option<Kind>,
    /// Whether null is a value.
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
    /// What members without a name may be.
    pub additional: Additional,
    /// The items of a list.
    pub items: Option<Box<Node>>,
    /// How the items of a list belong together.
    pub list: List,
    /// The default.
    pub default: Option<Box<Value>>,
    /// `x-kubernetes-validations`, where they have been compiled.
    pub validations: Option<Box<super::rules::Rules>>,
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
    /// A text.
    String,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A boolean.
    Boolean,
}

impl Kind {
    fn parse(text: &str) -> Option<Self> {
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

    /// The name of the type.
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
    /// Nothing is said: unknown members are pruned, but valid.
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
    /// Told apart by keys.
    Map(Box<[SmolStr]>),
}

/// The value validations of a node.
#[derive(Debug, Default)]
pub struct Rules {
    /// The format of texts; none when it is none that is checked.
    pub format: Option<(StringFormat, SmolStr)>,
    /// The format of numbers: `int32`, `int64`, `float`, `double`.
    pub number_format: SmolStr,
    /// The bounds of a number.
    pub range: Option<Box<Range>>,
    /// Characters of a text at least.
    pub min_length: Option<i64>,
    /// Characters of a text at most.
    pub max_length: Option<i64>,
    /// The pattern of texts.
    pub pattern: Option<Box<Pattern>>,
    /// How many items or members there may be.
    pub counts: Option<Box<Counts>>,
    /// The values allowed.
    pub enums: Enums,
    /// The members that must be there.
    pub required: Box<[SmolStr]>,
    /// Schemas that must hold together or not at all.
    pub junction: Option<Box<Junction>>,
}

/// The values that a schema allows.
#[derive(Debug, Default)]
pub struct Enums {
    /// In their order.
    pub list: Box<[Value]>,
    /// The texts among them, where they are many.
    texts: Option<HashSet<SmolStr>>,
}

impl Enums {
    /// From how many values on texts are found by an index.
    const MANY: usize = 16;

    fn of(list: &[Value]) -> Self {
        let texts = list.iter().filter_map(Value::as_str).map(SmolStr::new);
        Self { list: list.into(), texts: (list.len() > Self::MANY).then(|| texts.collect()) }
    }

    /// Whether a text is one of them, where that is known at once.
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
    /// What a number must be a multiple of.
    pub multiple_of: Option<f64>,
}

/// How many items a list may have, or members an object.
#[derive(Debug, Default)]
pub struct Counts {
    /// Items at least.
    pub min_items: Option<i64>,
    /// Items at most.
    pub max_items: Option<i64>,
    /// Members at least.
    pub min_properties: Option<i64>,
    /// Members at most.
    pub max_properties: Option<i64>,
}

/// Schemas about the same value.
#[derive(Debug, Default)]
pub struct Junction {
    /// All of these must hold.
    pub all_of: Box<[Node]>,
    /// One at least of these must hold.
    pub any_of: Box<[Node]>,
    /// Exactly one of these must hold.
    pub one_of: Box<[Node]>,
    /// This must not hold.
    pub not: Option<Box<Node>>,
}

impl Node {
    /// Compiles a `JSONSchemaProps` in loose form. What is not structural is refused when a definition is
    /// written, so nothing fails here: what has no meaning is passed over.
    pub fn compile(props: &Value) -> Self {
        Self::within(props, Within::Fields)
    }

    fn within(props: &Value, place: Within) -> Self {
        // Most nodes have no extension at all.
        let extended = props.as_object().is_some_and(|map| map.keys().any(|key| key.starts_with("x-")));
        let flag = |key: &str| extended && props.b(key);
        let embedded = flag("x-kubernetes-embedded-resource");
        let place = if embedded { Within::Fields } else { place };
        let mut node = Self {
            kind: Kind::parse(props.s("type")),
            nullable: props.b("nullable"),
            int_or_string: flag("x-kubernetes-int-or-string"),
            preserve: flag("x-kubernetes-preserve-unknown-fields"),
            embedded,
            map_atomic: extended && props.s("x-kubernetes-map-type") == "atomic",
            properties: properties(props.sub("properties"), |key| place.member(key, embedded)),
            additional: match props.opt("additionalProperties") {
                None => Additional::Unsaid,
                Some(Value::Bool(any)) => Additional::Any(*any),
                Some(schema) => Additional::Of(Box::new(Self::within(schema, place.below()))),
            },
            items: props
                .opt("items")
                .filter(|i| i.as_object().is_some())
                .map(|i| Box::new(Self::within(i, place.below()))),
            list: match props.s("x-kubernetes-list-type") {
                _ if !extended => List::Atomic,
                "set" => List::Set,
                "map" => List::Map(texts(props.list("x-kubernetes-list-map-keys"))),
                _ => List::Atomic,
            },
            default: props.opt("default").map(|d| Box::new(d.clone())),
            ..Self::default()
        };
        node.rules = rules(props, node.kind, node.int_or_string).map(Box::new);
        let below = |has: fn(&Self) -> bool| node.children().any(has);
        let (defaulted, embeds) = (below(|n| n.defaulted), below(|n| n.embeds));
        let (keyed, ruled) = (below(|n| n.keyed), below(|n| n.ruled));
        node.defaulted = defaulted;
        node.embeds = embeds || node.embedded;
        node.keyed = keyed || node.list != List::Atomic;
        node.ruled = ruled || extended && !props.list("x-kubernetes-validations").is_empty();
        if let Some(mut value) = node.default.take() {
            // `PruneDefaults`: what a default says beyond the schema, or beyond what metadata has, is never given.
            match place {
                Within::Fields => super::prune::value(&mut value, &node),
                Within::Metadata => super::embedded::prune_metadata(&mut value),
                Within::Known | Within::Unknown => {}
            }
            node.default = Some(value).filter(|_| place != Within::Unknown);
            node.defaulted = defaulted || node.default.is_some();
        }
        node
    }

    fn children(&self) -> impl Iterator<Item = &Self> {
        let additional = match &self.additional {
            Additional::Of(node) => Some(&**node),
            _ => None,
        };
        self.properties.iter().map(|(_, node)| node).chain(additional).chain(self.items.as_deref())
    }

    /// The schema of a named member.
    pub fn property(&self, key: &str) -> Option<&Self> {
        if self.properties.len() <= 8 {
            return self.properties.iter().find(|(k, _)| k == key).map(|(_, node)| node);
        }
        let at = self.properties.binary_search_by(|(k, _)| k.as_str().cmp(key)).ok()?;
        Some(&self.properties[at].1)
    }

    /// The schema of a member, named or not.
    pub fn member(&self, key: &str) -> Option<&Self> {
        self.property(key).or(match &self.additional {
            Additional::Of(node) => Some(node),
            _ => None,
        })
    }
}

/// What the values of a node belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    /// What the schema says.
    Fields,
    /// The metadata of an embedded resource.
    Metadata,
    /// A part of metadata, or a member of its own.
    Known,
    /// A member that metadata has not.
    Unknown,
}

impl Within {
    fn member(self, key: &str, embedded: bool) -> Self {
        match self {
            Self::Fields if embedded && key == "metadata" => Self::Metadata,
            Self::Fields => Self::Fields,
            Self::Metadata if !super::embedded::has_field(key) => Self::Unknown,
            Self::Metadata => Self::Known,
            inner => inner,
        }
    }

    fn below(self) -> Self {
        if self == Self::Metadata { Self::Unknown } else { self }
    }
}

fn properties(map: &Value, place: impl Fn(&str) -> Within) -> Box<[(SmolStr, Node)]> {
    let mut out: Vec<_> =
        map.as_object().into_iter().flat_map(Map::iter).map(|(k, v)| (k.clone(), Node::within(v, place(k)))).collect();
    out.sort_by(|a, b| a.0.cmp(&b.0));
    out.into_boxed_slice()
}

fn texts(list: &[Value]) -> Box<[SmolStr]> {
    list.iter().filter_map(Value::as_str).map(SmolStr::new).collect()
}

fn rules(props: &Value, kind: Option<Kind>, int_or_string: bool) -> Option<Rules> {
    let bound = |key: &str, exclusive: &str| number(props.opt(key)?).map(|n| (n, props.b(exclusive)));
    let range = Range {
        minimum: bound("minimum", "exclusiveMinimum"),
        maximum: bound("maximum", "exclusiveMaximum"),
        multiple_of: props.opt("multipleOf").and_then(number),
    };
    let range = Some(range).filter(|r| r.minimum.is_some() || r.maximum.is_some() || r.multiple_of.is_some());
    let format = props.s("format");
    let found = Rules {
        // Formats count for texts, and for what may be anything (`StripUnsupportedFormatsPostProcess`).
        format: matches!(kind, Some(Kind::String) | None)
            .then(|| StringFormat::parse(format))
            .flatten()
            .filter(|_| !int_or_string || kind.is_none())
            .map(|f| (f, format.into())),
        number_format: match (kind, format) {
            (Some(Kind::Integer), "int32" | "int64") | (Some(Kind::Number), "float" | "double") => format.into(),
            _ => SmolStr::default(),
        },
        range: range.map(Box::new),
        min_length: props.oi("minLength"),
        max_length: props.oi("maxLength"),
        pattern: Some(props.s("pattern")).filter(|p| !p.is_empty()).map(|p| Box::new(Pattern::new(p))),
        counts: counts(props).map(Box::new),
        enums: Enums::of(props.list("enum")),
        required: texts(props.list("required")),
        junction: junction(props).map(Box::new),
    };
    let any = found.format.is_some()
        || !found.number_format.is_empty()
        || found.pattern.is_some()
        || found.junction.is_some()
        || found.range.is_some()
        || found.counts.is_some()
        || [found.min_length, found.max_length].iter().any(Option::is_some)
        || !found.enums.list.is_empty()
        || !found.required.is_empty();
    any.then_some(found)
}

fn counts(props: &Value) -> Option<Counts> {
    let found = Counts {
        min_items: props.oi("minItems"),
        max_items: props.oi("maxItems"),
        min_properties: props.oi("minProperties"),
        max_properties: props.oi("maxProperties"),
    };
    let all = [found.min_items, found.max_items, found.min_properties, found.max_properties];
    all.iter().any(Option::is_some).then_some(found)
}

fn junction(props: &Value) -> Option<Junction> {
    let nodes = |key: &str| props.list(key).iter().map(Node::compile).collect::<Box<[_]>>();
    let found = Junction {
        all_of: nodes("allOf"),
        any_of: nodes("anyOf"),
        one_of: nodes("oneOf"),
        not: props.opt("not").map(|n| Box::new(Node::compile(n))),
    };
    let any = [&found.all_of, &found.any_of, &found.one_of].iter().any(|n| !n.is_empty()) || found.not.is_some();
    any.then_some(found)
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(n) => Some(*n as f64),
        Value::Float(f) => Some(*f),
        _ => None,
    }
}
