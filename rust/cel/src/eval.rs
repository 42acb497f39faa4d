//! Evaluation of a program (cel-go `interpreter/interpretable.go`), with its cost counted on the way.

#![allow(
    clippy::arithmetic_side_effects,
    reason = "sizes and costs are bounded by the budget of a run; numbers of a rule are calculated with checks"
)]
#![allow(clippy::indexing_slicing, reason = "numbers of nodes, arguments and tokens are given out by the parser")]

use std::rc::Rc;

use smallvec::SmallVec;
use smol_str::SmolStr;

use crate::ast::{Literal, Step};
use crate::charge::Charge;
use crate::library::Native;
use crate::patience::{Patience, STEP};
use crate::plan::{Loop, Node};
use crate::scope::Scope;
use crate::size::{CHECK, LIST, MAP, MESSAGE, TEXT, scale};
use crate::value::{Entries, Fail, List, Message, Out, Table, Text, Val};

/// A run: the variables, and the cost so far.
pub(crate) struct Run<'a> {
    pub this: Val<'a>,
    pub old: Option<Val<'a>>,
    pub locals: Vec<Val<'a>>,
    pub spent: u64,
    /// The cost at which to check the limit and the time.
    soft: u64,
    /// The cost when the time was last checked.
    timed: u64,
    /// The time of a caller that waits.
    patience: Option<&'a Patience>,
    /// The variables of an admission request, if the expression has them.
    scope: Option<&'a Scope<'a>>,
}

/// The maximum cost of a run (`PerCallLimit`).
pub(crate) const LIMIT: u64 = 1_000_000;

/// The error of an expression that costs more than one may.
pub(crate) const EXCEEDED: &str = "operation cancelled: actual cost limit exceeded";

impl<'a> Run<'a> {
    /// Return a run of an expression.
    pub fn new(this: Val<'a>, old: Option<Val<'a>>, patience: Option<&'a Patience>) -> Self {
        let soft = if patience.is_some() { STEP } else { LIMIT };
        Self { this, old, locals: Vec::new(), spent: 0, soft, timed: 0, patience, scope: None }
    }

    /// Return a run of an expression in a scope.
    pub fn of(scope: &'a Scope<'a>) -> Self {
        Self { scope: Some(scope), ..Self::new(Val::Null, None, scope.patience) }
    }

