//! The maximum cost of an expression (cel-go `checker/cost.go`, `ext/lists.go`, `ext/sets.go`; apiserver
//! `pkg/cel/library/cost.go`). Each number here determines which rules are accepted.

#![allow(
    clippy::arithmetic_side_effects,
    reason = "sizes and costs are bounded by the budget of a run; numbers of a rule are calculated with checks"
)]
#![allow(clippy::indexing_slicing, reason = "numbers of nodes, arguments and tokens are given out by the parser")]

mod rules;

use std::collections::HashMap;
use std::sync::Arc;

use smol_str::SmolStr;

use crate::ast::{Call, Expr, Fold, Kind, Literal, Step};
use crate::checker::Checked;
use crate::decl::{Decl, Shape};
use crate::size::{LIST, MAP, PATTERN, Range, TEXT};
use crate::types::{ATTRIBUTE, Type};
use rules::{compares, lists, nominal, replaced_size};

/// Estimate the cost of an expression on a declared value.
pub(crate) fn estimate(expr: &Expr, checked: &Checked, root: &Arc<Decl>) -> u64 {
    let mut coster = Coster {
        checked,
        root,
        paths: HashMap::new(),
        sizes: HashMap::new(),
        entries: HashMap::new(),
        locals: Vec::new(),
    };
    coster.cost(expr).max
}

type Path = Vec<SmolStr>;

/// Sizes of keys and values of a literal container.
#[derive(Clone, Copy)]
struct Entry {
    list: bool,
    key: Range,
    value: Range,
}

impl Entry {
    fn union(self, other: Self) -> Self {
        Self { list: self.list, key: self.key.union(other.key), value: self.value.union(other.value) }
    }
}

struct Local {
    name: SmolStr,
    path: Path,
    size: Option<Range>,
    entry: Option<Entry>,
}

struct Coster<'c> {
    checked: &'c Checked,
    root: &'c Arc<Decl>,
    paths: HashMap<usize, Path>,
    sizes: HashMap<usize, Range>,
    entries: HashMap<usize, Entry>,
    locals: Vec<Local>,
}

/// The cost of a call, and the size of its result.
pub(crate) struct Estimate {
    pub cost: Range,
    pub size: Option<Range>,
}

/// The cost of the simplest call.
pub(crate) const ONE: Range = Range::exactly(1);

