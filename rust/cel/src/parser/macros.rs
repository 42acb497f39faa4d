//! Macros (cel-go `parser/macro.go`, `ext/comprehensions.go`, `cel/library.go`, `ext/lists.go`).

#![allow(clippy::indexing_slicing, reason = "numbers of nodes, arguments and tokens are given out by the parser")]

use smol_str::SmolStr;

use super::Parser;
use crate::ast::{Call, Expr, Fold, Kind, Step};

/// Return the call, or the expansion if it is a macro.
pub(crate) fn expand(parser: &mut Parser<'_>, at: usize, name: &str, target: Option<Expr>, args: Vec<Expr>) -> Expr {
    match (target, name, args.len()) {
        (None, "has", 1) => has(parser, at, args),
        // The one-variable form has only the old name.
        (Some(target), "all" | "exists" | "exists_one", 2 | 3) | (Some(target), "existsOne", 3) => {
            let step = match name {
                "all" => Step::All,
                "exists" => Step::Exists,
                _ => Step::ExistsOne,
            };
            let two = args.len() == 3;
            fold(parser, at, target, args, two, step, "argument must be a simple name")
        }
        (Some(target), "map", 2 | 3) => fold(parser, at, target, args, false, Step::List, NO_IDENT),
        (Some(target), "filter", 2) => filter(parser, at, target, args),
        (Some(target), "transformList", 3 | 4) => fold(parser, at, target, args, true, Step::List, NO_IDENT),
        (Some(target), "transformMap", 3 | 4) => fold(parser, at, target, args, true, Step::Map, NO_IDENT),
        (Some(target), "transformMapEntry", 3 | 4) => fold(parser, at, target, args, true, Step::Entries, NO_IDENT),
        (Some(target), "optMap" | "optFlatMap", 2) => optional(parser, at, target, args, name == "optFlatMap"),
        (Some(target), "sortBy", 2) => sort_by(parser, at, target, args),
        (Some(Expr { kind: Kind::Ident(space), .. }), "bind", 3) if parser.bind && space == "cel" => {
            bind(parser, at, args)
        }
        (target, _, _) => {
            let call = Call { name: SmolStr::new(name), target: target.map(Box::new), args };
            parser.node(at, Kind::Call(call))
        }
    }
}

const NO_IDENT: &str = "argument is not an identifier";

fn bad(parser: &mut Parser<'_>, at: usize, why: impl Into<String>) -> Expr {
    parser.note(at, why);
    parser.node(at, Kind::Bad)
}

fn has(parser: &mut Parser<'_>, at: usize, args: Vec<Expr>) -> Expr {
    let place = args.first().map_or(at, |a| a.at);
    match args.into_iter().next().map(|a| a.kind) {
        Some(Kind::Select { operand, field, .. }) => parser.node(at, Kind::Select { operand, field, test: true }),
        _ => bad(parser, place, "invalid argument to has() macro"),
    }
}

/// Return the name of a variable, or the error if the argument is not one.
fn variable(arg: &Expr, why: &'static str) -> Result<SmolStr, &'static str> {
    match &arg.kind {
        Kind::Ident(name) if name == "__result__" => Err("iteration variable overwrites accumulator variable"),
        Kind::Ident(name) => Ok(name.clone()),
        _ => Err(why),
    }
}

fn fold(
    parser: &mut Parser<'_>,
    at: usize,
    range: Expr,
    args: Vec<Expr>,
    two: bool,
    step: Step,
    why: &'static str,
) -> Expr {
    let mut names = Vec::new();
    for arg in args.iter().take(if two { 2 } else { 1 }) {
        match variable(arg, if two { NO_IDENT } else { why }) {
            Ok(name) if names.contains(&name) => {
                return bad(parser, arg.at, format!("duplicate variable name: {name}"));
            }
            Ok(name) => names.push(name),
            Err(why) => return bad(parser, arg.at, why),
        }
    }
    let mut rest: Vec<Expr> = args.into_iter().skip(names.len()).collect();
    let body = rest.pop();
    let mut names = names.into_iter();
    let name = names.next().unwrap_or_default();
    let fold = Fold { range, name, second: names.next(), filter: rest.pop(), body, step };
    parser.node(at, Kind::Fold(Box::new(fold)))
}

fn filter(parser: &mut Parser<'_>, at: usize, range: Expr, mut args: Vec<Expr>) -> Expr {
    match variable(&args[0], NO_IDENT) {
        Err(why) => bad(parser, args[0].at, why),
        Ok(name) => {
            let fold = Fold { range, name, second: None, filter: args.pop(), body: None, step: Step::List };
            parser.node(at, Kind::Fold(Box::new(fold)))
        }
    }
}

fn optional(parser: &mut Parser<'_>, at: usize, operand: Expr, mut args: Vec<Expr>, flat: bool) -> Expr {
    let why = if flat {
        "optFlatMap() variable name must be a simple identifier"
    } else {
        "optMap() variable name must be a simple identifier"
    };
    match (&args[0].kind, args.len()) {
        (Kind::Ident(name), 2) => {
            let name = name.clone();
            let body = Box::new(args.remove(1));
            parser.node(at, Kind::Opt { operand: Box::new(operand), name, body, flat })
        }
        _ => bad(parser, args[0].at, why),
    }
}

fn bind(parser: &mut Parser<'_>, at: usize, args: Vec<Expr>) -> Expr {
    let mut args = args.into_iter();
    let (Some(name), Some(value), Some(body)) = (args.next(), args.next(), args.next()) else {
        return bad(parser, at, NO_IDENT);
    };
    match name.kind {
        Kind::Ident(name) => parser.node(at, Kind::Bind { name, value: Box::new(value), body: Box::new(body) }),
        _ => bad(parser, name.at, "cel.bind() variable names must be simple identifiers"),
    }
}

/// Expand `list.sortBy(e, key)` to `list.@sortByAssociatedKeys(list.map(e, key))`.
fn sort_by(parser: &mut Parser<'_>, at: usize, target: Expr, args: Vec<Expr>) -> Expr {
    let simple =
        matches!(target.kind, Kind::List(_) | Kind::Select { .. } | Kind::Ident(_) | Kind::Fold(_) | Kind::Call(_));
    if !simple {
        let why = "sortBy can only be applied to a list, identifier, comprehension, call or select expression";
        return bad(parser, target.at, why);
    }
    let mut args = args.into_iter();
    let (Some(name), Some(key)) = (args.next(), args.next()) else { return bad(parser, at, NO_IDENT) };
    let name = match variable(&name, NO_IDENT) {
        Ok(name) => name,
        Err(why) => return bad(parser, name.at, why),
    };
    let fold = Fold { range: target.clone(), name, second: None, filter: None, body: Some(key), step: Step::List };
    let keys = parser.node(at, Kind::Fold(Box::new(fold)));
    let call = Call { name: "@sortByAssociatedKeys".into(), target: Some(Box::new(target)), args: vec![keys] };
    parser.node(at, Kind::Call(call))
}
