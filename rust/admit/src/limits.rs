//! Limit ranges (`plugin/pkg/admission/limitranger/admission.go`).

use hydrofoil_types::{KeySet, Map, Quantity, Value};
use smol_str::SmolStr;

use super::amounts::{Amounts, of_pod};
use hydrofoil_rules::qos;
use hydrofoil_types::read::Read;

const ANNOTATION: &str = "kubernetes.io/limit-ranger";
/// The limit up to which quantities are compared in thousandths.
const MAX_MILLI: i128 = (1 << 63) / 1000 - 1;

/// Set the defaults of a range in the containers of a pod that specify none, and record it in an annotation.
pub fn fill(pod: &mut Value, range: &Value) {
    let (mut requests, mut limits) = (Map::new(), Map::new());
    for limit in range.field("spec").list("limits").iter().filter(|l| l.text("type") == "Container") {
        for (from, to) in [("defaultRequest", &mut requests), ("default", &mut limits)] {
            for (name, quantity) in limit.entries(from) {
                to.set(name.clone(), quantity.clone());
            }
        }
    }
    let mut notes = Vec::new();
    let spec = pod.object_at_mut(&["spec"]);
    for (list, kind) in [("containers", "container"), ("initContainers", "init container")] {
        for container in spec.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            let name = container.text("name").to_owned();
            for (what, shown, defaults) in [("requests", "request", &requests), ("limits", "limit", &limits)] {
                let set = complete(container, what, defaults);
                if !set.is_empty() {
                    notes.push(format!("{} {shown} for {kind} {name}", set.join(", ")));
                }
            }
        }
    }
    if notes.is_empty() {
        return;
    }
    let note = format!("LimitRanger plugin set: {}", notes.join("; "));
    pod.object_at_mut(&["metadata", "annotations"]).set(ANNOTATION, Value::str(note));
    let class = qos::class(pod);
    pod.object_at_mut(&["status"]).set("qosClass", Value::str(class));
}

/// Set absent amounts; return their names in order.
fn complete(container: &mut Value, what: &str, defaults: &Map) -> Vec<SmolStr> {
    let absent = |name: &str| container.field("resources").field(what).get(name).is_none();
    let mut names: Vec<SmolStr> = defaults.keys().filter(|name| absent(name)).cloned().collect();
    names.sort();
    if !names.is_empty() {
        let list = container.object_at_mut(&["resources", what]);
        for name in &names {
            list.set(name.clone(), defaults.get(name).cloned().unwrap_or_default());
        }
        list.sort_keys();
    }
    names
}

/// Return why a range refuses a pod or a claim, if it does.
pub fn refusal(claim: bool, object: &Value, range: &Value) -> Option<String> {
    let mut found: Vec<String> = Vec::new();
    for limit in range.field("spec").list("limits") {
        let kind = limit.text("type");
        let limit = Limit { limit, kind };
        match (claim, kind) {
            (true, "PersistentVolumeClaim") => {
                let requests = Amounts::of(object.field("spec").field("resources").field("requests"));
                limit.least(&requests, &Amounts::default(), &mut found);
                limit.most_requested(&requests, &mut found);
            }
            (false, "Container") => {
                let spec = object.field("spec");
                for container in spec.list("containers").iter().chain(spec.list("initContainers")) {
                    let resources = container.field("resources");
                    let (requests, limits) =
                        (Amounts::of(resources.field("requests")), Amounts::of(resources.field("limits")));
                    limit.all(&requests, &limits, &mut found);
                }
            }
            (false, "Pod") => limit.all(&of_pod(object, "requests"), &of_pod(object, "limits"), &mut found),
            _ => {}
        }
    }
    // As an aggregate prints its errors: each once.
    let mut seen = KeySet::default();
    let mut once: Vec<String> = found.into_iter().filter(|text| seen.insert(text.clone())).collect();
    match once.len() {
        0 | 1 => once.pop(),
        _ => Some(format!("[{}]", once.join(", "))),
    }
}

/// One entry of a range.
struct Limit<'a> {
    limit: &'a Value,
    kind: &'a str,
}

impl Limit<'_> {
    fn all(&self, requests: &Amounts, limits: &Amounts, found: &mut Vec<String>) {
        self.least(requests, limits, found);
        self.most(requests, limits, found);
        self.ratio(requests, limits, found);
    }

    fn bounds(&self, key: &str) -> Amounts {
        Amounts::of(self.limit.field(key))
    }

    fn least(&self, requests: &Amounts, limits: &Amounts, found: &mut Vec<String>) {
        for (name, bound) in self.bounds("min").0 {
            let head = format!("minimum {name} usage per {} is {bound}", self.kind);
            let (request, limit) = (requests.get(&name), limits.get(&name));
            let [asked, allowed, least] = same_precision([request, limit, Some(bound)]);
            match (request, limit) {
                (None, _) => found.push(format!("{head}.  No request is specified")),
                (Some(request), _) if asked < least => found.push(format!("{head}, but request is {request}")),
                (_, Some(limit)) if allowed < least => found.push(format!("{head}, but limit is {limit}")),
                _ => {}
            }
        }
    }

    fn most_requested(&self, requests: &Amounts, found: &mut Vec<String>) {
        for (name, bound) in self.bounds("max").0 {
            let head = format!("maximum {name} usage per {} is {bound}", self.kind);
            let request = requests.get(&name);
            let [asked, most] = same_precision([request, Some(bound)]);
            match request {
                None => found.push(format!("{head}.  No request is specified")),
                Some(request) if asked > most => found.push(format!("{head}, but request is {request}")),
                Some(_) => {}
            }
        }
    }

    fn most(&self, requests: &Amounts, limits: &Amounts, found: &mut Vec<String>) {
        for (name, bound) in self.bounds("max").0 {
            let head = format!("maximum {name} usage per {} is {bound}", self.kind);
            let (request, limit) = (requests.get(&name), limits.get(&name));
            let [asked, allowed, most] = same_precision([request, limit, Some(bound)]);
            match (request, limit) {
                (_, None) => found.push(format!("{head}.  No limit is specified")),
                (_, Some(limit)) if allowed > most => found.push(format!("{head}, but limit is {limit}")),
                (Some(request), _) if asked > most => found.push(format!("{head}, but request is {request}")),
                _ => {}
            }
        }
    }

    fn ratio(&self, requests: &Amounts, limits: &Amounts, found: &mut Vec<String>) {
        for (name, bound) in self.bounds("maxLimitRequestRatio").0 {
            let head = format!("{name} max limit to request ratio per {} is {bound}", self.kind);
            let [asked, allowed] = same_precision([requests.get(&name), limits.get(&name)]);
            if asked == 0 {
                found.push(format!("{head}, but no request is specified or request is 0"));
            } else if allowed == 0 {
                found.push(format!("{head}, but no limit is specified or limit is 0"));
            } else {
                let ratio = allowed as f64 / asked as f64;
                if ratio * 1000.0 > bound.milli() as f64 {
                    found.push(format!("{head}, but provided ratio is {ratio:.6}"));
                }
            }
        }
    }
}

/// Return quantities in thousandths, or whole if one is too large for that (`requestLimitEnforcedValues`).
fn same_precision<const N: usize>(of: [Option<Quantity>; N]) -> [i128; N] {
    let whole = of.map(|q| q.map_or(0, Quantity::value));
    if whole.iter().all(|v| *v <= MAX_MILLI) { of.map(|q| q.map_or(0, Quantity::milli)) } else { whole }
}
