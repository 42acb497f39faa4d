//! The types of an expression (cel-go `checker/checker.go`).

#![allow(clippy::indexing_slicing, reason = "numbers of nodes, arguments and tokens are given out by the parser")]

mod composite;
mod literals;

use std::rc::Rc;

use smol_str::SmolStr;

use crate::ast::{Call, Expr, Kind, Literal};
use crate::library::declarations::{self as functions, Overload, Sig};
use crate::source::Issue;
use crate::types::{Bindings, Record, Type};

/// The results of checking, by the numbers of nodes.
#[derive(Debug)]
pub(crate) struct Checked {
    pub types: Vec<Type>,
    /// The overloads that a call may use.
    pub overloads: Vec<Vec<&'static str>>,
}

impl Checked {
    pub fn of(&self, expr: &Expr) -> &Type {
        self.types.get(expr.id).unwrap_or(&Type::Dyn)
    }
}

/// Check an expression against variables; calls by dotted names are resolved on the way. With `patches`, the types and
/// functions of mutations are declared.
pub(crate) fn check(
    expr: &mut Expr,
    nodes: usize,
    variables: &[(&str, Type)],
    patches: bool,
) -> Result<Checked, Vec<Issue>> {
    let mut checker = Checker {
        types: vec![Type::Error; nodes],
        overloads: vec![Vec::new(); nodes],
        bindings: Bindings::default(),
        scope: variables.iter().map(|(name, t)| (SmolStr::new(name), t.clone())).collect(),
        issues: Vec::new(),
        patches,
    };
    checker.check(expr);
    if !checker.issues.is_empty() {
        return Err(checker.issues);
    }
    let types = checker.types.iter().map(|t| checker.bindings.resolve(t, true)).collect();
    let checked = Checked { types, overloads: checker.overloads };
    let issues = literals::check(expr, &checked);
    if issues.is_empty() { Ok(checked) } else { Err(issues) }
}

struct Checker {
    types: Vec<Type>,
    overloads: Vec<Vec<&'static str>>,
    bindings: Bindings,
    scope: Vec<(SmolStr, Type)>,
    issues: Vec<Issue>,
    patches: bool,
}

/// The types that libraries declare.
const LIBRARY: [&str; 11] = [
    "net.IP",
    "net.CIDR",
    "kubernetes.URL",
    "kubernetes.Quantity",
    "kubernetes.Semver",
    "kubernetes.NamedFormat",
    "kubernetes.authorization.Authorizer",
    "kubernetes.authorization.PathCheck",
    "kubernetes.authorization.GroupCheck",
    "kubernetes.authorization.ResourceCheck",
    "kubernetes.authorization.Decision",
];

/// Return the value of a type name.
pub(crate) fn named_type(name: &str) -> Option<Type> {
    Some(match name {
        "bool" => Type::Bool,
        "bytes" => Type::Bytes,
        "double" => Type::Double,
        "dyn" => Type::Dyn,
        "google.protobuf.Duration" => Type::Duration,
        "google.protobuf.Timestamp" => Type::Timestamp,
        "int" => Type::Int,
        "list" => Type::list(Type::Dyn),
        "map" => Type::map(Type::Dyn, Type::Dyn),
        "null_type" => Type::Null,
        "string" => Type::String,
        "type" => Type::Kind(None),
        "uint" => Type::Uint,
        "optional_type" => Type::optional(Type::Dyn),
        other => return LIBRARY.iter().find(|l| **l == other).map(|l| Type::Library(l)),
    })
}

impl Checker {
    fn note(&mut self, at: usize, message: String) {
        self.issues.push(Issue::new(at, message));
    }

    fn get(&self, expr: &Expr) -> Type {
        self.types[expr.id].clone()
    }

    fn report_undeclared(&mut self, at: usize, name: &str) -> Type {
        self.note(at, format!("undeclared reference to '{name}' (in container '')"));
        Type::Error
    }

    fn mismatch(&mut self, at: usize, expected: &Type, found: &Type) {
        self.note(at, format!("expected type '{expected}' but found '{found}'"));
    }

    fn ident(&self, name: &str) -> Option<Type> {
        let variable = self.scope.iter().rev().find(|(n, _)| n == name).map(|(_, t)| t.clone());
        let made = || if self.patches { Record::of_patches(name) } else { None };
        variable.or_else(|| {
            named_type(name).or_else(|| made().map(|r| Type::Record(Rc::new(r)))).map(|t| Type::Kind(Some(Rc::new(t))))
        })
    }

