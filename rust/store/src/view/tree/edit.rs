//! Changes of many places of a tree at once: each leaf that changes is made once, and so is the path to it.

use std::iter::Peekable;
use std::sync::Arc;
use std::vec::IntoIter;

use super::{Child, INNER_MAX, LEAF_MAX, Node, Tree, join};
use crate::{Leaf, Version};

/// A change of one place of a tree.
#[derive(Debug)]
pub(crate) struct Edit {
    /// The rank of the version that is removed, or else of the one before which another is added.
    pub(crate) at: usize,
    /// Whether the version of that rank is removed.
    pub(crate) goes: bool,
    /// The version that is added, in the place of the removed one if there is one.
    pub(crate) comes: Option<Arc<Version>>,
}

/// The changes that are still to be made.
type Edits = Peekable<IntoIter<Edit>>;

impl Tree {
    /// Make changes whose ranks are those of the present tree, in the order of their keys.
    pub(crate) fn edit(&mut self, edits: Vec<Edit>) {
        if edits.is_empty() {
            return;
        }
        let empty = || Child { first: Arc::from(""), count: 0, node: Node::Leaf(Arc::new(Leaf::default())) };
        let root = self.root.take().unwrap_or_else(empty);
        let mut level = Vec::new();
        edit(root, 0, usize::MAX, &mut edits.into_iter().peekable(), &mut level);
        while level.len() > 1 {
            level = pieces(level, INNER_MAX).map(Child::inner).collect();
        }
        self.root = level.pop();
        self.lower();
    }
}

/// Make the changes in a subtree whose first version has the rank `begin`, and add what becomes of it to `out`: nothing, or
/// one subtree or more. Changes from the rank `end` on are those of others.
fn edit(mut child: Child, begin: usize, end: usize, edits: &mut Edits, out: &mut Vec<Child>) {
    match &mut child.node {
        Node::Leaf(leaf) => {
            let versions = Arc::make_mut(leaf).versions_mut();
            let (mut more, mut less) = (0, begin);
            while let Some(edit) = edits.next_if(|edit| edit.at < end) {
                let place = edit.at + more - less;
                match (edit.goes, edit.comes) {
                    (true, Some(version)) => versions[place] = version,
                    (true, None) => {
                        drop(versions.remove(place));
                        less += 1;
                    }
                    (false, Some(version)) => {
                        versions.insert(place, version);
                        more += 1;
                    }
                    (false, None) => {}
                }
            }
            match versions.first() {
                Some(first) if versions.len() <= LEAF_MAX => {
                    (child.first, child.count) = (Arc::clone(first.key()), versions.len());
                    out.push(child);
                }
                _ => out.extend(pieces(std::mem::take(versions), LEAF_MAX).map(Child::leaf)),
            }
        }
        Node::Inner(children) => {
            let children = std::mem::take(Arc::make_mut(children).children_mut());
            let (mut made, mut left, mut begin) = (Vec::with_capacity(children.len()), children.len(), begin);
            for child in children {
                left -= 1;
                let next = begin + child.count;
                // Versions behind the last one belong to the last leaf.
                let until = if left == 0 { end } else { next };
                if edits.peek().is_some_and(|edit| edit.at < until) {
                    edit(child, begin, until, edits, &mut made);
                } else {
                    made.push(child);
                }
                begin = next;
            }
            for at in (1..made.len()).rev() {
                join(&mut made, at - 1);
            }
            out.extend(pieces(made, INNER_MAX).map(Child::inner));
        }
    }
}

