//! Expressions on the one value that a request is authenticated or authorized by (apiserver
//! `pkg/authentication/cel/compile.go`, `pkg/authorization/cel/compile.go`).

use std::collections::BTreeSet;
use std::sync::Arc;

use hydrofoil_types::{Map, SmolStr, Value, go};

use crate::ast::{Expr, Kind, Literal};
use crate::checker;
use crate::decl::{Decl, Order, Shape};
use crate::environment::declared_name;
use crate::eval::Run;
use crate::parser;
use crate::patience::Patience;
use crate::plan::{self, Node};
use crate::program::{Failure, Refusal, constants};
use crate::source;
use crate::types::Type;
use crate::value::{Fail, Val};

/// The variable of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// `claims` of a token: a map of any JSON.
    Claims,
    /// `user`: a `UserInfo`.
    User,
    /// `request`: a `SubjectAccessReviewSpec`.
    Request,
}

/// A compiled expression of one variable.
#[derive(Debug)]
pub struct Expression {
    node: Node,
    decl: Arc<Decl>,
    /// The type of the result.
    pub result: String,
    /// The fields of the variable that it names.
    pub fields: BTreeSet<SmolStr>,
}

impl Subject {
    /// Return the variable of a name.
    pub fn by_name(name: &str) -> Option<Self> {
        [Self::Claims, Self::User, Self::Request].into_iter().find(|subject| subject.name() == name)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Claims => "claims",
            Self::User => "user",
            Self::Request => "request",
        }
    }

    fn decl(self) -> Arc<Decl> {
        match self {
            Self::Claims => Decl::plain(Shape::Map(Decl::plain(Shape::Any))),
            Self::User => user(),
            Self::Request => request(),
        }
    }
}

impl Expression {
    /// Compile an expression; the error is the reason of its rejection.
    pub fn compile(text: &str, subject: Subject) -> Result<Self, Refusal> {
        let reported = |issues: Vec<source::Issue>| Refusal::Issues(source::render(text, &issues));
        let (mut expr, nodes) = parser::parse(text, false).map_err(reported)?;
        let decl = subject.decl();
        let variables = [(subject.name(), Type::of(&decl))];
        let checked = checker::check(&mut expr, nodes, &variables, false).map_err(reported)?;
        let node = plan::plan(&expr, subject.name());
        constants(&node)?;
        let mut fields = BTreeSet::new();
        gather(&expr, subject.name(), &mut fields);
        Ok(Self { node, decl, result: declared_name(checked.of(&expr)), fields })
    }

    /// Return the result on a value of the variable. There is none, but an error, if a caller's patience is over.
    pub fn evaluate(&self, on: &Value, patience: Option<&Patience>) -> Result<Value, Failure> {
        let run = |this| Run::new(this, None, patience).result(&self.node).and_then(|found| plain(&found));
        Val::of(on, &self.decl).and_then(run).map_err(|why| match why {
            Fail::Error(why) => Failure::Error(why),
            Fail::Budget | Fail::Asked => Failure::Limit,
        })
    }
}

/// Return a value as JSON.
fn plain(value: &Val<'_>) -> Result<Value, Fail> {
    Ok(match value {
        Val::Null => Value::Null,
        Val::Bool(b) => Value::Bool(*b),
        Val::Int(n) => Value::Int(*n),
        Val::Uint(n) => i64::try_from(*n).map_or(Value::Float((*n).into()), Value::Int),
        Val::Double(f) => Value::float(*f).ok_or_else(|| Fail::new(go::unsupported_number(*f)))?,
        Val::Str(text) => Value::str(&**text),
        Val::List(list) => Value::Array(list.iter().map(|item| plain(&item?)).collect::<Result<_, _>>()?),
        Val::Map(table) => {
            let mut map = Map::new();
            for key in table.keys() {
                let (Val::Str(name), Some(found)) = (&key, table.get(&key)) else {
                    return Err(unsupported_value(&key));
                };
                map.push(&**name, plain(&found?)?);
            }
            Value::Object(map)
        }
        other => return Err(unsupported_value(other)),
    })
}

fn unsupported_value(value: &Val<'_>) -> Fail {
    Fail::new(format!("unsupported conversion from {} to JSON", value.kind()))
}

/// Collect the fields of a variable that an expression selects, as `name.field` or `name.?field`.
fn gather(expr: &Expr, name: &str, fields: &mut BTreeSet<SmolStr>) {
    let of = |operand: &Expr| matches!(&operand.kind, Kind::Ident(found) if found == name);
    match &expr.kind {
        Kind::Select { operand, field, .. } if of(operand) => {
            fields.insert(field.clone());
        }
        Kind::Call(call) if call.name == "_?._" => {
            if let [operand, Expr { kind: Kind::Literal(Literal::Str(field)), .. }] = call.args.as_slice()
                && of(operand)
            {
                fields.insert(field.clone());
            }
        }
        _ => {}
    }
    checker::each_child(expr, &mut |child| gather(child, name, fields));
}

fn text() -> Arc<Decl> {
    Decl::plain(Shape::Str)
}

fn list(item: Arc<Decl>) -> Arc<Decl> {
    Decl::plain(Shape::List(item, Order::Kept))
}

fn extra() -> Arc<Decl> {
    Decl::plain(Shape::Map(list(text())))
}

/// Return the type of a user (`buildUserType`).
fn user() -> Arc<Decl> {
    let fields = vec![("username", text()), ("uid", text()), ("groups", list(text())), ("extra", extra())];
    Decl::record("kubernetes.UserInfo", fields)
}

/// Return the type of a request (`buildRequestType`).
fn request() -> Arc<Decl> {
    let required = vec![("key", text()), ("operator", text()), ("values", list(text()))];
    let requirement = Decl::record("kubernetes.SelectorRequirement", required);
    let selector =
        |name| Decl::record(name, vec![("rawSelector", text()), ("requirements", list(requirement.clone()))]);
    let mut resource: Vec<(&str, Arc<Decl>)> =
        ["namespace", "verb", "group", "version", "resource", "subresource", "name"].map(|name| (name, text())).into();
    resource.extend([
        ("fieldSelector", selector("kubernetes.FieldSelectorAttributes")),
        ("labelSelector", selector("kubernetes.LabelSelectorAttributes")),
    ]);
    let other = vec![("path", text()), ("verb", text())];
    let fields = vec![
        ("resourceAttributes", Decl::record("kubernetes.ResourceAttributes", resource)),
        ("nonResourceAttributes", Decl::record("kubernetes.NonResourceAttributes", other)),
        ("user", text()),
        ("groups", list(text())),
        ("extra", extra()),
        ("uid", text()),
    ];
    Decl::record("kubernetes.SubjectAccessReviewSpec", fields)
}
