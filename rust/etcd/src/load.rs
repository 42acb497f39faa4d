//! The state of a collection at a revision, in pages.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use hydrofoil_store as store;
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use crate::client::{Client, Failure};
use crate::messages::{KeyValue, RangeRequest};
use crate::options::end_of;
use crate::place::Decoder;

/// The objects of the first page, and of any: pages grow while they are small.
const PAGES: (i64, i64) = (500, 10_000);
/// The bytes of a page after which pages do not grow.
const LARGE: usize = 4 << 20;
const PATIENCE: Duration = Duration::from_secs(60);

/// Objects with their keys and revisions.
pub(crate) type States = Vec<(String, u64, store::Draft)>;

/// A reader of collections, few at a time.
#[derive(Clone, Debug)]
pub(crate) struct Loader {
    pub(crate) client: Arc<Client>,
    pub(crate) places: Arc<Semaphore>,
    /// The number of objects that were read.
    pub(crate) count: Arc<AtomicUsize>,
}

impl Loader {
    /// Load a state into the view, page by page. Return the number of objects.
    pub(crate) async fn load(&self, decoder: Decoder, prefix: Arc<str>, revision: u64) -> Result<usize, Failure> {
        let shard = Arc::clone(&decoder.followed.shard);
        let keep = move |states: States| shard.load(states, revision);
        self.each(decoder, prefix, revision, keep).await
    }

    /// Return a state.
    pub(crate) async fn read(&self, decoder: Decoder, prefix: Arc<str>, revision: u64) -> Result<States, Failure> {
        let found = Arc::new(parking_lot::Mutex::new(States::new()));
        let all = Arc::clone(&found);
        self.each(decoder, prefix, revision, move |states| all.lock().extend(states)).await?;
        Ok(std::mem::take(&mut *found.lock()))
    }

    /// Decode the pages of a state in their order; the next one is read meanwhile.
    async fn each(
        &self,
        decoder: Decoder,
        prefix: Arc<str>,
        revision: u64,
        keep: impl Fn(States) + Clone + Send + 'static,
    ) -> Result<usize, Failure> {
        let _place = self.places.acquire().await;
        let length = prefix.len();
        let end = Bytes::from(end_of(&prefix));
        let mut key = Bytes::copy_from_slice(prefix.as_bytes());
        let (mut limit, mut count) = (PAGES.0, 0_usize);
        let mut decoding: Option<tokio::task::JoinHandle<()>> = None;
        loop {
            let range_end = end.clone();
            let request = RangeRequest { key, range_end, limit, revision: revision as i64, count_only: false };
            let page = self.client.range(request, PATIENCE).await?;
            count = count.saturating_add(page.kvs.len());
            self.count.fetch_add(page.kvs.len(), Ordering::Relaxed);
            let size: usize = page.kvs.iter().map(|kv| kv.value.len()).sum();
            if size < LARGE {
                limit = limit.saturating_mul(2).min(PAGES.1);
            }
            let last = page.kvs.last().filter(|_| page.more).map(|kv| kv.key.clone());
            if let Some(before) = decoding.take() {
                join(before.await)?;
            }
            let (decoder, keep) = (decoder.clone(), keep.clone());
            decoding = Some(spawn_blocking(move || keep(decode_page(&decoder, length, &page.kvs))));
            let Some(last) = last else { break };
            key = [&last, &b"\0"[..]].concat().into();
        }
        if let Some(before) = decoding {
            join(before.await)?;
        }
        Ok(count)
    }
}

fn join(done: Result<(), tokio::task::JoinError>) -> Result<(), Failure> {
    done.map_err(|e| Failure::Refused(format!("objects could not be decoded: {e}")))
}

fn decode_page(decoder: &Decoder, prefix: usize, page: &[KeyValue]) -> States {
    let state = |kv: &KeyValue| {
        let key = std::str::from_utf8(kv.key.get(prefix..)?).ok()?;
        Some((key.to_owned(), kv.mod_revision as u64, decoder.decode(key, kv)?))
    };
    page.iter().filter_map(state).collect()
}
