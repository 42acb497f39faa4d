//! Definitions in upstream's internal type: causes show these structs, which have no JSON names
//! (apiextensions `pkg/apis/apiextensions/types.go` and `types_jsonschema.go`).

use Form::{List, Plain, SchemaMap, SchemaOrBool, SchemaOrList, Schemas, Struct};
use Zero::{Bool, Int, Null, Text};
use hydrofoil_types::{Map, Value};

use hydrofoil_types::read::Read;

/// The written form of the zero value of a Go field.
#[derive(Clone, Copy)]
enum Zero {
    Text,
    Bool,
    Null,
    Int,
}

/// How the value of a field is written.
#[derive(Clone, Copy)]
enum Form {
    Plain,
    Schema,
    Schemas,
    SchemaMap,
    SchemaOrBool,
    SchemaOrList,
    Struct(&'static [Field]),
    List(&'static [Field]),
}

/// Go's name, the name in JSON, the zero value, the form.
type Field = (&'static str, &'static str, Zero, Form);

const VERSION: &[Field] = &[
    ("Name", "name", Text, Plain),
    ("Served", "served", Bool, Plain),
    ("Storage", "storage", Bool, Plain),
    ("Deprecated", "deprecated", Bool, Plain),
    ("DeprecationWarning", "deprecationWarning", Null, Plain),
    ("Schema", "schema", Null, Struct(&[("OpenAPIV3Schema", "openAPIV3Schema", Null, Form::Schema)])),
    ("Subresources", "subresources", Null, Struct(SUBRESOURCES)),
    ("AdditionalPrinterColumns", "additionalPrinterColumns", Null, List(COLUMN)),
    ("SelectableFields", "selectableFields", Null, List(&[("JSONPath", "jsonPath", Text, Plain)])),
];

const SUBRESOURCES: &[Field] = &[("Status", "status", Null, Struct(&[])), ("Scale", "scale", Null, Struct(SCALE))];

const SCALE: &[Field] = &[
    ("SpecReplicasPath", "specReplicasPath", Text, Plain),
    ("StatusReplicasPath", "statusReplicasPath", Text, Plain),
    ("LabelSelectorPath", "labelSelectorPath", Null, Plain),
];

const COLUMN: &[Field] = &[
    ("Name", "name", Text, Plain),
    ("Type", "type", Text, Plain),
    ("Format", "format", Text, Plain),
    ("Description", "description", Text, Plain),
    ("Priority", "priority", Int, Plain),
    ("JSONPath", "jsonPath", Text, Plain),
];

const RULE: &[Field] = &[
    ("Rule", "rule", Text, Plain),
    ("Message", "message", Text, Plain),
    ("MessageExpression", "messageExpression", Text, Plain),
    ("Reason", "reason", Null, Plain),
    ("FieldPath", "fieldPath", Text, Plain),
    ("OptionalOldSelf", "optionalOldSelf", Null, Plain),
];

const DOCS: &[Field] = &[("Description", "description", Text, Plain), ("URL", "url", Text, Plain)];

const PROPS: &[Field] = &[
    ("ID", "id", Text, Plain),
    ("Schema", "$schema", Text, Plain),
    ("Ref", "$ref", Null, Plain),
    ("Description", "description", Text, Plain),
    ("Type", "type", Text, Plain),
    ("Nullable", "nullable", Bool, Plain),
    ("Format", "format", Text, Plain),
    ("Title", "title", Text, Plain),
    ("Default", "default", Null, Plain),
    ("Maximum", "maximum", Null, Plain),
    ("ExclusiveMaximum", "exclusiveMaximum", Bool, Plain),
    ("Minimum", "minimum", Null, Plain),
    ("ExclusiveMinimum", "exclusiveMinimum", Bool, Plain),
    ("MaxLength", "maxLength", Null, Plain),
    ("MinLength", "minLength", Null, Plain),
    ("Pattern", "pattern", Text, Plain),
    ("MaxItems", "maxItems", Null, Plain),
    ("MinItems", "minItems", Null, Plain),
    ("UniqueItems", "uniqueItems", Bool, Plain),
    ("MultipleOf", "multipleOf", Null, Plain),
    ("Enum", "enum", Null, Plain),
    ("MaxProperties", "maxProperties", Null, Plain),
    ("MinProperties", "minProperties", Null, Plain),
    ("Required", "required", Null, Plain),
    ("Items", "items", Null, SchemaOrList),
    ("AllOf", "allOf", Null, Schemas),
    ("OneOf", "oneOf", Null, Schemas),
    ("AnyOf", "anyOf", Null, Schemas),
    ("Not", "not", Null, Form::Schema),
    ("Properties", "properties", Null, SchemaMap),
    ("AdditionalProperties", "additionalProperties", Null, SchemaOrBool),
    ("PatternProperties", "patternProperties", Null, SchemaMap),
    ("Dependencies", "dependencies", Null, SchemaMap),
    ("AdditionalItems", "additionalItems", Null, SchemaOrBool),
    ("Definitions", "definitions", Null, SchemaMap),
    ("ExternalDocs", "externalDocs", Null, Struct(DOCS)),
    ("Example", "example", Null, Plain),
    ("XPreserveUnknownFields", "x-kubernetes-preserve-unknown-fields", Null, Plain),
    ("XEmbeddedResource", "x-kubernetes-embedded-resource", Bool, Plain),
    ("XIntOrString", "x-kubernetes-int-or-string", Bool, Plain),
    ("XListMapKeys", "x-kubernetes-list-map-keys", Null, Plain),
    ("XListType", "x-kubernetes-list-type", Null, Plain),
    ("XMapType", "x-kubernetes-map-type", Null, Plain),
    ("XValidations", "x-kubernetes-validations", Null, List(RULE)),
];

/// `[]CustomResourceDefinitionVersion`; null when it is absent.
pub(super) fn versions(spec: &Value) -> Value {
    spec.opt("versions").map_or(Value::Null, |list| write_form(List(VERSION), list))
}

/// `JSONSchemaProps`.
pub(super) fn schema(props: &Value) -> Value {
    internal_form(PROPS, props)
}

fn internal_form(fields: &[Field], value: &Value) -> Value {
    let mut out = Map::new();
    for (go, name, zero, form) in fields {
        let written = match (value.opt(name), zero) {
            (Some(value), _) => write_form(*form, value),
            (None, Text) => Value::from(""),
            (None, Bool) => Value::Bool(false),
            (None, Int) => Value::Int(0),
            (None, Null) => Value::Null,
        };
        out.push(*go, written);
    }
    Value::Object(out)
}

fn write_form(form: Form, value: &Value) -> Value {
    let each = |f: &dyn Fn(&Value) -> Value| Value::Array(value.as_array().unwrap_or(&[]).iter().map(f).collect());
    let either = |members: [(&'static str, Value); 2]| {
        let mut out = Map::new();
        for (key, value) in members {
            out.push(key, value);
        }
        Value::Object(out)
    };
    match form {
        Plain => {
            // A default is a Go map, whose members are in order.
            let mut value = value.clone();
            value.sort_members();
            value
        }
        Form::Schema => schema(value),
        Schemas => each(&schema),
        SchemaMap => {
            let mut out = Map::new();
            for (key, value) in value.as_object().into_iter().flatten() {
                out.push(key.clone(), schema(value));
            }
            out.sort_keys();
            Value::Object(out)
        }
        SchemaOrBool => match value {
            Value::Bool(allows) => either([("Allows", Value::Bool(*allows)), ("Schema", Value::Null)]),
            other => either([("Allows", Value::Bool(true)), ("Schema", schema(other))]),
        },
        SchemaOrList => match value {
            Value::Array(_) => either([("Schema", Value::Null), ("JSONSchemas", each(&schema))]),
            other => either([("Schema", schema(other)), ("JSONSchemas", Value::Null)]),
        },
        Struct(fields) => internal_form(fields, value),
        List(fields) => each(&|item| internal_form(fields, item)),
    }
}

/// Report whether a field of two versions is `apiequality.Semantic.DeepEqual`: an empty list or map is like none, but
/// a pointer to an empty struct is not nil.
pub(super) fn same(key: &str, a: &Value, b: &Value) -> bool {
    let field = VERSION.iter().find(|(_, name, ..)| *name == key);
    field.is_some_and(|field| same_member(field, a, b))
}

/// Report whether the versions of two definitions are the same.
pub(super) fn same_versions(a: &Value, b: &Value) -> bool {
    same_form(List(VERSION), Null, a.opt("versions"), b.opt("versions"))
}

fn same_member((_, name, zero, form): &Field, a: &Value, b: &Value) -> bool {
    same_form(*form, *zero, a.opt(name), b.opt(name))
}

fn same_form(form: Form, zero: Zero, a: Option<&Value>, b: Option<&Value>) -> bool {
    if a == b {
        return true;
    }
    let items = |fields, a: Option<&Value>, b: Option<&Value>| {
        let (a, b) = (list(a), list(b));
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_struct(fields, Some(a), Some(b)))
    };
    match form {
        Form::Schema => same_struct(PROPS, a, b),
        Struct(fields) => same_struct(fields, a, b),
        Schemas => items(PROPS, a, b),
        List(fields) => items(fields, a, b),
        SchemaMap => {
            let count = |v: Option<&Value>| v.and_then(Value::as_object).map_or(0, Map::len);
            let mut entries = a.and_then(Value::as_object).into_iter().flatten();
            count(a) == count(b) && entries.all(|(key, v)| same_struct(PROPS, Some(v), b.and_then(|b| b.opt(key))))
        }
        SchemaOrBool | SchemaOrList => match (a, b) {
            (Some(Value::Object(_)), Some(Value::Object(_))) => same_struct(PROPS, a, b),
            (Some(Value::Array(_)), Some(Value::Array(_))) => items(PROPS, a, b),
            _ => false,
        },
        Plain => {
            // A pointer to zero is not nil, but an empty list is like none.
            let absent = |v: Option<&Value>| {
                v.is_none_or(|v| match zero {
                    Null => matches!(v, Value::Null) || v.as_array().is_some_and(<[Value]>::is_empty),
                    _ => v.is_zero(),
                })
            };
            absent(a) && absent(b)
        }
    }
}

fn same_struct(fields: &[Field], a: Option<&Value>, b: Option<&Value>) -> bool {
    match (a, b) {
        (None, None) => true,
        (Some(a), Some(b)) => a == b || fields.iter().all(|field| same_member(field, a, b)),
        _ => false,
    }
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).unwrap_or(&[])
}
