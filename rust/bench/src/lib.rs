//! What the benchmarks and the count of instructions work on: realistic objects and a filled shard.

mod objects;
mod shard;

pub use objects::{Subject, catalog, definition};
pub use shard::{draft, filled, key};
