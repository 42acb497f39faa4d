//! The catalog of built-in types, read from the data of the package.

#![allow(clippy::string_slice, reason = "it is cut at characters of ASCII that were found there")]

use std::fmt;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserialize;
use smol_str::SmolStr;

use crate::Value;
use crate::schema::{
    Arena, Field, Index, ListType, Nature, Proto, ProtoEntry, Schema, Shape, Special, TypeDef, TypeId,
};

/// The error of an unusable catalog: the part and the reason.
#[derive(Debug)]
pub struct CatalogError(String);

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "catalog: {}", self.0)
    }
}

impl std::error::Error for CatalogError {}

/// A table column.
#[derive(Clone, Debug, Deserialize)]
pub struct Column {
    /// The name in the header.
    pub name: SmolStr,
    /// The JSON type of its cells.
    #[serde(rename = "type")]
    pub kind: SmolStr,
    /// The format, often empty.
    #[serde(default)]
    pub format: SmolStr,
    /// The priority: 0 is always shown, 1 only with `-o wide`.
    #[serde(default)]
    pub priority: i64,
    /// The description.
    #[serde(default)]
    pub description: SmolStr,
}

/// The lifecycle of a type: when it is introduced, deprecated and removed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Lifecycle {
    /// The release that introduces it.
    pub introduced: SmolStr,
    /// The release that deprecates it.
    pub deprecated: SmolStr,
    /// The release that removes it.
    pub removed: SmolStr,
    /// Group, version and kind to use instead.
    pub replacement: Vec<SmolStr>,
}

/// One resource of a group version.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Resource {
    /// The API group, empty for core.
    #[serde(default)]
    pub group: SmolStr,
    /// The version.
    pub version: SmolStr,
    /// The resource name in URLs.
    pub plural: SmolStr,
    /// The kind.
    pub kind: SmolStr,
    /// The name of the type of its objects.
    #[serde(rename = "type")]
    pub type_name: SmolStr,
    /// The kind of its lists.
    #[serde(default)]
    pub list_kind: SmolStr,
    /// Whether its objects are namespaced.
    #[serde(default)]
    pub namespaced: bool,
    /// The columns of its tables.
    #[serde(default)]
    pub columns: Vec<Column>,
    /// The field selectors it supports besides name and namespace.
    #[serde(default)]
    pub field_selectors: Vec<SmolStr>,
}

/// All built-in types and resources.
#[derive(Debug)]
pub struct Catalog {
    arena: Arc<Arena>,
    resources: FxHashMap<(SmolStr, SmolStr, SmolStr), Arc<Resource>>,
}

#[derive(Deserialize)]
struct RawCatalog<'a> {
    #[serde(borrow)]
    types: FxHashMap<&'a str, RawType>,
    resources: Vec<Resource>,
}

#[derive(Clone, Deserialize)]
struct RawType {
    #[serde(default)]
    f: Vec<RawField>,
    sp: Option<SmolStr>,
    mt: Option<SmolStr>,
    gvk: Option<(SmolStr, SmolStr, SmolStr)>,
}

#[derive(Clone, Deserialize)]
struct RawField {
    n: SmolStr,
    s: SmolStr,
    #[serde(default)]
    p: u8,
    #[serde(default)]
    o: u8,
    #[serde(default)]
    z: u8,
    #[serde(default)]
    r: u8,
    #[serde(default)]
    tm: u8,
    #[serde(default)]
    e: Vec<SmolStr>,
    d: Option<serde_json::Value>,
    lt: Option<SmolStr>,
    #[serde(default)]
    lk: Vec<SmolStr>,
    mt: Option<SmolStr>,
    ps: Option<SmolStr>,
    pk: Option<SmolStr>,
    pb: Option<RawProto>,
}

#[derive(Clone, Deserialize)]
struct RawProto {
    n: u32,
    t: Option<SmolStr>,
    map: Option<(SmolStr, SmolStr)>,
    #[serde(default)]
    via: Vec<u32>,
}

