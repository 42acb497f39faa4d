//! Values whose keys a plug-in encrypts.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::Ready;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::thread::JoinHandle;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hydrofoil_encryption::{Family, Metrics, Settings, Transformers};
use hydrofoil_types::Clock;
use prost::Message;
use tokio::net::UnixListener;
use tokio::sync::oneshot;
use tokio_stream::wrappers::UnixListenerStream;
use tonic::codegen::http;
use tonic::codegen::{BoxFuture, Service};
use tonic::server::{Grpc, NamedService, UnaryService};
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;

const KEY: &str = "/registry/services/specs/default/a";
const MINUTE: u64 = 60_000_000_000;

/// All messages of the interface have members of these numbers and types.
#[derive(Clone, PartialEq, Message)]
struct Answer {
    #[prost(bytes = "vec", tag = "1")]
    first: Vec<u8>,
    #[prost(string, tag = "2")]
    second: String,
    #[prost(string, tag = "3")]
    third: String,
}

#[derive(Clone, PartialEq, Message)]
struct Encrypted {
    #[prost(bytes = "vec", tag = "1")]
    ciphertext: Vec<u8>,
    #[prost(string, tag = "2")]
    key_id: String,
    #[prost(btree_map = "string, bytes", tag = "3")]
    annotations: BTreeMap<String, Vec<u8>>,
}

#[derive(Clone, PartialEq, Message)]
struct Plain {
    #[prost(bytes = "vec", tag = "1")]
    bytes: Vec<u8>,
}

/// The answers of a plug-in.
#[derive(Clone, Debug)]
struct Behaviour {
    version: &'static str,
    healthz: &'static str,
    key_id: String,
    /// The key that it encrypts with, if it is another one.
    other_key: Option<String>,
    refuses: bool,
}

impl Default for Behaviour {
    fn default() -> Self {
        Self { version: "v2", healthz: "ok", key_id: "key-1".to_owned(), other_key: None, refuses: false }
    }
}

/// A plug-in that encrypts by inverting some bits.
#[derive(Clone)]
struct Plugin {
    behaviour: Arc<Mutex<Behaviour>>,
    calls: Arc<Mutex<Vec<String>>>,
}

fn mixed(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().map(|byte| byte ^ 0x5a).collect()
}

struct Method<F>(F);

impl<F: FnMut(Q) -> Result<A, Status>, Q, A> UnaryService<Q> for Method<F> {
    type Response = A;
    type Future = Ready<Result<Response<A>, Status>>;

    fn call(&mut self, request: Request<Q>) -> Self::Future {
        std::future::ready((self.0)(request.into_inner()).map(Response::new))
    }
}

impl NamedService for Plugin {
    const NAME: &'static str = "v2.KeyManagementService";
}

impl Service<http::Request<tonic::body::Body>> for Plugin {
    type Response = http::Response<tonic::body::Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<tonic::body::Body>) -> Self::Future {
        let method = request.uri().path().rsplit('/').next().unwrap_or_default().to_owned();
        self.calls.lock().expect("no panic").push(method.clone());
        let found = self.behaviour.lock().expect("no panic").clone();
        let refused = move || if found.refuses { Err(Status::internal("it refuses")) } else { Ok(found.clone()) };
        Box::pin(async move {
            Ok(match method.as_str() {
                "Status" => {
                    let answer = move |_: Plain| {
                        refused().map(|found| Answer {
                            first: found.version.into(),
                            second: found.healthz.to_owned(),
                            third: found.key_id,
                        })
                    };
                    Grpc::new(ProstCodec::default()).unary(Method(answer), request).await
                }
                "Encrypt" => {
                    let answer = move |plain: Plain| {
                        refused().map(|found| Encrypted {
                            ciphertext: mixed(&plain.bytes),
                            key_id: found.other_key.unwrap_or(found.key_id),
                            annotations: BTreeMap::from([("a.example.com".to_owned(), b"note".to_vec())]),
                        })
                    };
                    Grpc::new(ProstCodec::default()).unary(Method(answer), request).await
                }
                _ => {
                    let answer = move |plain: Plain| refused().map(|_| Plain { bytes: mixed(&plain.bytes) });
                    Grpc::new(ProstCodec::default()).unary(Method(answer), request).await
                }
            })
        })
    }
}

static PLACES: AtomicU64 = AtomicU64::new(0);

