//! The health of a plug-in, and the seed that it confirms (apiserver `pkg/server/options/encryptionconfig/config.go`).

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Mutex as Turn;
use tokio::time::sleep;

use super::message::{EncryptRequest, EncryptResponse, EncryptedObject, SEED, StatusResponse};
use super::plugin::Plugin;
use super::state::{self, State, key_hash, key_id_problem, moment};
use crate::aes::random;
use crate::derived::{Derived, SIZE};
use crate::failure::{Failure, Result};
use crate::metrics::{Family, Metrics, PLAIN};

/// The time between two looks at a plug-in that is healthy.
const WELL: Duration = Duration::from_secs(60);
/// The time between two looks at one that is not.
const ILL: Duration = Duration::from_secs(10);
/// The time that a health check has the last answer for.
const WELL_KNOWN: Duration = Duration::from_secs(20);
/// The same for the last failure.
const ILL_KNOWN: Duration = Duration::from_secs(3);
/// How long a seed is used for writing after its plug-in last confirmed it, in nanoseconds.
const CONFIRMED: i64 = 180_000_000_000;

/// The last look at a plug-in.
#[derive(Clone, Debug)]
struct Seen {
    at: Duration,
    problem: Option<String>,
}

/// A plug-in with its state.
#[derive(Debug)]
pub(crate) struct Probe {
    pub(crate) plugin: Plugin,
    server: String,
    pub(crate) metrics: Arc<Metrics>,
    /// What writes use: replaced as a whole by a look, so that a write has the seed and the key of one answer.
    state: Mutex<Option<Arc<State>>>,
    /// What health checks show, which must not wait for a plug-in.
    seen: Mutex<Option<Seen>>,
    /// The version of the interface that the plug-in first had. Held during a look.
    turn: Turn<String>,
}

/// Return a random identifier of a call.
pub(crate) fn uid() -> Result<String> {
    let mut bytes = [0_u8; 16];
    random(&mut bytes)?;
    let number = u128::from_be_bytes(bytes) & !(0xf << 76) & !(0x3 << 62) | (0x4 << 76) | (0x2 << 62);
    let digits = format!("{number:032x}");
    let part = |from, to| digits.get(from..to).unwrap_or_default();
    Ok([part(0, 8), part(8, 12), part(12, 16), part(16, 20), part(20, 32)].join("-"))
}

impl Probe {
    pub(crate) fn new(plugin: Plugin, server: String, metrics: Arc<Metrics>) -> Self {
        let (state, seen, turn) = (Mutex::new(None), Mutex::new(None), Turn::new(String::new()));
        Self { plugin, server, metrics, state, seen, turn }
    }

    /// Return the labels of the hash of the server behind others.
    pub(crate) fn with_labels(&self, labels: &[&str], key_id: &str) -> Vec<String> {
        let hashes = [key_hash(key_id), key_hash(&self.server)];
        labels.iter().map(|label| (*label).to_owned()).chain(hashes).collect()
    }

    /// Return the present state: values may be read by it without end.
    pub(crate) fn state(&self) -> Result<Arc<State>> {
        self.state.lock().clone().ok_or_else(|| Failure::new("got unexpected nil transformer"))
    }

    /// Return why the plug-in is not healthy, and whether that is known for so long that it should be looked at again.
    pub(crate) fn problem(&self) -> (Option<String>, bool) {
        let Some(seen) = self.seen.lock().clone() else {
            return (Some("the plug-in has not answered yet".to_owned()), true);
        };
        let age = self.metrics.now().saturating_sub(seen.at);
        let known = if seen.problem.is_none() { WELL_KNOWN } else { ILL_KNOWN };
        (seen.problem, age >= known)
    }

    /// Look at the plug-in, unless another look has just ended.
    pub(crate) async fn look(&self) -> Result<()> {
        let mut version = self.turn.lock().await;
        if let (problem, false) = self.problem() {
            return problem.map_or(Ok(()), |problem| Err(Failure::new(problem)));
        }
        let found = match self.plugin.status().await {
            Err(why) => Err(why),
            Ok(status) => self.judge(&mut version, &status).await,
        };
        let problem = found.as_ref().err().map(ToString::to_string);
        *self.seen.lock() = Some(Seen { at: self.metrics.now(), problem });
        found
    }