/// Cut items into the fewest pieces of at most `most`, all about as long.
fn pieces<T>(all: Vec<T>, most: usize) -> impl Iterator<Item = Vec<T>> {
    let count = all.len().div_ceil(most).max(1);
    let size = all.len().div_ceil(count);
    let mut rest = all.into_iter();
    std::iter::from_fn(move || Some(rest.by_ref().take(size).collect::<Vec<_>>()).filter(|piece| !piece.is_empty()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::{Edit, INNER_MAX, LEAF_MAX, pieces};
    use crate::view::testing;
    use crate::view::tree::{Child, Node, Tree};

    fn put(tree: &mut Tree, n: u32, revision: u64) {
        tree.insert(testing::version(&format!("k{n:06}"), revision, ("", "")));
    }

    /// Return the depth of a subtree whose nodes are as they must be.
    fn depth(child: &Child) -> usize {
        match &child.node {
            Node::Leaf(leaf) => {
                let versions = leaf.versions();
                assert!((1..=LEAF_MAX).contains(&versions.len()) && versions.len() == child.count);
                assert_eq!(versions[0].key(), &child.first);
                assert!(versions.is_sorted_by(|a, b| a.key() < b.key()));
                0
            }
            Node::Inner(children) => {
                assert!((1..=INNER_MAX).contains(&children.len()));
                assert_eq!(children[0].first, child.first);
                assert_eq!(children.iter().map(|child| child.count).sum::<usize>(), child.count);
                let below: Vec<usize> = children.iter().map(depth).collect();
                assert!(below.iter().all(|depth| *depth == below[0]), "leaves are equally deep");
                below[0] + 1
            }
        }
    }

    /// Return the tree after it was changed to be as another, version by version the same.
    fn make_equal(tree: &Tree, other: &Tree) -> Tree {
        let places = tree.places(other).into_iter();
        let edits = places.map(|(at, (goes, comes))| Edit { at, goes: goes.is_some(), comes }).collect();
        let mut made = tree.clone();
        made.edit(edits);
        made
    }

    fn versions(tree: &Tree) -> Vec<Arc<crate::Version>> {
        let mut found = Vec::new();
        tree.each(|version| found.push(Arc::clone(version)));
        found
    }

    fn is_made(tree: &Tree, other: &Tree) {
        let (before, made) = (versions(tree), make_equal(tree, other));
        let (found, expected) = (versions(&made), versions(other));
        assert!(found.len() == expected.len() && found.iter().zip(&expected).all(|(a, b)| Arc::ptr_eq(a, b)));
        assert_eq!(made.len(), other.len());
        assert!(expected.iter().all(|version| made.get(version.key()).is_some_and(|v| Arc::ptr_eq(v, version))));
        assert!(made.root.as_ref().is_none_or(|root| depth(root) < 4));
        assert!(made.places(other).is_empty());
        let after = versions(tree);
        assert!(before.iter().zip(&after).all(|(a, b)| Arc::ptr_eq(a, b)), "a snapshot does not change");
    }

    #[test]
    fn a_state_may_be_empty() {
        let mut tree = Tree::default();
        (0..20_000).for_each(|n| put(&mut tree, n, 1));
        for (one, other) in [(&tree, &Tree::default()), (&Tree::default(), &tree), (&tree, &tree)] {
            is_made(one, other);
        }
    }

    #[test]
    fn leaves_that_do_not_change_are_shared() {
        let mut tree = Tree::default();
        (0..50 * 128).for_each(|n| put(&mut tree, n, 1));
        let before = tree.clone();
        (0..4).for_each(|n| put(&mut tree, n * 1000, 2));
        let made = make_equal(&tree, &before);
        let shared = |one: &Tree, other: &Tree| {
            let of_other: Vec<_> = other.leaves().into_iter().map(Arc::as_ptr).collect();
            one.leaves().into_iter().filter(|leaf| of_other.contains(&Arc::as_ptr(leaf))).count()
        };
        assert_eq!(made.leaves().len(), tree.leaves().len());
        assert_eq!(shared(&made, &tree), tree.leaves().len() - 4);
    }

    #[test]
    fn pieces_are_few_and_even() {
        let lengths = |count: usize, most| pieces(vec![0_u8; count], most).map(|piece| piece.len()).collect::<Vec<_>>();
        assert_eq!(lengths(0, 4), [0; 0]);
        assert_eq!(lengths(4, 4), [4]);
        assert_eq!(lengths(5, 4), [3, 2]);
        assert_eq!(lengths(9, 4), [3, 3, 3]);
    }

    proptest! {
        // Each has thousands of objects.
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// Blocks of keys come, change and go, so that whole nodes do.
        #[test]
        fn one_state_is_made_of_another(
            start in 0_u32..30_000,
            step in 1_u32..4,
            blocks in prop::collection::vec((0_u32..32_000, 1_u32..6_000, 1_u32..200, 0_u8..3), 0..6),
        ) {
            let mut tree = Tree::default();
            for n in (0..start).step_by(step as usize) {
                put(&mut tree, n, 1);
            }
            let before = tree.clone();
            for (from, count, step, what) in blocks {
                for n in (from..from + count).step_by(step as usize) {
                    match what {
                        0 => drop(tree.remove(&format!("k{n:06}"))),
                        1 if before.get(&format!("k{n:06}")).is_none() => {}
                        _ => put(&mut tree, n, 2),
                    }
                }
            }
            is_made(&tree, &before);
            is_made(&before, &tree);
        }
    }
}
