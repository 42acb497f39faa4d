//! The leases of events: one is shared by the events of a while (apiserver `pkg/storage/etcd3/lease_manager.go`).

use std::sync::Arc;
use std::time::Duration;

use hydrofoil_types::Clock;
use tokio::sync::Mutex;

use crate::client::{Client, Failure};
use crate::messages::{LeaseRequest, LeaseResponse};

/// The longest time that a lease is shared for, and its part of the time to live.
const SHARED: (u64, u64) = (60, 20);
/// The events that share a lease.
const MOST: usize = 1000;
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug)]
struct Lease {
    id: i64,
    ends: Duration,
    events: usize,
}

/// The present lease.
#[derive(Debug)]
pub(crate) struct Leases {
    client: Arc<Client>,
    clock: Arc<Clock>,
    /// Held over the request for a lease: writes of one moment share it, where each would ask for its own.
    present: Mutex<Option<Lease>>,
}

impl Leases {
    pub(crate) fn new(client: Arc<Client>, clock: Arc<Clock>) -> Self {
        Self { client, clock, present: Mutex::new(None) }
    }

    /// Return a lease that ends after a time to live, and not long after it.
    pub(crate) async fn of(&self, ttl: Duration) -> Result<i64, Failure> {
        let mut present = self.present.lock().await;
        let shared = Duration::from_secs(SHARED.0).min(ttl.checked_div(SHARED.1 as u32).unwrap_or_default());
        let now = self.clock.elapsed();
        if let Some(lease) = present.as_mut() {
            let (least, most) = (now.saturating_add(ttl), now.saturating_add(ttl).saturating_add(shared));
            if lease.ends > least && lease.ends <= most && lease.events < MOST {
                lease.events = lease.events.saturating_add(1);
                return Ok(lease.id);
            }
        }
        let whole = ttl.saturating_add(shared);
        let request = LeaseRequest { ttl: whole.as_secs().max(1) as i64 };
        let found: LeaseResponse =
            self.client.call("/etcdserverpb.Lease/LeaseGrant", request, PATIENCE).await.map_err(|why| undone(&why))?;
        *present = Some(Lease { id: found.id, ends: now.saturating_add(whole), events: 1 });
        Ok(found.id)
    }
}

/// Return a failure before the write: that was surely not done.
fn undone(why: &Failure) -> Failure {
    Failure::Unsent(why.text().to_owned())
}
