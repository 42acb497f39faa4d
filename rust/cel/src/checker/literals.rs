//! Literals that are invalid although their types check (cel-go `cel/validator.go`).

use super::{Checked, each_child};
use crate::ast::{Call, Expr, Kind, Literal};
use crate::library::printf;
use crate::source::Issue;
use crate::types::Type;
use crate::value::Fail;

/// Return the issues of the literals of an expression.
pub(crate) fn check(expr: &Expr, checked: &Checked) -> Vec<Issue> {
    let mut issues = Vec::new();
    walk(expr, checked, false, &mut issues);
    issues
}

/// Visit an expression. With `mixed`, lists and maps may have values of several types, as the arguments of `format`.
fn walk(expr: &Expr, checked: &Checked, mixed: bool, issues: &mut Vec<Issue>) {
    let mut mixed = mixed;
    match &expr.kind {
        Kind::Call(call) => {
            mixed |= call.name == "format";
            if call.name == "format" {
                check_format(call, expr.at, checked, issues);
            }
            let wrong: Option<fn(&str) -> bool> = match call.name.as_str() {
                "duration" => Some(|t| hydrofoil_text::duration::parse(t).is_none()),
                "timestamp" => Some(|t| t.starts_with("0000") || hydrofoil_types::Timestamp::parse(t).is_none()),
                "matches" => Some(|t| crate::library::text::pattern(t).is_err()),
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
            // Only the first issue of a list is reported, but all of a map.
            let mut found = Vec::new();
            odd(items.iter().map(|(item, optional)| (item, unwrap_optional(checked.of(item), *optional))), &mut found);
            issues.extend(found.into_iter().next());
        }
        Kind::Map(entries) if !mixed => {
            odd(entries.iter().map(|(key, ..)| (key, checked.of(key))), issues);
            odd(entries.iter().map(|(_, v, optional)| (v, unwrap_optional(checked.of(v), *optional))), issues);
        }
        _ => {}
    }
    each_child(expr, &mut |child| walk(child, checked, mixed, issues));
}

fn unwrap_optional(t: &Type, optional: bool) -> &Type {
    match t {
        Type::Optional(of) if optional => of,
        other => other,
    }
}

/// Report the items whose type is not that of the first.
fn odd<'e>(mut typed: impl Iterator<Item = (&'e Expr, &'e Type)>, issues: &mut Vec<Issue>) {
    let Some((_, first)) = typed.next() else { return };
    for (expr, found) in typed.filter(|(_, t)| !first.same(t)) {
        issues.push(Issue::new(expr.at, format!("expected type '{first}' but found '{found}'")));
    }
}

/// Check a literal format against the types of its literal values (`stringFormatValidator`).
fn check_format(call: &Call, at: usize, checked: &Checked, issues: &mut Vec<Issue>) {
    let (Some(target), [arg]) = (&call.target, call.args.as_slice()) else { return };
    let (Kind::Literal(Literal::Str(text)), Kind::List(values)) = (&target.kind, &arg.kind) else { return };
    let mut place = at;
    let found = printf::pieces(
        text,
        values.len(),
        |_| {},
        |i, clause| {
            let Some((value, _)) = values.get(i) else { return Ok(()) };
            let bad = if clause.sign == 's' { unshown(value, checked) } else { misfit(value, clause.sign, checked) };
            bad.map_or(Ok(()), |bad| {
                place = bad.at;
                Err(Fail::new(printf::unsupported_type(clause, &name(checked.of(bad)))))
            })
        },
    );
    match found {
        Err(Fail::Error(why)) => issues.push(Issue::new(place, why)),
        Ok(used) if used < values.len() => {
            let why = format!("too many arguments supplied to string.format (expected {used}, got {})", values.len());
            issues.push(Issue::new(at, why));
        }
        _ => {}
    }
}

/// Return a part of a value that cannot be formatted.
fn unshown<'e>(value: &'e Expr, checked: &Checked) -> Option<&'e Expr> {
    if matches!(checked.of(value), Type::Optional(_) | Type::Library(_) | Type::Object(_)) {
        return Some(value);
    }
    match &value.kind {
        Kind::List(items) => items.iter().find_map(|(item, _)| unshown(item, checked)),
        Kind::Map(entries) => entries.iter().flat_map(|(k, v, _)| [k, v]).find_map(|part| unshown(part, checked)),
        _ => None,
    }
}

/// Return the value if a clause does not accept its type.
fn misfit<'e>(value: &'e Expr, sign: char, checked: &Checked) -> Option<&'e Expr> {
    let fits = matches!(
        (sign, checked.of(value)),
        (_, Type::Dyn | Type::Any)
            | ('d' | 'o' | 'b' | 'x' | 'X', Type::Int | Type::Uint)
            | ('f' | 'e', Type::Double | Type::String)
            | ('b', Type::Bool)
            | ('x' | 'X', Type::String | Type::Bytes)
    );
    (!fits).then_some(value)
}

/// Return a type without its parameters, as at runtime.
fn name(t: &Type) -> String {
    match t {
        Type::Duration => "google.protobuf.Duration".to_owned(),
        Type::Timestamp => "google.protobuf.Timestamp".to_owned(),
        Type::Null => "null_type".to_owned(),
        other => other.to_string().split('(').next().unwrap_or_default().to_owned(),
    }
}
