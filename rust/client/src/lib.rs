//! A client that loads a Kubernetes API server with thousands of connections on one thread, and checks every answer.
//!
//! Bodies are not decoded: objects carry marks, which a search for one byte finds in any encoding, so that the client
//! costs less than the server that it measures. A run is described by a `Plan` and has an `Outcome`.
//!
//! The load of `hydrofoil bench`: one thread, an epoll loop, thousands of connections (`drive.rs`; `nap.rs` lets more
//! of a large answer arrive). Each answer is taken apart into its objects (`pieces.rs`), and each object is compared
//! with the answer to its creation (`known.rs`, by the facts that `event/facts.rs` reads in every encoding) or with the
//! writes of its life (`ledger.rs`, by its marks, `marks.rs`); a list holds those that were there all the time of the
//! request (`presence.rs`). Bytes that were found right once are known again by their print (`print.rs`): that costs
//! less than the server has for it. After the measurement one more watcher reads all events again, which shows a wrong
//! one that a single watcher got. It knows nothing of the server's crates.

#![allow(clippy::arithmetic_side_effects, reason = "counts and sizes of what is in memory")]

mod agent;
mod agents;
mod body;
mod check;
mod clock;
mod connection;
mod drive;
pub mod event;
mod exchange;
mod figures;
mod histogram;
pub mod http;
mod known;
mod ledger;
pub mod marks;
mod nap;
mod pieces;
mod plan;
mod presence;
mod print;
mod run;
mod secure;
mod shared;
mod slot;
mod sockets;
mod target;
mod tls;
mod world;
mod wrong;

pub use plan::{Encoding, Owned, Part, Plan, Resource, Step, plan};
pub use run::{Answer, Outcome, PartOutcome, Run, Written};
pub use secure::{Certificates, server_name, settings};
pub use shared::{Phase, Progress};
pub use target::Target;
pub use wrong::Wrong;
