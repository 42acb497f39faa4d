//! `x-kubernetes-validations` of a schema, compiled, and objects checked by them (apiextensions-apiserver
//! `pkg/apiserver/schema/cel/validation.go`).

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]
#![allow(clippy::string_slice, reason = "it is cut at characters of ASCII that were found there")]

use std::sync::Arc;

use hydrofoil_cel::{Decl, Failure, Kind, Program, Variables};
use hydrofoil_types::{CauseReason, Causes, Path, SmolStr, Value};

use super::structural::{Additional, Node};
use super::validate::correlates;
use crate::read::Read;

/// What the rules of one object may cost together (`RuntimeCELCostBudget`).
const BUDGET: u64 = 10_000_000;
/// The most bytes that a message expression may give.
const LONGEST_MESSAGE: usize = 5 * 1024;

/// The rules of one node.
#[derive(Debug)]
pub struct Rules {
    decl: Arc<Decl>,
    /// The type of the node, as causes show it.
    kind: SmolStr,
    list: Box<[Rule]>,
}

/// One rule.
#[derive(Debug)]
struct Rule {
    /// None without a text; why it does not compile, which is refused when a definition is written.
    program: Option<Result<Program, Box<str>>>,
    message: Option<Program>,
    /// What is said without a message expression.
    detail: String,
    /// What errors call the rule.
    shown: String,
    reason: CauseReason,
    /// Where below the node the cause is placed.
    field: String,
    optional_old: bool,
}

/// Compiles the rules of a schema into its nodes. `root` marks the root of a resource.
pub(crate) fn attach(node: &mut Node, props: &Value, root: bool) {
    if !node.ruled {
        return;
    }
    place(node, props, Decl::compile(props, root).as_ref());
}

fn place(node: &mut Node, props: &Value, decl: Option<&Arc<Decl>>) {
    if !node.ruled {
        return;
    }
    let list = props.list("x-kubernetes-validations");
    if let (Some(decl), false) = (decl, list.is_empty()) {
        let rules = list.iter().map(|rule| Rule::compile(rule, props, decl)).collect();
        node.validations = Some(Box::new(Rules { decl: decl.clone(), kind: props.s("type").into(), list: rules }));
    }
    if let Some(items) = &mut node.items {
        place(items, props.sub("items"), decl.and_then(|d| d.element()));
    }
    if let Additional::Of(values) = &mut node.additional {
        place(values, props.sub("additionalProperties"), decl.and_then(|d| d.element()));
    }
    for (name, child) in &mut node.properties {
        let own = props.sub("properties").sub(name);
        let seen = hydrofoil_cel::escape(name).is_some();
        match decl.and_then(|d| d.member(name)).filter(|_| seen) {
            Some(decl) => place(child, own, Some(decl)),
            // What cannot be named in expressions has rules of its own all the same.
            None if !seen => attach(child, own, own.b("x-kubernetes-embedded-resource")),
            None => {}
        }
    }
}

impl Rule {
    fn compile(rule: &Value, props: &Value, decl: &Arc<Decl>) -> Self {
        let optional_old = rule.b("optionalOldSelf");
        let compile = |key: &str, kind| {
            let text = rule.s(key);
            (!text.trim().is_empty()).then(|| Program::compile(text, decl, optional_old, kind))
        };
        let (text, message) = (rule.s("rule").trim(), rule.s("message").trim());
        let shown = if rule.s("message").is_empty() { text } else { message };
        let detail = if rule.s("message").is_empty() { format!("failed rule: {text}") } else { message.to_owned() };
        Self {
            program: compile("rule", Kind::Bool).map(|made| made.map_err(|why| why.of_rule().into())),
            message: compile("messageExpression", Kind::Text).and_then(Result::ok),
            detail,
            shown: shown.to_owned(),
            reason: match rule.s("reason") {
                "FieldValueForbidden" => CauseReason::Forbidden,
                "FieldValueRequired" => CauseReason::Required,
                "FieldValueDuplicate" => CauseReason::Duplicate,
                _ => CauseReason::Invalid,
            },
            field: normalized(rule.s("fieldPath"), props),
            optional_old,
        }
    }
}

/// A field path as causes show it: `.a['b']` of a map is `a[b]` (`ValidFieldPath`).
fn normalized(path: &str, props: &Value) -> String {
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
            here = here.sub("properties").sub(name);
        } else {
            out.extend(["[", name, "]"]);
            here = here.sub("additionalProperties");
        }
        rest = after;
    }
    out
}

