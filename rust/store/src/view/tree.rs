//! A copy-on-write ordered tree of versions: a clone is a snapshot in constant time.

#![allow(clippy::arithmetic_side_effects, reason = "it counts objects and bytes that are in memory")]
#![allow(clippy::indexing_slicing, reason = "places come from the structure that they lead through")]

use std::cmp::Ordering;
use std::sync::Arc;

use rustc_hash::FxHashSet;

use crate::{Leaf, Version};

mod edit;
mod inner;

pub(crate) use edit::Edit;
use inner::{INNER_MAX, Inner};

const LEAF_MAX: usize = 128;

/// Versions by key. Cloning shares every node; a write copies the path to one leaf.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    root: Option<Child>,
}

#[derive(Clone, Debug)]
struct Child {
    /// The least key in the subtree.
    first: Arc<str>,
    /// The number of versions in the subtree.
    count: usize,
    node: Node,
}

#[derive(Clone, Debug)]
enum Node {
    Leaf(Arc<Leaf>),
    Inner(Arc<Inner>),
}

/// The versions of one key here and there.
pub type Difference = (Option<Arc<Version>>, Option<Arc<Version>>);

impl Child {
    fn leaf(versions: Vec<Arc<Version>>) -> Self {
        let first = Arc::clone(versions[0].key());
        Self { first, count: versions.len(), node: Node::Leaf(Arc::new(Leaf::new(versions))) }
    }

    fn inner(children: Vec<Child>) -> Self {
        let first = Arc::clone(&children[0].first);
        Self { first, count: children.iter().map(|c| c.count).sum(), node: Node::Inner(Arc::new(children.into())) }
    }
}

/// Return the child for `key`: the last one whose first key is not greater.
fn place(children: &[Child], key: &str) -> usize {
    children.partition_point(|c| &*c.first <= key).saturating_sub(1)
}

impl Tree {
    /// Return the number of versions.
    pub fn len(&self) -> usize {
        self.root.as_ref().map_or(0, |r| r.count)
    }

    /// Report whether it has no versions.
    pub fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    /// Return the version of a key.
    pub fn get(&self, key: &str) -> Option<&Arc<Version>> {
        let mut node = &self.root.as_ref()?.node;
        loop {
            match node {
                Node::Leaf(leaf) => {
                    let v = leaf.versions();
                    return v.binary_search_by(|x| (**x.key()).cmp(key)).ok().map(|i| &v[i]);
                }
                Node::Inner(c) => node = &c[place(c, key)].node,
            }
        }
    }

    /// Insert a version and return the one that it replaces.
    pub fn insert(&mut self, version: Arc<Version>) -> Option<Arc<Version>> {
        let Some(root) = &mut self.root else {
            self.root = Some(Child::leaf(vec![version]));
            return None;
        };
        let (old, split) = insert(root, version);
        if let Some(right) = split {
            let left = self.root.take().expect("the root was there");
            self.root = Some(Child::inner(vec![left, right]));
        }
        old
    }

    /// Remove a key and return its version.
    pub fn remove(&mut self, key: &str) -> Option<Arc<Version>> {
        let root = self.root.as_mut()?;
        let old = remove(root, key)?;
        if root.count == 0 {
            self.root = None;
        } else {
            self.lower();
        }
        Some(old)
    }

    /// Remove nodes with one child from the top.
    fn lower(&mut self) {
        while let Some(Node::Inner(c)) = self.root.as_ref().map(|r| &r.node) {
            if c.len() > 1 {
                break;
            }
            self.root = Some(c[0].clone());
        }
    }

    /// Call `look` for each version, in key order.
    pub fn each(&self, mut look: impl FnMut(&Arc<Version>)) {
        let mut rank = 0;
        while let Some((leaf, _)) = self.at(rank) {
            leaf.versions().iter().for_each(&mut look);
            rank += leaf.versions().len();
        }
    }

    /// Return the versions of each key in this tree and in another, where they are not the same.
    pub(crate) fn differences(&self, other: &Self) -> Vec<Difference> {
        self.places(other).into_iter().map(|(_, difference)| difference).collect()
    }

