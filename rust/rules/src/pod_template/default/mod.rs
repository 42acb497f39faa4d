//! Defaults of a pod spec (`SetDefaults_PodSpec`).
pub mod image;
pub mod probe;
pub mod volume;

use hydrofoil_types::Value;

use crate::quantities::resource_list;
use hydrofoil_types::read::{Read, Write};

const CONTAINERS: [&str; 3] = ["containers", "initContainers", "ephemeralContainers"];

/// Set the defaults of a pod template field.
pub fn template(holder: &mut Value, key: &str) {
    holder.within(key, |template| spec(template.make("spec")));
}

/// `SetDefaults_PodSpec` and of all within.
pub fn spec(spec: &mut Value) {
    // The conversion to the internal type joins the two names of one field.
    let account = match spec.text("serviceAccountName") {
        "" => spec.text("serviceAccount"),
        name => name,
    };
    if !account.is_empty() {
        let account = account.to_owned();
        spec.put("serviceAccount", account.as_str());
        spec.put("serviceAccountName", account);
    }
    spec.fill("dnsPolicy", "ClusterFirst");
    spec.fill("restartPolicy", "Always");
    spec.fill("schedulerName", "default-scheduler");
    spec.unset("terminationGracePeriodSeconds", 30);
    spec.unset("securityContext", Value::object());
    for key in CONTAINERS {
        spec.each(key, container);
    }
    spec.each("volumes", volume::volume);
    resource_list(spec, "overhead");
    spec.within("resources", |r| {
        resource_list(r, "limits");
        resource_list(r, "requests");
    });
}

fn container(container: &mut Value) {
    if container.zero("imagePullPolicy") {
        let policy = if image::is_latest(container.text("image")) { "Always" } else { "IfNotPresent" };
        container.put("imagePullPolicy", policy);
    }
    container.fill("terminationMessagePath", "/dev/termination-log");
    container.fill("terminationMessagePolicy", "File");
    container.each("ports", |port| port.fill("protocol", "TCP"));
    container.each("env", |env| {
        env.within("valueFrom", |from| {
            from.within("fieldRef", |r| r.fill("apiVersion", "v1"));
            from.within("fileKeyRef", |r| r.unset("optional", false));
        });
    });
    container.within("resources", |r| {
        resource_list(r, "limits");
        resource_list(r, "requests");
    });
    for key in ["livenessProbe", "readinessProbe", "startupProbe"] {
        container.within(key, probe::probe);
    }
    container.within("lifecycle", probe::lifecycle);
}