/// Adds what the rules have against an object that stands at a path; `old` is what it was before.
pub(crate) fn check(node: &Node, value: &Value, old: Option<&Value>, path: &Path<'_>, causes: &mut Causes) {
    walk(node, value, old, Before { current: old, parent: None }, path, causes);
}

/// The same for a default, which was before what it is, but is not spared for that.
pub(crate) fn check_default(node: &Node, value: &Value, path: &Path<'_>, causes: &mut Causes) {
    walk(node, value, Some(value), Before { current: None, parent: None }, path, causes);
}

fn walk(node: &Node, value: &Value, old: Option<&Value>, before: Before<'_>, path: &Path<'_>, causes: &mut Causes) {
    if !node.ruled {
        return;
    }
    let mut walk = Walk { budget: BUDGET, causes };
    // The walk ends early when the budget does, which its causes say.
    let _ = walk.value(node, value, old, before, path);
}

struct Walk<'c> {
    budget: u64,
    causes: &'c mut Causes,
}

/// What the part being looked at was before, as far as that can be told, and the nearest whole around it.
#[derive(Clone, Copy)]
struct Before<'a> {
    current: Option<&'a Value>,
    parent: Option<(&'a Value, &'a Value, &'a Node)>,
}

impl<'a> Before<'a> {
    fn unchanged(self, value: &Value, node: &Node) -> bool {
        match (self.current, self.parent) {
            (Some(old), _) => correlates(value, old, node),
            (None, Some((new, old, node))) => correlates(new, old, node),
            (None, None) => false,
        }
    }

    /// Of a part of a value.
    fn below(self, value: &'a Value, node: &'a Node, part: Option<&'a Value>) -> Self {
        match self.current {
            None => self,
            Some(old) => Self { current: part, parent: Some((value, old, node)) },
        }
    }
}

/// The budget is used up.
struct Spent;

