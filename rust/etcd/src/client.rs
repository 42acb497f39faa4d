//! Calls of etcd: one connection at a time, to the first member that answers.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use prost::Message;
use tokio::sync::Mutex;
use tokio::time::timeout;
use tokio_stream::Stream;
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Code, Request, Status, Streaming};
use tonic_prost::ProstCodec;

use crate::messages::{RangeRequest, RangeResponse};
use crate::options::Options;

/// The time for a connection to a member.
const CONNECTING: Duration = Duration::from_secs(2);
/// The time between two signs of life of a connection, and that for an answer to one (apiserver `pkg/storage/etcd3`).
const KEEPALIVE: (Duration, Duration) = (Duration::from_secs(30), Duration::from_secs(10));
/// The memory that a stream, and a connection, may fill before it is read.
const WINDOW: u32 = 8 << 20;

/// Why a call has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// It was surely not done.
    Unsent(String),
    /// etcd refused it.
    Refused(String),
    /// The revision is older than etcd's history.
    Compacted,
    /// It may have been done.
    Lost(String),
}

impl Failure {
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Unsent(why) | Self::Refused(why) | Self::Lost(why) => why,
            Self::Compacted => "the revision was compacted",
        }
    }
}

/// Calls of etcd.
#[derive(Debug)]
pub(crate) struct Client {
    options: Options,
    /// The connection with its number. Held while one is made: calls that find it broken wait for one new connection
    /// instead of each making its own.
    connection: Mutex<Option<(u64, Channel)>>,
    /// The number of the last connection.
    made: AtomicU64,
    /// The connection that is no longer used.
    broken: AtomicU64,
    /// The member that is asked first.
    member: AtomicUsize,
}