    /// Look at the plug-in again and again.
    pub(crate) async fn follow(probe: std::sync::Weak<Self>) {
        loop {
            let Some(found) = probe.upgrade() else { return };
            let pause = if found.look().await.is_ok() { WELL } else { ILL };
            drop(found);
            sleep(pause).await;
        }
    }

    async fn judge(&self, version: &mut String, found: &StatusResponse) -> Result<()> {
        let mut failures = Vec::new();
        if found.healthz != "ok" {
            failures.push(Failure::new(format!("got unexpected healthz status: {}", found.healthz)));
        }
        if !["v2", "v2beta1"].contains(&found.version.as_str()) {
            failures.push(Failure::new(format!("expected KMSv2 API version v2, got {}", found.version)));
        } else if version.is_empty() {
            version.clone_from(&found.version);
        } else if *version != found.version {
            let text = "KMSv2 API version should not change after the initial status response version";
            failures.push(Failure::new(format!("{text} {version}, got {}", found.version)));
        }
        if let Some((code, text)) = key_id_problem(&found.key_id) {
            self.metrics.count(Family::InvalidKeys, &[&self.plugin.name, code]);
            let hash = key_hash(&found.key_id);
            failures.push(Failure::new(format!("got invalid KMSv2 KeyID hash \"{hash}\": {text}")));
        } else {
            let seen = self.with_labels(&[&self.plugin.name], &found.key_id);
            self.metrics.stamp(Family::KeysSeen, &seen);
            failures.extend(self.renew(&found.key_id).await.err());
        }
        match Failure::all(failures) {
            None => Ok(()),
            Some(why) => Err(why.within(&format!("kmsv2 Provider {} is not healthy, error: ", self.plugin.name))),
        }
    }

    /// Keep the seed for longer, or make another one if the plug-in has another key.
    async fn renew(&self, key_id: &str) -> Result<()> {
        let expires = self.metrics.moment().saturating_add(CONFIRMED);
        let present = self.state();
        if let Ok(state) = &present
            && state.key_id == key_id
        {
            *self.state.lock() = Some(Arc::new(State { expires, ..(**state).clone() }));
            return Ok(());
        }
        let uid = uid()?;
        let made = self.generate(&uid).await;
        let made = match made {
            Ok((seed, answer)) if answer.key_id == key_id => {
                let EncryptResponse { ciphertext, key_id, annotations } = answer;
                let state = State { seed: Arc::new(seed), key_id, source: ciphertext, annotations, expires };
                *self.state.lock() = Some(Arc::new(state));
                return Ok(());
            }
            other => other.map(|(_, answer)| answer.key_id),
        };
        let shown = |found: Option<&Failure>| found.map_or_else(|| "<nil>".to_owned(), ToString::to_string);
        let present_key = present.as_ref().map(|state| state.key_id.clone()).unwrap_or_default();
        let at = present.as_ref().map_or_else(|_| "0001-01-01T00:00:00Z".to_owned(), |state| moment(state.expires));
        let (state_error, made_error) = (shown(present.as_ref().err()), shown(made.as_ref().err()));
        let hashes = [key_id, &made.unwrap_or_default(), &present_key].map(key_hash);
        let [status, encrypt, state] = hashes;
        Err(Failure::new(format!(
            "failed to rotate DEK uid=\"{uid}\", useSeed=true, errState={state_error}, errGen={made_error}, \
             statusKeyIDHash=\"{status}\", encryptKeyIDHash=\"{encrypt}\", stateKeyIDHash=\"{state}\", \
             expirationTimestamp={at}"
        )))
    }

    /// Return a new seed, and its form that the plug-in has encrypted.
    async fn generate(&self, uid: &str) -> Result<(Derived, EncryptResponse)> {
        let (begun, mut seed) = (self.metrics.now(), [0_u8; SIZE]);
        random(&mut seed).inspect_err(|_| self.metrics.count(Family::GenerationFailures, PLAIN))?;
        self.metrics.observe(Family::Generations, PLAIN, begun);
        let request = EncryptRequest { plaintext: seed.to_vec(), uid: uid.to_owned() };
        let failed = "failed to encrypt DEK, error: ";
        let answer = self.plugin.encrypt(request).await.map_err(|why| why.within(failed))?;
        state::check(&EncryptedObject {
            data: vec![0],
            key_id: answer.key_id.clone(),
            source: answer.ciphertext.clone(),
            annotations: answer.annotations.clone(),
            kind: SEED,
        })?;
        Ok((Derived::new(&seed)?, answer))
    }
}
