//! Sets of paths, as in `fieldsV1` of managed fields.

#![allow(clippy::arithmetic_side_effects, reason = "places and depths are bounded by what is in memory")]
#![allow(clippy::indexing_slicing, reason = "places come from the list that they lead into")]

mod element;
mod text;

use std::cmp::Ordering;

pub use element::PathElement;
pub(crate) use text::first_fields;

/// A set of paths (structured-merge-diff `fieldpath/set.go`): a tree of nodes that are members or lead to members.
///
/// The nodes of a level are sorted by their path elements: sets are built in order and merged side by side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FieldSet(Vec<(PathElement, Node)>);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Node {
    member: bool,
    below: FieldSet,
}

impl Node {
    fn is_empty(&self) -> bool {
        !self.member && self.below.is_empty()
    }
}

impl FieldSet {
    /// Return an empty set.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Return the set of the given paths of field names.
    pub fn of_fields(paths: &[&[&str]]) -> Self {
        let mut out = Self::new();
        for path in paths {
            let path: Vec<_> = path.iter().map(|name| PathElement::Field((*name).into())).collect();
            out.insert(&path);
        }
        out
    }

    /// Report whether it has no paths.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn find(&self, element: &PathElement) -> Result<usize, usize> {
        // Sets built in order grow at the end.
        match self.0.last().map(|(last, _)| last.cmp(element)) {
            None | Some(Ordering::Less) => Err(self.0.len()),
            Some(Ordering::Equal) => Ok(self.0.len() - 1),
            Some(Ordering::Greater) => self.0.binary_search_by(|(e, _)| e.cmp(element)),
        }
    }

    fn get(&self, element: &PathElement) -> Option<&Node> {
        self.find(element).ok().map(|at| &self.0[at].1)
    }

    fn entry(&mut self, element: &PathElement) -> &mut Node {
        let at = self.find(element).unwrap_or_else(|at| {
            self.0.insert(at, (element.clone(), Node::default()));
            at
        });
        &mut self.0[at].1
    }

    /// Add a path; the empty path (the whole object) is never a member.
    pub fn insert(&mut self, path: &[PathElement]) {
        let Some((last, parents)) = path.split_last() else { return };
        let mut here = self;
        for element in parents {
            here = &mut here.entry(element).below;
        }
        here.entry(last).member = true;
    }

    /// Report whether a path is a member.
    pub fn has(&self, path: &[PathElement]) -> bool {
        let Some((last, parents)) = path.split_last() else { return false };
        let mut here = self;
        for element in parents {
            match here.get(element) {
                Some(node) => here = &node.below,
                None => return false,
            }
        }
        here.get(last).is_some_and(|node| node.member)
    }

    /// Return the paths of either set.
    #[must_use]
    pub fn union(self, other: &Self) -> Self {
        if self.is_empty() {
            return other.clone();
        }
        if other.is_empty() {
            return self;
        }
        let mut out = Vec::with_capacity(self.0.len() + other.0.len());
        let mut theirs = other.0.iter().peekable();
        for (element, mut node) in self.0 {
            while let Some(next) = theirs.next_if(|(e, _)| *e < element) {
                out.push(next.clone());
            }
            if let Some((_, same)) = theirs.next_if(|(e, _)| *e == element) {
                node.member |= same.member;
                node.below = node.below.union(&same.below);
            }
            out.push((element, node));
        }
        out.extend(theirs.cloned());
        Self(out)
    }

    /// Return the paths of both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let both = self.0.iter().filter_map(|(element, node)| {
            let theirs = other.get(element)?;
            let member = node.member && theirs.member;
            Some((element.clone(), Node { member, below: node.below.intersection(&theirs.below) }))
        });
        Self(both.filter(|(_, node)| !node.is_empty()).collect())
    }

    /// Report whether every path is also in `other`.
    pub(crate) fn is_within(&self, other: &Self) -> bool {
        let mut theirs = other.0.iter().peekable();
        self.0.iter().all(|(element, node)| {
            while theirs.next_if(|(e, _)| e < element).is_some() {}
            match theirs.next_if(|(e, _)| e == element) {
                Some((_, twin)) => (twin.member || !node.member) && node.below.is_within(&twin.below),
                None => node.is_empty(),
            }
        })
    }

    /// Return the paths that are not in `other`.
    #[must_use]
    pub fn difference(self, other: &Self) -> Self {
        self.subtract(other, false)
    }

    /// Return the paths that are neither in `other` nor below one of its members.
    #[must_use]
    pub fn recursive_difference(self, other: &Self) -> Self {
        self.subtract(other, true)
    }

    fn subtract(self, other: &Self, recursive: bool) -> Self {
        if self.is_empty() || other.is_empty() {
            return self;
        }
        let mut theirs = other.0.iter().peekable();
        let mut out = self.0;
        out.retain_mut(|(element, node)| {
            while theirs.next_if(|(e, _)| e < element).is_some() {}
            let Some((_, theirs)) = theirs.next_if(|(e, _)| e == element) else { return true };
            if recursive && theirs.member {
                return false;
            }
            node.member &= !theirs.member;
            node.below = std::mem::take(&mut node.below).subtract(&theirs.below, recursive);
            !node.is_empty()
        });
        Self(out)
    }

    /// Return the nodes of this level: each path element, whether it is a member, and the set below it.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = (&PathElement, bool, &Self)> {
        self.0.iter().map(|(element, node)| (element, node.member, &node.below))
    }

    /// Change each node of this level; nodes that are neither members nor lead to any afterwards are removed.
    pub(crate) fn change_below(&mut self, mut change: impl FnMut(&PathElement, &mut bool, &mut Self)) {
        self.0.retain_mut(|(element, node)| {
            change(element, &mut node.member, &mut node.below);
            !node.is_empty()
        });
    }

    /// Set a node, unless it is neither a member nor leads to any.
    pub(crate) fn set_node(&mut self, element: PathElement, member: bool, below: Self) {
        let node = Node { member, below };
        if !node.is_empty() {
            match self.find(&element) {
                Ok(at) => self.0[at].1 = node,
                Err(at) => self.0.insert(at, (element, node)),
            }
        }
    }

    /// Return the set of these nodes of one level in any order. The last node of a path element counts; nodes that are
    /// neither members nor lead to any are left out.
    pub(crate) fn of_nodes(nodes: impl Iterator<Item = (PathElement, bool, Self)>) -> Self {
        let nodes = nodes.map(|(element, member, below)| (element, Node { member, below }));
        let mut nodes: Vec<_> = nodes.filter(|(_, node)| !node.is_empty()).collect();
        if !nodes.is_sorted_by(|(a, _), (b, _)| a < b) {
            nodes.sort_by(|(a, _), (b, _)| a.cmp(b));
            nodes.dedup_by(|later, earlier| {
                let same = later.0 == earlier.0;
                if same {
                    std::mem::swap(later, earlier);
                }
                same
            });
        }
        Self(nodes)
    }

    /// Return the set below a path element, if any.
    pub(crate) fn below(&self, element: &PathElement) -> Option<&Self> {
        self.get(element).map(|node| &node.below).filter(|below| !below.is_empty())
    }

    /// Return all paths, members of a level before those below them.
    pub fn paths(&self) -> Vec<Vec<PathElement>> {
        let mut out = Vec::new();
        self.collect(&mut Vec::new(), &mut out);
        out
    }

    fn collect(&self, prefix: &mut Vec<PathElement>, out: &mut Vec<Vec<PathElement>>) {
        for (element, _, _) in self.nodes().filter(|(_, member, _)| *member) {
            out.push([prefix.as_slice(), std::slice::from_ref(element)].concat());
        }
        for (element, _, below) in self.nodes() {
            prefix.push(element.clone());
            below.collect(prefix, out);
            prefix.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FieldSet, PathElement};
    use crate::testing::{json, text};

    fn set(fields: &str) -> FieldSet {
        FieldSet::from_value(&json(fields)).expect("a set")
    }

    #[test]
    fn wire_form_is_sorted_and_round_trips() {
        let fields = r#"{"f:b":{},"i:3":{},"v:\"x\"":{},"k:{\"protocol\":\"TCP\",\"port\":80}":{"f:port":{},".":{}},"f:a":{"f:c":{}}}"#;
        let expected = r#"{"f:a":{"f:c":{}},"f:b":{},"k:{\"port\":80,\"protocol\":\"TCP\"}":{".":{},"f:port":{}},"v:\"x\"":{},"i:3":{}}"#;
        assert_eq!(text(&set(fields).to_value()), expected);
        assert_eq!(set(expected), set(fields));
        assert_eq!(text(&FieldSet::new().to_value()), "{}");
    }

    #[test]
    fn malformed_sets_are_refused_and_later_kinds_skipped() {
        for bad in [
            r#"{"oops":1}"#,
            r#"{"f":{}}"#,
            r#"{"f:a":1}"#,
            r#"{"k:[]":{}}"#,
            r#"{"v:{":{}}"#,
            r#"{"i:x":{}}"#,
            "[]",
            r#"{"é:":{}}"#,
        ] {
            assert_eq!(FieldSet::from_value(&json(bad)), None, "{bad}");
        }
        assert_eq!(text(&set(r#"{"x:later":{},"f:a":null}"#).to_value()), r#"{"f:a":{}}"#);
    }

    #[test]
    fn algebra() {
        let a = set(r#"{"f:a":{".":{},"f:b":{},"f:c":{}},"f:d":{}}"#);
        let b = set(r#"{"f:a":{"f:b":{}},"f:e":{}}"#);
        let shown = |s: FieldSet| text(&s.to_value());
        assert_eq!(shown(a.clone().difference(&b)), r#"{"f:a":{".":{},"f:c":{}},"f:d":{}}"#);
        assert_eq!(shown(a.intersection(&b)), r#"{"f:a":{"f:b":{}}}"#);
        assert_eq!(shown(a.clone().union(&b)), r#"{"f:a":{".":{},"f:b":{},"f:c":{}},"f:d":{},"f:e":{}}"#);
        assert_eq!(shown(a.clone().recursive_difference(&set(r#"{"f:a":{}}"#))), r#"{"f:d":{}}"#);
        assert!(a.clone().difference(&a).is_empty());
        assert!(
            a.is_within(&a) && a.intersection(&b).is_within(&b) && !a.is_within(&b) && FieldSet::new().is_within(&a)
        );
        assert!(a.has(&[PathElement::Field("a".into())]) && !b.has(&[PathElement::Field("a".into())]));
    }

    #[test]
    fn paths_as_messages_name_them() {
        let all = set(
            r#"{"f:spec":{"f:c":{"k:{\"name\":\"n\",\"port\":1}":{"f:image":{}}},"f:s":{"v:\"x\"":{}},"f:i":{"i:3":{}}}}"#,
        );
        let paths: Vec<_> = all.paths().iter().map(|p| p.iter().map(ToString::to_string).collect::<String>()).collect();
        assert_eq!(paths, [r#".spec.c[name="n",port=1].image"#, ".spec.i[3]", r#".spec.s[="x"]"#]);
    }
}
