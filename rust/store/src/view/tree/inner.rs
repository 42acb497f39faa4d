//! The nodes above the leaves, and the values that are below each of their children.

use std::ops::{Deref, Range};

use parking_lot::Mutex;

use super::{Child, Node, Tree};
use crate::view::column::{ABSENT, Source, Wanted};
use crate::view::leaf::COLUMNS;

/// The most children of a node: one bit of a mask each.
pub(super) const INNER_MAX: usize = u64::BITS as usize;

/// Adjacent subtrees, and a cached summary of the values in them for each selector in use.
///
/// A clone has the children only: it is made to be changed.
#[derive(Debug, Default)]
pub(super) struct Inner {
    children: Vec<Child>,
    /// Derived from the children alone. Two readers may make the same one at a time; the later replaces the earlier.
    summaries: Mutex<Vec<Summary>>,
}

/// The leaves that may have a value.
///
/// Each bucket has a bit for each child with a version whose hash falls into it. There are half as many buckets as
/// versions: even if no two versions have the same value, few of the leaves without a value are searched for it.
#[derive(Debug)]
struct Summary {
    source: Source,
    buckets: Box<[u64]>,
}

impl Summary {
    fn of(source: &Source, children: &[Child]) -> Self {
        let count: usize = children.iter().map(|child| child.count).sum();
        let mut buckets = vec![0; count.div_ceil(2).next_power_of_two()];
        for (at, child) in children.iter().enumerate() {
            let Node::Leaf(leaf) = &child.node else { continue };
            for hash in leaf.column(source).hashes.iter().filter(|hash| **hash != ABSENT) {
                if let Some(bucket) = Self::bucket(*hash, buckets.len()).and_then(|bucket| buckets.get_mut(bucket)) {
                    *bucket |= 1_u64 << at;
                }
            }
        }
        Self { source: source.clone(), buckets: buckets.into() }
    }

    fn bucket(hash: u32, buckets: usize) -> Option<usize> {
        (hash as usize).checked_rem(buckets)
    }

    /// Return a bit for each child that may have one of the hashes.
    fn mask(&self, hashes: &[u32]) -> u64 {
        let bucket = |hash| self.buckets.get(Self::bucket(hash, self.buckets.len())?);
        hashes.iter().fold(0, |mask, hash| mask | bucket(*hash).copied().unwrap_or(u64::MAX))
    }
}

impl From<Vec<Child>> for Inner {
    fn from(children: Vec<Child>) -> Self {
        Self { children, ..Self::default() }
    }
}

impl Clone for Inner {
    fn clone(&self) -> Self {
        self.children.clone().into()
    }
}

impl Deref for Inner {
    type Target = [Child];

    fn deref(&self) -> &[Child] {
        &self.children
    }
}

impl Inner {
    /// Return the children for change; cached summaries are dropped.
    pub(super) fn children_mut(&mut self) -> &mut Vec<Child> {
        self.summaries.get_mut().clear();
        &mut self.children
    }

    /// Return a bit for each child that may have a wanted value. Unless `make` is set, a summary is used only if there
    /// is one already.
    fn mask(&self, wanted: &Wanted, make: bool) -> u64 {
        if !matches!(self.children.first(), Some(Child { node: Node::Leaf(_), .. })) {
            return u64::MAX;
        }
        let mut summaries = self.summaries.lock();
        if let Some(found) = summaries.iter().find(|summary| summary.source == wanted.source) {
            return found.mask(&wanted.hashes);
        }
        if !make {
            return u64::MAX;
        }
        if summaries.len() >= COLUMNS {
            summaries.remove(0);
        }
        let made = Summary::of(&wanted.source, &self.children);
        let mask = made.mask(&wanted.hashes);
        summaries.push(made);
        mask
    }
}

impl Tree {
    /// Return the rank of the first version from `from` on that is in a leaf which may have a wanted value, within the
    /// ranks of a list. Leaves without it are passed over by nodes, so that the work is that of a few leaves. Summaries
    /// of nodes that a list covers are made if `make` is set.
    pub(crate) fn seek(&self, from: usize, list: &Range<usize>, wanted: &Wanted, make: bool) -> Option<usize> {
        seek(self.root.as_ref()?, 0, from, list, wanted, make)
    }
}

