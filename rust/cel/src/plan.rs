//! A checked expression made ready to run: functions found, variables numbered, patterns compiled.

use regex::Regex;
use smol_str::SmolStr;

use crate::ast::{Call, Expr, Fold, Kind, Literal, Step};
use crate::charge::Charge;
use crate::library::{self, Native};
use crate::text;

/// A step of a program.
#[derive(Debug)]
pub(crate) enum Node {
    Literal(Literal),
    /// The value of a name of a type.
    Type(SmolStr),
    This,
    Old,
    Local(usize),
    Select(Box<Node>, SmolStr),
    Has(Box<Node>, SmolStr),
    OptSelect(Box<Node>, SmolStr),
    And(Box<[Node]>),
    Or(Box<[Node]>),
    If(Box<[Node; 3]>),
    /// The first optional that has a value, or the other; with `true` the value itself.
    OrElse(Box<[Node; 2]>, bool),
    Call(Native, Charge, Box<[Node]>),
    /// `matches` with a pattern known beforehand, and what running it costs.
    Matches(Box<Node>, Regex, u64),
    List(Box<[(Node, bool)]>),
    Map(Box<[(Node, Node, bool)]>),
    Fold(Box<Loop>),
    /// The operand, what becomes of its value, and whether that is an optional already.
    Opt(Box<[Node; 2]>, bool),
    /// What cannot be run, and why.
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

/// Plans an expression whose variables are `self` and `oldSelf`.
pub(crate) fn plan(expr: &Expr) -> Node {
    Planner { locals: Vec::new() }.node(expr)
}

struct Planner {
    locals: Vec<SmolStr>,
}

impl Planner {
    fn boxed(&mut self, expr: &Expr) -> Box<Node> {
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
                None if name == "self" => Node::This,
                None if name == "oldSelf" => Node::Old,
                None => Node::Type(name.clone()),
            },
            Kind::Select { operand, field, test: false } => Node::Select(self.boxed(operand), field.clone()),
            Kind::Select { operand, field, test: true } => Node::Has(self.boxed(operand), field.clone()),
            Kind::Call(call) => self.call(call),
            Kind::List(items) => Node::List(items.iter().map(|(e, opt)| (self.node(e), *opt)).collect()),
            Kind::Map(entries) => {
                Node::Map(entries.iter().map(|(k, v, opt)| (self.node(k), self.node(v), *opt)).collect())
            }
            Kind::Fold(fold) => self.fold(fold),
            Kind::Opt { operand, name, body, flat } => {
                let operand = self.node(operand);
                self.locals.push(name.clone());
                let body = self.node(body);
                self.locals.pop();
                Node::Opt(Box::new([operand, body]), *flat)
            }
            Kind::Message(name, _) => Node::Fail(format!("unknown type '{name}'")),
            Kind::Bad => Node::Fail("not an expression".to_owned()),
        }
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
                Kind::Literal(Literal::Str(field)) => Node::OptSelect(self.boxed(operand), field.clone()),
                _ => Node::Fail("unsupported optional field selection".to_owned()),
            },
            (name @ ("or" | "orValue"), [a, b]) => {
                Node::OrElse(Box::new([self.node(a), self.node(b)]), name == "orValue")
            }
            ("matches", [subject, pattern]) => {
                if let Kind::Literal(Literal::Str(literal)) = &pattern.kind
                    && let Ok(found) = text::pattern(literal)
                {
                    let cost = crate::size::scaled(literal.chars().count() as u64, crate::size::PATTERN);
                    return Node::Matches(self.boxed(subject), found, cost);
                }
                self.native(call, parts)
            }
            _ => self.native(call, parts),
        }
    }

    fn native(&mut self, call: &Call, parts: Vec<&Expr>) -> Node {
        match library::find(&call.name) {
            Some(native) => Node::Call(native, Charge::of(&call.name), self.all(parts)),
            None => Node::Fail(format!("no such overload: {}", call.name)),
        }
    }
}