    /// Evaluate the whole expression.
    pub fn result(&mut self, node: &'a Node) -> Out<'a> {
        let found = self.eval(node);
        if let Some(patience) = self.patience {
            patience.count_rest(self.spent.saturating_sub(self.timed));
        }
        found
    }

    fn spend(&mut self, cost: u64) -> Result<(), Fail> {
        self.spent = self.spent.saturating_add(cost);
        if self.spent > self.soft { self.pause() } else { Ok(()) }
    }

    /// Check the limit, and the time of a caller that waits.
    #[cold]
    fn pause(&mut self) -> Result<(), Fail> {
        if self.spent > LIMIT {
            return Err(Fail::Budget);
        }
        if let Some(patience) = self.patience {
            if patience.passed(self.spent.saturating_sub(self.timed)) {
                return Err(Fail::Asked);
            }
            self.pass();
        }
        Ok(())
    }

    /// Let what was spent so far be timed.
    fn pass(&mut self) {
        self.timed = self.spent;
        self.soft = if self.patience.is_some() { self.spent.saturating_add(STEP).min(LIMIT) } else { LIMIT };
    }

    /// Return to a former cost. The time until then counts all the same.
    fn refund(&mut self, spent: u64) {
        if let Some(patience) = self.patience {
            patience.passed(self.spent.saturating_sub(self.timed));
        }
        self.spent = spent;
        self.pass();
    }

    /// Call a function, and charge for it before if the cost depends on the arguments alone: it cannot be interrupted.
    fn call(&mut self, native: Native, charge: Charge, values: &[Val<'a>]) -> Out<'a> {
        let cost = charge.ahead(values);
        if let Some(patience) = self.patience
            && patience.refuses(cost.unwrap_or(0).max(charge.size(values)))
        {
            return Err(Fail::Asked);
        }
        if let Some(cost) = cost {
            self.spend(cost)?;
            return native(values);
        }
        let result = native(values);
        self.spend(charge.cost(values, result.as_ref().unwrap_or(&Val::Null)))?;
        result
    }

    pub fn eval(&mut self, node: &'a Node) -> Out<'a> {
        match node {
            Node::Literal(literal) => Ok(constant(literal)),
            Node::Type(name) => Ok(Val::Type(name.clone())),
            Node::This => {
                self.spend(1)?;
                Ok(self.this.clone())
            }
            Node::Old => {
                self.spend(1)?;
                self.old.clone().ok_or_else(|| Fail::new("no such attribute(s): oldSelf"))
            }
            Node::Local(slot) => {
                self.spend(1)?;
                self.locals.get(*slot).cloned().ok_or_else(Fail::overload)
            }
            Node::Outer(place) => {
                self.spend(1)?;
                self.scope.and_then(|scope| scope.value(*place)).unwrap_or_else(|| Err(Fail::overload()))
            }
            Node::Lazy(name) => {
                self.spend(2)?;
                self.scope.map_or_else(|| Err(Fail::overload()), |scope| lazy(scope, name))
            }
            Node::Check(parts) => {
                let (subject, verb) = (self.eval(&parts[0])?, self.eval(&parts[1])?);
                self.spent = self.spent.saturating_add(CHECK);
                if self.spent > LIMIT {
                    return Err(Fail::Budget);
                }
                // An answer that is known takes no time.
                self.pass();
                match (subject, verb, self.scope) {
                    (Val::Right(right), Val::Str(verb), Some(scope)) => scope.decision(&right.question(&verb)?),
                    _ => Err(Fail::overload()),
                }
            }
            Node::Message(name, fields) => self.message(name, fields),
            Node::Select(operand, field) => {
                let holder = self.eval(operand)?;
                self.spend(1)?;
                select(&holder, field)
            }
            Node::Has(operand, field) => has(&self.eval(operand)?, field).map(Val::Bool),
            Node::OptSelect(operand, field) => {
                let holder = self.eval(operand)?;
                self.spend(1)?;
                opt_select(&holder, field)
            }
            Node::And(terms) => self.logic(terms, false),
            Node::Or(terms) => self.logic(terms, true),
            Node::If(parts) => match self.eval(&parts[0])? {
                Val::Bool(true) => self.eval(&parts[1]),
                Val::Bool(false) => self.eval(&parts[2]),
                _ => Err(Fail::overload()),
            },
            Node::OrElse(parts, unwrap) => match self.eval(&parts[0])? {
                Val::Optional(Some(value)) if *unwrap => Ok((*value).clone()),
                Val::Optional(None) => self.eval(&parts[1]),
                // A dynamic value that is no optional is the result itself (cel-go `cel/library.go`).
                found => Ok(found),
            },
            Node::Call(native, charge, args) => {
                let mut values: SmallVec<[Val<'a>; 3]> = SmallVec::new();
                for arg in args {
                    values.push(self.eval(arg)?);
                }
                self.call(*native, *charge, &values)
            }
            Node::Matches(subject, pattern, cost) => match self.eval(subject)? {
                Val::Str(text) => {
                    let length = text.chars().count() as u64;
                    self.spend(scale(length + 1, TEXT) * cost)?;
                    Ok(Val::Bool(pattern.matches(&text)))
                }
                _ => Err(Fail::overload()),
            },
            Node::List(items) => self.list(items),
            Node::Map(entries) => self.map(entries),
            Node::Fold(fold) => self.fold(fold),
            Node::Opt(parts, flat) => {
                let value = match self.eval(&parts[0])? {
                    Val::Optional(Some(value)) => (*value).clone(),
                    Val::Optional(None) => return Ok(Val::Optional(None)),
                    _ => return Err(Fail::overload()),
                };
                self.spend(if *flat { 4 } else { 5 })?;
                self.locals.push(value);
                let made = self.eval(&parts[1]);
                self.locals.pop();
                let made = made?;
                Ok(if *flat { made } else { Val::some(made) })
            }
            Node::Free(inner) => {
                let spent = self.spent;
                let found = self.eval(inner);
                self.refund(spent);
                found
            }
            Node::Fail(why) => Err(Fail::new(why.clone())),
        }
    }

    /// Evaluate `&&` or `||`: one deciding term overrides errors of others.
    fn logic(&mut self, terms: &'a [Node], decides: bool) -> Out<'a> {
        let mut failed = None;
        for term in terms {
            match self.eval(term) {
                Ok(Val::Bool(b)) if b == decides => return Ok(Val::Bool(decides)),
                Ok(Val::Bool(_)) => {}
                Err(why @ (Fail::Budget | Fail::Asked)) => return Err(why),
                Err(why) => failed = failed.or(Some(why)),
                Ok(_) => failed = failed.or_else(|| Some(Fail::overload())),
            }
        }
        failed.map_or(Ok(Val::Bool(!decides)), Err)
    }

    fn list(&mut self, items: &'a [(Node, bool)]) -> Out<'a> {
        let mut out = Vec::with_capacity(items.len());
        for (item, optional) in items {
            match (self.eval(item)?, optional) {
                (value, false) => out.push(value),
                (Val::Optional(value), true) => out.extend(value.map(|v| (*v).clone())),
                _ => return Err(Fail::overload()),
            }
        }
        self.spend(LIST)?;
        Ok(Val::list(out))
    }

    fn message(&mut self, name: &SmolStr, fields: &'a [(SmolStr, Node, bool)]) -> Out<'a> {
        let mut out = Vec::with_capacity(fields.len());
        for (field, value, optional) in fields {
            match (self.eval(value)?, optional) {
                (value, false) => out.push((field.clone(), value)),
                (Val::Optional(value), true) => out.extend(value.map(|v| (field.clone(), (*v).clone()))),
                _ => return Err(Fail::overload()),
            }
        }
        self.spend(MESSAGE)?;
        Ok(Val::Message(Rc::new(Message { name: name.clone(), fields: out })))
    }

    fn map(&mut self, entries: &'a [(Node, Node, bool)]) -> Out<'a> {
        let mut out = Entries::default();
        for (key, value, optional) in entries {
            let key = self.eval(key)?;
            let value = match (self.eval(value)?, optional) {
                (value, false) => value,
                (Val::Optional(Some(value)), true) => (*value).clone(),
                (Val::Optional(None), true) => continue,
                _ => return Err(Fail::overload()),
            };
            out.set(key, value)?;
        }
        self.spend(MAP)?;
        Ok(Val::Map(Table::Own(Rc::new(out))))
    }

    fn fold(&mut self, fold: &'a Loop) -> Out<'a> {
        let range = self.eval(&fold.range)?;
        let depth = self.locals.len();
        let result = match &range {
            Val::List(list) => self.over_list(fold, list),
            Val::Map(map) => self.over_map(fold, map),
            other => Err(Fail::new(format!("got '{}', expected iterable type", other.go_type()))),
        };
        self.locals.truncate(depth);
        result
    }

    fn over_list(&mut self, fold: &'a Loop, list: &List<'a>) -> Out<'a> {
        let mut state = State::new(fold.step);
        for (i, item) in list.iter().enumerate() {
            let item = item?;
            let (first, second) = if fold.two { (Val::Int(i as i64), Some(item)) } else { (item, None) };
            if self.step(fold, &mut state, first, second)? {
                self.charge_decision(fold.step, i + 1 < list.len())?;
                break;
            }
        }
        self.finish(state)
    }

    /// Charge for a decided comprehension: its condition is evaluated once more at the next item, if there is one.
    fn charge_decision(&mut self, step: Step, more: bool) -> Result<(), Fail> {
        self.spend(match step {
            _ if !more => 0,
            Step::All => 2,
            _ => 3,
        })
    }

    fn over_map(&mut self, fold: &'a Loop, map: &Table<'a>) -> Out<'a> {
        let mut state = State::new(fold.step);
        let keys = map.keys();
        let last = keys.len();
        for (i, key) in keys.into_iter().enumerate() {
            let second = if fold.two { Some(map.get(&key).ok_or_else(Fail::overload)??) } else { None };
            if self.step(fold, &mut state, key, second)? {
                self.charge_decision(fold.step, i + 1 < last)?;
                break;
            }
        }
        self.finish(state)
    }

    /// Evaluate one item; return whether it decides.
    fn step(
        &mut self,
        fold: &'a Loop,
        state: &mut State<'a>,
        first: Val<'a>,
        second: Option<Val<'a>>,
    ) -> Result<bool, Fail> {
        let depth = self.locals.len();
        self.locals.push(first.clone());
        self.locals.extend(second);
        let out = self.item(fold, state, first);
        self.locals.truncate(depth);
        out
    }

    fn item(&mut self, fold: &'a Loop, state: &mut State<'a>, first: Val<'a>) -> Result<bool, Fail> {
        if let Some(filter) = &fold.filter {
            match self.eval(filter)? {
                Val::Bool(true) => {}
                Val::Bool(false) => return Ok(false),
                _ => return Err(Fail::overload()),
            }
        }
        let value = match &fold.body {
            Some(body) => self.eval(body),
            None => self.spend(1).map(|()| first.clone()),
        };
        self.spend(match fold.step {
            Step::All | Step::Map => 3,
            Step::Exists => 4,
            // Only matching items are charged.
            Step::ExistsOne if matches!(value, Ok(Val::Bool(false))) => 0,
            Step::ExistsOne | Step::Entries => 2,
            Step::List => LIST + 2,
        })?;
        match (fold.step, value) {
            (_, Err(why @ (Fail::Budget | Fail::Asked))) => return Err(why),
            (Step::All | Step::Exists, Ok(Val::Bool(b))) => {
                let decides = fold.step == Step::Exists;
                if b == decides {
                    state.decided = true;
                    return Ok(true);
                }
            }
            (Step::All | Step::Exists, found) => {
                let why = found.err().unwrap_or_else(Fail::overload);
                state.failed.get_or_insert(why);
            }
            (_, Err(why)) => return Err(why),
            (Step::ExistsOne, Ok(Val::Bool(b))) => state.count += usize::from(b),
            (Step::List, Ok(value)) => state.items.push(value),
            (Step::Map, Ok(value)) => state.entries.insert(first, value)?,
            (Step::Entries, Ok(Val::Map(map))) => {
                for key in map.keys() {
                    let value = map.get(&key).ok_or_else(Fail::overload)??;
                    state.entries.insert(key, value)?;
                }
            }
            (Step::ExistsOne | Step::Entries, Ok(_)) => return Err(Fail::overload()),
        }
        Ok(false)
    }

    fn finish(&mut self, state: State<'a>) -> Out<'a> {
        self.spend(match state.step {
            Step::ExistsOne => 2,
            _ => 1,
        })?;
        Ok(match (state.step, state.failed) {
            (Step::All, _) if state.decided => Val::Bool(false),
            (Step::Exists, _) if state.decided => Val::Bool(true),
            (Step::All | Step::Exists, Some(why)) => return Err(why),
            (Step::All, None) => Val::Bool(true),
            (Step::Exists, None) => Val::Bool(false),
            (Step::ExistsOne, _) => Val::Bool(state.count == 1),
            (Step::List, _) => Val::list(state.items),
            (Step::Map | Step::Entries, _) => Val::Map(Table::Own(Rc::new(state.entries))),
        })
    }
}

/// Return a variable of a policy, evaluated on first use.
fn lazy<'a>(scope: &'a Scope<'a>, name: &SmolStr) -> Out<'a> {
    if let Some(found) = scope.found.borrow().get(name) {
        return found.clone().unwrap_or_else(|| Err(Fail::new(format!("variable \"{name}\" depends on itself"))));
    }
    let node = match scope.variables.get(name) {
        None => return Err(Fail::new(format!("no such key: {name}"))),
        Some(Err(why)) => {
            return Err(Fail::new(format!("composited variable \"{name}\" fails to compile: {why}")));
        }
        Some(Ok(node)) => node,
    };
    scope.found.borrow_mut().insert(name.clone(), None);
    let mut run = Run::of(scope);
    let made = run.result(node);
    scope.spent.set(scope.spent.get().saturating_add(run.spent));
    let made = made.map_err(|why| match why {
        Fail::Error(why) => Fail::new(format!("composited variable \"{name}\" fails to evaluate: {why}")),
        Fail::Budget => Fail::new(format!("composited variable \"{name}\" fails to evaluate: {EXCEEDED}")),
        Fail::Asked => Fail::Asked,
    });
    scope.found.borrow_mut().insert(name.clone(), Some(made.clone()));
    made
}

/// The accumulator of a comprehension.
struct State<'a> {
    step: Step,
    decided: bool,
    failed: Option<Fail>,
    count: usize,
    items: Vec<Val<'a>>,
    entries: Entries<'a>,
}

impl State<'_> {
    fn new(step: Step) -> Self {
        Self { step, decided: false, failed: None, count: 0, items: Vec::new(), entries: Entries::default() }
    }
}

/// Return a member of a value that is no optional one, if it has it.
///
/// A value without members lacks each of them, as in cel-go's `refQualify`: `has` is false, and a selection finds no such
/// key. A list has members, but none with a name.
fn member<'a>(holder: &Val<'a>, field: &str) -> Result<Option<Out<'a>>, Fail> {
    match holder {
        Val::Message(message) => Ok(message.field(field).cloned().map(Ok)),
        Val::Map(map) => Ok(map.field(field)),
        Val::List(_) => Err(Fail::list_name()),
        _ => Ok(None),
    }
}

fn has(holder: &Val<'_>, field: &str) -> Result<bool, Fail> {
    match holder {
        Val::Optional(Some(value)) => has(value, field),
        _ => Ok(member(holder, field)?.is_some()),
    }
}

fn select<'a>(holder: &Val<'a>, field: &str) -> Out<'a> {
    match holder {
        Val::Optional(_) => opt_select(holder, field),
        _ => member(holder, field)?.unwrap_or_else(|| Err(Fail::new(format!("no such key: {field}")))),
    }
}

fn opt_select<'a>(holder: &Val<'a>, field: &str) -> Out<'a> {
    match holder {
        Val::Optional(Some(value)) => opt_select(value, field),
        _ => member(holder, field)?.map_or(Ok(Val::Optional(None)), |value| value.map(Val::some)),
    }
}

fn constant(literal: &Literal) -> Val<'_> {
    match literal {
        Literal::Null => Val::Null,
        Literal::Bool(b) => Val::Bool(*b),
        Literal::Int(n) => Val::Int(*n),
        Literal::Uint(n) => Val::Uint(*n),
        Literal::Double(f) => Val::Double(*f),
        Literal::Str(text) => Val::Str(Text::Ref(text)),
        Literal::Bytes(bytes) => Val::Bytes(bytes.as_ref().into()),
    }
}