impl Walk<'_> {
    fn value<'a>(
        &mut self,
        node: &'a Node,
        value: &'a Value,
        old: Option<&'a Value>,
        before: Before<'a>,
        path: &Path<'_>,
    ) -> Result<(), Spent> {
        if !node.ruled || matches!(value, Value::Null) {
            return Ok(());
        }
        let old = old.filter(|o| !matches!(o, Value::Null));
        if let Some(rules) = &node.validations {
            self.rules(rules, node, value, old, before, path)?;
        }
        match value {
            Value::Array(items) => {
                let Some(inner) = node.items.as_deref().filter(|n| n.ruled) else { return Ok(()) };
                let olds = old.and_then(Value::as_array).unwrap_or(&[]);
                let parts = super::lists::counterparts(items, olds, node);
                for (i, (item, part)) in items.iter().zip(parts).enumerate() {
                    self.value(inner, item, part, before.below(value, node, part), &path.index(i))?;
                }
            }
            Value::Object(map) => {
                let olds = old.and_then(Value::as_object);
                if let Additional::Of(inner) = &node.additional
                    && inner.ruled
                {
                    for (key, item) in map {
                        let part = olds.and_then(|o| o.get(key));
                        self.value(inner, item, part, before.below(value, node, part), &path.key(key))?;
                    }
                }
                for (key, inner) in node.properties.iter().filter(|(_, n)| n.ruled) {
                    let Some(item) = map.get(key) else { continue };
                    let part = olds.and_then(|o| o.get(key));
                    // Type and version are what the request says, whatever they were.
                    let own = if before.parent.is_none() && matches!(key.as_str(), "apiVersion" | "kind") {
                        Before { current: None, parent: None }
                    } else {
                        before.below(value, node, part)
                    };
                    self.value(inner, item, part, own, &path.child(key))?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn rules(
        &mut self,
        rules: &Rules,
        node: &Node,
        value: &Value,
        old: Option<&Value>,
        before: Before<'_>,
        path: &Path<'_>,
    ) -> Result<(), Spent> {
        const OUT: &str =
            "validation failed due to running out of cost budget, no further validation rules will be run";
        let kind = rules.kind.as_str();
        if self.budget == 0 {
            self.invalid_kind(path, kind, OUT);
            return Err(Spent);
        }
        for rule in &rules.list {
            let program = match &rule.program {
                Some(Ok(program)) => program,
                Some(Err(why)) => {
                    self.invalid_kind(path, kind, &format!("rule compile error: {why}"));
                    continue;
                }
                None => continue,
            };
            if program.uses_old && old.is_none() && !rule.optional_old {
                continue;
            }
            let on = Variables { this: value, old, decl: &rules.decl };
            let (found, spent) = program.truth(on);
            let Some(left) = self.budget.checked_sub(spent) else {
                self.invalid_kind(path, kind, OUT);
                return Err(Spent);
            };
            self.budget = left;
            let shown = &rule.shown;
            match found {
                Ok(true) => continue,
                Ok(false) => {}
                Err(Failure::Limit) => {
                    let why = format!(
                        "'operation cancelled: actual cost limit exceeded': no further validation rules will be run due to call cost exceeds limit for rule: {shown}"
                    );
                    self.invalid_kind(path, kind, &why);
                    return Err(Spent);
                }
                Err(Failure::Error(why)) if why.starts_with("no such overload") => {
                    let why = format!(
                        "'{why}': call arguments did not match a supported operator, function or macro signature for rule: {shown}"
                    );
                    self.invalid_kind(path, kind, &why);
                    continue;
                }
                Err(Failure::Error(why)) => {
                    self.invalid_kind(path, kind, &format!("{why} evaluating rule: {shown}"));
                    continue;
                }
            }
            let detail = self.detail(rule, on, kind, path)?;
            if !program.uses_old && before.unchanged(value, node) {
                // It was so before: that is warned of.
                let mut found = Causes::new();
                let mut aside = Walk { budget: 0, causes: &mut found };
                aside.refuse(rule, value, &detail, kind, path);
                self.causes.warn(&found);
                continue;
            }
            self.refuse(rule, value, &detail, kind, path);
        }
        Ok(())
    }

    /// What is said of a rule that does not hold (`evalMessageExpression`).
    fn detail(&mut self, rule: &Rule, on: Variables<'_>, kind: &str, path: &Path<'_>) -> Result<String, Spent> {
        let Some(message) = &rule.message else { return Ok(rule.detail.clone()) };
        let (found, spent) = message.text(on);
        let Some(left) = self.budget.checked_sub(spent) else {
            let why = "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run";
            self.invalid_kind(path, kind, why);
            return Err(Spent);
        };
        self.budget = left;
        let text = match found {
            Ok(text) => text.trim().to_owned(),
            Err(Failure::Error(_)) => String::new(),
            Err(Failure::Limit) => {
                let why =
                    "no further validation rules will be run due to call cost exceeds limit for messageExpression";
                self.invalid_kind(path, kind, why);
                return Err(Spent);
            }
        };
        let usable = !text.is_empty() && text.len() <= LONGEST_MESSAGE && !text.contains('\n');
        Ok(if usable { text } else { rule.detail.clone() })
    }

    /// A cause at a path that may be of nothing.
    fn at(&mut self, path: &Path<'_>, field: &str, add: impl FnOnce(&mut Causes, &Path<'_>)) {
        let mut text = path.to_string();
        if !field.is_empty() {
            if !text.is_empty() {
                text.push('.');
            }
            text.push_str(field);
        } else if text.is_empty() {
            // Upstream prints a path of nothing so.
            text.push_str("<nil>");
        }
        add(self.causes, &Path::new(&text));
    }

    /// A rule that failed: the type stands where the value would.
    fn invalid_kind(&mut self, path: &Path<'_>, kind: &str, why: &str) {
        self.at(path, "", |causes, at| causes.invalid_str(at, kind, why));
    }

    fn refuse(&mut self, rule: &Rule, value: &Value, detail: &str, kind: &str, path: &Path<'_>) {
        let whole = matches!(kind, "object" | "array");
        self.at(path, &rule.field, |causes, at| match rule.reason {
            CauseReason::Forbidden => causes.forbidden(at, detail),
            CauseReason::Required => causes.required(at, detail),
            CauseReason::Duplicate if whole => causes.push(at, CauseReason::Duplicate, "Duplicate value"),
            CauseReason::Duplicate => causes.duplicate(at, value),
            _ if whole => causes.push(at, CauseReason::Invalid, format!("Invalid value: {detail}")),
            _ => causes.invalid(at, value, detail),
        });
    }
}
