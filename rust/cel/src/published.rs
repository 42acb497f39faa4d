//! The declaration of a kind as `OpenAPI` publishes it: a schema with all that it refers to (apiserver
//! `pkg/cel/openapi/resolver`).

use std::sync::Arc;

use hydrofoil_types::{Map, Value};

use crate::decl::Decl;

const OBJECT_META: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";
/// The most nodes of an expanded schema: those of the largest kinds are some thousands.
const MOST: usize = 100_000;
/// The members of a schema that decide on its declaration.
const KEPT: [&str; 4] = ["type", "format", "x-kubernetes-int-or-string", "x-kubernetes-embedded-resource"];

impl Decl {
    /// Return the declaration of a kind of an `OpenAPI` v3 document: `kind` is its group, version and kind, `name` the
    /// name of the type in messages. A kind with too many nodes has none.
    pub fn of_openapi(document: &Value, kind: [&str; 3], name: &str) -> Option<Arc<Self>> {
        let schemas = document.at(&["components", "schemas"])?.as_object()?;
        let is = |named: &Value| ["group", "version", "kind"].map(|key| named.str_at(&[key])) == kind;
        let (own, schema) =
            schemas.iter().find(|(_, schema)| schema.list_at(&["x-kubernetes-group-version-kind"]).iter().any(is))?;
        let mut expansion = Expansion { schemas, open: vec![own.as_str()], meta: false, left: MOST };
        Self::named_type(&expansion.schema(schema)?, true, name)
    }

    /// Return the declaration of a version of a definition of custom resources. `shared` is a document that has the
    /// schema of metadata.
    pub fn of_definition(definition: &Value, version: &str, shared: &Value, name: &str) -> Option<Arc<Self>> {
        let versions = definition.list_at(&["spec", "versions"]);
        let served = versions.iter().find(|found| found.str_at(&["name"]) == version)?;
        let schemas = shared.at(&["components", "schemas"])?.as_object()?;
        let mut expansion = Expansion { schemas, open: Vec::new(), meta: true, left: MOST };
        let schema = match served.at(&["schema", "openAPIV3Schema"]) {
            Some(schema) => expansion.resource(schema)?,
            None => Value::Object(Map::new()),
        };
        Self::named_type(&schema, true, name)
    }
}

/// The expansion of a schema.
struct Expansion<'a> {
    schemas: &'a Map,
    /// The schemas that are being expanded.
    open: Vec<&'a str>,
    /// Whether embedded objects get the metadata of every object, as those of custom resources do.
    meta: bool,
    /// The nodes that it may still have: a definition can repeat metadata everywhere.
    left: usize,
}

impl<'a> Expansion<'a> {
    /// Return a schema without references; a circle ends in an object without fields.
    fn schema(&mut self, schema: &'a Value) -> Option<Value> {
        let Some(name) = reference(schema) else { return self.plain(schema) };
        if self.open.contains(&name) {
            let mut object = Map::new();
            object.push("type", "object");
            return Some(Value::Object(object));
        }
        self.open.push(name);
        let found = self.plain(self.schemas.get(name)?);
        self.open.pop();
        found
    }

    fn plain(&mut self, schema: &'a Value) -> Option<Value> {
        if self.meta && schema.bool_at(&["x-kubernetes-embedded-resource"]) == Some(true) {
            return self.resource(schema);
        }
        self.members(schema).map(Value::Object)
    }

    fn members(&mut self, schema: &'a Value) -> Option<Map> {
        self.left = self.left.checked_sub(1)?;
        let mut out = Map::new();
        for key in KEPT {
            if let Some(value) = schema.get(key) {
                out.push(key, value.clone());
            }
        }
        if schema.str_at(&["format"]) == "int-or-string" {
            // Built-in types have the format, custom ones the extension.
            out.set("x-kubernetes-int-or-string", true);
        }
        for key in ["items", "additionalProperties"] {
            if let Some(value) = schema.get(key).filter(|value| value.as_object().is_some()) {
                out.push(key, self.schema(value)?);
            }
        }
        if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
            let mut fields = Map::new();
            for (key, value) in properties {
                fields.push(key.clone(), self.schema(value)?);
            }
            out.push("properties", Value::Object(fields));
        }
        Some(out)
    }

    /// Return the schema of a whole object, which has a type and metadata.
    fn resource(&mut self, schema: &'a Value) -> Option<Value> {
        let mut out = self.members(schema)?;
        let mut fields = match out.get("properties") {
            Some(Value::Object(fields)) => fields.clone(),
            _ => Map::new(),
        };
        for key in ["apiVersion", "kind"] {
            let mut text = Map::new();
            text.push("type", "string");
            fields.set(key, Value::Object(text));
        }
        fields.set("metadata", self.plain(self.schemas.get(OBJECT_META)?)?);
        out.set("properties", Value::Object(fields));
        Some(Value::Object(out))
    }
}

/// Return the name of the schema that one refers to; `allOf` only wraps such references.
fn reference(schema: &Value) -> Option<&str> {
    if let Some(text) = schema.get("$ref").and_then(Value::as_str) {
        return Some(text.rsplit('/').next().unwrap_or(text));
    }
    schema.list_at(&["allOf"]).iter().find_map(reference)
}
