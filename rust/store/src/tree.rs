//! A copy-on-write ordered tree of versions: a clone is a snapshot and costs nothing.

use std::sync::Arc;

use crate::Version;

const LEAF_MAX: usize = 128;
const INNER_MAX: usize = 64;

/// Versions by key. Cloning shares every node; a write copies the path to one leaf.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    root: Option<Child>,
}

#[derive(Clone, Debug)]
struct Child {
    /// The least key below.
    first: Arc<str>,
    /// How many versions are below.
    count: usize,
    node: Arc<Node>,
}

#[derive(Clone, Debug)]
enum Node {
    Leaf(Vec<Arc<Version>>),
    Inner(Vec<Child>),
}

impl Child {
    fn of(node: Node) -> Self {
        let (first, count) = match &node {
            Node::Leaf(v) => (Arc::clone(v[0].key()), v.len()),
            Node::Inner(c) => (Arc::clone(&c[0].first), c.iter().map(|c| c.count).sum()),
        };
        Self { first, count, node: Arc::new(node) }
    }
}

/// The place among children where `key` belongs: the last whose first key is not above it.
fn place(children: &[Child], key: &str) -> usize {
    children.partition_point(|c| &*c.first <= key).saturating_sub(1)
}

impl Tree {
    /// How many versions it holds.
    pub fn len(&self) -> usize {
        self.root.as_ref().map_or(0, |r| r.count)
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    /// The version of a key.
    pub fn get(&self, key: &str) -> Option<&Arc<Version>> {
        let mut node = &self.root.as_ref()?.node;
        loop {
            match &**node {
                Node::Leaf(v) => return v.binary_search_by(|x| (**x.key()).cmp(key)).ok().map(|i| &v[i]),
                Node::Inner(c) => node = &c[place(c, key)].node,
            }
        }
    }

    /// Puts a version in its place and gives back the one that stood there.
    pub fn insert(&mut self, version: Arc<Version>) -> Option<Arc<Version>> {
        let Some(root) = &mut self.root else {
            self.root = Some(Child::of(Node::Leaf(vec![version])));
            return None;
        };
        let (old, split) = insert(root, version);
        if let Some(right) = split {
            let left = self.root.take().expect("the root was there");
            self.root = Some(Child::of(Node::Inner(vec![left, right])));
        }
        old
    }

    /// Takes a key out.
    pub fn remove(&mut self, key: &str) -> Option<Arc<Version>> {
        let root = self.root.as_mut()?;
        let old = remove(root, key)?;
        if root.count == 0 {
            self.root = None;
        } else {
            while let Some(Node::Inner(c)) = self.root.as_ref().map(|r| &*r.node) {
                if c.len() > 1 {
                    break;
                }
                self.root = Some(c[0].clone());
            }
        }
        Some(old)
    }

    /// How many keys are below `key`.
    pub fn rank(&self, key: &str) -> usize {
        let Some(root) = &self.root else { return 0 };
        let mut node = &root.node;
        let mut before = 0;
        loop {
            match &**node {
                Node::Leaf(v) => return before + v.partition_point(|x| &**x.key() < key),
                Node::Inner(c) => {
                    let at = place(c, key);
                    before += c[..at].iter().map(|c| c.count).sum::<usize>();
                    node = &c[at].node;
                }
            }
        }
    }

    /// The versions from `key` on, in order.
    pub fn range(&self, key: &str) -> Range<'_> {
        let mut range = Range { stack: Vec::new(), leaf: [].iter() };
        let mut node = match &self.root {
            Some(root) => &root.node,
            None => return range,
        };
        loop {
            match &**node {
                Node::Leaf(v) => {
                    range.leaf = v[v.partition_point(|x| &**x.key() < key)..].iter();
                    return range;
                }
                Node::Inner(c) => {
                    let at = place(c, key);
                    range.stack.push(c[at + 1..].iter());
                    node = &c[at].node;
                }
            }
        }
    }
}

/// Versions in key order.
pub struct Range<'a> {
    stack: Vec<std::slice::Iter<'a, Child>>,
    leaf: std::slice::Iter<'a, Arc<Version>>,
}

impl<'a> Iterator for Range<'a> {
    type Item = &'a Arc<Version>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(version) = self.leaf.next() {
                return Some(version);
            }
            let mut node = loop {
                match self.stack.last_mut()?.next() {
                    Some(child) => break &child.node,
                    None => {
                        self.stack.pop();
                    }
                }
            };
            loop {
                match &**node {
                    Node::Leaf(v) => {
                        self.leaf = v.iter();
                        break;
                    }
                    Node::Inner(c) => {
                        self.stack.push(c[1..].iter());
                        node = &c[0].node;
                    }
                }
            }
        }
    }
}

fn insert(child: &mut Child, version: Arc<Version>) -> (Option<Arc<Version>>, Option<Child>) {
    if version.key() < &child.first {
        child.first = Arc::clone(version.key());
    }
    let (old, split) = match Arc::make_mut(&mut child.node) {
        Node::Leaf(v) => match v.binary_search_by(|x| x.key().cmp(version.key())) {
            Ok(i) => (Some(std::mem::replace(&mut v[i], version)), None),
            Err(i) => {
                v.insert(i, version);
                let split = (v.len() > LEAF_MAX).then(|| Node::Leaf(v.split_off(cut(i, v.len()))));
                (None, split)
            }
        },
        Node::Inner(c) => {
            let at = place(c, version.key());
            let (old, split) = insert(&mut c[at], version);
            let mut right = None;
            if let Some(new) = split {
                c.insert(at + 1, new);
                right = (c.len() > INNER_MAX).then(|| Node::Inner(c.split_off(cut(at + 1, c.len()))));
            }
            (old, right)
        }
    };
    child.count += usize::from(old.is_none());
    let split = split.map(Child::of);
    if let Some(right) = &split {
        child.count -= right.count;
    }
    (old, split)
}

/// Where to split: in the middle, or before the last item when keys arrive in order.
fn cut(inserted: usize, len: usize) -> usize {
    if inserted + 1 == len { len - 1 } else { len / 2 }
}

fn remove(child: &mut Child, key: &str) -> Option<Arc<Version>> {
    let found = match &*child.node {
        Node::Leaf(v) => v.binary_search_by(|x| (**x.key()).cmp(key)).ok()?,
        Node::Inner(c) => place(c, key),
    };
    let old = match Arc::make_mut(&mut child.node) {
        Node::Leaf(v) => v.remove(found),
        Node::Inner(c) => {
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
        child.first = match &*child.node {
            Node::Leaf(v) => Arc::clone(v[0].key()),
            Node::Inner(c) => Arc::clone(&c[0].first),
        };
    }
    Some(old)
}

/// Joins a sparse child with its right neighbour, so that deletions do not leave a tree of crumbs.
fn join(children: &mut Vec<Child>, at: usize) {
    let at = at.min(children.len().saturating_sub(2));
    let Some([left, right]) = children.get(at..at + 2) else { return };
    let joined = match (&*left.node, &*right.node) {
        (Node::Leaf(a), Node::Leaf(b)) if a.len() + b.len() <= LEAF_MAX / 2 => Node::Leaf([&a[..], &b[..]].concat()),
        (Node::Inner(a), Node::Inner(b)) if a.len() + b.len() <= INNER_MAX / 2 => {
            Node::Inner([&a[..], &b[..]].concat())
        }
        _ => return,
    };
    children[at] = Child::of(joined);
    children.remove(at + 1);
}
