//! TLS without I/O, certificates of clients, and certificates that a server makes for itself.
//!
//! rustls does the protocol and webpki validates chains. Nothing here reads files, sockets or the time.
//!
//! TLS connections without I/O on rustls, chains of client certificates (webpki) with Go's rules and messages, the
//! certificates that a server makes for itself, and the digests of tokens (`token.rs`).

#![allow(clippy::arithmetic_side_effects, reason = "sizes of what is in memory")]

mod authority;
mod certificate;
mod config;
mod connection;
mod issue;
mod subject;
pub mod token;
mod verifier;

pub use authority::{ClientCa, Refusal};
pub use certificate::end;
pub use config::{Config, Offer, Pair};
pub use connection::Connection;
pub use issue::{Identity, Purpose, authority, identity, usable};
pub use subject::Subject;
