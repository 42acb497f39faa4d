//! Flow schemas and priority levels.

use hydrofoil_types::Value;

use super::subject::Subject;
use super::text::condition;
use crate::read::Read;

const NONE: &str = "<none>";

/// `printFlowSchema`.
pub(super) fn schema(of: &Subject<'_>) -> Vec<Value> {
    let spec = of.spec();
    cells![
        of.name(),
        spec.sub("priorityLevelConfiguration").s("name"),
        spec.i("matchingPrecedence"),
        spec.opt("distinguisherMethod").map_or(NONE, |m| m.s("type")),
        of.age(),
        condition(of.status(), "Dangling").map_or("?", |c| c.s("status")),
    ]
}

/// `printPriorityLevelConfiguration`.
pub(super) fn level(of: &Subject<'_>) -> Vec<Value> {
    let spec = of.spec();
    let limited = spec.opt("limited");
    let queuing = limited.and_then(|l| l.sub("limitResponse").opt("queuing"));
    let number = |from: Option<&Value>, key| from.map_or_else(|| Value::from(NONE), |v| Value::from(v.i(key)));
    cells![
        of.name(),
        spec.s("type"),
        number(limited, "nominalConcurrencyShares"),
        number(queuing, "queues"),
        number(queuing, "handSize"),
        number(queuing, "queueLengthLimit"),
        of.age(),
    ]
}