impl Coster<'_> {
    fn cost(&mut self, expr: &Expr) -> Range {
        match &expr.kind {
            Kind::Literal(_) | Kind::Bad => Range::ZERO,
            Kind::Ident(name) => {
                let path = self.local(name).map_or_else(|| vec![name.clone()], |l| l.path.clone());
                self.paths.insert(expr.id, path);
                ONE
            }
            Kind::Select { operand, test: true, .. } => self.cost(operand),
            Kind::Select { operand, field, .. } => {
                let mut sum = self.cost(operand);
                if matches!(self.checked.of(operand), Type::Map(..) | Type::Object(_) | Type::Record(_)) {
                    sum = sum.plus(ONE);
                }
                let mut path = self.path(operand);
                path.push(field.clone());
                self.paths.insert(expr.id, path);
                sum
            }
            Kind::Call(call) => self.call(expr, call),
            Kind::List(items) => {
                let mut size = Range { min: if items.is_empty() { 0 } else { u64::MAX }, max: 0 };
                let mut sum = Range::exactly(LIST);
                for (item, _) in items {
                    sum = sum.plus(self.cost(item));
                    size = size.union(self.size_of(item));
                }
                self.entries.insert(expr.id, Entry { list: true, key: ONE, value: size });
                sum
            }
            Kind::Map(items) => {
                let start = Range { min: if items.is_empty() { 0 } else { u64::MAX }, max: 0 };
                let (mut key_size, mut value_size) = (start, start);
                let mut sum = Range::exactly(MAP);
                for (key, value, _) in items {
                    sum = sum.plus(self.cost(key)).plus(self.cost(value));
                    key_size = key_size.union(self.size_of(key));
                    value_size = value_size.union(self.size_of(value));
                }
                self.entries.insert(expr.id, Entry { list: false, key: key_size, value: value_size });
                sum
            }
            Kind::Message(_, members) => {
                members.iter().fold(Range::exactly(40), |sum, m| sum.plus(self.cost(&m.value)))
            }
            Kind::Bind { name, value, body } => {
                let value_cost = self.cost(value);
                let (size, entry) = (self.compute_size(value), self.entry(value));
                self.locals.push(Local { name: name.clone(), path: self.path(value), size, entry });
                let body = self.cost(body);
                self.locals.pop();
                Range::exactly(LIST).plus(value_cost).plus(body)
            }
            Kind::Fold(fold) => self.fold(expr, fold),
            Kind::Opt { operand, name, body, flat } => self.opt(operand, name, body, *flat),
        }
    }

    /// Return the cost of `optMap`: test the optional, bind its value, evaluate the body and wrap the result.
    fn opt(&mut self, operand: &Expr, name: &SmolStr, body: &Expr, flat: bool) -> Range {
        let operand_cost = self.cost(operand);
        self.locals.push(Local { name: name.clone(), path: self.path(operand), size: None, entry: None });
        let body = self.cost(body);
        self.locals.pop();
        let bind = Range::exactly(LIST + 1).plus(operand_cost).plus(body);
        let yes = if flat { bind } else { bind.plus(ONE) };
        operand_cost.plus(ONE).plus(yes.union(ONE))
    }

    fn local(&self, name: &str) -> Option<&Local> {
        self.locals.iter().rev().find(|l| l.name == name)
    }

    fn path(&self, expr: &Expr) -> Path {
        if let Kind::Ident(name) = &expr.kind
            && let Some(local) = self.local(name)
        {
            return local.path.clone();
        }
        self.paths.get(&expr.id).cloned().unwrap_or_default()
    }

    /// Return the size of a path by the schema. Upstream ignores the first name.
    fn declared_size(&self, path: &[SmolStr]) -> Option<Range> {
        let (_, rest) = path.split_first()?;
        let mut here = self.root;
        for name in rest {
            here = match name.as_str() {
                "@items" | "@values" => here.element()?,
                "@keys" => return matches!(here.shape, Shape::Map(_)).then_some(Range::ZERO),
                // All attributes have the same maximum size.
                name => match here.element() {
                    Some(element) if element.name == ATTRIBUTE => element,
                    _ => &here.field(name)?.decl,
                },
            };
        }
        Some(Range { min: 0, max: here.max })
    }

    fn compute_size(&mut self, expr: &Expr) -> Option<Range> {
        if let Some(size) = self.sizes.get(&expr.id) {
            return Some(*size);
        }
        let literal = match &expr.kind {
            Kind::Literal(Literal::Str(text)) => Some(text.chars().count()),
            Kind::Literal(Literal::Bytes(bytes)) => Some(bytes.len()),
            Kind::Literal(_) => Some(1),
            Kind::List(items) => Some(items.len()),
            Kind::Map(items) => Some(items.len()),
            _ => None,
        };
        if let Some(n) = literal {
            return Some(Range::exactly(n as u64));
        }
        if let Some(size) = self.declared_size(&self.path(expr)) {
            self.sizes.insert(expr.id, size);
            return Some(size);
        }
        if self.checked.of(expr).is_scalar() {
            return Some(ONE);
        }
        match &expr.kind {
            Kind::Ident(name) => self.local(name).and_then(|l| l.size),
            _ => None,
        }
    }

    fn size_of(&mut self, expr: &Expr) -> Range {
        self.compute_size(expr).unwrap_or(Range::UNKNOWN)
    }

    fn entry(&self, expr: &Expr) -> Option<Entry> {
        self.entries.get(&expr.id).copied().or_else(|| match &expr.kind {
            Kind::Ident(name) => self.local(name).and_then(|l| l.entry),
            _ => None,
        })
    }

    fn fold(&mut self, expr: &Expr, fold: &Fold) -> Range {
        let range = self.cost(&fold.range);
        let entry = self.entry(&fold.range);
        let list = entry.map_or_else(|| matches!(self.checked.of(&fold.range), Type::List(_)), |e| e.list);
        let at = |last: &str| {
            let mut path = self.path(&fold.range);
            path.push(last.into());
            path
        };
        let (keys, values) = if list { (at("@indices"), at("@items")) } else { (at("@keys"), at("@values")) };
        let (key_size, value_size) = (entry.map(|e| e.key), entry.map(|e| e.value));
        let depth = self.locals.len();
        let (path, size) = match (&fold.second, list) {
            (None, true) => (values.clone(), value_size),
            _ => (keys, key_size),
        };
        self.locals.push(Local { name: fold.name.clone(), path, size, entry: None });
        if let Some(name) = &fold.second {
            self.locals.push(Local { name: name.clone(), path: values, size: value_size, entry: None });
        }
        let filter = fold.filter.as_ref().map(|f| self.cost(f));
        let body = fold.body.as_ref().map_or(ONE, |b| self.cost(b));
        let body_size = match &fold.body {
            Some(body) => self.size_of(body),
            None => size.or_else(|| self.declared_size(&self.locals[depth].path)).unwrap_or(Range::UNKNOWN),
        };
        self.locals.truncate(depth);
        let count = self.size_of(&fold.range);
        // In cel-go's general form: the initial accumulator, condition and step, the result.
        let (init, step, result) = match fold.step {
            Step::All => (0, body.plus(Range::exactly(3)), 1),
            Step::Exists => (0, body.plus(Range::exactly(4)), 1),
            Step::ExistsOne => (0, body.plus(Range { min: 1, max: 2 }), 2),
            Step::List => (LIST, body.plus(Range::exactly(LIST + 2)), 1),
            Step::Map => (MAP, body.plus(Range::exactly(3)), 1),
            Step::Entries => (MAP, body.plus(Range::exactly(2)), 1),
        };
        let step = filter.map_or(step, |filter| filter.plus(step.union(ONE)));
        match fold.step {
            Step::All | Step::Exists | Step::ExistsOne => {
                self.sizes.insert(expr.id, ONE);
            }
            Step::List => {
                self.sizes.insert(expr.id, count);
                let value = body_size.union(Range::ZERO);
                self.entries.insert(expr.id, Entry { list: true, key: ONE, value });
            }
            Step::Map | Step::Entries => {
                self.sizes.insert(expr.id, count);
            }
        }
        range.plus(Range::exactly(init + result)).plus(count.times(step))
    }

    fn call(&mut self, expr: &Expr, call: &Call) -> Range {
        let args: Vec<Range> = call.args.iter().map(|a| self.cost(a)).collect();
        let arg_sum = args.iter().fold(Range::ZERO, |sum, a| sum.plus(*a));
        if call.name == "dyn" {
            if let [arg] = call.args.as_slice() {
                if let Some(size) = self.compute_size(arg) {
                    self.sizes.insert(expr.id, size);
                }
                if let Some(entry) = self.entry(arg) {
                    self.entries.insert(expr.id, entry);
                }
            }
            return arg_sum.plus(ONE);
        }
        let checked = self.checked;
        let Some(overloads) = checked.overloads.get(expr.id).filter(|o| !o.is_empty()) else { return Range::ZERO };
        let target = call.target.as_deref().map_or(Range::ZERO, |t| self.cost(t));
        let mut cost = Range { min: u64::MAX, max: 0 };
        let mut size: Option<Range> = None;
        for id in overloads {
            let found = self.overload(expr, call, id, &args, arg_sum);
            cost = cost.union(found.cost);
            size = match (size, found.size) {
                (Some(a), Some(b)) => Some(a.union(b)),
                (a, b) => a.or(b),
            };
            if let (part @ ("index_list" | "index_map"), Some(holder)) = (*id, call.args.first()) {
                size = self.entry(holder).map(|e| e.value);
                let mut path = self.path(holder);
                path.push(if part == "index_list" { "@items" } else { "@values" }.into());
                self.paths.insert(expr.id, path);
            }
            if size.is_none() {
                size = self.compute_size(expr);
            }
        }
        if let Some(size) = size {
            self.sizes.insert(expr.id, size);
        }
        if call.name == "@sortByAssociatedKeys" {
            // Upstream binds the list to a variable first; here it occurs twice.
            let total = target.plus(cost).plus(Range::exactly(LIST + 2));
            return Range { min: total.min.saturating_sub(target.min), max: total.max.saturating_sub(target.max) };
        }
        target.plus(cost)
    }

    fn overload(&mut self, expr: &Expr, call: &Call, id: &str, args: &[Range], arg_sum: Range) -> Estimate {
        if let Some(own) = self.library(call, id) {
            return Estimate { cost: own.cost.plus(arg_sum), size: own.size };
        }
        let plain = |cost: Range| Estimate { cost: cost.plus(arg_sum), size: None };
        let sized = |cost: Range, size| Estimate { cost: cost.plus(arg_sum), size: Some(size) };
        let first = call.args.first().map(|a| self.size_of(a));
        let second = call.args.get(1).map(|a| self.size_of(a));
        let target = call.target.as_deref().map(|t| self.size_of(t));
        match (id, first, second, target) {
            ("string_format", _, _, Some(text)) => plain(text.factor(TEXT)),
            ("string_to_bytes", Some(s), ..) => sized(s.factor(TEXT), Range { min: s.min, max: s.max.wrapping_mul(4) }),
            ("bytes_to_string", Some(s), ..) => sized(s.factor(TEXT), Range { min: s.min / 4, max: s.max }),
            ("strings_quote", Some(s), ..) => {
                let max = s.max.wrapping_mul(2).wrapping_add(2);
                sized(s.factor(TEXT), Range { min: s.min.saturating_add(2), max })
            }
            ("starts_with_string" | "ends_with_string", Some(s), ..) => plain(s.factor(TEXT)),
            ("in_list", _, Some(list), _) => plain(list),
            ("matches_string", Some(pattern), _, Some(text)) => {
                plain(text.plus(ONE).factor(TEXT).times(pattern.factor(PATTERN)))
            }
            ("contains_string", Some(part), _, Some(text)) => plain(text.factor(TEXT).times(part.factor(TEXT))),
            ("logical_or" | "logical_and", ..) => {
                let min = args.first().map_or(0, |a| a.min);
                Estimate { cost: Range { min, max: arg_sum.max }, size: None }
            }
            ("conditional", ..) => self.conditional(expr, call, args),
            ("add_string" | "add_bytes" | "add_list", Some(left), Some(right), _) => {
                let size = left.plus(right);
                let (a, b) = (self.entry(&call.args[0]), self.entry(&call.args[1]));
                if let (Some(a), Some(b)) = (a, b) {
                    self.entries.insert(expr.id, a.union(b));
                }
                sized(if id == "add_list" { ONE } else { size.factor(TEXT) }, size)
            }
            (_, Some(left), Some(right), _) if compares(id) => {
                let max = left.max.min(right.max);
                plain(Range { min: u64::from(max > 0), max }.factor(TEXT))
            }
            _ => plain(ONE),
        }
    }

    fn conditional(&mut self, expr: &Expr, call: &Call, args: &[Range]) -> Estimate {
        let ([_, yes, no], [condition, yes_cost, no_cost]) = (call.args.as_slice(), args) else {
            return Estimate { cost: ONE, size: None };
        };
        let size = self.size_of(yes).union(self.size_of(no));
        if let (Some(a), Some(b)) = (self.entry(yes), self.entry(no)) {
            self.entries.insert(expr.id, a.union(b));
        }
        Estimate { cost: condition.plus(yes_cost.union(*no_cost)), size: Some(size) }
    }

    /// Return whether the items of a list are strings, and their size; `None` if it is not a list.
    fn items(&self, target: &Expr) -> Option<(bool, Range)> {
        let Type::List(of) = self.checked.of(target) else { return None };
        let mut path = self.path(target);
        let size = if path.is_empty() {
            None
        } else {
            path.push("@items".into());
            self.declared_size(&path)
        };
        Some((matches!(**of, Type::String | Type::Bytes), size.unwrap_or(Range::UNKNOWN)))
    }

    /// Estimate functions of Kubernetes' libraries and of cel-go's extensions.
    fn library(&mut self, call: &Call, id: &str) -> Option<Estimate> {
        let some = |cost, size| Some(Estimate { cost, size });
        let first = call.args.first().map(|a| self.size_of(a));
        let second = call.args.get(1).map(|a| self.size_of(a));
        let target = call.target.as_deref().map(|t| self.size_of(t));
        if let Some(found) = lists(call, id, first, second, target) {
            return Some(found);
        }
        match (call.name.as_str(), first, second, target) {
            ("isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf", _, _, Some(size)) => {
                let items = call.target.as_deref().and_then(|t| self.items(t));
                let cost = match items {
                    Some((true, text)) => size.times(ONE.plus(text.factor(TEXT))),
                    Some((false, _)) => size,
                    None => size.factor(TEXT),
                };
                some(cost, None)
            }
            ("url", Some(s), ..) | ("lowerAscii" | "upperAscii" | "substring" | "trim", _, _, Some(s)) => {
                some(s.factor(TEXT), Some(s))
            }
            ("replace", Some(from), Some(to), Some(s)) => some(s.factor(2.0 * TEXT), Some(replaced_size(s, from, to))),
            ("split", _, _, Some(s)) => {
                let max = match call.args.get(1).map(|a| &a.kind) {
                    Some(Kind::Literal(Literal::Int(n))) => *n as u64,
                    _ => s.max,
                };
                some(s.factor(2.0 * TEXT), Some(Range { min: 0, max }))
            }
            ("join", separator, _, Some(list)) => {
                let items = call.target.as_deref().and_then(|t| self.items(t));
                let mut size = items.map_or(Range::ZERO, |(_, item)| list.times(item));
                if let Some(separator) = separator {
                    let between = Range { min: list.min.saturating_sub(1), max: list.max.saturating_sub(1) };
                    size = size.plus(separator.times(between));
                }
                some(size.factor(TEXT), Some(size))
            }
            ("find" | "findAll", Some(pattern), _, Some(s)) => {
                let cost = s.plus(ONE).factor(TEXT).times(pattern.factor(PATTERN));
                some(cost, Some(Range { min: 0, max: s.max }))
            }
            ("ip", ..) if id == "cidr_ip" => some(ONE, None),
            ("cidr" | "isIP" | "isCIDR" | "ip" | "quantity" | "isQuantity" | "semver" | "isSemver", Some(s), ..) => {
                some(s.factor(TEXT), None)
            }
            ("ip.isCanonical", Some(s), ..) => some(s.factor(2.0 * TEXT), None),
            ("containsIP" | "containsCIDR", Some(other), ..) => {
                let bytes = Range { min: 4, max: 16 };
                let mut cost = bytes.plus(bytes).factor(TEXT);
                if call.name == "containsCIDR" {
                    cost = cost.plus(bytes.factor(TEXT)).plus(ONE);
                }
                if id.ends_with("_string") {
                    cost = cost.plus(other.factor(TEXT));
                }
                some(cost, None)
            }
            ("validate", Some(s), ..) => some(s.factor(TEXT).factor(128.0 * PATTERN), None),
            (name, ..) if nominal(name) => some(ONE, None),
            ("_==_", ..) => self.special(call),
            _ => None,
        }
    }

    /// Estimate the equality of values of library types.
    fn special(&mut self, call: &Call) -> Option<Estimate> {
        let [a, b] = call.args.as_slice() else { return None };
        let (left, right) = (self.checked.of(a), self.checked.of(b));
        let Type::Library(name) = left else { return None };
        if !left.same(right) {
            return None;
        }
        let cost = match *name {
            "kubernetes.NamedFormat" => Range { min: 1, max: 64 }.factor(TEXT),
            "kubernetes.URL" => {
                let max = self.compute_size(b).map_or(1, |s| s.max);
                Range { min: 1, max }.factor(TEXT)
            }
            _ => ONE,
        };
        Some(Estimate { cost, size: None })
    }
}
