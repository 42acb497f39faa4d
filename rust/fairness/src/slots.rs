//! Places for requests that wait or run: found by number, reused.

/// Values by number.
#[derive(Debug)]
pub(crate) struct Slots<T> {
    places: Vec<Option<T>>,
    free: Vec<usize>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }
}

impl<T> Slots<T> {
    /// Keep a value; return its number.
    pub(crate) fn put(&mut self, value: T) -> usize {
        if let Some(number) = self.free.pop()
            && let Some(place) = self.places.get_mut(number)
        {
            *place = Some(value);
            return number;
        }
        self.places.push(Some(value));
        self.places.len().saturating_sub(1)
    }

    /// Return the value of a number.
    pub(crate) fn get(&self, number: usize) -> Option<&T> {
        self.places.get(number)?.as_ref()
    }

    /// Return the value of a number, to be changed.
    pub(crate) fn get_mut(&mut self, number: usize) -> Option<&mut T> {
        self.places.get_mut(number)?.as_mut()
    }

    /// Take a value out.
    pub(crate) fn take(&mut self, number: usize) -> Option<T> {
        let found = self.places.get_mut(number)?.take();
        if found.is_some() {
            self.free.push(number);
        }
        found
    }

    /// Return all values, in the order of their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.places.iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::Slots;

    #[test]
    fn places_are_reused() {
        let mut found = Slots::default();
        assert_eq!([found.put('a'), found.put('b')], [0, 1]);
        assert_eq!((found.take(0), found.take(0), found.take(7)), (Some('a'), None, None));
        assert_eq!((found.put('c'), found.put('d')), (0, 2));
        assert_eq!(found.iter().collect::<String>(), "cbd");
        *found.get_mut(1).expect("it was put there") = 'e';
        assert_eq!(found.get(1), Some(&'e'));
    }
}
