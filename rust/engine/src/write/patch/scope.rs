//! The members of an object that a patch changes.

use hydrofoil_codec::json::scan::members;
use hydrofoil_types::{KeySet, SmolStr, Value};

use super::PatchType;

/// The top-level members that a patch names.
#[derive(Debug)]
pub(super) struct Scope(Vec<SmolStr>);

impl Scope {
    /// Return the scope of a patch that changes single members only: neither the object as a whole, as directives do,
    /// nor its type.
    pub(super) fn of(patch: &Value, patch_type: PatchType, kind: &str) -> Option<Self> {
        let mut named = if patch_type == PatchType::Json { by_paths(patch) } else { by_members(patch) }?;
        // `stringData` of a secret is merged into its `data`.
        let names = |wanted: &str| named.iter().any(|name| name == wanted);
        if names("stringData") && !names("data") && kind == "Secret" {
            named.push(SmolStr::new_static("data"));
        }
        Some(Self(named))
    }

    pub(super) fn names(&self) -> &[SmolStr] {
        &self.0
    }

    /// Extract these members from the JSON of an object.
    pub(super) fn cut(&self, text: &[u8]) -> Vec<u8> {
        let named: KeySet<&[u8]> = self.0.iter().map(|known| known.as_bytes()).collect();
        let mut out = vec![b'{'];
        for (name, member) in members(text) {
            let bare = name.strip_prefix(b"\"").and_then(|name| name.strip_suffix(b"\""));
            if bare.is_some_and(|name| named.contains(&name)) {
                if out.len() > 1 {
                    out.push(b',');
                }
                out.extend_from_slice(name);
                out.push(b':');
                out.extend_from_slice(member);
            }
        }
        out.push(b'}');
        out
    }
}

/// Return the members in a merge patch or strategic merge patch.
fn by_members(patch: &Value) -> Option<Vec<SmolStr>> {
    patch.as_object()?.keys().map(|name| is_plain(name).then(|| name.clone())).collect()
}

/// Return the first elements of the paths of a JSON patch.
fn by_paths(patch: &Value) -> Option<Vec<SmolStr>> {
    let mut seen = KeySet::default();
    let mut out: Vec<SmolStr> = Vec::new();
    for operation in patch.as_array()? {
        for (key, value) in operation.as_object()? {
            if !matches!(key.as_str(), "path" | "from") {
                continue;
            }
            let name = value.as_str()?.strip_prefix('/')?.split('/').next()?;
            if !is_plain(name) {
                return None;
            }
            if seen.insert(name) {
                out.push(SmolStr::new(name));
            }
        }
    }
    Some(out)
}

/// Report whether a name is that of a member as the encoder writes it, and not of the type.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric()) && !matches!(name, "apiVersion" | "kind")
}

/// Report whether a patch names managed fields, as a member or in a path.
pub(super) fn names_owners(patch: &Value) -> bool {
    match patch {
        Value::Array(items) => items.iter().any(names_owners),
        Value::Object(members) => members.iter().any(|(name, value)| {
            name == "managedFields"
                || names_owners(value)
                || (matches!(name.as_str(), "path" | "from") && value.as_str().is_some_and(touches))
        }),
        _ => false,
    }
}

/// Report whether a pointer of a JSON patch may lead to managed fields or to their parents.
fn touches(pointer: &str) -> bool {
    pointer.contains("managedFields") || matches!(pointer, "" | "/metadata")
}
