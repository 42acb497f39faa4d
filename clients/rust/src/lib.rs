//! A Kubernetes API server for tests: it is reset, broken on purpose, and shows its requests.
//!
//! ```no_run
//! let server = hydrofoil::Server::start(&[]).unwrap();
//! server.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}").unwrap();
//! server.wait("configmaps/a", "exists", "default", std::time::Duration::from_secs(10)).unwrap();
//! ```

use std::error::Error as StdError;
use std::fmt;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// What went wrong, in one line.
#[derive(Debug)]
pub struct Error(String);

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl StdError for Error {}

fn because(what: &str) -> impl Fn(&dyn fmt::Display) -> Error + '_ {
    move |why| Error(format!("hydrofoil: {what}: {why}"))
}

type Result<T> = std::result::Result<T, Error>;

/// A server of one test or suite; it ends when it is dropped.
#[derive(Debug)]
pub struct Server {
    url: String,
    folder: PathBuf,
    process: Child,
}

impl Server {
    /// Start a server with flags of `hydrofoil serve`; the variable `HYDROFOIL` names the command.
    ///
    /// # Errors
    /// If the program is not there or refuses to start.
    pub fn start(flags: &[&str]) -> Result<Self> {
        let named = std::env::var("HYDROFOIL").unwrap_or_else(|_| "hydrofoil".to_owned());
        let mut words = named.split_whitespace();
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("hydrofoil-{}-{number}", std::process::id()));
        let failed = because("cannot start (HYDROFOIL names the command)");
        std::fs::create_dir_all(&folder).map_err(|e| failed(&e))?;
        let mut process = Command::new(words.next().unwrap_or("hydrofoil"))
            .args(words)
            .args(["serve", "--port=0", "--test-controls"])
            .arg(format!("--kubeconfig={}", folder.join("kubeconfig").display()))
            .args(flags)
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|e| failed(&e))?;
        let output = process.stdout.take().ok_or_else(|| failed(&"no output"))?;
        let url = BufReader::new(output)
            .lines()
            .map_while(std::result::Result::ok)
            .find_map(|line| line.strip_prefix("serving on ").map(str::to_owned));
        let mut server = Self { url: String::new(), folder, process };
        // Without an address, the end of this function ends the process.
        server.url = url.ok_or_else(|| Error("hydrofoil has not started".to_owned()))?;
        Ok(server)
    }

    /// Return the address: `http://127.0.0.1:PORT`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Return the path of the administrator's kubeconfig.
    #[must_use]
    pub fn kubeconfig(&self) -> PathBuf {
        self.folder.join("kubeconfig")
    }

    /// Return to the state at readiness, without faults and requests.
    ///
    /// # Errors
    /// As all calls: if the server refuses, with its message.
    pub fn reset(&self) -> Result<()> {
        self.call("POST", "/reset", "").map(drop)
    }

    /// Break all connections and end the history, as clients see it of a restart; address, objects and users stay.
    ///
    /// # Errors
    /// If the server refuses, with its message.
    pub fn restart(&self) -> Result<()> {
        self.call("POST", "/restart", "").map(drop)
    }

    /// Return the id of the present state.
    ///
    /// # Errors
    /// If the server refuses, with its message.
    pub fn snapshot(&self) -> Result<String> {
        Ok(text(&self.call("POST", "/snapshots", "")?, "id"))
    }

    /// Return to a snapshot; watches receive the differences as events. Return their number.
    ///
    /// # Errors
    /// If the server refuses, with its message.
    pub fn restore(&self, id: &str) -> Result<u64> {
        let found = self.call("POST", &format!("/snapshots/{id}/restore"), "")?;
        Ok(found["changed"].as_u64().unwrap_or_default())
    }

    /// Stop the clock at a moment in RFC 3339.
    ///
    /// # Errors
    /// If the server refuses, with its message.
    pub fn freeze(&self, at: &str) -> Result<()> {
        self.call("PUT", "/clock", &json!({"now": at, "frozen": true}).to_string()).map(drop)
    }

    /// Move the clock forward.
    ///
    /// # Errors
    /// If the server refuses, with its message.
    pub fn advance(&self, by: Duration) -> Result<()> {
        let duration = format!("{}ms", by.as_millis());
        self.call("POST", "/clock/advance", &json!({"duration": duration}).to_string()).map(drop)
    }

    /// Add a fault: an action, and its match and parameters as an object. Return its id.
    ///
    /// # Errors
    /// If the server refuses, with its message.
    pub fn add_fault(&self, action: &str, mut given: Value) -> Result<String> {
        given["action"] = Value::from(action);
        Ok(text(&self.call("POST", "/faults", &given.to_string())?, "id"))
    }

    /// Return a fault with its present counts `seen` and `hits`.
    ///
    /// # Errors
    /// If the server refuses, with its message.
    pub fn fault(&self, id: &str) -> Result<Value> {
        self.call("GET", &format!("/faults/{id}"), "")
    }

    /// Remove all faults.
    ///
    /// # Errors
    /// If the server refuses, with its message.
    pub fn clear_faults(&self) -> Result<()> {
        self.call("DELETE", "/faults", "").map(drop)
    }

    /// Return the requests that a query such as `verb=list&params.limit=` selects.
    ///
    /// # Errors
    /// If the server refuses, with its message.
    pub fn requests(&self, query: &str) -> Result<Vec<Value>> {
        let found = self.call("GET", &format!("/requests?{query}"), "")?;
        Ok(found["items"].as_array().cloned().unwrap_or_default())
    }

    /// Apply objects in YAML or JSON.
    ///
    /// A text with a line break or `: `, or that begins with `{` or `[`, is a manifest; any other is the path of a file or
    /// a folder, which begins at the working folder: of `cargo test`, that of the package.
    ///
    /// # Errors
    /// If the server refuses, with its message, or there is no such file.
    pub fn apply(&self, manifests: &str) -> Result<()> {
        if is_manifest(manifests) {
            return self.call("POST", "/apply", manifests).map(drop);
        }
        self.apply_file(manifests)
    }

    /// Apply the objects of a file, or of all files in a folder and below it.
    ///
    /// # Errors
    /// If the server refuses, with its message, or there is no such file.
    pub fn apply_file(&self, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        if !path.exists() {
            let shown = path.display();
            return Err(Error(format!("hydrofoil: \"{shown}\" is no file or folder, and no manifest ({RULE})")));
        }
        let shown = path.display().to_string();
        let failed = because(&shown);
        let mut texts = Vec::new();
        read_manifests(path, &mut texts).map_err(|e| failed(&e))?;
        self.call("POST", &format!("/apply?origin={}", escape(&shown)), &texts.join("\n---\n")).map(drop)
    }

    /// Return an object such as `deployments.apps/web` once it meets a condition.
    ///
    /// # Errors
    /// If the time is over, with the last states seen.
    pub fn wait(&self, object: &str, condition: &str, namespace: &str, timeout: Duration) -> Result<Value> {
        let seconds = timeout.as_secs_f64();
        let body = json!({"object": object, "condition": condition, "namespace": namespace, "timeout": seconds});
        self.call("POST", "/wait", &body.to_string())
    }

    /// Return an object such as `deployments.apps/web`.
    ///
    /// # Errors
    /// If there is none.
    pub fn get(&self, object: &str, namespace: &str) -> Result<Value> {
        self.call("GET", &format!("/object?object={}&namespace={}", escape(object), escape(namespace)), "")
    }

    /// Set members of the status of an object, as its controller would; null removes one. Return the object.
    ///
    /// # Errors
    /// If there is none, or its resource has no status.
    pub fn set_status(&self, object: &str, status: &Value, namespace: &str) -> Result<Value> {
        let body = json!({"object": object, "status": status, "namespace": namespace});
        self.call("PUT", "/status", &body.to_string())
    }

    /// Return the credentials of a user that has no rights but those of roles: headers and kubeconfig.
    ///
    /// # Errors
    /// If the server refuses, with its message.
    pub fn user(&self, name: &str, groups: &[&str]) -> Result<Value> {
        self.call("POST", "/users", &json!({"name": name, "groups": groups}).to_string())
    }

    fn call(&self, method: &str, path: &str, body: &str) -> Result<Value> {
        let what = format!("{method} {path}");
        let failed = because(&what);
        let agent = ureq::Agent::new_with_config(ureq::Agent::config_builder().http_status_as_error(false).build());
        let request = ureq::http::Request::builder().method(method).uri(format!("{}/hydrofoil/v1{path}", self.url));
        let request = request.body(body.to_owned()).map_err(|e| failed(&e))?;
        let mut answer = agent.run(request).map_err(|e| failed(&e))?;
        let found = answer.body_mut().read_to_string().map_err(|e| failed(&e))?;
        let found: Value =
            if found.is_empty() { Value::Null } else { serde_json::from_str(&found).map_err(|e| failed(&e))? };
        if answer.status().as_u16() >= 400 {
            return Err(failed(&text(&found, "message")));
        }
        Ok(found)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        remove(&self.folder);
    }
}

const RULE: &str = "a text is a manifest if it has a line break or ': ', or begins with '{' or '['";

fn is_manifest(text: &str) -> bool {
    text.contains('\n') || text.contains(": ") || text.trim_start().starts_with(['{', '['])
}

fn read_manifests(path: &Path, texts: &mut Vec<String>) -> std::io::Result<()> {
    if !path.is_dir() {
        texts.push(std::fs::read_to_string(path)?);
        return Ok(());
    }
    let mut below =
        std::fs::read_dir(path)?.map(|entry| entry.map(|found| found.path())).collect::<std::io::Result<Vec<_>>>()?;
    below.sort();
    for entry in below {
        let suffix = entry.extension().and_then(std::ffi::OsStr::to_str);
        if entry.is_dir() || matches!(suffix, Some("yaml" | "yml" | "json")) {
            read_manifests(&entry, texts)?;
        }
    }
    Ok(())
}

/// Return a text as a value of a query.
fn escape(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'/' => char::from(byte).to_string(),
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

fn remove(folder: &Path) {
    let _ = std::fs::remove_dir_all(folder);
}

fn text(found: &Value, name: &str) -> String {
    found[name].as_str().unwrap_or_default().to_owned()
}
