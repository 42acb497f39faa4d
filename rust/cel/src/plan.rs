//! Plans of checked expressions: functions resolved, variables numbered, patterns compiled.

use std::sync::Arc;

use hydrofoil_pattern::Pattern;
use smol_str::SmolStr;

use crate::ast::{Call, Expr, Fold, Kind, Literal, Step};
use crate::charge::Charge;
use crate::library::{self, Native, text};

/// A step of a program.
#[derive(Debug)]
pub(crate) enum Node {
    Literal(Literal),
    /// The value of a type name.
    Type(SmolStr),
    This,
    Old,
    Local(usize),
    /// A variable of an admission request, by its place in the declared names.
    Outer(usize),
    /// A variable of a policy, evaluated when it is first used.
    Lazy(SmolStr),
    Select(Box<Node>, SmolStr),
    Has(Box<Node>, SmolStr),
    OptSelect(Box<Node>, SmolStr),
    And(Box<[Node]>),
    Or(Box<[Node]>),
    If(Box<[Node; 3]>),
    /// The first optional if it has a value, else the other; with `true` the value itself.
    OrElse(Box<[Node; 2]>, bool),
    Call(Native, Charge, Box<[Node]>),
    /// `matches` with a constant pattern, and the cost of running it.
    Matches(Box<Node>, Arc<Pattern>, u64),
    List(Box<[(Node, bool)]>),
    Map(Box<[(Node, Node, bool)]>),
    Fold(Box<Loop>),
    /// The operand, the expression of its value, and whether that already is an optional.
    Opt(Box<[Node; 2]>, bool),
    /// An operation that upstream evaluates in advance, at no cost to a run.
    Free(Box<Node>),
    /// `check` of an authorizer: what is asked about, and the verb.
    Check(Box<[Node; 2]>),
    /// A new object of a patch: its type, and its fields with whether they are optional.
    Message(SmolStr, Box<[(SmolStr, Node, bool)]>),
    /// An operation that always fails, with the error.
    Fail(String),
}

/// A comprehension.
#[derive(Debug)]
pub(crate) struct Loop {
    pub range: Node,
    pub two: bool,
    pub filter: Option<Node>,
    pub body: Option<Node>,
    pub step: Step,
}

fn free(known: bool, node: Node) -> Node {
    if known { Node::Free(Box::new(node)) } else { node }
}

impl Node {
    /// Visit the children until one returns an error.
    pub fn each_child<E>(&self, visit: &mut dyn FnMut(&Self) -> Result<(), E>) -> Result<(), E> {
        match self {
            Self::Literal(_)
            | Self::Type(_)
            | Self::This
            | Self::Old
            | Self::Local(_)
            | Self::Outer(_)
            | Self::Lazy(_)
            | Self::Fail(_) => Ok(()),
            Self::Select(of, _)
            | Self::Has(of, _)
            | Self::OptSelect(of, _)
            | Self::Matches(of, ..)
            | Self::Free(of) => visit(of),
            Self::And(nodes) | Self::Or(nodes) | Self::Call(_, _, nodes) => nodes.iter().try_for_each(visit),
            Self::If(nodes) => nodes.iter().try_for_each(visit),
            Self::OrElse(nodes, _) | Self::Opt(nodes, _) | Self::Check(nodes) => nodes.iter().try_for_each(visit),
            Self::Message(_, fields) => fields.iter().try_for_each(|(_, value, _)| visit(value)),
            Self::List(items) => items.iter().try_for_each(|(e, _)| visit(e)),
            Self::Map(entries) => entries.iter().flat_map(|(k, v, _)| [k, v]).try_for_each(visit),
            Self::Fold(fold) => [&fold.range].into_iter().chain(&fold.filter).chain(&fold.body).try_for_each(visit),
        }
    }

    fn is_constant(&self) -> bool {
        matches!(self, Self::Literal(_) | Self::Free(_))
    }
}

/// Plan an expression of one variable, and of `oldSelf`.
pub(crate) fn plan(expr: &Expr, this: &str) -> Node {
    Planner { this, outer: &[], locals: Vec::new() }.node(expr)
}

/// Plan an expression of the variables of admission, by their names.
pub(crate) fn plan_of(expr: &Expr, outer: &[&str]) -> Node {
    Planner { this: "", outer, locals: Vec::new() }.node(expr)
}

/// The name under which policies have their variables.
pub(crate) const VARIABLES: &str = "variables";

struct Planner<'n> {
    this: &'n str,
    outer: &'n [&'n str],
    locals: Vec<SmolStr>,
}

