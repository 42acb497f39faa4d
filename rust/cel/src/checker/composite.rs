//! The types of lists, maps, messages and comprehensions.

use smol_str::SmolStr;

use super::Checker;
use crate::ast::{Expr, Fold, Member, Step};
use crate::types::Type;

impl Checker {
    pub(super) fn list(&mut self, items: &mut [(Expr, bool)]) -> Type {
        let mut of = None;
        for (item, optional) in items {
            self.check(item);
            let t = self.get(item);
            let t = self.unwrap_optional(item.at, t, *optional);
            of = Some(self.join(of, t));
        }
        let of = of.unwrap_or_else(|| self.bindings.fresh());
        Type::list(of)
    }

    pub(super) fn map(&mut self, entries: &mut [(Expr, Expr, bool)]) -> Type {
        let (mut keys, mut values) = (None, None);
        for (key, value, optional) in entries {
            self.check(key);
            keys = Some(self.join(keys, self.get(key)));
            self.check(value);
            let t = self.get(value);
            let t = self.unwrap_optional(value.at, t, *optional);
            values = Some(self.join(values, t));
        }
        let key = keys.unwrap_or_else(|| self.bindings.fresh());
        let value = values.unwrap_or_else(|| self.bindings.fresh());
        Type::map(key, value)
    }

    pub(super) fn fold(&mut self, at: usize, fold: &mut Fold) -> Type {
        self.check(&mut fold.range);
        let range = self.bindings.resolve(&self.get(&fold.range), false);
        let two = fold.second.is_some();
        let (first, second) = match &range {
            Type::List(of) if two => (Type::Int, (**of).clone()),
            Type::List(of) => ((**of).clone(), Type::Dyn),
            Type::Map(key, value) => ((**key).clone(), (**value).clone()),
            Type::Dyn | Type::Error | Type::Param(_) => {
                self.bindings.assignable(&Type::Dyn, &range);
                (Type::Dyn, Type::Dyn)
            }
            other => {
                let text = format!(
                    "expression of type '{other}' cannot be range of a comprehension (must be list, map, or dynamic)"
                );
                self.note(fold.range.at, text);
                (Type::Error, Type::Error)
            }
        };
        let depth = self.scope.len();
        let key = first.clone();
        self.scope.push((fold.name.clone(), first));
        if let Some(name) = &fold.second {
            self.scope.push((name.clone(), second));
        }
        for part in fold.filter.iter_mut().chain(&mut fold.body) {
            self.check(part);
        }
        let body = fold.body.as_ref().map_or(key.clone(), |b| self.get(b));
        let t = self.comprehension_type(at, fold, key, body);
        self.scope.truncate(depth);
        self.bindings.resolve(&t, false)
    }

    /// Return the type of the result of a comprehension.
    pub(super) fn comprehension_type(&mut self, at: usize, fold: &Fold, key: Type, body: Type) -> Type {
        let result = match fold.step {
            Step::All | Step::Exists => {
                if !self.bindings.assignable(&body, &Type::Bool) {
                    let shown = self.bindings.resolve(&body, false);
                    self.mismatch(fold.body.as_ref().map_or(at, |b| b.at), &Type::Bool, &shown);
                }
                return Type::Bool;
            }
            Step::ExistsOne => {
                self.condition(at, &body, &Type::Int);
                return Type::Bool;
            }
            Step::List => Type::list(body),
            Step::Map => Type::map(key, body),
            Step::Entries => {
                let (key, value) = (self.bindings.fresh(), self.bindings.fresh());
                let map = Type::map(key, value);
                if !self.bindings.assignable(&body, &map) {
                    let shown = self.bindings.resolve(&body, true);
                    let text = format!(
                        "found no matching overload for 'cel.@mapInsert' applied to '(map(dyn, dyn), {shown})'"
                    );
                    self.note(at, text);
                    return Type::Error;
                }
                map
            }
        };
        if let Some(filter) = &fold.filter {
            let condition = self.get(filter);
            self.condition(at, &condition, &result);
        }
        result
    }

    /// Return the type of `_?_:_`, whose two branches have one type.
    pub(super) fn condition(&mut self, at: usize, condition: &Type, branch: &Type) {
        if !self.bindings.assignable(condition, &Type::Bool) {
            let (condition, branch) = (self.bindings.resolve(condition, true), self.bindings.resolve(branch, true));
            let text = format!("found no matching overload for '_?_:_' applied to '({condition}, {branch}, {branch})'");
            self.note(at, text);
        }
    }

    pub(super) fn message(&mut self, of: &Type, members: &mut [Member]) -> Type {
        let Type::Record(record) = of else { return Type::Error };
        for member in members {
            self.check(&mut member.value);
            let name = &member.name;
            let Some(wanted) = record.field(name) else {
                self.note(member.at, format!("undefined field '{name}'"));
                continue;
            };
            let found = self.get(&member.value);
            let found = self.unwrap_optional(member.value.at, found, member.optional);
            if !self.bindings.assignable(&wanted, &found) {
                let found = self.bindings.resolve(&found, true);
                let text = format!("expected type of field '{name}' is '{wanted}' but provided type is '{found}'");
                self.note(member.at, text);
            }
        }
        of.clone()
    }

    pub(super) fn opt(&mut self, at: usize, operand: &mut Expr, name: SmolStr, body: &mut Expr, flat: bool) -> Type {
        self.check(operand);
        let of = self.bindings.fresh();
        let found = self.get(operand);
        if !self.bindings.assignable(&found, &Type::optional(of.clone())) {
            let shown = self.bindings.resolve(&found, true);
            self.note(at, format!("found no matching overload for 'hasValue' applied to '{shown}.()'"));
            return Type::Error;
        }
        let of = self.bindings.resolve(&of, false);
        self.scope.push((name, of));
        self.check(body);
        self.scope.pop();
        let t = self.get(body);
        if !flat {
            return Type::optional(t);
        }
        let of = self.bindings.fresh();
        let wanted = Type::optional(of);
        if !self.bindings.assignable(&t, &wanted) {
            let shown = self.bindings.resolve(&t, true);
            let text =
                format!("found no matching overload for '_?_:_' applied to '(bool, {shown}, optional_type(dyn))'");
            self.note(at, text);
        }
        self.bindings.resolve(&wanted, false)
    }
}
