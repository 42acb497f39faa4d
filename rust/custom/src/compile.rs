//! Compilation of a schema (apiextensions-apiserver `pkg/apiserver/schema/convert.go`).

use hydrofoil_pattern::Pattern;
use hydrofoil_types::{Map, SmolStr, Value};

use super::string_format::StringFormat;
use super::structural::{Additional, Counts, Enums, Junction, Kind, List, Node, Range, Rules};
use super::{embedded, prune};
use hydrofoil_types::read::Read;

impl Node {
    /// Compile a `JSONSchemaProps` in loose form. A schema that is not structural is refused when the definition is
    /// written, so nothing fails here: unsupported fields are ignored.
    pub fn compile(props: &Value) -> Self {
        Self::within(props, Within::Fields)
    }

    fn within(props: &Value, place: Within) -> Self {
        // Most nodes have no extensions.
        let extended = props.as_object().is_some_and(|map| map.keys().any(|key| key.starts_with("x-")));
        let flag = |key: &str| extended && props.flag(key);
        let embedded = flag("x-kubernetes-embedded-resource");
        let place = if embedded { Within::Fields } else { place };
        let mut node = Self {
            kind: Kind::parse(props.text("type")),
            nullable: props.flag("nullable"),
            int_or_string: flag("x-kubernetes-int-or-string"),
            preserve: flag("x-kubernetes-preserve-unknown-fields"),
            embedded,
            map_atomic: extended && props.text("x-kubernetes-map-type") == "atomic",
            properties: properties(props.field("properties"), |key| place.member(key, embedded)),
            additional: match props.opt("additionalProperties") {
                None => Additional::Unsaid,
                Some(Value::Bool(any)) => Additional::Any(*any),
                Some(schema) => Additional::Of(Box::new(Self::within(schema, place.below()))),
            },
            items: props
                .opt("items")
                .filter(|i| i.as_object().is_some())
                .map(|i| Box::new(Self::within(i, place.below()))),
            list: match props.text("x-kubernetes-list-type") {
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
            // `PruneDefaults`: the parts of a default beyond the schema, or beyond `ObjectMeta`, are never applied.
            match place {
                Within::Fields => prune::value(&mut value, &node),
                Within::Metadata => embedded::prune_metadata(&mut value),
                Within::Known | Within::Unknown => {}
            }
            node.default = Some(value).filter(|_| place != Within::Unknown);
            node.defaulted = defaulted || node.default.is_some();
        }
        node
    }
}

/// The part of an object that the values of a node belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Within {
    /// Fields of the schema.
    Fields,
    /// The metadata of an embedded resource.
    Metadata,
    /// A part of metadata, or a member of its own.
    Known,
    /// A member that metadata does not have.
    Unknown,
}

impl Within {
    fn member(self, key: &str, embedded: bool) -> Self {
        match self {
            Self::Fields if embedded && key == "metadata" => Self::Metadata,
            Self::Fields => Self::Fields,
            Self::Metadata if !embedded::has_field(key) => Self::Unknown,
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
    let bound = |key: &str, exclusive: &str| number(props.opt(key)?).map(|n| (n, props.flag(exclusive)));
    let range = Range {
        minimum: bound("minimum", "exclusiveMinimum"),
        maximum: bound("maximum", "exclusiveMaximum"),
        multiple_of: props.opt("multipleOf").and_then(number),
    };
    let range = Some(range).filter(|r| r.minimum.is_some() || r.maximum.is_some() || r.multiple_of.is_some());
    let format = props.text("format");
    let found = Rules {
        // Formats apply to strings, and to values of any type (`StripUnsupportedFormatsPostProcess`).
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
        min_length: props.opt_int("minLength"),
        max_length: props.opt_int("maxLength"),
        pattern: Some(props.text("pattern")).filter(|p| !p.is_empty()).map(|p| Box::new(Pattern::new(p))),
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
        min_items: props.opt_int("minItems"),
        max_items: props.opt_int("maxItems"),
        min_properties: props.opt_int("minProperties"),
        max_properties: props.opt_int("maxProperties"),
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
        Value::Float(f) => Some(f.get()),
        _ => None,
    }
}
