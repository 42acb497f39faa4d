//! Events of both groups (`printEvent`).

use hydrofoil_types::Value;

use hydrofoil_rules::table::text::{lower, or};
use hydrofoil_rules::table::{Subject, age, cells};
use hydrofoil_types::read::Read;

/// The names of the fields that the printer reads, by group.
pub(crate) struct Names {
    pub(crate) first: &'static str,
    pub(crate) last: &'static str,
    pub(crate) count: &'static str,
    pub(crate) object: &'static str,
    pub(crate) source: &'static str,
    pub(crate) message: &'static str,
    pub(crate) controller: &'static str,
}

/// The names of the core group.
pub(crate) const CORE: Names = Names {
    first: "firstTimestamp",
    last: "lastTimestamp",
    count: "count",
    object: "involvedObject",
    source: "source",
    message: "message",
    controller: "reportingComponent",
};

/// Print an event whose group has these names.
pub(crate) fn row(subject: &Subject<'_>, names: &Names) -> Vec<Value> {
    let event = subject.object;
    let either = |key: &str, other: &str| match age::moment(event.text(key)) {
        Some(time) => subject.ago(time),
        None => other.to_owned(),
    };
    let first = either(names.first, &subject.since(event.text("eventTime")));
    let (last, count) = match event.opt("series") {
        Some(series) => (subject.since(series.text("lastObservedTime")), series.int("count")),
        // Single events of the new API have no count.
        None => (either(names.last, &first), event.opt_int(names.count).filter(|n| *n != 0).unwrap_or(1)),
    };
    let about = event.field(names.object);
    let mut target = lower(about.text("kind"));
    if !about.text("name").is_empty() {
        target = format!("{target}/{}", about.text("name"));
    }
    let source = event.field(names.source);
    let component = or(source.text("component"), event.text(names.controller));
    let source = match or(source.text("host"), event.text("reportingInstance")) {
        "" => component.to_owned(),
        instance => format!("{component}, {instance}"),
    };
    cells![
        last,
        event.text("type"),
        event.text("reason"),
        target,
        about.text("fieldPath"),
        source,
        event.text(names.message).trim(),
        first,
        count,
        subject.name(),
    ]
}
