//! The log of all objects of a server, on a disk.
//!
//! A folder contains *segments*, whose groups of records are the changes in the order of their revisions, *states*, each
//! the objects before the first record of a segment, and a *manifest*, which names them. A start loads the oldest state
//! and applies all records after it, so that the history of a view is as before. One thread writes: all changes that wait
//! become one group, which is durable before the view has them.
//!
//! Damage is found by checksums. Only the last group of the last segment may be incomplete, if nothing shows that it was
//! durable: it is cut.
//!
//! The objects on a disk. `writer.rs` is the thread that writes groups, `queue.rs` judges writes, `files.rs` has the
//! files that make up a folder, `load.rs` reads them, `data.rs` is the work without a server (check, compact, backup);
//! `seal.rs` encrypts.
//!
//! With `--data-dir` the truth is a log of records in a folder; the tree stays the whole state, so the folder needs no
//! index. A *segment* has groups of records, a *state* every object before a segment, the *manifest* names both. A
//! start loads the oldest state and applies the records after it: the rings are as before, and so are lists of the
//! past, continue tokens and watches. Ages of events are by the time that the state was served for, which each group
//! has.
//!
//! - **A group is one write and one sync.** The loop judges a write by the view and by the writes under way
//!   (`queue.rs`) and waits for its future; a thread writes all that wait as one group, makes it durable, applies it to
//!   the view and gives a signal. Nothing is visible before. A write to an object with a write under way is judged
//!   after that: no group depends on another one that may still fail. Revisions are assigned by the thread, so that a
//!   refused group leaves no gap.
//! - **A group has one checksum, and is followed by a mark once it is durable.** A group that is not valid is the end
//!   of the log, unless a group or mark behind it shows that it was durable: then it is damage, and the start fails. So
//!   a flipped bit in the last acknowledged write is found as well, which a log without marks takes for an incomplete
//!   write. With `--data-sync interval` and `never` marks follow the syncs, and the unsynced end is cut at the first
//!   group that is not valid.
//! - **Segments are filled with zeros when they are made.** A full disk shows before a group is begun, a file that lost
//!   its end is recognized by its length, and a sync does not write the file system's journal. The end of a sealed
//!   segment is in the manifest.
//! - **Revisions are reserved in the manifest**, 16,384 at a time and always durably. A start continues above the
//!   reserved ones, whatever the last process lost. Those of a new folder begin at the microseconds since 2026, as in
//!   memory, so that a restored backup finds a number above all that were assigned since.
//! - **A state is written when the events since the last one exceed 4 MiB and half its size**, by a thread, from the
//!   cloned trees. A state and its segments are removed once every ring has dropped the events before the next state:
//!   `--history-window`, `-events` and `-bytes` bound the folder as they bound memory.
//! - **A sync that failed is not repeated**: the kernel drops pages that it could not write, and the next sync succeeds
//!   without them. The log takes no more writes (500), `/readyz` has `[-]data-dir failed`, reads go on. Without space a
//!   group is refused as a whole and the next one is tried.
//! - **The lock is the kernel's** (`flock`), so none is left by a killed process.
//! - **Versions of an idle folder expire as in memory**: the reader of an old state takes a revision if none that was
//!   assigned is still to be applied, and a new shard begins where the history of the others does.
//!
//! Why no engine: 20,000 values of 1 KB over 10,000 keys, one durable commit a group, 2 cores under load, a virtual
//! disk with some 10,000 syncs a second (`fdatasync` of a file filled before), redb 4.6, fjall 2.11, rusqlite 0.40 with
//! a WAL:
//!
//! | | commits of 1 | of 64 | bytes after 64 | start |
//! |---|---|---|---|---|
//! | redb | 760 writes/s | 128,000 | 18 MB | 6 ms |
//! | fjall | 5,000 | 143,000 | 80 MB | 28 ms |
//! | `SQLite` | 3,200 | 44,000 | 51 MB | 3 ms |
//! | segments | 5,700 | 122,000 | 44 MB | 40 ms |
//!
//! The first three keep the newest values; segments also have the tree in memory and 2 s of history, and their start
//! loads both. An engine would need a second index for history, and its start all objects read besides. By their
//! documented recovery, fjall and `SQLite`'s WAL drop a damaged record and all behind it; here that is an error.

// Files may have any content.
#![warn(clippy::string_slice, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod data;
mod disk;
mod error;
mod files;
mod folder;
mod group;
mod load;
mod log;
mod manifest;
mod options;
mod queue;
mod record;
mod seal;
mod segment;
mod state;
mod unread;
mod wire;
mod writer;

pub use data::{Encryption, Summary, backup, check, compact, export, restore};
pub use disk::Faults;
pub use error::{LogError, Result};
pub use log::Log;
pub use options::{Options, Sync};
pub use queue::{Done, Refusal, Submitted, Target};
pub use seal::Fault;