/// A running plug-in, and its socket.
struct Running {
    path: PathBuf,
    plugin: Plugin,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

fn place() -> PathBuf {
    let number = PLACES.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("hydrofoil-kms-{}-{number}", std::process::id()))
}

impl Running {
    fn new() -> Self {
        Self::at(place())
    }

    fn at(path: PathBuf) -> Self {
        let plugin = Plugin { behaviour: Arc::default(), calls: Arc::default() };
        let (stop, stopped) = oneshot::channel::<()>();
        let (ready, started) = std::sync::mpsc::channel();
        let (served, socket) = (plugin.clone(), path.clone());
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async move {
                let listener = UnixListener::bind(&socket).expect("a socket");
                ready.send(()).expect("the test waits");
                let streams = UnixListenerStream::new(listener);
                let server = tonic::transport::Server::builder().add_service(served);
                tokio::select! {
                    served = server.serve_with_incoming(streams) => served.expect("it serves"),
                    _ = stopped => {}
                }
            });
        });
        started.recv().expect("it starts");
        Self { path, plugin, stop: Some(stop), thread: Some(thread) }
    }

    fn behave(&self, change: impl FnOnce(&mut Behaviour)) {
        change(&mut self.plugin.behaviour.lock().expect("no panic"));
    }

    fn calls(&self, method: &str) -> usize {
        self.plugin.calls.lock().expect("no panic").iter().filter(|call| *call == method).count()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.stop.take());
        drop(self.thread.take().map(JoinHandle::join));
        drop(std::fs::remove_file(&self.path));
    }
}

/// The conversions by a plug-in, with a clock that a test moves.
struct Opened {
    transformers: Transformers,
    clock: Arc<Clock>,
}

fn open(path: &std::path::Path) -> Opened {
    let clock = Arc::<Clock>::default();
    clock.freeze(None);
    let text = format!(
        r#"{{"server":"s","resources":[{{"resources":["services"],"providers":[{{"kms":{{"name":"six","path":"{}","timeout":0.2}}}}]}}]}}"#,
        path.display()
    );
    let metrics = Arc::new(Metrics::new(Arc::clone(&clock)));
    let settings = Settings::parse(&text).expect("they are valid");
    Opened { transformers: Transformers::counting(&settings, metrics).expect("they are valid"), clock }
}

impl Opened {
    fn write(&self, value: &[u8]) -> Result<Vec<u8>, String> {
        self.transformers.to_storage("services", KEY, value).map_err(|e| e.to_string())
    }

    fn read(&self, stored: &[u8]) -> Result<(Vec<u8>, bool), String> {
        self.transformers.from_storage("services", KEY, stored).map_err(|e| e.to_string())
    }

    fn problem(&self) -> Option<String> {
        self.transformers.health().pop().expect("there is a plug-in").1
    }