    /// Do the same, each with the rank of its key in this tree. Leaves that both share are found by identity, so that the
    /// work is that of the changes between two states of one tree.
    pub(crate) fn places(&self, other: &Self) -> Vec<(usize, Difference)> {
        let (own, others) = (self.leaves(), other.leaves());
        let identities = |leaves: &[&Arc<Leaf>]| leaves.iter().map(|l| Arc::as_ptr(l)).collect::<FxHashSet<_>>();
        let (of_own, of_others) = (identities(&own), identities(&others));
        let mut end = 0;
        let own = own.into_iter().map(|leaf| {
            end += leaf.versions().len();
            (leaf, end)
        });
        let mut left = own.filter(|(l, _)| !of_others.contains(&Arc::as_ptr(l))).map(|(l, end)| (l.versions(), end));
        let mut right = others.into_iter().filter(|l| !of_own.contains(&Arc::as_ptr(l))).map(|l| l.versions());
        let (mut a, mut b): (&[Arc<Version>], &[Arc<Version>]) = (&[], &[]);
        // The rank behind the leaf of `a`, and whether all of the leaf is still there.
        let (mut end, mut whole) = (0, true);
        let mut found = Vec::new();
        loop {
            let same = a.iter().zip(b).take_while(|(a, b)| Arc::ptr_eq(a, b)).count();
            (a, b) = (&a[same..], &b[same..]);
            whole &= same == 0;
            if a.is_empty() {
                (a, end) = left.next().unwrap_or_default();
                whole = true;
            }
            if b.is_empty() {
                b = right.next().unwrap_or_default();
            }
            let order = match (a.first(), b.first()) {
                (None, None) => return found,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(a), Some(b)) if Arc::ptr_eq(a, b) => continue,
                // Versions of one object share its key.
                (Some(a), Some(b)) if Arc::ptr_eq(a.key(), b.key()) => Ordering::Equal,
                (Some(a), Some(b)) => a.key().cmp(b.key()),
            };
            let (one, two) = (usize::from(order.is_le()), usize::from(order.is_ge()));
            let at = match b.first() {
                // Shared leaves may be between it and the leaf of `a`.
                Some(other) if order.is_gt() && whole => self.rank(other.key()),
                _ => end - a.len(),
            };
            found.push((at, (a[..one].first().cloned(), b[..two].first().cloned())));
            (a, b) = (&a[one..], &b[two..]);
            whole &= one == 0;
        }
    }

    /// Return the leaves, in key order.
    fn leaves(&self) -> Vec<&Arc<Leaf>> {
        fn gather<'t>(node: &'t Node, out: &mut Vec<&'t Arc<Leaf>>) {
            match node {
                Node::Leaf(leaf) => out.push(leaf),
                Node::Inner(children) => children.iter().for_each(|child| gather(&child.node, out)),
            }
        }
        let mut out = Vec::new();
        if let Some(root) = &self.root {
            gather(&root.node, &mut out);
        }
        out
    }

    /// Return the number of keys less than `key`.
    pub fn rank(&self, key: &str) -> usize {
        let Some(root) = &self.root else { return 0 };
        let mut node = &root.node;
        let mut before = 0;
        loop {
            match node {
                Node::Leaf(leaf) => return before + leaf.versions().partition_point(|x| &**x.key() < key),
                Node::Inner(c) => {
                    let at = place(c, key);
                    before += c[..at].iter().map(|c| c.count).sum::<usize>();
                    node = &c[at].node;
                }
            }
        }
    }

    /// Return the leaf with the version of a rank, and its place in it.
    pub fn at(&self, mut rank: usize) -> Option<(&Arc<Leaf>, usize)> {
        let root = self.root.as_ref().filter(|root| rank < root.count)?;
        let mut node = &root.node;
        loop {
            match node {
                Node::Leaf(leaf) => return Some((leaf, rank)),
                Node::Inner(children) => {
                    let child = children.iter().find(|child| {
                        let inside = rank < child.count;
                        rank -= if inside { 0 } else { child.count };
                        inside
                    });
                    node = &child?.node;
                }
            }
        }
    }
}

fn insert(child: &mut Child, version: Arc<Version>) -> (Option<Arc<Version>>, Option<Child>) {
    if version.key() < &child.first {
        child.first = Arc::clone(version.key());
    }
    let (old, split) = match &mut child.node {
        Node::Leaf(leaf) => {
            let v = Arc::make_mut(leaf).versions_mut();
            match v.binary_search_by(|x| x.key().cmp(version.key())) {
                Ok(i) => (Some(std::mem::replace(&mut v[i], version)), None),
                Err(i) => {
                    v.insert(i, version);
                    let split = (v.len() > LEAF_MAX).then(|| Child::leaf(v.split_off(cut(i, v.len()))));
                    (None, split)
                }
            }
        }
        Node::Inner(c) => {
            let c = Arc::make_mut(c).children_mut();
            let at = place(c, version.key());
            let (old, split) = insert(&mut c[at], version);
            let mut right = None;
            if let Some(new) = split {
                c.insert(at + 1, new);
                right = (c.len() > INNER_MAX).then(|| Child::inner(c.split_off(cut(at + 1, c.len()))));
            }
            (old, right)
        }
    };
    child.count += usize::from(old.is_none());
    if let Some(right) = &split {
        child.count -= right.count;
    }
    (old, split)
}

