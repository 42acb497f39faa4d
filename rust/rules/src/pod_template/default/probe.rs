//! Probes and handlers.

use hydrofoil_types::Value;

use hydrofoil_types::read::Write;

/// `SetDefaults_Probe`, its HTTP request and its gRPC service.
pub fn probe(probe: &mut Value) {
    probe.fill("timeoutSeconds", 1);
    probe.fill("periodSeconds", 10);
    probe.fill("successThreshold", 1);
    probe.fill("failureThreshold", 3);
    probe.within("httpGet", http_get);
    probe.within("grpc", |grpc| grpc.unset("service", ""));
}

fn http_get(action: &mut Value) {
    action.fill("path", "/");
    action.fill("scheme", "HTTP");
}

/// Set the defaults of the two hooks of a container.
pub fn lifecycle(lifecycle: &mut Value) {
    for hook in ["postStart", "preStop"] {
        lifecycle.within(hook, |h| h.within("httpGet", http_get));
    }
}
