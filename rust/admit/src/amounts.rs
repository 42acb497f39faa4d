//! Named quantities (`v1.ResourceList`) and those of a whole pod.

#![allow(clippy::arithmetic_side_effects, reason = "amounts are far below 128 bits")]

use std::collections::BTreeMap;
use std::fmt;

use hydrofoil_types::{Map, Quantity, Value};
use smol_str::SmolStr;

use hydrofoil_types::read::Read;

/// Quantities by name, in the order in which they are shown.
#[derive(Clone, Debug, Default)]
pub(super) struct Amounts(pub BTreeMap<SmolStr, Quantity>);

impl Amounts {
    /// Return the amounts of a map; values that are not quantities are left out.
    pub fn of(map: &Value) -> Self {
        let entries = map.as_object().into_iter().flat_map(Map::iter);
        Self(entries.filter_map(|(name, value)| Some((name.clone(), Quantity::parse(value.as_str()?).ok()?))).collect())
    }

    pub fn get(&self, name: &str) -> Option<Quantity> {
        self.0.get(name).copied()
    }

    pub fn count(&mut self, name: impl Into<SmolStr>, count: usize) {
        if let Ok(quantity) = Quantity::parse(&count.to_string()) {
            self.0.insert(name.into(), quantity);
        }
    }

    /// Add those of another, as `Quantity.Add` does: zero takes on the other's format.
    pub fn add(&mut self, other: &Self) {
        for (name, more) in &other.0 {
            self.0
                .entry(name.clone())
                .and_modify(|had| {
                    let format = if had.nano() == 0 { *more } else { *had };
                    *had = format.with_nano(had.nano().saturating_add(more.nano()));
                })
                .or_insert(*more);
        }
    }

    /// Raise each amount to that of another if it is larger.
    fn raise(&mut self, other: &Self) {
        for (name, more) in &other.0 {
            let had = self.0.entry(name.clone()).or_insert(*more);
            if more.nano() > had.nano() {
                *had = *more;
            }
        }
    }

    /// Return the amounts less those of another, and not less than zero.
    pub fn less(&self, other: &Self) -> Self {
        let rest = self.0.iter().map(|(name, had)| {
            let nano = had.nano() - other.get(name).map_or(0, Quantity::nano);
            (name.clone(), had.with_nano(nano.max(0)))
        });
        Self(rest.collect())
    }

    /// Return those whose name fits.
    pub fn only(&self, mut fits: impl FnMut(&str) -> bool) -> Self {
        Self(self.0.iter().filter(|(name, _)| fits(name)).map(|(n, q)| (n.clone(), *q)).collect())
    }

    pub fn value(&self) -> Value {
        let mut map = Map::new();
        for (name, quantity) in &self.0 {
            map.push(name.clone(), Value::str(quantity.to_string()));
        }
        Value::Object(map)
    }
}

impl fmt::Display for Amounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, quantity)) in self.0.iter().enumerate() {
            write!(f, "{}{name}={quantity}", if i == 0 { "" } else { "," })?;
        }
        Ok(())
    }
}

/// Return the requests or the limits of a pod: of its containers together, or of its init containers if that is more;
/// those of the pod itself take precedence (`podRequests`, `podLimits`).
pub(super) fn of_pod(pod: &Value, list: &str) -> Amounts {
    let spec = pod.field("spec");
    let of = |container: &Value| Amounts::of(container.field("resources").field(list));
    let mut sum = Amounts::default();
    for container in spec.list("containers") {
        sum.add(&of(container));
    }
    let (mut beside, mut before) = (Amounts::default(), Amounts::default());
    for container in spec.list("initContainers") {
        let own = of(container);
        if container.text("restartPolicy") == "Always" {
            sum.add(&own);
            beside.add(&own);
            before.raise(&beside);
        } else {
            let mut peak = own;
            peak.add(&beside);
            before.raise(&peak);
        }
    }
    sum.raise(&before);
    for (name, quantity) in Amounts::of(spec.field("resources").field(list)).0 {
        if matches!(name.as_str(), "cpu" | "memory") {
            sum.0.insert(name, quantity);
        }
    }
    sum
}
