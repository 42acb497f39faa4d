//! Priority and fairness: seats and queues of priority levels (apiserver `pkg/util/flowcontrol/fairqueuing`).
//!
//! Nothing here waits or looks at a clock: times are arguments, in seconds from an arbitrary point.
//!
//! `level.rs` has the seats and queues of a priority level, `turn.rs` the time of a turn of the loop: requests that
//! find it used up wait, but for a few that are the only ones of their queue and have had less than their share, so
//! that a small tenant beside a flood waits for no other. `seats.rs`, `timing.rs` and `kinds.rs` measure over time,
//! `counts.rs` counts. Nothing in it knows of Python or a clock.

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
pub use level::{Arrival, Level, Start, Ticket, Times};
pub use queue::Queue;
pub use seats::{CommonSeats, Seats};
pub use timing::Timing;
pub use turn::{Room, Slices, Turn};
pub use work::{GUESS, Work};