impl Planner<'_> {
    fn plan_boxed(&mut self, expr: &Expr) -> Box<Node> {
        Box::new(self.node(expr))
    }

    fn all<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) -> Box<[Node]> {
        exprs.into_iter().map(|e| self.node(e)).collect()
    }

    fn node(&mut self, expr: &Expr) -> Node {
        match &expr.kind {
            Kind::Literal(literal) => Node::Literal(literal.clone()),
            Kind::Ident(name) => match self.locals.iter().rposition(|l| l == name) {
                Some(slot) => Node::Local(slot),
                None if name == self.this => Node::This,
                None if name == "oldSelf" => Node::Old,
                None => match self.outer.iter().position(|o| o == name) {
                    Some(place) => Node::Outer(place),
                    None => Node::Type(name.clone()),
                },
            },
            Kind::Select { operand, field, test } if self.is_variables(operand) => {
                if *test {
                    Node::Literal(Literal::Bool(true))
                } else {
                    Node::Lazy(field.clone())
                }
            }
            Kind::Select { operand, field, test: false } => Node::Select(self.plan_boxed(operand), field.clone()),
            Kind::Select { operand, field, test: true } => Node::Has(self.plan_boxed(operand), field.clone()),
            Kind::Call(call) => self.call(call),
            Kind::List(items) => {
                let list: Box<[_]> = items.iter().map(|(e, opt)| (self.node(e), *opt)).collect();
                free(list.iter().all(|(e, _)| e.is_constant()), Node::List(list))
            }
            Kind::Map(entries) => {
                let map: Box<[_]> = entries.iter().map(|(k, v, opt)| (self.node(k), self.node(v), *opt)).collect();
                free(map.iter().all(|(k, v, _)| k.is_constant() && v.is_constant()), Node::Map(map))
            }
            Kind::Fold(fold) => self.fold(fold),
            Kind::Opt { operand, name, body, flat } => {
                let operand = self.node(operand);
                self.locals.push(name.clone());
                let body = self.node(body);
                self.locals.pop();
                Node::Opt(Box::new([operand, body]), *flat)
            }
            Kind::Bind { .. } => Node::Fail("cel.bind is only checked".to_owned()),
            Kind::Message(name, members) => {
                let fields = members.iter().map(|m| (m.name.clone(), self.node(&m.value), m.optional)).collect();
                Node::Message(name.clone(), fields)
            }
            Kind::Bad => Node::Fail("not an expression".to_owned()),
        }
    }

    /// Report whether an expression is the record of a policy's variables.
    fn is_variables(&self, expr: &Expr) -> bool {
        matches!(&expr.kind, Kind::Ident(name) if name == VARIABLES)
            && self.outer.contains(&VARIABLES)
            && !self.locals.iter().any(|local| local == VARIABLES)
    }

    fn fold(&mut self, fold: &Fold) -> Node {
        let range = self.node(&fold.range);
        let depth = self.locals.len();
        self.locals.push(fold.name.clone());
        self.locals.extend(fold.second.clone());
        let filter = fold.filter.as_ref().map(|f| self.node(f));
        let body = fold.body.as_ref().map(|b| self.node(b));
        self.locals.truncate(depth);
        Node::Fold(Box::new(Loop { range, two: fold.second.is_some(), filter, body, step: fold.step }))
    }

    fn call(&mut self, call: &Call) -> Node {
        let parts: Vec<&Expr> = call.target.as_deref().into_iter().chain(&call.args).collect();
        match (call.name.as_str(), parts.as_slice()) {
            ("_&&_", _) => Node::And(self.all(parts)),
            ("_||_", _) => Node::Or(self.all(parts)),
            ("_?_:_", [a, b, c]) => Node::If(Box::new([self.node(a), self.node(b), self.node(c)])),
            ("_?._", [operand, field]) => match &field.kind {
                Kind::Literal(Literal::Str(field)) => Node::OptSelect(self.plan_boxed(operand), field.clone()),
                _ => Node::Fail("unsupported optional field selection".to_owned()),
            },
            ("check", [subject, verb]) => Node::Check(Box::new([self.node(subject), self.node(verb)])),
            (name @ ("or" | "orValue"), [a, b]) => {
                Node::OrElse(Box::new([self.node(a), self.node(b)]), name == "orValue")
            }
            ("matches", [subject, pattern]) => {
                if let Kind::Literal(Literal::Str(literal)) = &pattern.kind
                    && let Ok(found) = text::pattern(literal)
                {
                    let cost = crate::size::scale(literal.chars().count() as u64, crate::size::PATTERN);
                    return Node::Matches(self.plan_boxed(subject), found, cost);
                }
                self.native(call, parts)
            }
            _ => self.native(call, parts),
        }
    }

    fn native(&mut self, call: &Call, parts: Vec<&Expr>) -> Node {
        match library::find(&call.name) {
            Some(native) => {
                let mut args = self.all(parts);
                if let (true, Some(key)) = (matches!(call.name.as_str(), "_[_]" | "_[?_]"), args.get_mut(1)) {
                    // A variable used as a key is not charged.
                    let own = std::mem::replace(key, Node::This);
                    *key = free(matches!(own, Node::Local(_)), own);
                }
                let converts = matches!(
                    call.name.as_str(),
                    "bool" | "bytes" | "double" | "duration" | "int" | "string" | "timestamp" | "uint"
                );
                let known = converts && args.iter().all(Node::is_constant);
                // Upstream looks up values in a list of constants at no cost.
                let looked_up = call.name == "@in" && args.get(1).is_some_and(Node::is_constant);
                let charge = if looked_up { Charge::None } else { Charge::of(&call.name) };
                free(known, Node::Call(native, charge, args))
            }
            None => Node::Fail(format!("no such overload: {}", call.name)),
        }
    }
}
