//! Priority and fairness.

use hydrofoil_types::Value;

use crate::read::Write;

pub(super) fn flow_schema(object: &mut Value) {
    object.make("spec").fill("matchingPrecedence", 1000);
}

pub(super) fn priority_level(object: &mut Value) {
    let spec = object.make("spec");
    spec.within("exempt", |exempt| {
        exempt.unset("nominalConcurrencyShares", 0);
        exempt.unset("lendablePercent", 0);
    });
    spec.within("limited", |limited| {
        limited.unset("nominalConcurrencyShares", 30);
        limited.unset("lendablePercent", 0);
        limited.within("limitResponse", |response| {
            response.within("queuing", |queuing| {
                queuing.fill("handSize", 8);
                queuing.fill("queues", 64);
                queuing.fill("queueLengthLimit", 50);
            });
        });
    });
}