    /// Wait until the plug-in was looked at after a time, with an outcome.
    fn later(&self, minutes: u64, outcome: impl Fn(Option<&str>) -> bool) {
        self.clock.advance(minutes * MINUTE);
        for _ in 0..2000 {
            if outcome(self.problem().as_deref()) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        panic!("it stays {:?}", self.problem());
    }

    fn number(&self, family: Family) -> u64 {
        self.transformers.metrics().numbers().iter().filter(|row| row.0 == family).map(|row| row.2 as u64).sum()
    }
}

fn recorded(name: &str) -> Vec<u8> {
    let all: Vec<BTreeMap<String, String>> = serde_json::from_str(include_str!("vectors.json")).expect("they are JSON");
    let found = all.iter().find(|vector| vector["name"] == name).expect("it is recorded");
    STANDARD.decode(&found["value"]).expect("it is base64")
}

#[test]
fn values_of_kube_apiserver_are_read() {
    let plugin = Running::new();
    let own = open(&plugin.path);
    let stored = recorded("kms");
    let (value, stale) = own.read(&stored).expect("it has the key");
    assert!(value.starts_with(b"k8s\0\n\r\n\x02v1\x12\x07Service") && !stale);
    let again = own.write(&value).expect("the plug-in is healthy");
    assert!(again.starts_with(b"k8s:enc:kms:v2:six:"));
    assert_eq!((again.len(), own.read(&again).expect("it has the key")), (stored.len(), (value, false)));
    own.read(&stored).expect("it has the key");
    assert_eq!((plugin.calls("Encrypt"), plugin.calls("Decrypt")), (1, 1), "seeds are kept");
    assert_eq!((own.number(Family::Misses), own.number(Family::Seeds)), (1, 2));
    assert_eq!(own.number(Family::KeysUsed), 4);
    let other = own.transformers.from_storage("services", "/registry/services/specs/default/b", &again);
    assert_eq!(other.expect_err("it is another key").to_string(), "cipher: message authentication failed");
}

#[test]
fn damaged_values_are_errors() {
    let plugin = Running::new();
    let own = open(&plugin.path);
    let stored = own.write(b"value").expect("the plug-in is healthy");
    for at in "k8s:enc:kms:v2:six:".len()..stored.len() {
        let mut damaged = stored.clone();
        damaged[at] ^= 1;
        // A change of the bytes by which the seed is known is not part of the value.
        if let Ok((value, _)) = own.read(&damaged) {
            assert_eq!(value, b"value", "byte {at}");
        }
        assert!(own.read(&stored[..at]).is_err(), "byte {at}");
    }
}

#[test]
fn another_key_makes_values_stale() {
    let plugin = Running::new();
    let own = open(&plugin.path);
    let old = own.write(b"value").expect("the plug-in is healthy");
    let form = own.transformers.form("services");
    plugin.behave(|found| found.key_id = "key-2".to_owned());
    own.later(1, |problem| problem.is_none() && own.transformers.form("services") != form);
    assert_eq!(own.read(&old), Ok((b"value".to_vec(), true)));
    let new = own.write(b"value").expect("the plug-in is healthy");
    assert_eq!(own.read(&new), Ok((b"value".to_vec(), false)));
    assert_eq!((plugin.calls("Encrypt"), plugin.calls("Decrypt")), (2, 0));
}

#[test]
fn a_plug_in_that_fails_stops_writes_after_three_minutes_and_no_reads() {
    let plugin = Running::new();
    let own = open(&plugin.path);
    let stored = own.write(b"value").expect("the plug-in is healthy");
    plugin.behave(|found| found.refuses = true);
    own.later(1, |problem| problem == Some("rpc error: code = Internal desc = it refuses"));
    own.write(b"value").expect("the last answer is fresh enough");
    own.clock.advance(2 * MINUTE);
    own.write(b"value").expect("it is three minutes");
    own.clock.advance(1);
    let refused = own.write(b"value").expect_err("nobody has confirmed the key");
    assert!(refused.starts_with("encryptedDEKSource with keyID hash \"sha256:be29745"), "{refused}");
    assert_eq!(own.read(&stored), Ok((b"value".to_vec(), false)));
    plugin.behave(|found| found.refuses = false);
    own.later(1, |problem| problem.is_none());
    own.write(b"value").expect("it is healthy again");
}

#[test]
fn unusable_answers_are_named() {
    let plugin = Running::new();
    let own = open(&plugin.path);
    let shown = |change: fn(&mut Behaviour), text: &str| {
        plugin.behave(|found| *found = Behaviour::default());
        plugin.behave(change);
        own.later(1, |problem| problem.is_some_and(|problem| problem.contains(text)));
    };
    let prefix = "kmsv2 Provider six is not healthy, error: ";
    shown(|found| found.healthz = "bad", &format!("{prefix}got unexpected healthz status: bad"));
    shown(|found| found.version = "v1", &format!("{prefix}expected KMSv2 API version v2, got v1"));
    shown(
        |found| found.version = "v2beta1",
        "should not change after the initial status response version v2, got v2beta1",
    );
    shown(|found| found.key_id.clear(), &format!("{prefix}got invalid KMSv2 KeyID hash \"\": keyID is empty"));
    shown(
        |found| (found.key_id, found.other_key) = ("new".to_owned(), Some("x".to_owned())),
        "errGen=<nil>, statusKeyIDHash=",
    );
    assert!(own.number(Family::InvalidKeys) > 0);
}

#[test]
fn a_plug_in_may_come_later() {
    let path = place();
    let own = open(&path);
    assert_eq!(own.write(b"value"), Err("got unexpected nil transformer".to_owned()));
    let problem = own.problem().expect("it is away");
    let why = format!("dial unix {}: connect: no such file or directory", path.display());
    assert!(problem.starts_with("rpc error: code = DeadlineExceeded") && problem.contains(&why), "{problem}");
    let plugin = Running::at(path);
    own.later(1, |problem| problem.is_none());
    let stored = own.write(b"value").expect("it is there");
    assert_eq!(own.read(&stored), Ok((b"value".to_vec(), false)));
    drop(plugin);
}
