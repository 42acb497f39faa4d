//! The subjects of the benchmarks and of the count of instructions: realistic objects and a filled shard.

mod objects;
mod shard;

pub use objects::{Subject, catalog, definition};
pub use shard::{draft, fill_shard, key, publish_shard};
