//! The compaction of etcd's history by one of all servers (apiserver `pkg/storage/etcd3/compact.go`).

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::sleep;

use crate::client::{Client, Failure};
use crate::messages::{CompactionRequest, Compare, Equals, Nothing, PutRequest, Request, TxnRequest, TxnResponse};

/// The key with the last compacted revision; its version counts compactions.
const KEY: &[u8] = b"compact_rev_key";
const PATIENCE: Duration = Duration::from_secs(30);

/// Compact what was the present an interval ago, each interval, unless another server did so.
pub(crate) async fn run(client: Arc<Client>, interval: Duration) {
    let (mut count, mut revision) = (0, 0);
    loop {
        sleep(interval).await;
        // After a failure the next interval starts from the last success.
        if let Ok(next) = compact(&client, count, revision).await {
            (count, revision) = next;
        }
    }
}

/// Compact up to a revision if the key was written `count` times. Return the present count and revision.
pub(crate) async fn compact(client: &Client, count: i64, revision: i64) -> Result<(i64, i64), Failure> {
    let key = Bytes::from_static(KEY);
    let put = PutRequest { key: key.clone(), value: revision.to_string().into(), lease: 0 };
    let request = TxnRequest::when(Compare::new(key, Equals::Version(count)), Request::Put(put));
    let answer: TxnResponse = client.call("/etcdserverpb.KV/Txn", request, PATIENCE).await?;
    let now = answer.revision() as i64;
    if !answer.succeeded {
        return Ok((answer.present().map_or(0, |kv| kv.version), now));
    }
    if revision > 0 {
        let _: Nothing = client.call("/etcdserverpb.KV/Compact", CompactionRequest { revision }, PATIENCE).await?;
    }
    Ok((count.saturating_add(1), now))
}
