//! `x-kubernetes-validations` when a definition is written (apiextensions `validation.go`, `cel_validation.go`).

use std::sync::Arc;

use hydrofoil_cel::{Decl, Kind, Program, Refusal};
use hydrofoil_types::{Causes, Map, Path, Value};

use super::schema::{self, Place};
use hydrofoil_types::read::Read;

/// The cost limit of one expression, times its estimated runs (`StaticEstimatedCostLimit`).
const EXPRESSION: u64 = 10_000_000;
/// The cost limit of all expressions of a definition (`StaticEstimatedCRDCostLimit`).
const DEFINITION: u64 = 100_000_000;

/// Add the causes of invalid rules in a schema that is structural otherwise. `clean` means that the schema has no
/// other errors at all.
pub(super) fn check(props: &Value, path: &Path<'_>, clean: bool, causes: &mut Causes) {
    let mut walk = Walk { causes, clean, total: 0, expensive: Vec::new() };
    walk.node(props, path, &Context { cardinality: Some(1), decl: None, root: true, uncorrelated: None });
    let Walk { total, expensive, .. } = walk;
    if total > DEFINITION {
        for (at, _) in &expensive {
            let why = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
            causes.forbidden(&Path::new(at), why);
        }
        let what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        causes.forbidden(path, &cost_error(what, total, DEFINITION));
    }
}

/// The properties of a node that follow from its ancestors.
struct Context<'c> {
    /// The largest number of its values in an object; none without a bound.
    cardinality: Option<u64>,
    decl: Option<&'c Arc<Decl>>,
    root: bool,
    /// The path from which old values can no longer be correlated.
    uncorrelated: Option<&'c Path<'c>>,
}

struct Walk<'c> {
    causes: &'c mut Causes,
    clean: bool,
    total: u64,
    /// The most expensive expressions.
    expensive: Vec<(String, u64)>,
}

