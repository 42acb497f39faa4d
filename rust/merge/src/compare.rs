//! What changed between two objects, as sets of paths.

use std::collections::BTreeMap;

use hydrofoil_types::{Map, SmolStr, Value};

use crate::fieldset::{FieldSet, PathElement};
use crate::place::{Atom, Place};

/// Three sets that share no path (structured-merge-diff `typed/compare.go`).
#[derive(Debug, Default)]
pub(crate) struct Comparison {
    /// Paths of the old object only.
    pub removed: FieldSet,
    /// Paths of both with different values.
    pub modified: FieldSet,
    /// Paths of the new object only.
    pub added: FieldSet,
}

impl Comparison {
    /// The difference of two objects; paths at or below `ignored` do not count.
    pub fn of(place: Place<'_>, old: &Value, new: &Value, ignored: &FieldSet) -> Self {
        let mut walk = Walk { path: Vec::new(), out: Self::default() };
        walk.both(place, Some(old), Some(new));
        let out = walk.out;
        Self {
            removed: out.removed.recursive_difference(ignored),
            modified: out.modified.recursive_difference(ignored),
            added: out.added.recursive_difference(ignored),
        }
    }

    /// The paths that have another value than before.
    pub fn written(&self) -> FieldSet {
        self.modified.clone().union(&self.added)
    }
}

struct Walk {
    path: Vec<PathElement>,
    out: Comparison,
}

impl Walk {
    fn both(&mut self, place: Place<'_>, old: Option<&Value>, new: Option<&Value>) {
        let as_map = |v: Option<&Value>| matches!(v, Some(Value::Object(_)));
        let whole = match place.atom {
            Atom::Struct(_) | Atom::Map(_) => self.maps(place, old, new),
            Atom::List(..) => self.lists(place, old, new),
            Atom::Free if as_map(old) || as_map(new) => {
                // A map that became something else is gone key by key, too.
                let whole = self.maps(place, old, new);
                whole || [old, new].into_iter().flatten().any(|v| !matches!(v, Value::Object(_) | Value::Null))
            }
            Atom::Free | Atom::Leaf => true,
        };
        match (old, new) {
            (None, _) => self.out.added.insert(&self.path),
            (_, None) => self.out.removed.insert(&self.path),
            (Some(old), Some(new)) if whole && old != new => self.out.modified.insert(&self.path),
            _ => {}
        }
    }

    fn step(&mut self, element: PathElement, place: Place<'_>, old: Option<&Value>, new: Option<&Value>) {
        self.path.push(element);
        self.both(place, old, new);
        self.path.pop();
    }

    /// Compares members; true when both sides are empty, for then null and empty differ as a whole.
    fn maps(&mut self, place: Place<'_>, old: Option<&Value>, new: Option<&Value>) -> bool {
        let members = |v: Option<&Value>| v.and_then(Value::as_object).is_some_and(|m| !m.is_empty());
        if !members(old) && !members(new) {
            return true;
        }
        let mut sides: BTreeMap<&SmolStr, (Option<&Value>, Option<&Value>)> = BTreeMap::new();
        let nothing = Map::new();
        for (key, value) in old.and_then(Value::as_object).unwrap_or(&nothing) {
            sides.entry(key).or_default().0 = Some(value);
        }
        for (key, value) in new.and_then(Value::as_object).unwrap_or(&nothing) {
            sides.entry(key).or_default().1 = Some(value);
        }
        for (key, (old, new)) in sides {
            if let Some(child) = place.member(key) {
                self.step(PathElement::Field(key.clone()), child, old, new);
            }
        }
        false
    }

    /// Compares items by their steps; true when both sides are empty.
    fn lists(&mut self, place: Place<'_>, old: Option<&Value>, new: Option<&Value>) -> bool {
        let items = |v: Option<&'_ Value>| v.and_then(Value::as_array).is_some_and(|a| !a.is_empty());
        if !items(old) && !items(new) {
            return true;
        }
        let mut sides: BTreeMap<PathElement, (Vec<&Value>, Vec<&Value>)> = BTreeMap::new();
        for item in old.and_then(Value::as_array).unwrap_or(&[]) {
            if let Ok(element) = place.element(item) {
                sides.entry(element).or_default().0.push(item);
            }
        }
        for item in new.and_then(Value::as_array).unwrap_or(&[]) {
            if let Ok(element) = place.element(item) {
                sides.entry(element).or_default().1.push(item);
            }
        }
        for (element, (old, new)) in sides {
            let once = |side: &[&Value]| side.len() <= 1;
            match (once(&old), once(&new)) {
                (true, true) => self.step(element, place.item(), old.first().copied(), new.first().copied()),
                // Items of the same key count as one atomic value.
                (false, false) if old == new => {}
                (false, false) => self.mark(element, |out| &mut out.modified),
                (false, true) => {
                    if let Some(item) = new.first() {
                        self.step(element.clone(), place.item(), None, Some(item));
                    }
                    self.mark(element, |out| &mut out.removed);
                }
                (true, false) => {
                    if let Some(item) = old.first() {
                        self.step(element.clone(), place.item(), Some(item), None);
                    }
                    self.mark(element, |out| &mut out.added);
                }
            }
        }
        false
    }

    fn mark(&mut self, element: PathElement, set: impl Fn(&mut Comparison) -> &mut FieldSet) {
        self.path.push(element);
        set(&mut self.out).insert(&self.path);
        self.path.pop();
    }
}
