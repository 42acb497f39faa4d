//! The entries of a new map.

use super::index::{Index, MANY};
use super::{Fail, Val};

/// Keys and values in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entries<'a> {
    list: Vec<(Val<'a>, Val<'a>)>,
    /// Of the keys, once there are many.
    index: Option<Index>,
}

impl<'a> Entries<'a> {
    pub fn of(list: Vec<(Val<'a>, Val<'a>)>) -> Self {
        let mut made = Self { list, index: None };
        made.index_new();
        made
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = &(Val<'a>, Val<'a>)> {
        self.list.iter()
    }

    /// Return the value of a key that equals another, numbers by value.
    pub fn get(&self, key: &Val<'a>) -> Option<&Val<'a>> {
        let at = self.place(|known| known.equal(key) == Ok(true), key)?;
        self.list.get(at).map(|(_, value)| value)
    }

    /// Add an entry. A map that a comprehension makes refuses a key that it has.
    pub fn insert(&mut self, key: Val<'a>, value: Val<'a>) -> Result<(), Fail> {
        check_key(&key)?;
        if self.get(&key).is_some() {
            return Err(Fail::new(format!("insert failed: key {} already exists", key.error_text())));
        }
        self.push(key, value);
        Ok(())
    }

    /// Add an entry. The last value of a duplicate key counts, as in Go's maps.
    pub fn set(&mut self, key: Val<'a>, value: Val<'a>) -> Result<(), Fail> {
        check_key(&key)?;
        let same = |known: &Val<'a>| known.kind() == key.kind() && known.equal(&key) == Ok(true);
        match self.place(same, &key).and_then(|at| self.list.get_mut(at)) {
            Some((_, old)) => *old = value,
            None => self.push(key, value),
        }
        Ok(())
    }

    fn push(&mut self, key: Val<'a>, value: Val<'a>) {
        self.list.push((key, value));
        self.index_new();
    }

    /// Index what was added.
    fn index_new(&mut self) {
        match &mut self.index {
            Some(index) => {
                if let Some((key, _)) = self.list.last() {
                    index.add(index.hash(key), self.list.len().saturating_sub(1));
                }
            }
            None if self.list.len() >= MANY => {
                let mut index = Index::default();
                for (at, (key, _)) in self.list.iter().enumerate() {
                    index.add(index.hash(key), at);
                }
                self.index = Some(index);
            }
            None => {}
        }
    }

    fn place(&self, fits: impl Fn(&Val<'a>) -> bool, key: &Val<'a>) -> Option<usize> {
        let fits = |at: usize| self.list.get(at).is_some_and(|(known, _)| fits(known));
        match &self.index {
            Some(index) => index.candidates(index.hash(key)).iter().copied().find(|at| fits(*at)),
            None => (0..self.list.len()).find(|at| fits(*at)),
        }
    }
}

/// Check that a value is a valid key.
fn check_key(key: &Val<'_>) -> Result<(), Fail> {
    if matches!(key, Val::Bool(_) | Val::Int(_) | Val::Uint(_) | Val::Str(_)) {
        return Ok(());
    }
    Err(Fail::new("unsupported key type"))
}