/// Return the place of a split: the middle, or before the last item if keys arrive in order.
fn cut(inserted: usize, len: usize) -> usize {
    if inserted + 1 == len { len - 1 } else { len / 2 }
}

fn remove(child: &mut Child, key: &str) -> Option<Arc<Version>> {
    let found = match &child.node {
        Node::Leaf(leaf) => leaf.versions().binary_search_by(|x| (**x.key()).cmp(key)).ok()?,
        Node::Inner(c) => place(c, key),
    };
    let old = match &mut child.node {
        Node::Leaf(leaf) => Arc::make_mut(leaf).versions_mut().remove(found),
        Node::Inner(c) => {
            let c = Arc::make_mut(c).children_mut();
            let old = remove(&mut c[found], key)?;
            if c[found].count == 0 {
                c.remove(found);
            } else {
                join(c, found);
            }
            old
        }
    };
    child.count -= 1;
    if child.count > 0 {
        child.first = match &child.node {
            Node::Leaf(leaf) => Arc::clone(leaf.versions()[0].key()),
            Node::Inner(c) => Arc::clone(&c[0].first),
        };
    }
    Some(old)
}

/// Merge a sparse child with its right neighbour, so that deletions do not leave many tiny nodes.
fn join(children: &mut Vec<Child>, at: usize) {
    let at = at.min(children.len().saturating_sub(2));
    let Some([left, right]) = children.get(at..at + 2) else { return };
    children[at] = match (&left.node, &right.node) {
        (Node::Leaf(a), Node::Leaf(b)) if left.count + right.count <= LEAF_MAX / 2 => {
            Child::leaf([a.versions(), b.versions()].concat())
        }
        (Node::Inner(a), Node::Inner(b)) if a.len() + b.len() <= INNER_MAX / 2 => {
            Child::inner([&a[..], &b[..]].concat())
        }
        _ => return,
    };
    children.remove(at + 1);
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use hydrofoil_types::Fingerprint;

    use super::{LEAF_MAX, Tree};
    use crate::{Draft, Version};

    fn version(key: &str) -> Arc<Version> {
        let json = br#"{"kind":"K","apiVersion":"v1","metadata":{"resourceVersion":""}}"#.to_vec();
        let rv_at = json.len() - 3;
        let draft = Draft {
            json,
            given: None,
            rv_at,
            head: 0,
            labels: Box::default(),
            fields: Box::default(),
            fingerprint: Fingerprint::BUILTIN,
        };
        Arc::new(Version::detach(key, 1, draft))
    }

    #[test]
    fn ranks_lead_to_their_keys_and_back() {
        let mut tree = Tree::default();
        let count = 70 * LEAF_MAX;
        for i in 0..count {
            // Unordered, so that leaves also split in the middle.
            tree.insert(version(&format!("k{:06}", i * 7919 % count)));
        }
        for rank in (0..count).step_by(97).chain([0, count - 1]) {
            let key = format!("k{rank:06}");
            let (leaf, at) = tree.at(rank).expect("there is one");
            assert_eq!(&**leaf.versions()[at].key(), key);
            assert_eq!(tree.rank(&key), rank);
        }
        assert!(tree.at(count).is_none());
        assert!(Tree::default().at(0).is_none());
    }

    #[test]
    fn differences_of_two_states_are_the_changes_between_them() {
        let mut tree = Tree::default();
        for i in 0..10 * LEAF_MAX {
            tree.insert(version(&format!("k{i:06}")));
        }
        let before = tree.clone();
        assert!(tree.differences(&before).is_empty());
        tree.remove("k000007");
        tree.insert(version("k000300"));
        tree.insert(version("k000300x"));
        let found: Vec<_> = tree
            .differences(&before)
            .iter()
            .map(|(now, then)| [now, then].map(|v| v.as_ref().map(|v| v.key().to_string())))
            .collect();
        let key = |key: &str| Some(key.to_owned());
        let expected = [[None, key("k000007")], [key("k000300"), key("k000300")], [key("k000300x"), None]];
        assert_eq!(found, expected);
        assert_eq!(Tree::default().differences(&before).len(), before.len());
    }
}
