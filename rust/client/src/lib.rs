//! A client that loads a Kubernetes API server with thousands of connections on one thread, and checks every answer.
//!
//! Bodies are not decoded: objects carry marks, which a search for one byte finds in any encoding, so that the client
//! costs less than the server that it measures. A run is described by a `Plan` and has an `Outcome`.

#![allow(clippy::arithmetic_side_effects, reason = "counts and sizes of what is in memory")]

mod agent;
mod agents;
mod board;
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
