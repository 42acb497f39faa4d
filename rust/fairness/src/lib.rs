//! Priority and fairness: seats and queues of priority levels (apiserver `pkg/util/flowcontrol/fairqueuing`).
//!
//! Nothing here waits or looks at a clock: times are arguments, in seconds from an arbitrary point.

// Input from outside must not make the server panic: each operation that could panic is reviewed.
#![warn(clippy::string_slice, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod counts;
mod flow;
mod kinds;
mod level;
mod queue;
mod seats;
mod slots;
mod timing;
mod turn;
mod work;

pub use counts::{Counts, Reason, Tally};
pub use flow::Flow;
pub use kinds::{Kind, Kinds};
pub use level::{Arrival, Level, Start, Ticket};
pub use queue::Queue;
pub use seats::Seats;
pub use timing::Timing;
pub use turn::{Room, Slices, Turn};
pub use work::{GUESS, Work};