    fn check(&mut self, expr: &mut Expr) {
        let at = expr.at;
        let t = match &mut expr.kind {
            Kind::Literal(literal) => match literal {
                Literal::Null => Type::Null,
                Literal::Bool(_) => Type::Bool,
                Literal::Int(_) => Type::Int,
                Literal::Uint(_) => Type::Uint,
                Literal::Double(_) => Type::Double,
                Literal::Str(_) => Type::String,
                Literal::Bytes(_) => Type::Bytes,
            },
            Kind::Ident(name) => match self.ident(name) {
                Some(t) => t,
                None => self.report_undeclared(at, &name.clone()),
            },
            Kind::Select { operand, field, test } => {
                let (field, test) = (field.clone(), *test);
                let qualified = if test { None } else { operand.qualified_name().map(|q| format!("{q}.{field}")) };
                if let Some((name, t)) = qualified.and_then(|q| self.ident(&q).map(|t| (q, t))) {
                    expr.kind = Kind::Ident(name.into());
                    t
                } else {
                    let t = self.select(at, operand, &field, false);
                    if test { Type::Bool } else { self.bindings.resolve(&t, false) }
                }
            }
            Kind::Call(_) => {
                self.types[expr.id] = Type::Error;
                self.call(expr)
            }
            Kind::List(items) => self.list(items),
            Kind::Map(entries) => self.map(entries),
            Kind::Bind { name, value, body } => {
                self.check(value);
                self.scope.push((name.clone(), self.get(value)));
                self.check(body);
                self.scope.pop();
                self.get(body)
            }
            Kind::Message(name, members) => {
                let name = name.clone();
                match self.ident(&name) {
                    None => self.report_undeclared(at, &name),
                    Some(Type::Kind(Some(of))) if matches!(*of, Type::Record(_)) => self.message(&of, members),
                    Some(t) => {
                        for member in members {
                            self.check(&mut member.value);
                        }
                        let shown = match &t {
                            Type::Kind(Some(of)) => of.to_string(),
                            other => other.to_string(),
                        };
                        let what = if matches!(t, Type::Kind(_)) { "message type" } else { "type" };
                        self.note(at, format!("'{shown}' is not a {what}"));
                        Type::Error
                    }
                }
            }
            Kind::Fold(fold) => self.fold(at, fold),
            Kind::Opt { operand, name, body, flat } => {
                let (name, flat) = (name.clone(), *flat);
                self.opt(at, operand, name, body, flat)
            }
            Kind::Bad => Type::Error,
        };
        self.types[expr.id] = t;
    }

    fn select(&mut self, at: usize, operand: &mut Expr, field: &str, optional: bool) -> Type {
        self.check(operand);
        let found = self.bindings.resolve(&self.get(operand), false);
        let (target, wrapped) = match &found {
            Type::Optional(of) => ((**of).clone(), true),
            other => (other.clone(), false),
        };
        let t = match &target {
            Type::Map(_, value) => (**value).clone(),
            Type::Object(decl) => {
                let declared = decl.field(field).map(|f| Type::of(&f.decl));
                declared.unwrap_or_else(|| {
                    self.note(at, format!("undefined field '{field}'"));
                    Type::Error
                })
            }
            Type::Record(record) => record.field(field).unwrap_or_else(|| {
                self.note(at, format!("undefined field '{field}'"));
                Type::Error
            }),
            // Upstream has these as objects without fields, the others as opaque types.
            Type::Library(name) if name.starts_with("kubernetes.") => {
                self.note(at, format!("undefined field '{field}'"));
                Type::Error
            }
            Type::Param(_) => {
                self.bindings.assignable(&Type::Dyn, &target);
                Type::Dyn
            }
            Type::Dyn | Type::Any | Type::Error => Type::Dyn,
            other => {
                self.note(at, format!("type '{other}' does not support field selection"));
                Type::Dyn
            }
        };
        if wrapped || optional { Type::optional(t) } else { t }
    }

    fn call(&mut self, expr: &mut Expr) -> Type {
        let (id, at) = (expr.id, expr.at);
        let Kind::Call(call) = &mut expr.kind else { return Type::Error };
        if call.name == "_?._" {
            return self.optional_select(id, at, call);
        }
        for arg in &mut call.args {
            self.check(arg);
        }
        if let Some(target) = &mut call.target {
            let qualified = target.qualified_name().map(|q| format!("{q}.{}", call.name));
            if let Some(name) = qualified.filter(|q| functions::find(q).is_some()) {
                call.name = name.into();
                call.target = None;
            } else {
                self.check(target);
            }
        }
        let known = self.patches || call.name != "jsonpatch.escapeKey";
        let Some(overloads) = functions::find(&call.name).filter(|_| known) else {
            return self.report_undeclared(at, &call.name.clone());
        };
        let args: Vec<Type> = call.target.as_deref().into_iter().chain(&call.args).map(|a| self.get(a)).collect();
        if matches!(call.name.as_str(), "_&&_" | "_||_") {
            return self.logic(id, call, &args, overloads);
        }
        self.resolve(id, at, &call.name, call.target.is_some(), &args, overloads)
    }

