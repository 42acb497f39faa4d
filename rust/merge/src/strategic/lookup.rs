//! Look-up of the patch strategy and merge key of a field.

use hydrofoil_types::{Arena, Field, Schema, Shape, TypeDef};

use crate::PatchError;

/// The patch metadata of the members of a map (`PatchMetaFromStruct` of apimachinery
/// `pkg/util/strategicpatch/meta.go`).
pub(super) struct Meta<'a> {
    arena: &'a Arena,
    /// The struct, or the name of the kind in Go's reflection if it is not one.
    def: Result<&'a TypeDef, &'static str>,
}

/// The patch metadata of a list.
pub(super) struct List<'a> {
    /// The metadata of its items.
    pub item: Meta<'a>,
    /// Its strategy without `retainKeys`.
    pub strategy: &'a str,
    /// Its merge key; empty for lists of scalars.
    pub merge_key: &'a str,
}

impl<'a> Meta<'a> {
    /// Return the metadata of the whole object.
    pub fn root(schema: &'a Schema) -> Self {
        Self { arena: &schema.arena, def: Ok(schema.root()) }
    }

    fn of(arena: &'a Arena, shape: &Shape) -> Self {
        let def = match shape {
            Shape::Type(id) => Ok(arena.get(*id)),
            Shape::Map(_) => Err("map"),
            Shape::List(_) | Shape::Bytes => Err("slice"),
            Shape::Str => Err("string"),
            Shape::Bool => Err("bool"),
            Shape::Int32 => Err("int32"),
            Shape::Int64 => Err("int64"),
            Shape::Double => Err("float64"),
            Shape::Any => Err("interface"),
        };
        Self { arena, def }
    }

    /// Return the name of the kind, for messages.
    pub fn kind(&self) -> &'static str {
        self.def.err().unwrap_or("struct")
    }

    /// Return the metadata of an object in a field, and its strategy.
    pub fn object(&self, key: &str) -> Result<(Self, &'a str), PatchError> {
        let field = self.field(key)?;
        Ok((Self::of(self.arena, &field.shape), strategy(field)))
    }

    /// Return the metadata of a list in a field.
    pub fn list(&self, key: &str) -> Result<List<'a>, PatchError> {
        let field = self.field(key)?;
        let item = match &field.shape {
            Shape::List(item) if matches!(**item, Shape::List(_) | Shape::Bytes) => {
                return Err(PatchError::Internal("unexpected slice of slice".to_owned()));
            }
            Shape::List(item) => Self::of(self.arena, item),
            Shape::Bytes => Self { arena: self.arena, def: Err("uint8") },
            _ => {
                let kind = self.kind();
                return Err(PatchError::Internal(format!("expected slice or array type, but got: {kind}")));
            }
        };
        Ok(List { item, strategy: strategy(field), merge_key: field.patch_merge_key.as_deref().unwrap_or("") })
    }

    fn field(&self, key: &str) -> Result<&'a Field, PatchError> {
        let def = self.def.map_err(|kind| {
            PatchError::Internal(format!("merging an object in json but data type is not struct, instead is: {kind}"))
        })?;
        let exact = def.field(key, 0).map(|(_, f)| f);
        exact.or_else(|| def.fields.iter().find(|f| f.name.eq_ignore_ascii_case(key))).ok_or_else(|| {
            let name = def.go_name();
            PatchError::Internal(format!("unable to find api field in struct {name} for the json field {key:?}"))
        })
    }
}

/// Return the strategy besides `retainKeys` (`extractRetainKeysPatchStrategy`).
fn strategy(field: &Field) -> &str {
    let strategies = field.patch_strategy.as_deref().unwrap_or("");
    strategies.split(',').find(|s| *s != "retainKeys").unwrap_or("")
}
