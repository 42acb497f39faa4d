//! Literals that are refused though their types check (cel-go `cel/validator.go`).

use crate::ast::{Expr, Kind, Literal};
use crate::checker::{Checked, each_child};
use crate::source::Issue;
use crate::types::Type;

/// What is wrong with the literals of an expression.
pub(crate) fn check(expr: &Expr, checked: &Checked) -> Vec<Issue> {
    let mut issues = Vec::new();
    walk(expr, checked, false, &mut issues);
    issues
}

/// `mixed` says that lists and maps may hold values of several types, as those given to `format`.
fn walk(expr: &Expr, checked: &Checked, mixed: bool, issues: &mut Vec<Issue>) {
    let mut mixed = mixed;
    match &expr.kind {
        Kind::Call(call) => {
            mixed |= call.name == "format";
            let wrong: Option<fn(&str) -> bool> = match call.name.as_str() {
                "duration" => Some(|t| crate::time::parse_duration(t).is_none()),
                "timestamp" => Some(|t| hydrofoil_types::Timestamp::parse(t).is_none()),
                "matches" => Some(|t| crate::text::pattern(t).is_err()),
                _ => None,
            };
            if let (Some(wrong), Some(arg)) = (wrong, call.args.last())
                && let Kind::Literal(Literal::Str(text)) = &arg.kind
                && wrong(text)
            {
                issues.push(Issue::new(arg.at, format!("invalid {} argument", call.name)));
            }
        }
        Kind::List(items) if !mixed => {
            let typed = items.iter().map(|(item, optional)| (item, unwrapped(checked.of(item), *optional)));
            if let Some(issue) = odd(typed) {
                issues.push(issue);
            }
        }
        Kind::Map(entries) if !mixed => {
            issues.extend(odd(entries.iter().map(|(key, ..)| (key, checked.of(key)))));
            let values = entries.iter().map(|(_, value, optional)| (value, unwrapped(checked.of(value), *optional)));
            issues.extend(odd(values));
        }
        _ => {}
    }
    each_child(expr, &mut |child| walk(child, checked, mixed, issues));
}

fn unwrapped(t: &Type, optional: bool) -> &Type {
    match t {
        Type::Optional(of) if optional => of,
        other => other,
    }
}

/// The first whose type is not that of the first.
fn odd<'e>(mut typed: impl Iterator<Item = (&'e Expr, &'e Type)>) -> Option<Issue> {
    let (_, first) = typed.next()?;
    let (expr, found) = typed.find(|(_, t)| !first.same(t))?;
    Some(Issue::new(expr.at, format!("expected type '{first}' but found '{found}'")))
}
