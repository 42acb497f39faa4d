//! Selectors: no string makes a parser panic.
#![no_main]

use hydrofoil_store::{FieldSelector, FieldTarget, LabelSelector};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(selector) = LabelSelector::parse(text) {
        let _ = selector.matches(&[("a".into(), "b".into())]);
    }
    let _ = FieldSelector::parse(text, |_| Ok(FieldTarget::Name));
});
