//! The schema by which fields of custom resources are owned (kube-openapi `pkg/schemaconv`).

#![allow(clippy::indexing_slicing, reason = "the place was found in the list, or the length looked at before")]

use std::sync::Arc;

use hydrofoil_types::{Arena, Field, ListType, Nature, Schema, Shape, Special, TypeDef, TypeId};

use super::structural::{Additional, Kind, List, Node};

/// Return the schema of whole objects. `builtin` is the arena that has the metadata.
pub fn schema(root: &Node, builtin: &Arena) -> Schema {
    let (arena, metadata) = builtin.with_metadata(true);
    let mut maker = Maker { arena, metadata, scalar: None };
    let mut fields = common_fields(metadata);
    let open = root.preserve;
    for (name, node) in &root.properties {
        if !matches!(name.as_str(), "apiVersion" | "kind" | "metadata") {
            fields.push(maker.field(name, node, open));
        }
    }
    // A schema without any property does not restrict the members.
    let nature = if open || root.properties.is_empty() { Nature::Open } else { Nature::Closed };
    let root = maker.arena.push(TypeDef::members("", nature, root.map_atomic, fields));
    Schema { arena: Arc::new(maker.arena), root }
}

/// Return the fields that every resource has.
fn common_fields(metadata: TypeId) -> Vec<Field> {
    vec![
        Field::member("apiVersion", Shape::Str),
        Field::member("kind", Shape::Str),
        Field::member("metadata", Shape::Type(metadata)),
    ]
}

struct Maker {
    arena: Arena,
    metadata: TypeId,
    /// The type of any scalar, once needed.
    scalar: Option<TypeId>,
}

impl Maker {
    fn field(&mut self, name: &str, node: &Node, open: bool) -> Field {
        let list = match &node.list {
            _ if node.kind != Some(Kind::Array) => None,
            List::Atomic => Some(ListType::Atomic),
            List::Set => Some(ListType::Set),
            List::Map(keys) => Some(ListType::Map(keys.to_vec())),
        };
        let shape = self.shape(node, open);
        Field::member(name, shape).with_ownership(node.default.as_deref().cloned(), list, node.map_atomic)
    }

    /// Return the shape of a value outside of a field: its ownership has to be part of the shape.
    fn alone(&mut self, node: &Node, open: bool) -> Shape {
        let listed = node.kind == Some(Kind::Array) && node.list != List::Atomic;
        // Objects with named members have a type of their own, which records whether it is atomic.
        let atomic = node.map_atomic && node.properties.is_empty();
        if !listed && !atomic {
            return self.shape(node, open);
        }
        let field = self.field("", node, open);
        Shape::Type(self.arena.push(TypeDef::members("", Nature::Wrapped, false, vec![field])))
    }

    fn shape(&mut self, node: &Node, open: bool) -> Shape {
        // Once a schema keeps unknown members, so does all below it.
        let open = open || node.preserve;
        if node.int_or_string {
            return Shape::Any;
        }
        match node.kind {
            None => Shape::Any,
            Some(Kind::String) => match node.rules.as_ref().and_then(|r| r.format.as_ref()) {
                Some((_, name)) if name != "byte" => self.scalar(),
                _ => Shape::Str,
            },
            Some(Kind::Boolean) => Shape::Bool,
            Some(Kind::Integer | Kind::Number) => Shape::Double,
            Some(Kind::Array) => {
                let inner = node.items.as_deref().map_or(Shape::Any, |items| self.alone(items, open));
                Shape::List(Box::new(inner))
            }
            Some(Kind::Object) if node.embedded => self.resource(node, open),
            Some(Kind::Object) if node.properties.is_empty() => match &node.additional {
                Additional::Of(value) => {
                    let inner = self.alone(value, open);
                    Shape::Map(Box::new(inner))
                }
                _ => Shape::Map(Box::new(Shape::Any)),
            },
            Some(Kind::Object) => self.object(node, open, Vec::new()),
        }
    }

    /// Return the shape of any scalar: that of values with a format.
    fn scalar(&mut self) -> Shape {
        let id = *self.scalar.get_or_insert_with(|| {
            let mut def = TypeDef::members("", Nature::Closed, false, Vec::new());
            def.special = Some(Special::IntOrString);
            self.arena.push(def)
        });
        Shape::Type(id)
    }

    /// Return the shape of an embedded resource, which has its type and metadata beside the fields of the schema.
    fn resource(&mut self, node: &Node, open: bool) -> Shape {
        self.object(node, open, common_fields(self.metadata))
    }

    fn object(&mut self, node: &Node, open: bool, mut fields: Vec<Field>) -> Shape {
        let given = fields.len();
        for (name, property) in &node.properties {
            if !fields[..given].iter().any(|f| f.name == *name) {
                let field = self.field(name, property, open);
                fields.push(field);
            }
        }
        let free = matches!(node.additional, Additional::Any(true));
        let nature = if open || free { Nature::Open } else { Nature::Closed };
        Shape::Type(self.arena.push(TypeDef::members("", nature, node.map_atomic, fields)))
    }
}
