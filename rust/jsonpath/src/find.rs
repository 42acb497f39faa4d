//! The values that a template leads to, by upstream's rules for keys that may be missing.

#![allow(clippy::arithmetic_side_effects, reason = "places are checked against the length of the list")]

use std::borrow::Cow;

use hydrofoil_types::Value;

use super::compare::holds;
use super::{JsonPath, Node, Slice};

/// The most values that a template visits: each descent may repeat all of those below the last one.
const MOST: usize = 1_000_000;

type Found<'a> = Cow<'a, Value>;
/// The values that a step leads to. If it fails, they are those that upstream returns beside the error: a filter that
/// only asks for existence looks at them.
type Outcome<'a> = Result<Vec<Found<'a>>, Vec<Found<'a>>>;

impl JsonPath {
    /// Return the first value of the first part; `None` if there is none or a step fails.
    pub fn first<'a>(&self, value: &'a Value) -> Option<Found<'a>> {
        let mut walk = Walk { left: MOST };
        let mut first = None;
        for node in &self.0 {
            let found = walk.node(vec![Cow::Borrowed(value)], node).ok()?;
            first.get_or_insert(found);
        }
        first?.into_iter().next()
    }
}

struct Walk {
    /// The number of values that may still be visited.
    left: usize,
}

impl Walk {
    fn list<'a>(&mut self, input: Vec<Found<'a>>, nodes: &[Node]) -> Outcome<'a> {
        nodes.iter().try_fold(input, |found, node| self.node(found, node))
    }

    fn node<'a>(&mut self, input: Vec<Found<'a>>, node: &Node) -> Outcome<'a> {
        self.spend(input.len())?;
        match node {
            Node::List(nodes) => self.list(input, nodes),
            Node::Text(text) => Ok(vec![Cow::Owned(Value::from(text.as_str()))]),
            Node::Field(name) => Ok(input.iter().filter_map(|value| member(value, name)).collect()),
            Node::Slice(slice) => items(input, *slice),
            Node::Filter { left, test } => self.filter(input, left, test.as_ref()),
            Node::Int(n) => Ok(input.iter().map(|_| Cow::Owned(Value::Int(*n))).collect()),
            Node::Float(f) => Ok(input.iter().map(|_| Cow::Owned(Value::Float(*f))).collect()),
            Node::Bool(b) => Ok(input.iter().map(|_| Cow::Owned(Value::Bool(*b))).collect()),
            Node::Wildcard => {
                let found: Vec<_> = input.iter().flat_map(children).collect();
                self.spend(found.len()).map(|()| found)
            }
            Node::Descent => self.descend(input),
            Node::Union(lists) => {
                let mut out = Vec::new();
                for nodes in lists {
                    match self.list(input.clone(), nodes) {
                        Ok(found) => out.extend(found),
                        Err(_) => return Err(input),
                    }
                }
                Ok(out)
            }
            // Loops of templates have no meaning in a path.
            Node::Identifier => Err(input),
        }
    }

    fn spend<'a>(&mut self, values: usize) -> Result<(), Vec<Found<'a>>> {
        self.left = self.left.checked_sub(values).ok_or_else(Vec::new)?;
        Ok(())
    }

    /// Return all values that have others below them, and strings, from the outermost on.
    fn descend<'a>(&mut self, input: Vec<Found<'a>>) -> Outcome<'a> {
        let mut open: Vec<Found<'a>> = input.into_iter().rev().collect();
        let mut out = Vec::new();
        while let Some(value) = open.pop() {
            self.spend(1)?;
            let below = match &*value {
                // The bytes of a string have nothing below them.
                Value::Str(text) if !text.is_empty() => {
                    out.push(value);
                    continue;
                }
                Value::Array(_) | Value::Object(_) => children(&value),
                _ => continue,
            };
            if !below.is_empty() {
                out.push(value);
                open.extend(below.into_iter().rev());
            }
        }
        Ok(out)
    }

    fn filter<'a>(&mut self, input: Vec<Found<'a>>, left: &[Node], test: Option<&(String, Vec<Node>)>) -> Outcome<'a> {
        let mut out = Vec::new();
        for value in &input {
            let Cow::Borrowed(Value::Array(list)) = value else { return Err(input) };
            for item in list {
                self.spend(1)?;
                let lefts = self.list(vec![Cow::Borrowed(item)], left);
                let Some((operator, right)) = test else {
                    if !lefts.unwrap_or_else(|partial| partial).is_empty() {
                        out.push(Cow::Borrowed(item));
                    }
                    continue;
                };
                let Ok(lefts) = lefts else { return Err(input) };
                let a = match lefts.as_slice() {
                    [] => continue,
                    [one] => one,
                    _ => return Err(input),
                };
                let Ok(rights) = self.list(vec![Cow::Borrowed(item)], right) else { return Err(input) };
                let b = match rights.as_slice() {
                    [] => continue,
                    [one] => one,
                    _ => return Err(input),
                };
                match holds(operator, a, b) {
                    Some(true) => out.push(Cow::Borrowed(item)),
                    Some(false) => {}
                    None => return Err(out),
                }
            }
        }
        Ok(out)
    }
}

fn member<'a>(value: &Found<'a>, name: &str) -> Option<Found<'a>> {
    match value {
        Cow::Borrowed(value) => value.get(name).map(Cow::Borrowed),
        Cow::Owned(_) => None,
    }
}

/// Return the values of a list or map, or the bytes of a string.
fn children<'a>(value: &Found<'a>) -> Vec<Found<'a>> {
    match value {
        Cow::Borrowed(Value::Array(items)) => items.iter().map(Cow::Borrowed).collect(),
        Cow::Borrowed(Value::Object(map)) => map.iter().map(|(_, value)| Cow::Borrowed(value)).collect(),
        other => match &**other {
            Value::Str(text) => text.bytes().map(|byte| Cow::Owned(Value::Int(byte.into()))).collect(),
            _ => Vec::new(),
        },
    }
}

/// `evalArray`.
fn items(input: Vec<Found<'_>>, slice: Slice) -> Outcome<'_> {
    let mut out = Vec::new();
    for value in &input {
        let list = match value {
            Cow::Borrowed(Value::Array(list)) => list,
            other if matches!(&**other, Value::Null) => continue,
            _ => return Err(input),
        };
        let size = i64::try_from(list.len()).unwrap_or(i64::MAX);
        let behind = |place: i64| if place < 0 { place.saturating_add(size) } else { place };
        let from = behind(slice.from.unwrap_or(0));
        let to = match slice.to {
            None => size,
            Some(0) if slice.one => size,
            Some(to) => behind(to),
        };
        if from == to {
            // No item is asked for: upstream ends here, whatever other lists have.
            return Ok(out);
        }
        let step = slice.step.unwrap_or(1);
        if from < 0 || from > to || to > size || step < 1 {
            return Err(input);
        }
        let (from, to, step) = (from as usize, to as usize, step as usize);
        out.extend(list.get(from..to).unwrap_or_default().iter().step_by(step).map(Cow::Borrowed));
    }
    Ok(out)
}