    /// Check `a.?b`.
    fn optional_select(&mut self, id: usize, at: usize, call: &mut Call) -> Type {
        let [operand, field] = call.args.as_mut_slice() else { return Type::Error };
        let Kind::Literal(Literal::Str(name)) = &field.kind else { return Type::Error };
        let name = name.clone();
        self.types[field.id] = Type::String;
        let t = self.select(at, operand, &name, true);
        self.overloads[id] = vec!["select_optional_field"];
        self.bindings.resolve(&t, false)
    }

    fn logic(&mut self, id: usize, call: &Call, args: &[Type], overloads: &'static [Overload]) -> Type {
        let mut fits = true;
        for (arg, t) in call.args.iter().zip(args) {
            if !self.bindings.assignable(t, &Type::Bool) {
                let shown = self.bindings.resolve(t, false);
                self.mismatch(arg.at, &Type::Bool, &shown);
                fits = false;
            }
        }
        self.overloads[id] = overloads.iter().map(|o| o.id).collect();
        if fits { Type::Bool } else { Type::Error }
    }

    fn resolve(
        &mut self,
        id: usize,
        at: usize,
        name: &str,
        member: bool,
        args: &[Type],
        overloads: &'static [Overload],
    ) -> Type {
        let mut result: Option<Type> = None;
        let mut found = Vec::new();
        for overload in overloads.iter().filter(|o| o.member == member && o.args.len() == args.len()) {
            let mut params = [const { None }; 3];
            let wanted: Vec<Type> = overload.args.iter().map(|s| self.instance(s, &mut params)).collect();
            let gives = self.instance(&overload.result, &mut params);
            if !self.bindings.all_assignable(args, &wanted) {
                continue;
            }
            found.push(overload.id);
            let gives = self.bindings.resolve(&gives, false);
            result = Some(match result {
                None => gives,
                Some(t) if t.is_dyn() || gives.same(&t) => t,
                Some(_) => Type::Dyn,
            });
        }
        if let Some(t) = result {
            self.overloads[id] = found;
            return t;
        }
        let shown: Vec<String> = args.iter().map(|t| self.bindings.resolve(t, true).to_string()).collect();
        let signature = match shown.split_first() {
            Some((first, rest)) if member => format!("{first}.({})", rest.join(", ")),
            _ => format!("({})", shown.join(", ")),
        };
        self.note(at, format!("found no matching overload for '{name}' applied to '{signature}'"));
        Type::Error
    }

    /// Return a declared type with fresh type parameters.
    fn instance(&mut self, sig: &Sig, params: &mut [Option<Type>; 3]) -> Type {
        match sig {
            Sig::Param(letter) => {
                let slot = &mut params[usize::from(*letter).min(2)];
                slot.get_or_insert_with(|| self.bindings.fresh()).clone()
            }
            Sig::Plain(name) => match *name {
                "timestamp" => Type::Timestamp,
                "duration" => Type::Duration,
                other => named_type(other).unwrap_or(Type::Dyn),
            },
            Sig::Of(name, of) => {
                let mut inner = of.iter().map(|s| self.instance(s, params));
                let first = inner.next().unwrap_or(Type::Dyn);
                match *name {
                    "list" => Type::list(first),
                    "optional" => Type::optional(first),
                    "map" => Type::map(first, inner.next().unwrap_or(Type::Dyn)),
                    _ => Type::Kind(Some(Rc::new(first))),
                }
            }
        }
    }

    /// Return the common type of items so far.
    fn join(&mut self, before: Option<Type>, next: Type) -> Type {
        let Some(before) = before else { return next };
        if self.bindings.assignable(&before, &next) {
            return before.general(&next);
        }
        Type::Dyn
    }

    fn unwrap_optional(&mut self, at: usize, t: Type, optional: bool) -> Type {
        match t {
            t if !optional => t,
            Type::Optional(of) => (*of).clone(),
            Type::Dyn | Type::Any => Type::Dyn,
            other => {
                self.mismatch(at, &Type::optional(other.clone()), &other);
                other
            }
        }
    }
}

/// Visit the children of a node.
pub(crate) fn each_child(expr: &Expr, visit: &mut dyn FnMut(&Expr)) {
    match &expr.kind {
        Kind::Literal(_) | Kind::Ident(_) | Kind::Bad => {}
        Kind::Select { operand, .. } => visit(operand),
        Kind::Call(call) => call.target.as_deref().into_iter().chain(&call.args).for_each(visit),
        Kind::List(items) => items.iter().for_each(|(e, _)| visit(e)),
        Kind::Map(entries) => entries.iter().for_each(|(k, v, _)| {
            visit(k);
            visit(v);
        }),
        Kind::Message(_, members) => members.iter().map(|m| &m.value).for_each(visit),
        Kind::Bind { value, body, .. } => {
            visit(value);
            visit(body);
        }
        Kind::Fold(f) => [&f.range].into_iter().chain(&f.filter).chain(&f.body).for_each(visit),
        Kind::Opt { operand, body, .. } => {
            visit(operand);
            visit(body);
        }
    }
}
