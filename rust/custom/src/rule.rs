//! `x-kubernetes-validations` of one node of a schema, compiled.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]
#![allow(clippy::string_slice, reason = "it is cut at characters of ASCII that were found there")]

use std::sync::Arc;

use hydrofoil_cel::{Decl, Kind, Program};
use hydrofoil_types::{CauseReason, SmolStr, Value};

use hydrofoil_types::read::Read;

/// The rules of one node.
#[derive(Debug)]
pub struct Rules {
    pub(super) decl: Arc<Decl>,
    /// The type of the node for causes.
    pub(super) kind: SmolStr,
    pub(super) list: Box<[Rule]>,
}

/// One rule.
#[derive(Debug)]
pub(super) struct Rule {
    /// Absent without a text; why it does not compile, which is refused when a definition is written.
    pub(super) program: Option<Result<Program, Box<str>>>,
    pub(super) message: Option<Program>,
    /// The message used without a message expression.
    pub(super) detail: String,
    /// The name of the rule in errors.
    pub(super) shown: String,
    pub(super) reason: CauseReason,
    /// The path of the cause below the node.
    pub(super) field: String,
    pub(super) optional_old: bool,
}

impl Rule {
    /// Compile a rule of a node.
    pub(super) fn compile(rule: &Value, props: &Value, decl: &Arc<Decl>) -> Self {
        let optional_old = rule.flag("optionalOldSelf");
        let compile = |key: &str, kind| {
            let text = rule.text(key);
            (!text.trim().is_empty()).then(|| Program::compile(text, decl, optional_old, kind))
        };
        let (text, message) = (rule.text("rule").trim(), rule.text("message").trim());
        let shown = if rule.text("message").is_empty() { text } else { message };
        let detail = if rule.text("message").is_empty() { format!("failed rule: {text}") } else { message.to_owned() };
        Self {
            program: compile("rule", Kind::Bool).map(|made| made.map_err(|why| why.of_rule().into())),
            message: compile("messageExpression", Kind::Text).and_then(Result::ok),
            detail,
            shown: shown.to_owned(),
            reason: match rule.text("reason") {
                "FieldValueForbidden" => CauseReason::Forbidden,
                "FieldValueRequired" => CauseReason::Required,
                "FieldValueDuplicate" => CauseReason::Duplicate,
                _ => CauseReason::Invalid,
            },
            field: normalize_path(rule.text("fieldPath"), props),
            optional_old,
        }
    }
}

/// Return a field path as causes show it: `.a['b']` of a map is `a[b]` (`ValidFieldPath`).
fn normalize_path(path: &str, props: &Value) -> String {
    let mut out = String::new();
    let (mut rest, mut here) = (path, props);
    while !rest.is_empty() {
        let (name, after) = if let Some(inner) = rest.strip_prefix("['") {
            let Some(end) = inner.find("']") else { break };
            (&inner[..end], &inner[end + 2..])
        } else {
            let inner = rest.trim_start_matches('.');
            let end = inner.find(['.', '[']).unwrap_or(inner.len());
            if end == 0 {
                break;
            }
            (&inner[..end], &inner[end..])
        };
        if here.has("properties") {
            if !out.is_empty() {
                out.push('.');
            }
            out.push_str(name);
            here = here.field("properties").field(name);
        } else {
            out.extend(["[", name, "]"]);
            here = here.field("additionalProperties");
        }
        rest = after;
    }
    out
}
