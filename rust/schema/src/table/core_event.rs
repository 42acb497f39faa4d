//! Events of both groups (`printEvent`).

use hydrofoil_types::Value;

use super::age;
use super::subject::Subject;
use super::text::{lower, or};
use crate::read::Read;

/// Where a group keeps what the printer reads.
struct Names {
    first: &'static str,
    last: &'static str,
    count: &'static str,
    object: &'static str,
    source: &'static str,
    message: &'static str,
    controller: &'static str,
}

/// Of the core group.
pub(super) fn core(of: &Subject<'_>) -> Vec<Value> {
    event(
        of,
        &Names {
            first: "firstTimestamp",
            last: "lastTimestamp",
            count: "count",
            object: "involvedObject",
            source: "source",
            message: "message",
            controller: "reportingComponent",
        },
    )
}

/// Of `events.k8s.io`.
pub(super) fn events(of: &Subject<'_>) -> Vec<Value> {
    event(
        of,
        &Names {
            first: "deprecatedFirstTimestamp",
            last: "deprecatedLastTimestamp",
            count: "deprecatedCount",
            object: "regarding",
            source: "deprecatedSource",
            message: "note",
            controller: "reportingController",
        },
    )
}

fn event(of: &Subject<'_>, names: &Names) -> Vec<Value> {
    let event = of.object;
    let either = |key: &str, other: &str| match age::moment(event.s(key)) {
        Some(time) => of.ago(time),
        None => other.to_owned(),
    };
    let first = either(names.first, &of.since(event.s("eventTime")));
    let (last, count) = match event.opt("series") {
        Some(series) => (of.since(series.s("lastObservedTime")), series.i("count")),
        // Single events of the new API have no count.
        None => (either(names.last, &first), event.oi(names.count).filter(|n| *n != 0).unwrap_or(1)),
    };
    let about = event.sub(names.object);
    let mut target = lower(about.s("kind"));
    if !about.s("name").is_empty() {
        target = format!("{target}/{}", about.s("name"));
    }
    let source = event.sub(names.source);
    let component = or(source.s("component"), event.s(names.controller));
    let source = match or(source.s("host"), event.s("reportingInstance")) {
        "" => component.to_owned(),
        instance => format!("{component}, {instance}"),
    };
    cells![
        last,
        event.s("type"),
        event.s("reason"),
        target,
        about.s("fieldPath"),
        source,
        event.s(names.message).trim(),
        first,
        count,
        of.name(),
    ]
}
