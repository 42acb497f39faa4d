//! Any string as a selector or a token is parsed or rejected.

use hydrofoil_store::{ContinueToken, FieldSelector, FieldTarget, LabelSelector};
use proptest::prelude::*;

const GOOD: [&str; 8] = [
    "a=b,c!=d,e in (f,g),h notin (,i),!j,k>1,l<-9223372036854775808",
    "e.com/name==x",
    "metadata.name=a\\,b\\=c,spec.nodeName!=é",
    "a in (",
    "=,==,!=",
    "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6Nywic3RhcnQiOiJucy9uYW1lXHUwMDAwIn0",
    "eyJydiI6OTIyMzM3MjAzNjg1NDc3NTgwOH0",
    "\\",
];

/// Generate any string, and valid ones with others inserted or parts removed.
fn text() -> impl Strategy<Value = String> {
    let changed =
        (0..GOOD.len(), any::<prop::sample::Index>(), 0..4usize, ".{0,3}").prop_map(|(which, at, cut, more)| {
            let chars: Vec<char> = GOOD[which].chars().collect();
            let at = at.index(chars.len());
            chars[..at].iter().copied().chain(more.chars()).chain(chars.iter().skip(at + cut).copied()).collect()
        });
    prop_oneof![".{0,40}", "[-a-z0-9=!(),<> \\\\./é]{0,40}", changed]
}

proptest! {
    #[test]
    fn selectors_are_read_or_refused(text in text()) {
        if let Ok(selector) = LabelSelector::parse(&text) {
            selector.matches(&[("a".into(), "b".into()), ("k".into(), "5".into())]);
        }
        let _ = FieldSelector::parse(&text, |_| Ok(FieldTarget::Name));
    }

    #[test]
    fn tokens_are_read_or_refused(text in text(), revision in any::<i64>()) {
        if let Ok(token) = ContinueToken::decode(&text) {
            prop_assert_eq!(ContinueToken::decode(&token.encode()), Ok(token));
        }
        let _ = ContinueToken::decode(&ContinueToken::after(revision, &text).encode());
    }

    /// Many values are looked up like few.
    #[test]
    fn a_label_is_among_the_values_or_not(values in prop::collection::vec("[a-c]{1,2}", 1..40), label in "[a-c]{1,2}") {
        let set = values.join(",");
        let matches = |text: &str| {
            let selector = LabelSelector::parse(text).expect("it is a selector");
            selector.matches(&[("k".into(), label.as_str().into())])
        };
        prop_assert_eq!(matches(&format!("k in ({set})")), values.contains(&label), "{}", set);
        prop_assert_eq!(matches(&format!("k notin ({set})")), !values.contains(&label), "{}", set);
    }
}