impl Client {
    pub(crate) fn new(options: Options) -> Arc<Self> {
        let (made, broken, member) = (AtomicU64::new(0), AtomicU64::new(0), AtomicUsize::new(0));
        Arc::new(Self { options, connection: Mutex::new(None), made, broken, member })
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// Return the connection and its number.
    async fn channel(&self) -> Result<(u64, Channel), Failure> {
        let mut held = self.connection.lock().await;
        if let Some((number, channel)) = held.as_ref().filter(|(n, _)| *n > self.broken.load(Ordering::Acquire)) {
            return Ok((*number, channel.clone()));
        }
        *held = None;
        let channel = self.connect().await.map_err(Failure::Unsent)?;
        let number = self.made.fetch_add(1, Ordering::AcqRel).wrapping_add(1);
        *held = Some((number, channel.clone()));
        Ok((number, channel))
    }

    async fn connect(&self) -> Result<Channel, String> {
        let first = self.member.load(Ordering::Relaxed);
        let servers = &self.options.servers;
        let mut why = String::new();
        let begin = first.checked_rem(servers.len()).unwrap_or_default();
        for (member, url) in servers.iter().enumerate().cycle().skip(begin).take(servers.len()) {
            let connecting = async { self.endpoint(url)?.connect().await.map_err(|e| reason(&e)) };
            match timeout(CONNECTING, connecting).await {
                Ok(Ok(channel)) => {
                    self.member.store(member, Ordering::Relaxed);
                    return Ok(channel);
                }
                Ok(Err(e)) => why = format!("{url}: {e}"),
                Err(_) => why = format!("{url}: no answer"),
            }
        }
        Err(why)
    }

    /// Return the settings of connections to a member; files are read for each connection.
    fn endpoint(&self, url: &str) -> Result<Endpoint, String> {
        let made = Endpoint::from_shared(url.to_owned()).map_err(|e| reason(&e))?;
        let made = made
            .tcp_nodelay(true)
            .connect_timeout(CONNECTING)
            .http2_keep_alive_interval(KEEPALIVE.0)
            .keep_alive_timeout(KEEPALIVE.1)
            .keep_alive_while_idle(true)
            .initial_stream_window_size(WINDOW)
            .initial_connection_window_size(WINDOW);
        if !url.starts_with("https:") {
            return Ok(made);
        }
        let read = |path: &std::path::Path| fs::read(path).map_err(|e| format!("{}: {e}", path.display()));
        let mut tls = ClientTlsConfig::new();
        if let Some(path) = &self.options.authority {
            tls = tls.ca_certificate(Certificate::from_pem(read(path)?));
        }
        if let Some((certificate, key)) = &self.options.identity {
            tls = tls.identity(Identity::from_pem(read(certificate)?, read(key)?));
        }
        made.tls_config(tls).map_err(|e| reason(&e))
    }

    /// Stop using a connection, and begin the next one with another member.
    fn leave(&self, number: u64) {
        if self.broken.fetch_max(number, Ordering::AcqRel) < number {
            self.member.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Call a method, and wait for its answer for a time at most.
    pub(crate) async fn call<Q, A>(&self, method: &'static str, request: Q, patience: Duration) -> Result<A, Failure>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        let (number, channel) = self.channel().await?;
        let mut grpc = grpc(channel);
        grpc.ready().await.map_err(|e| {
            self.leave(number);
            Failure::Unsent(reason(&e))
        })?;
        let codec = ProstCodec::<Q, A>::default();
        let calling = grpc.unary(Request::new(request), PathAndQuery::from_static(method), codec);
        match timeout(patience, calling).await {
            Ok(Ok(answer)) => Ok(answer.into_inner()),
            Ok(Err(status)) => Err(self.classify(number, &status)),
            Err(_) => {
                if self.options.servers.len() > 1 {
                    self.leave(number);
                }
                Err(Failure::Lost("etcd did not answer in time".to_owned()))
            }
        }
    }

    /// Begin a stream in both directions.
    pub(crate) async fn stream<Q, A>(
        &self,
        method: &'static str,
        requests: impl Stream<Item = Q> + Send + 'static,
    ) -> Result<(u64, Streaming<A>), Failure>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        let (number, channel) = self.channel().await?;
        let mut grpc = grpc(channel);
        grpc.ready().await.map_err(|e| {
            self.leave(number);
            Failure::Unsent(reason(&e))
        })?;
        let codec = ProstCodec::<Q, A>::default();
        let begun = grpc.streaming(Request::new(requests), PathAndQuery::from_static(method), codec).await;
        begun.map(|answer| (number, answer.into_inner())).map_err(|status| self.classify(number, &status))
    }

    /// Read keys.
    pub(crate) async fn range(&self, request: RangeRequest, patience: Duration) -> Result<RangeResponse, Failure> {
        self.call("/etcdserverpb.KV/Range", request, patience).await
    }

    /// Return the meaning of an error of a connection, which is left if it caused the error.
    pub(crate) fn classify(&self, number: u64, status: &Status) -> Failure {
        if std::error::Error::source(status).is_some() {
            self.leave(number);
            return Failure::Lost(reason(status));
        }
        let why = status.message().to_owned();
        match status.code() {
            Code::OutOfRange if why.contains("compacted") => Failure::Compacted,
            Code::InvalidArgument
            | Code::NotFound
            | Code::OutOfRange
            | Code::PermissionDenied
            | Code::Unauthenticated
            | Code::FailedPrecondition
            | Code::ResourceExhausted
            | Code::Unimplemented => Failure::Refused(why),
            Code::Unavailable => {
                // The member has no leader, or is stopping.
                if self.options.servers.len() > 1 {
                    self.leave(number);
                }
                Failure::Lost(why)
            }
            _ => Failure::Lost(why),
        }
    }
}

fn grpc(channel: Channel) -> Grpc<Channel> {
    // A page of large objects is as large as etcd makes it.
    Grpc::new(channel).max_decoding_message_size(usize::MAX).max_encoding_message_size(usize::MAX)
}

/// Return an error with its causes in one line.
fn reason(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let said = cause.to_string();
        if !text.ends_with(&said) {
            text = format!("{text}: {said}");
        }
        next = cause.source();
    }
    text
}
