//! Numbers that JSON can hold.

use std::fmt;
use std::ops::Deref;

/// A number that is neither infinite nor NaN: JSON has no text for those, so an object that held one could be stored
/// but never be read again.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub struct Finite(f64);

impl Finite {
    /// Return the number; `None` if it is infinite or NaN.
    #[inline]
    pub fn new(number: f64) -> Option<Self> {
        number.is_finite().then_some(Self(number))
    }

    /// Return the number as a primitive.
    #[inline]
    pub fn get(self) -> f64 {
        self.0
    }
}

impl From<i64> for Finite {
    fn from(number: i64) -> Self {
        Self(number as f64)
    }
}

impl From<u64> for Finite {
    fn from(number: u64) -> Self {
        Self(number as f64)
    }
}

impl Deref for Finite {
    type Target = f64;

    fn deref(&self) -> &f64 {
        &self.0
    }
}

impl fmt::Display for Finite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::Finite;

    #[test]
    fn what_json_cannot_hold_is_no_number() {
        for number in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            assert_eq!(Finite::new(number), None);
        }
        for number in [0.0, -0.0, f64::MAX, f64::MIN, f64::MIN_POSITIVE] {
            assert_eq!(Finite::new(number).map(Finite::get), Some(number));
        }
    }
}