/// Seek in a subtree whose first version has the rank `begin`.
#[allow(clippy::arithmetic_side_effects, reason = "it counts versions that are in memory")]
fn seek(
    child: &Child,
    mut begin: usize,
    from: usize,
    list: &Range<usize>,
    wanted: &Wanted,
    make: bool,
) -> Option<usize> {
    let Node::Inner(inner) = &child.node else { return Some(begin.max(from)) };
    // A list of a few leaves does not read all others of their node.
    let mask = inner.mask(wanted, make && list.start <= begin && begin + child.count <= list.end);
    for (at, child) in inner.iter().enumerate() {
        let end = begin + child.count;
        if end > from && begin < list.end && mask >> at & 1 == 1 {
            let found = seek(child, begin, from, list, wanted, make);
            if found.is_some() {
                return found;
            }
        }
        begin = end;
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::Tree;
    use crate::view::column::{Source, Wanted};
    use crate::view::testing::version;

    /// Return the ranks of the leaves that may have an object of an app, in the ranks of a list.
    fn sought(tree: &Tree, app: &str, list: std::ops::Range<usize>) -> Vec<usize> {
        let wanted = Wanted::new(Source::Label("app".into()), &[app.into()]);
        let mut found = Vec::new();
        let mut from = list.start;
        while let Some(rank) = tree.seek(from, &list, &wanted, true) {
            found.push(rank);
            let Some((leaf, at)) = tree.at(rank) else { break };
            from = rank.saturating_sub(at).saturating_add(leaf.versions().len());
        }
        found
    }

    /// Each object has another value, as pods have of the hash of their template.
    fn tree(count: u32) -> Tree {
        let mut tree = Tree::default();
        (0..count).for_each(|n| drop(tree.insert(version(&format!("k{n:06}"), 1, (&format!("app-{n}"), "")))));
        tree
    }

    #[test]
    fn a_value_is_found_in_few_leaves() {
        let tree = tree(40_000);
        let leaves = tree.leaves().len();
        for n in [0, 127, 128, 20_000, 39_999] {
            let found = sought(&tree, &format!("app-{n}"), 0..40_000);
            let covers = |rank: &usize| {
                let (leaf, at) = tree.at(*rank).expect("it is there");
                (rank.saturating_sub(at)..rank.saturating_add(leaf.versions().len())).contains(&n)
            };
            assert!(found.iter().any(covers), "{n}");
            assert!(found.len() < leaves / 10, "{} of {leaves}", found.len());
        }
        assert!(sought(&tree, "none", 0..40_000).len() < leaves / 10);
        assert!(sought(&Tree::default(), "none", 0..0).is_empty());
    }

    /// A list of some leaves makes no summary of others.
    #[test]
    fn a_list_of_few_leaves_reads_these_alone() {
        let tree = tree(40_000);
        assert_eq!(sought(&tree, "none", 1_050..1_100).len(), 1);
        let read =
            |tree: &Tree| tree.leaves().into_iter().filter(|leaf| leaf.knows(&Source::Label("app".into()))).count();
        assert_eq!(read(&tree), 0, "the list itself reads the leaf");
        assert!(!sought(&tree, "app-2000", 0..40_000).is_empty());
        assert_eq!(read(&tree), tree.leaves().len());
    }

    #[test]
    fn a_write_is_found_and_leaves_snapshots_alone() {
        let mut tree = tree(20_000);
        assert!(sought(&tree, "app-new", 0..20_000).len() < 20);
        let before = tree.clone();
        tree.insert(version("k010000", 2, ("app-new", "")));
        let has = |tree: &Tree| {
            sought(tree, "app-new", 0..20_000).into_iter().any(|rank| {
                let leaf = tree.at(rank).map(|(leaf, _)| leaf).expect("it is there");
                leaf.versions().iter().any(|version| version.labels().iter().any(|(_, app)| app == "app-new"))
            })
        };
        assert!(has(&tree));
        assert!(!has(&before));
    }
}