impl Walk<'_> {
    fn node(&mut self, props: &Value, path: &Path<'_>, context: &Context<'_>) {
        let rules = props.list("x-kubernetes-validations");
        let own = if context.decl.is_none() && !rules.is_empty() {
            Decl::compile(props, context.root || props.flag("x-kubernetes-embedded-resource"))
        } else {
            None
        };
        let decl = context.decl.or(own.as_ref());
        let below = Context {
            cardinality: context.cardinality.zip(factor(props)).map(|(n, by)| n.saturating_mul(by)),
            decl: None,
            root: false,
            uncorrelated: context.uncorrelated,
        };
        if let Some(values) = props.opt("additionalProperties").filter(|a| a.as_object().is_some()) {
            let decl = decl.and_then(|d| d.element());
            self.node(values, &path.child("additionalProperties"), &Context { decl, ..below });
        }
        let at = path.child("properties");
        for (key, value) in props.entries("properties") {
            let decl = decl.filter(|_| hydrofoil_cel::escape(key).is_some()).and_then(|d| d.member(key));
            self.node(value, &at.key(key), &Context { decl, ..below });
        }
        if let Some(items) = props.opt("items").filter(|i| i.as_object().is_some()) {
            let decl = decl.and_then(|d| d.element());
            let keyed = props.text("x-kubernetes-list-type") == "map";
            let uncorrelated = below.uncorrelated.or((!keyed).then_some(path));
            self.node(items, &path.child("items"), &Context { decl, uncorrelated, ..below });
        }
        if !rules.is_empty() && self.sound(props, context) {
            self.rules(props, rules, decl, &path.child("x-kubernetes-validations"), context);
        }
    }

    /// Report whether the schema of a node is valid, itself and below.
    fn sound(&self, props: &Value, context: &Context<'_>) -> bool {
        if self.clean {
            return true;
        }
        let mut found = Causes::new();
        let place = Place { root: context.root, meta: false, no_default: None, typed: true };
        schema::check(props, &Path::root(), place, &mut found);
        found.is_empty()
    }

    fn rules(
        &mut self,
        props: &Value,
        rules: &[Value],
        decl: Option<&Arc<Decl>>,
        path: &Path<'_>,
        context: &Context<'_>,
    ) {
        let Some(decl) = decl else {
            let why = "Internal error: internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations";
            return self.causes.push(path, hydrofoil_types::CauseReason::Internal, why);
        };
        debug_assert!(props.as_object().is_some());
        for (i, rule) in rules.iter().enumerate() {
            let at = path.index(i);
            let text = rule.text("rule");
            if text.trim().is_empty() {
                continue;
            }
            let optional_old = rule.flag("optionalOldSelf");
            let rule_at = at.child("rule");
            let program = match Program::compile(text, decl, optional_old, Kind::Bool) {
                Ok(program) => Some(program),
                Err(why) => {
                    self.causes.invalid(&rule_at, &internal_rule(rule), &why.of_rule());
                    None
                }
            };
            if let Some(program) = &program {
                let times = context.cardinality.unwrap_or_else(|| decl.cardinality());
                self.charge("estimated rule cost", program.cost.saturating_mul(times), &rule_at);
                self.message(rule, decl, &at);
            }
            let uses_old = program.as_ref().is_some_and(|p| p.uses_old);
            if uses_old {
                if let Some(within) = context.uncorrelated {
                    let why =
                        format!("oldSelf cannot be used on the uncorrelatable portion of the schema within {within}");
                    self.causes.invalid_str(&rule_at, text, &why);
                }
            } else if let Some(given) = rule.opt("optionalOldSelf") {
                let why = "may not be set if oldSelf is not used in rule";
                self.causes.invalid(&at.child("optionalOldSelf"), given, why);
            }
        }
    }

    fn message(&mut self, rule: &Value, decl: &Arc<Decl>, at: &Path<'_>) {
        let text = rule.text("messageExpression");
        if text.is_empty() {
            return;
        }
        let at = at.child("messageExpression");
        match Program::compile(text, decl, rule.flag("optionalOldSelf"), Kind::Text) {
            Ok(program) => self.charge("estimated messageExpression cost", program.cost, &at),
            Err(why) => {
                let why = match why {
                    Refusal::Type => "messageExpression must evaluate to a string".to_owned(),
                    Refusal::Issues(why) => format!("messageExpression compilation failed: {why}"),
                    Refusal::Instance(why) => format!("messageExpression instantiation failed: {why}"),
                };
                self.causes.invalid(&at, &internal_rule(rule), &why);
            }
        }
    }

    fn charge(&mut self, what: &str, cost: u64, at: &Path<'_>) {
        if cost > EXPRESSION {
            self.causes.forbidden(at, &cost_error(what, cost, EXPRESSION));
        }
        self.total = self.total.saturating_add(cost);
        if cost >= DEFINITION / 100 {
            self.expensive.push((at.to_string(), cost));
            self.expensive.sort_by_key(|(_, cost)| std::cmp::Reverse(*cost));
            self.expensive.truncate(4);
        }
    }
}

/// Return by how much a node multiplies those below it; `None` without a bound.
fn factor(props: &Value) -> Option<u64> {
    let bound = |key: &str| props.opt_int(key).map(|n| n.max(0) as u64);
    match props.text("type") {
        "object" if props.has("additionalProperties") => bound("maxProperties"),
        "array" => bound("maxItems"),
        _ => Some(1),
    }
}

/// Return a rule as Go's `encoding/json` writes the internal type.
fn internal_rule(rule: &Value) -> Value {
    let mut map = Map::new();
    for (name, key) in [("Rule", "rule"), ("Message", "message"), ("MessageExpression", "messageExpression")] {
        map.push(name, rule.text(key));
    }
    map.push("Reason", rule.opt("reason").cloned().unwrap_or_default());
    map.push("FieldPath", rule.text("fieldPath"));
    map.push("OptionalOldSelf", rule.opt("optionalOldSelf").cloned().unwrap_or_default());
    Value::Object(map)
}

/// `getCostErrorMessage`.
fn cost_error(what: &str, cost: u64, limit: u64) -> String {
    let factor = cost as f64 / limit as f64;
    let factor = if factor > 100.0 {
        "more than 100x".to_owned()
    } else if factor < 1.5 {
        format!("{factor:.6}x")
    } else {
        format!("{factor:.1}x")
    };
    format!(
        "{what} exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"
    )
}
