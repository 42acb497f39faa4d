//! The keys of cached pieces of lists.

use std::sync::Arc;

use hydrofoil_store::BlockKey;

use crate::read::form::{Encoding, Form, Shape};

/// The keys under which a list finds the pieces of a leaf.
///
/// A key is everything that the bytes of a piece depend on besides its leaf, written so that two different lists of
/// parts never have the same bytes: texts have their length in front. It is compared as a whole. A hash in its place
/// would let a client choose a selector whose hash is that of another client's list, and read that.
#[derive(Debug)]
pub(super) struct Keys {
    /// Of a whole leaf in the form of the list.
    pub(super) whole: BlockKey,
    /// Of a whole leaf without compression.
    pub(super) plain: BlockKey,
    /// Of the selected objects of a leaf.
    pub(super) selected: BlockKey,
}

impl Keys {
    /// Return the keys of a list of a kind, which `id` identifies in this process, in a form and a selection.
    pub(super) fn new(id: u64, form: &Form, gzip: bool, selection: &str) -> Self {
        let whole = key(id, form, gzip, None);
        let plain = if gzip { key(id, form, false, None) } else { Arc::clone(&whole) };
        Self { plain, selected: key(id, form, gzip, Some(selection)), whole }
    }
}

/// Return the key of a piece; `selection` is absent for whole leaves.
fn key(id: u64, form: &Form, gzip: bool, selection: Option<&str>) -> BlockKey {
    let encoding = match form.encoding {
        Encoding::Json => 0,
        Encoding::Protobuf => 1,
        Encoding::Cbor => 2,
    };
    let (shape, texts): (u8, [&str; 2]) = match &form.shape {
        Shape::Object => (0, ["", ""]),
        Shape::Bare => (1, ["", ""]),
        Shape::Metadata(version) => (2, [version, ""]),
        Shape::Table { version, include } => (3, [version, include]),
    };
    let mut out = Vec::with_capacity(64);
    out.extend_from_slice(&id.to_le_bytes());
    out.extend_from_slice(&[encoding, shape, u8::from(gzip), u8::from(selection.is_some())]);
    for text in texts {
        out.extend_from_slice(&(text.len() as u64).to_le_bytes());
        out.extend_from_slice(text.as_bytes());
    }
    out.extend_from_slice(selection.unwrap_or_default().as_bytes());
    out.into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn forms() -> impl Strategy<Value = Form> {
        let text = || "[a-c]{0,2}";
        let shape = prop_oneof![
            Just(Shape::Object),
            Just(Shape::Bare),
            text().prop_map(Shape::Metadata),
            (text(), text()).prop_map(|(version, include)| Shape::Table { version, include }),
        ];
        let encoding = prop_oneof![Just(Encoding::Json), Just(Encoding::Protobuf), Just(Encoding::Cbor)];
        (shape, encoding).prop_map(|(shape, encoding)| Form { shape, encoding })
    }

    fn parts() -> impl Strategy<Value = (u64, Form, bool, Option<String>)> {
        (0..3_u64, forms(), any::<bool>(), prop::option::of("[a-c]{0,2}"))
    }

    proptest! {
        /// Few texts, so that many pairs differ in one place only, or in where one text ends and the next begins.
        #[test]
        fn keys_are_equal_only_for_equal_parts(a in parts(), b in parts()) {
            let of = |(id, form, gzip, selection): &(u64, Form, bool, Option<String>)| {
                key(*id, form, *gzip, selection.as_deref())
            };
            prop_assert_eq!(of(&a) == of(&b), a == b);
        }
    }

    #[test]
    fn an_empty_selection_is_not_a_whole_leaf() {
        let keys = Keys::new(1, &Form::JSON, true, "");
        assert!(keys.selected != keys.whole && keys.plain != keys.whole);
    }
}
