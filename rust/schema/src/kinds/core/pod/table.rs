//! Pods (`printPod`).

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]

use hydrofoil_types::{Lookup, Map, Timestamp, Value};

use hydrofoil_rules::table::text::or;
use hydrofoil_rules::table::{Subject, age, cells};
use hydrofoil_types::read::Read;

/// The sums over the containers of a pod.
#[derive(Default)]
struct Sum {
    reason: String,
    ready: usize,
    restarts: i64,
    last: Option<Timestamp>,
}

impl Sum {
    /// Count the restarts of a container, and keep the time of the last.
    fn count_restarts(&mut self, container: &Value) {
        self.restarts = self.restarts.saturating_add(container.int("restartCount"));
        let ended = container.field("lastState").opt("terminated").and_then(|t| age::moment(t.text("finishedAt")));
        self.last = self.last.max(ended);
    }
}

/// Return the row of a pod.
pub(crate) fn pod(subject: &Subject<'_>) -> Vec<Value> {
    let (spec, status) = (subject.spec(), subject.status());
    let mut sum = Sum { reason: or(status.text("reason"), status.text("phase")).to_owned(), ..Sum::default() };
    if status
        .list("conditions")
        .iter()
        .any(|c| c.text("type") == "PodScheduled" && c.text("reason") == "SchedulingGated")
    {
        "SchedulingGated".clone_into(&mut sum.reason);
    }
    let mut sidecars = Sum::default();
    let initializing = init(spec, status, &mut sum, &mut sidecars);
    if !initializing || initialized(status) {
        sum.restarts = sidecars.restarts;
        sum.last = sidecars.last;
        main(status, &mut sum);
    }
    if subject.deleting() {
        if status.text("reason") == "NodeLost" {
            "Unknown".clone_into(&mut sum.reason);
        } else if !matches!(status.text("phase"), "Failed" | "Succeeded") {
            "Terminating".clone_into(&mut sum.reason);
        }
    }
    let restarts = match sum.last {
        Some(last) if sum.restarts != 0 => format!("{} ({} ago)", sum.restarts, subject.ago(last)),
        _ => sum.restarts.to_string(),
    };
    let all = spec.list("containers").len() + spec.list("initContainers").iter().filter(|c| restartable(c)).count();
    // `Convert_v1_PodStatus_To_core_PodStatus`: where the two fields differ, the older one counts.
    let ip = or(status.text("podIP"), status.list("podIPs").first().map_or("", |ip| ip.text("ip")));
    cells![
        subject.name(),
        format!("{}/{all}", sum.ready),
        sum.reason,
        restarts,
        subject.age(),
        or(ip, "<none>"),
        or(spec.text("nodeName"), "<none>"),
        or(status.text("nominatedNodeName"), "<none>"),
        gates(spec, status),
    ]
}

/// `podSuccessConditions` and `podFailedConditions`.
pub(crate) fn conditions(subject: &Subject<'_>) -> Vec<Value> {
    let (reason, message) = match subject.status().text("phase") {
        "Succeeded" => ("Succeeded", "The pod has completed successfully."),
        "Failed" => ("Failed", "The pod failed."),
        _ => return Vec::new(),
    };
    let mut condition = Map::new();
    condition.push("type", "Completed");
    condition.push("status", "True");
    condition.push("reason", reason);
    condition.push("message", message);
    vec![Value::Object(condition)]
}

/// `IsRestartableInitContainer`: a sidecar.
fn restartable(container: &Value) -> bool {
    container.text("restartPolicy") == "Always"
}

/// Count the init containers up to the active one; report whether there is such a one.
fn init(spec: &Value, status: &Value, sum: &mut Sum, sidecars: &mut Sum) -> bool {
    let specs = spec.list("initContainers");
    let named = Lookup::of(specs, |c| c.text("name"));
    for (i, container) in status.list("initContainerStatuses").iter().enumerate() {
        // Of several of one name the last counts.
        let sidecar = named.last(&container.text("name")).is_some_and(restartable);
        sum.count_restarts(container);
        if sidecar {
            sidecars.count_restarts(container);
        }
        let state = container.field("state");
        let ended = state.opt("terminated");
        if ended.is_some_and(|t| t.int("exitCode") == 0) {
            continue;
        }
        if sidecar && container.flag("started") {
            sum.ready += usize::from(container.flag("ready"));
            continue;
        }
        sum.reason = match (ended, state.field("waiting").text("reason")) {
            (Some(ended), _) => format!("Init:{}", end(ended)),
            (None, "" | "PodInitializing") => format!("Init:{i}/{}", specs.len()),
            (None, waits) => format!("Init:{waits}"),
        };
        return true;
    }
    false
}

/// Count the main containers, last first, so that the first determines the reason.
fn main(status: &Value, sum: &mut Sum) {
    let mut running = false;
    let mut error = None;
    for container in status.list("containerStatuses").iter().rev() {
        sum.count_restarts(container);
        let state = container.field("state");
        let waits = state.field("waiting").text("reason");
        if !waits.is_empty() {
            waits.clone_into(&mut sum.reason);
        } else if let Some(ended) = state.opt("terminated") {
            sum.reason = end(ended);
            if ended.int("exitCode") != 0 {
                error = Some(sum.reason.clone());
            }
        } else if container.flag("ready") && state.has("running") {
            running = true;
            sum.ready += 1;
        }
    }
    // A container that succeeded does not make a pod completed while others run.
    if sum.reason == "Completed" {
        if running && holds(status, "Ready") {
            "Running".clone_into(&mut sum.reason);
        } else if let Some(error) = error.filter(|e| !e.is_empty()) {
            sum.reason = error;
        } else if running {
            "NotReady".clone_into(&mut sum.reason);
        }
    }
}

/// Return why a container ended.
fn end(ended: &Value) -> String {
    match (ended.text("reason"), ended.int("signal")) {
        ("", 0) => format!("ExitCode:{}", ended.int("exitCode")),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

/// `hasPodReadyCondition`.
fn holds(status: &Value, kind: &str) -> bool {
    status.list("conditions").iter().any(|c| c.text("type") == kind && c.text("status") == "True")
}

/// `isPodInitializedConditionTrue`: the first condition of the type counts.
fn initialized(status: &Value) -> bool {
    hydrofoil_rules::table::text::condition(status, "Initialized").is_some_and(|c| c.text("status") == "True")
}

fn gates(spec: &Value, status: &Value) -> String {
    let gates = spec.list("readinessGates");
    if gates.is_empty() {
        return "<none>".to_owned();
    }
    let conditions = Lookup::of(status.list("conditions"), |c| c.text("type"));
    format!(
        "{}/{}",
        gates
            .iter()
            .filter(|g| conditions.first(&g.text("conditionType")).is_some_and(|c| c.text("status") == "True"))
            .count(),
        gates.len()
    )
}
