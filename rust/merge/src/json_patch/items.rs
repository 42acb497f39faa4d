//! The items of a list in chunks, so that one can be inserted or removed without moving all that follow.

/// The maximum number of items of a chunk.
const MOST: usize = 1024;

/// A list.
pub(super) struct Items<T> {
    stretches: Vec<Vec<T>>,
    len: usize,
}

impl<T> FromIterator<T> for Items<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut out = Self { stretches: Vec::new(), len: 0 };
        for item in items {
            match out.stretches.last_mut().filter(|last| last.len() < MOST / 2) {
                Some(last) => last.push(item),
                None => out.stretches.push(vec![item]),
            }
            out.len += 1;
        }
        out
    }
}

impl<T> Items<T> {
    pub fn len(&self) -> usize {
        self.len
    }

    /// Return the chunk of an index and the index in it; the end of the list is in the last chunk.
    fn find(&self, place: usize) -> Option<(usize, usize)> {
        let mut rest = place;
        for (at, stretch) in self.stretches.iter().enumerate() {
            if rest < stretch.len() || (rest == stretch.len() && at + 1 == self.stretches.len()) {
                return Some((at, rest));
            }
            rest -= stretch.len();
        }
        None
    }

    pub fn get(&self, place: usize) -> Option<&T> {
        let (at, rest) = self.find(place)?;
        self.stretches.get(at)?.get(rest)
    }

    pub fn get_mut(&mut self, place: usize) -> Option<&mut T> {
        let (at, rest) = self.find(place)?;
        self.stretches.get_mut(at)?.get_mut(rest)
    }

    /// Insert an item before an index, or at the end.
    pub fn insert(&mut self, place: usize, item: T) {
        self.len += 1;
        let Some((at, rest)) = self.find(place) else { return self.stretches.push(vec![item]) };
        let Some(stretch) = self.stretches.get_mut(at) else { return };
        stretch.insert(rest, item);
        if stretch.len() > MOST {
            let half = stretch.split_off(MOST / 2);
            self.stretches.insert(at + 1, half);
        }
    }

    pub fn remove(&mut self, place: usize) -> Option<T> {
        let (at, rest) = self.find(place).filter(|_| place < self.len)?;
        let stretch = self.stretches.get_mut(at)?;
        let item = stretch.remove(rest);
        if stretch.is_empty() {
            self.stretches.remove(at);
        }
        self.len -= 1;
        Some(item)
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.stretches.iter().flatten()
    }
}

impl<T> IntoIterator for Items<T> {
    type Item = T;
    type IntoIter = std::iter::Flatten<std::vec::IntoIter<Vec<T>>>;

    fn into_iter(self) -> Self::IntoIter {
        self.stretches.into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::{Items, MOST};

    /// It behaves like a list, whatever is inserted and removed.
    #[test]
    fn items_stand_where_those_of_a_list_do() {
        let mut list: Vec<usize> = (0..3 * MOST).collect();
        let mut items: Items<usize> = list.iter().copied().collect();
        let mut seed = 1_usize;
        for n in 0..20_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let place = (seed >> 33) % (list.len() + 1);
            if seed >> 62 == 0 || n > 15_000 {
                let expected = (place < list.len()).then(|| list.remove(place));
                assert_eq!(items.remove(place), expected);
            } else {
                list.insert(place, n);
                items.insert(place, n);
            }
            assert_eq!((items.len(), items.get(place)), (list.len(), list.get(place)));
        }
        assert!(items.into_iter().eq(list));
    }
}
