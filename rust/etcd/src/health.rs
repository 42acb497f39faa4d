//! Whether etcd answers.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use tokio::time::sleep;

use crate::client::{Client, Failure};
use crate::messages::RangeRequest;

/// The time between two questions, and that for an answer (apiserver `--etcd-healthcheck-timeout`).
const TIMES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(2));

/// Ask for a key that need not exist, by a quorum. Return the revision of etcd.
pub(crate) async fn ask(client: &Client, patience: Duration) -> Result<u64, Failure> {
    let key = Bytes::from(format!("{}health", client.options().prefix));
    let request = RangeRequest { key, count_only: true, ..RangeRequest::default() };
    let answer = client.range(request, patience).await?;
    Ok(answer.header.map_or(0, |header| header.revision as u64))
}

/// Keep the problem of etcd up to date.
pub(crate) async fn run(client: Arc<Client>, problem: Arc<Mutex<String>>) {
    loop {
        sleep(TIMES.0).await;
        let found = ask(&client, TIMES.1).await.err().map(|why| why.text().to_owned());
        *problem.lock() = found.unwrap_or_default();
    }
}
