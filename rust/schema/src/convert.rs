//! Conversion between the version in which a kind is stored and the others in which it is served.

use hydrofoil_types::Value;

use crate::Kind;

/// Apply the changes of decoding itself to some kinds (`conversion.go` of their versions): move write-only fields, drop
/// annotations that another version left.
pub fn after_decode(kind: &Kind, object: &mut Value) {
    (kind.strategy.after_decode)(object);
}

/// Report why the conversion to the internal version refuses an object (`conversion.go` of its version).
pub fn refusal(kind: &Kind, object: &Value) -> Option<String> {
    (kind.strategy.conversion_refusal)(object)
}

/// Set the fields that the conversion from the internal version sets in an empty object, as in a bookmark:
/// pointers to numbers that internally are plain, and annotations.
pub fn defaults_of_empty_object(kind: &Kind, object: &mut Value) {
    (kind.strategy.defaults_of_empty_object)(object);
}

/// Convert an object to the version that the rules of its kind concern, when that is not its own.
pub(crate) fn internal(kind: &Kind, object: &Value) -> Option<Value> {
    kind.strategy.internal.map(|conversion| {
        let mut object = object.clone();
        (conversion.up)(&mut object);
        object
    })
}

/// Convert an object of a served version to the version in which its kind is stored.
pub fn to_storage(kind: &Kind, mut object: Value) -> Value {
    if let Some(conversion) = kind.strategy.storage {
        (conversion.up)(&mut object);
    }
    object
}

/// Convert a stored object to a served version.
pub fn from_storage(kind: &Kind, mut object: Value) -> Value {
    if let Some(conversion) = kind.strategy.storage {
        (conversion.down)(&mut object);
    }
    object
}