impl Catalog {
    /// Parse `catalog.json` of the package.
    pub fn parse(data: &[u8]) -> Result<Self, CatalogError> {
        let mut raw: RawCatalog<'_> = serde_json::from_slice(data).map_err(|e| CatalogError(e.to_string()))?;
        let granular = loosen(&mut raw.types);
        raw.types.extend(granular.iter().map(|(name, raw)| (name.as_str(), raw.clone())));
        let mut names: Vec<_> = raw.types.keys().copied().collect();
        names.sort_unstable();
        // A named list of strings (ExtraValue, Verbs) is a plain list in JSON, but a message in protobuf.
        let lists: FxHashSet<&str> =
            raw.types.iter().filter(|(_, t)| t.sp.as_deref() == Some("wrapped-list")).map(|(n, _)| *n).collect();
        let by_name: FxHashMap<SmolStr, TypeId> =
            names.iter().enumerate().map(|(i, n)| (SmolStr::new(n), TypeId(i as u32))).collect();
        let mut types = raw.types;
        let mut defs = Vec::with_capacity(names.len());
        for name in names {
            let raw = types.remove(name).expect("the name came from the map");
            defs.push(type_def(name, raw, &Names { by_name: &by_name, lists: &lists })?);
        }
        let resources = raw
            .resources
            .into_iter()
            .map(|r| ((r.group.clone(), r.version.clone(), r.plural.clone()), Arc::new(r)))
            .collect();
        Ok(Self { arena: Arc::new(Arena { types: defs, by_name }), resources })
    }

    /// Return the types.
    pub fn arena(&self) -> &Arc<Arena> {
        &self.arena
    }

    /// Return the schema of a type name.
    pub fn schema(&self, type_name: &str) -> Option<Schema> {
        Some(Schema { arena: Arc::clone(&self.arena), root: self.arena.find(type_name)? })
    }

    /// Return the resource of a group, version and plural.
    pub fn resource(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Resource>> {
        self.resources.get(&(SmolStr::new(group), SmolStr::new(version), SmolStr::new(plural)))
    }
}

/// Replace atomic types of granular fields by granular twins, named with `granular` before the last part; return the
/// twins.
fn loosen(types: &mut FxHashMap<&str, RawType>) -> Vec<(String, RawType)> {
    let atomic: FxHashMap<String, RawType> = types
        .iter()
        .filter(|(_, t)| t.mt.as_deref() == Some("atomic"))
        .map(|(name, t)| (format!("#{name}"), t.clone()))
        .collect();
    let mut out: FxHashMap<String, RawType> = FxHashMap::default();
    for field in types.values_mut().flat_map(|t| &mut t.f).filter(|f| f.mt.as_deref() == Some("granular")) {
        let Some(held) = atomic.get(field.s.as_str()) else { continue };
        let Some((package, name)) = field.s[1..].rsplit_once('.') else { continue };
        let twin = format!("{package}.granular.{name}");
        field.s = format!("#{twin}").into();
        out.insert(twin, RawType { mt: None, ..held.clone() });
    }
    out.into_iter().collect()
}

/// The types that a reference in a shape may name.
struct Names<'a> {
    by_name: &'a FxHashMap<SmolStr, TypeId>,
    lists: &'a FxHashSet<&'a str>,
}

/// The type of `fieldsV1`.
const FIELDS: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1";

fn type_def(name: &str, raw: RawType, names: &Names<'_>) -> Result<TypeDef, CatalogError> {
    let special = match raw.sp.as_deref() {
        Some("quantity") => Some(Special::Quantity),
        Some("time") => Some(Special::Time),
        Some("micro-time") => Some(Special::MicroTime),
        Some("duration") => Some(Special::Duration),
        Some("int-or-string") => Some(Special::IntOrString),
        Some("raw-json") if name == FIELDS => Some(Special::Fields),
        Some("raw-json" | "json-only") => Some(Special::Json),
        Some("raw-extension") => Some(Special::Raw),
        Some("schema-or-array") => Some(Special::SchemaOrArray),
        Some("schema-or-bool") => Some(Special::SchemaOrBool),
        Some("schema-or-strings") => Some(Special::SchemaOrStrings),
        _ => None,
    };
    let mut fields = Vec::with_capacity(raw.f.len());
    for f in raw.f {
        fields.push(field(name, f, names)?);
    }
    let index = fields.iter().enumerate().map(|(i, f): (usize, &Field)| (f.name.clone(), i as u16)).collect();
    let proto = entries(&fields, &[]);
    Ok(TypeDef {
        proto,
        name: name.into(),
        fields,
        special,
        atomic: raw.mt.as_deref() == Some("atomic"),
        nature: Nature::Struct,
        gvk: raw.gvk,
        index: Index::Known(index),
    })
}

