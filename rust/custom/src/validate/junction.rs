//! `anyOf`, `oneOf`, `allOf` and `not` (kube-openapi `pkg/validation/validate/schema_props.go`).

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_text::quoted;
use hydrofoil_types::Value;

use super::result::{Problem, Result};
use super::{Old, Walk};
use crate::structural::Rules;

/// Add the causes that schemas about the same value find.
pub(super) fn check(walk: &mut Walk, value: &Value, old: Old<'_>, rules: &Rules, into: &mut Result) {
    let mut found = Result::default();
    let Some(rules) = &rules.junction else {
        found.matches += 1;
        return into.merge(found);
    };
    let path = quoted(&walk.path);
    if !rules.any_of.is_empty() {
        let mut best: Option<Result> = None;
        let mut valid = None;
        for schema in &rules.any_of {
            let result = walk.value(value, old, schema);
            if result.is_valid() {
                valid = Some(result);
                break;
            }
            if best.as_ref().is_none_or(|b| result.matches > b.matches) {
                best = Some(result);
            }
        }
        if valid.is_none() {
            found.add(Problem::loose(format!("{path} must validate at least one schema (anyOf)")));
        }
        if let Some(result) = valid.or(best) {
            found.merge(result);
        }
    }
    if !rules.one_of.is_empty() {
        let mut best: Option<Result> = None;
        let mut first = None;
        let mut valid = 0;
        for schema in &rules.one_of {
            let result = walk.value(value, old, schema);
            if result.is_valid() {
                valid += 1;
                best = None;
                first.get_or_insert(result);
            } else if valid == 0 && best.as_ref().is_none_or(|b| result.matches > b.matches) {
                best = Some(result);
            }
        }
        if valid == 1 {
            found.merge(first.unwrap_or_default());
        } else {
            let more =
                if valid == 0 { "Found none valid".to_owned() } else { format!("Found {valid} valid alternatives") };
            found.add(Problem::loose(format!("{path} must validate one and only one schema (oneOf). {more}")));
            found.merge(best.unwrap_or_default());
        }
    }
    if !rules.all_of.is_empty() {
        let mut valid = 0;
        for schema in &rules.all_of {
            let result = walk.value(value, old, schema);
            valid += usize::from(result.is_valid());
            found.merge(result);
        }
        if valid != rules.all_of.len() {
            let more = if valid == 0 { ". None validated" } else { "" };
            found.add(Problem::loose(format!("{path} must validate all the schemas (allOf){more}")));
        }
    }
    if let Some(not) = &rules.not
        && walk.value(value, old, not).is_valid()
    {
        found.add(Problem::loose(format!("{path} must not validate the schema (not)")));
    }
    found.matches += 1;
    into.merge(found);
}
