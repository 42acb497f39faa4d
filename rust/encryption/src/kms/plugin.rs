//! Calls of a plug-in, by gRPC over a Unix socket (apiserver `kmsv2/grpc_service.go`).

use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use prost::Message;
use tokio::net::UnixStream;
use tokio::time::{sleep, timeout};
use tonic::client::Grpc;
use tonic::codegen::http::Uri;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Status};
use tonic_prost::ProstCodec;
use tower::service_fn;

use super::message::{DecryptRequest, DecryptResponse, EncryptRequest, EncryptResponse, StatusRequest, StatusResponse};
use crate::failure::{Failure, Result};
use crate::metrics::{Family, Metrics};
use crate::settings::KmsSettings;

/// The time between two attempts to reach a plug-in.
const PAUSE: Duration = Duration::from_millis(50);

/// A plug-in, connected to when it is called.
#[derive(Debug)]
pub(crate) struct Plugin {
    pub(crate) name: String,
    limit: Duration,
    channel: Channel,
    /// Why the last attempt to connect failed; empty if it succeeded.
    unreachable: Arc<Mutex<String>>,
    metrics: Arc<Metrics>,
}

async fn connect(path: String) -> io::Result<UnixStream> {
    // A name in the abstract namespace begins with a zero.
    let place = path.strip_prefix('@').map_or(path.clone(), |name| format!("\0{name}"));
    UnixStream::connect(place).await
}

/// Return the system's text of an error, without its number.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

impl Plugin {
    pub(crate) fn new(settings: &KmsSettings, metrics: Arc<Metrics>) -> Self {
        let unreachable = Arc::new(Mutex::new(String::new()));
        let (path, known) = (settings.path.clone(), Arc::clone(&unreachable));
        let connector = service_fn(move |_: Uri| {
            let (path, known) = (path.clone(), Arc::clone(&known));
            async move {
                let made = connect(path.clone()).await;
                *known.lock() = made.as_ref().err().map_or_else(String::new, |e| {
                    format!("transport: Error while dialing: dial unix {path}: connect: {}", plain(e))
                });
                made.map(TokioIo::new)
            }
        });
        let channel = Endpoint::from_static("http://localhost").connect_with_connector_lazy(connector);
        Self { name: settings.name.clone(), limit: settings.timeout, channel, unreachable, metrics }
    }

    /// Call a method; wait for a plug-in that is not there yet.
    async fn call<Q, A>(&self, method: &'static str, request: Q) -> Result<A>
    where
        Q: Message + Clone + 'static,
        A: Message + Default + 'static,
    {
        let begun = self.metrics.now();
        let answered = timeout(self.limit, async {
            loop {
                let answer: std::result::Result<A, Status> = self.once(method, request.clone()).await;
                match answer {
                    Err(status) if status.code() == Code::Unavailable && !self.unreachable.lock().is_empty() => {
                        sleep(PAUSE).await;
                    }
                    answer => return answer,
                }
            }
        });
        let answer = match answered.await {
            Ok(answer) => answer.map_err(|status| (status.code(), status.message().to_owned())),
            Err(_) => Err((Code::DeadlineExceeded, self.late())),
        };
        let answer = answer.map_err(|(code, text)| {
            let name = code_name(code);
            Failure::of_call(format!("rpc error: code = {name} desc = {text}"), name)
        });
        let status = answer.as_ref().map_or_else(Failure::status, |_| "OK");
        let row = [&self.name, &format!("/v2.KeyManagementService/{method}"), status];
        self.metrics.observe(Family::Calls, &row, begun);
        answer
    }

    /// Return why there was no answer in time.
    fn late(&self) -> String {
        let why = self.unreachable.lock().clone();
        if why.is_empty() {
            "context deadline exceeded".to_owned()
        } else {
            format!("latest balancer error: connection error: desc = \"{why}\"")
        }
    }

    async fn once<Q, A>(&self, method: &'static str, request: Q) -> std::result::Result<A, Status>
    where
        Q: Message + 'static,
        A: Message + Default + 'static,
    {
        let mut grpc = Grpc::new(self.channel.clone());
        grpc.ready().await.map_err(|e| Status::unavailable(e.to_string()))?;
        let path = match method {
            "Status" => "/v2.KeyManagementService/Status",
            "Encrypt" => "/v2.KeyManagementService/Encrypt",
            _ => "/v2.KeyManagementService/Decrypt",
        };
        let (path, codec) = (PathAndQuery::from_static(path), ProstCodec::<Q, A>::default());
        Ok(grpc.unary(Request::new(request), path, codec).await?.into_inner())
    }

    pub(crate) async fn status(&self) -> Result<StatusResponse> {
        self.call("Status", StatusRequest {}).await
    }

    pub(crate) async fn encrypt(&self, request: EncryptRequest) -> Result<EncryptResponse> {
        self.call("Encrypt", request).await
    }

    pub(crate) async fn decrypt(&self, request: DecryptRequest) -> Result<DecryptResponse> {
        self.call("Decrypt", request).await
    }
}

/// Return the name of a code as Go writes it.
fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "Canceled",
        Code::Unknown => "Unknown",
        Code::InvalidArgument => "InvalidArgument",
        Code::DeadlineExceeded => "DeadlineExceeded",
        Code::NotFound => "NotFound",
        Code::AlreadyExists => "AlreadyExists",
        Code::PermissionDenied => "PermissionDenied",
        Code::ResourceExhausted => "ResourceExhausted",
        Code::FailedPrecondition => "FailedPrecondition",
        Code::Aborted => "Aborted",
        Code::OutOfRange => "OutOfRange",
        Code::Unimplemented => "Unimplemented",
        Code::Internal => "Internal",
        Code::Unavailable => "Unavailable",
        Code::DataLoss => "DataLoss",
        Code::Unauthenticated => "Unauthenticated",
    }
}
