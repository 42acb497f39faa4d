//! Ranges of sizes and costs (cel-go `checker/cost.go`): sums and products saturate at the largest number.

/// A range from a minimum to a maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub min: u64,
    pub max: u64,
}

/// The cost of traversing a string, per character.
pub(crate) const TEXT: f64 = 0.1;
/// The cost per character of a pattern and unit of text.
pub(crate) const PATTERN: f64 = 0.25;
/// The cost of creating a list.
pub(crate) const LIST: u64 = 10;
/// The cost of creating a map.
pub(crate) const MAP: u64 = 30;
/// The cost of creating an object of a patch.
pub(crate) const MESSAGE: u64 = 40;
/// The cost of asking an authorizer: two questions fit into an expression.
pub(crate) const CHECK: u64 = 350_000;

impl Range {
    pub const UNKNOWN: Self = Self { min: 0, max: u64::MAX };
    pub const ZERO: Self = Self::exactly(0);

    pub const fn exactly(n: u64) -> Self {
        Self { min: n, max: n }
    }

    pub fn plus(self, other: Self) -> Self {
        Self { min: self.min.saturating_add(other.min), max: self.max.saturating_add(other.max) }
    }

    pub fn times(self, other: Self) -> Self {
        Self { min: self.min.saturating_mul(other.min), max: self.max.saturating_mul(other.max) }
    }

    pub fn factor(self, factor: f64) -> Self {
        Self { min: scale(self.min, factor), max: scale(self.max, factor) }
    }

    pub fn union(self, other: Self) -> Self {
        Self { min: self.min.min(other.min), max: self.max.max(other.max) }
    }
}

/// Return the product rounded up. A float beyond the largest number is converted to that number.
pub(crate) fn scale(n: u64, factor: f64) -> u64 {
    (n as f64 * factor).ceil() as u64
}