/// Return the entries of the message below the given numbers.
fn entries(fields: &[Field], under: &[u32]) -> Vec<ProtoEntry> {
    let mut out: Vec<(u32, ProtoEntry)> = Vec::new();
    for (i, field) in fields.iter().enumerate().filter(|(_, f)| f.proto.number > 0 && f.proto.via.starts_with(under)) {
        match field.proto.via.get(under.len()) {
            None => out.push((field.proto.number, ProtoEntry::Field(field.proto.number, i as u16))),
            Some(group) if out.iter().any(|(n, e)| n == group && matches!(e, ProtoEntry::Group(..))) => {}
            Some(group) => {
                let inner = entries(fields, &[under, &[*group]].concat());
                out.push((*group, ProtoEntry::Group(*group, inner)));
            }
        }
    }
    out.sort_by_key(|(n, _)| *n);
    out.into_iter().map(|(_, e)| e).collect()
}

fn field(owner: &str, raw: RawField, names: &Names<'_>) -> Result<Field, CatalogError> {
    let list_type = match raw.lt.as_deref() {
        Some("map") => Some(ListType::Map(raw.lk)),
        Some("set") => Some(ListType::Set),
        Some("atomic") => Some(ListType::Atomic),
        _ => None,
    };
    Ok(Field {
        shape: shape(&raw.s, names).ok_or_else(|| CatalogError(format!("{owner}.{}: shape {}", raw.n, raw.s)))?,
        name: raw.n,
        ptr: raw.p == 1,
        omitempty: raw.o == 1,
        omitzero: raw.z == 1,
        required: raw.r == 1,
        enums: raw.e,
        default: raw.d.map(plain),
        list_type,
        atomic: raw.mt.as_deref() == Some("atomic"),
        patch_strategy: raw.ps,
        patch_merge_key: raw.pk,
        type_meta: raw.tm == 1,
        proto: raw.pb.map_or_else(Proto::default, |pb| Proto {
            number: pb.n,
            via: pb.via,
            wrapped: pb.t.iter().chain(pb.map.iter().map(|(_, value)| value)).any(|t| names.lists.contains(t.as_str())),
        }),
    })
}

fn shape(text: &str, names: &Names<'_>) -> Option<Shape> {
    Some(match text {
        "s" => Shape::Str,
        "i" => Shape::Int32,
        "l" => Shape::Int64,
        "b" => Shape::Bool,
        "d" => Shape::Double,
        "y" => Shape::Bytes,
        "*" => Shape::Any,
        _ => {
            if let Some(item) = text.strip_prefix("[]") {
                Shape::List(Box::new(shape(item, names)?))
            } else if let Some(value) = text.strip_prefix("{}") {
                Shape::Map(Box::new(shape(value, names)?))
            } else {
                let name = text.strip_prefix('#')?;
                Shape::Type(*names.by_name.get(name)?)
            }
        }
    })
}

fn plain(value: serde_json::Value) -> Value {
    match value {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(b) => Value::Bool(b),
        serde_json::Value::Number(n) => match n.as_i64() {
            Some(n) => Value::Int(n),
            None => n.as_f64().and_then(Value::float).unwrap_or_default(),
        },
        serde_json::Value::String(s) => Value::from(s),
        serde_json::Value::Array(a) => Value::Array(a.into_iter().map(plain).collect()),
        serde_json::Value::Object(m) => {
            let mut out = crate::Map::new();
            for (k, v) in m {
                out.push(k, plain(v));
            }
            Value::Object(out)
        }
    }
}
