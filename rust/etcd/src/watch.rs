//! The watch of all keys.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::AbortHandle;
use tokio_stream::wrappers::ReceiverStream;

use crate::client::{Client, Failure};
use crate::messages::{Nothing, WatchCall, WatchCreate, WatchRequest, WatchResponse};
use crate::options::end_of;

const METHOD: &str = "/etcdserverpb.Watch/Watch";
/// The answers that wait to be applied.
const WAITING: usize = 16;

/// A watch: its answers, and the questions about its progress.
#[derive(Debug)]
pub(crate) struct Watch {
    pub(crate) answers: Receiver<Result<WatchResponse, Failure>>,
    requests: Sender<WatchRequest>,
    task: AbortHandle,
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Watch {
    /// Begin to watch all keys from a revision on.
    pub(crate) fn begin(client: &Arc<Client>, from: u64) -> Self {
        let (requests, asked) = channel(WAITING);
        let (found, answers) = channel(WAITING);
        let task = tokio::spawn(run(Arc::clone(client), from, requests.clone(), asked, found)).abort_handle();
        Self { answers, requests, task }
    }

    /// Ask for the revision up to which all events were sent.
    pub(crate) fn ask(&self) {
        // Without room many questions wait already.
        let _ = self.requests.try_send(WatchRequest { call: Some(WatchCall::Progress(Nothing {})) });
    }
}

async fn run(
    client: Arc<Client>,
    from: u64,
    requests: Sender<WatchRequest>,
    asked: Receiver<WatchRequest>,
    found: Sender<Result<WatchResponse, Failure>>,
) {
    if let Err(why) = follow(&client, from, requests, asked, &found).await {
        let _ = found.send(Err(why)).await;
    }
}

async fn follow(
    client: &Client,
    from: u64,
    requests: Sender<WatchRequest>,
    asked: Receiver<WatchRequest>,
    found: &Sender<Result<WatchResponse, Failure>>,
) -> Result<(), Failure> {
    let prefix = &client.options().prefix;
    let create = WatchCreate {
        key: Bytes::copy_from_slice(prefix.as_bytes()),
        range_end: end_of(prefix).into(),
        start_revision: from as i64,
        progress_notify: true,
    };
    let gone = |_| Failure::Unsent("the watch has ended".to_owned());
    requests.send(WatchRequest { call: Some(WatchCall::Create(create)) }).await.map_err(gone)?;
    let (number, mut answers) =
        client.stream::<WatchRequest, WatchResponse>(METHOD, ReceiverStream::new(asked)).await?;
    loop {
        let answer = answers.message().await.map_err(|status| client.classify(number, &status))?;
        let Some(answer) = answer else { return Err(Failure::Lost("etcd ended the watch".to_owned())) };
        if answer.canceled {
            let compacted = answer.compact_revision > 0;
            return Err(if compacted { Failure::Compacted } else { Failure::Refused(answer.cancel_reason) });
        }
        if found.send(Ok(answer)).await.is_err() {
            return Ok(());
        }
    }
}

/// Return the revision up to which history has been compacted, if any.
pub(crate) async fn compact_revision(client: &Client) -> Result<u64, Failure> {
    let (requests, asked) = channel(1);
    let create = WatchCreate { key: Bytes::from_static(b"\0"), start_revision: 1, ..WatchCreate::default() };
    let gone = |_| Failure::Unsent("the watch has ended".to_owned());
    requests.send(WatchRequest { call: Some(WatchCall::Create(create)) }).await.map_err(gone)?;
    let (number, mut answers) =
        client.stream::<WatchRequest, WatchResponse>(METHOD, ReceiverStream::new(asked)).await?;
    loop {
        let answer = answers.message().await.map_err(|status| client.classify(number, &status))?;
        match answer {
            Some(answer) if answer.canceled => return Ok(answer.compact_revision as u64),
            Some(_) => {}
            None => return Err(Failure::Lost("etcd ended the watch".to_owned())),
        }
    }
}
