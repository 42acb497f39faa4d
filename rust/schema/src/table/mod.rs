//! Tables: the columns of a resource and the rows of its objects, as kubernetes
//! `pkg/printers/internalversion/printers.go` makes them with its wide option, which servers always set.

/// The cells of a row, each anything that a [`hydrofoil_types::Value`] can be made from.
macro_rules! cells {
    ($($cell:expr),* $(,)?) => {
        vec![$(hydrofoil_types::Value::from($cell)),*]
    };
}

mod admissionregistration;
pub(crate) mod age;
mod apiregistration;
mod apps;
mod autoscaling;
mod batch;
mod certificates;
mod coordination;
mod core;
mod core_event;
mod core_node;
mod core_pod;
mod core_service;
mod core_volume;
mod default;
mod discovery;
mod flowcontrol;
mod internal;
mod networking;
mod node;
mod policy;
mod rbac;
mod resource;
mod scheduling;
mod selector;
mod storage;
mod storagemigration;
mod subject;
mod text;

use hydrofoil_types::{Map, Resource, Timestamp, Value};

pub(crate) use default::{CREATED, NAME};
use subject::Subject;

use crate::convert;

/// One row.
pub struct Row {
    /// One value a column.
    pub cells: Vec<Value>,
    /// Row conditions: a finished pod has one.
    pub conditions: Vec<Value>,
    /// Until when the ages among the cells stay the same, in seconds of Unix time.
    pub until: i64,
}

/// The column definitions of a resource.
pub fn columns(resource: &Resource) -> Vec<Value> {
    match (resource.group.as_str(), resource.kind.as_str()) {
        ("autoscaling", "Scale") => autoscaling::scale_columns(),
        _ if uses_default(resource) => default::columns(),
        _ => resource.columns.iter().map(|c| column(&c.name, &c.kind, &c.format, &c.description, c.priority)).collect(),
    }
}

/// The row of an object at a moment, from which ages are counted.
pub fn row(resource: &Resource, object: &Value, now: Timestamp) -> Row {
    let internal = convert::internal((&resource.group, &resource.version, &resource.kind), object);
    let subject = Subject::new(internal.as_ref().unwrap_or(object), now);
    let key = (resource.group.as_str(), resource.kind.as_str());
    let cells = match printer(key) {
        Some(print) if key == ("autoscaling", "Scale") || !uses_default(resource) => print(&subject),
        _ => default::row(&subject),
    };
    let conditions = if key == ("", "Pod") { core_pod::conditions(&subject) } else { Vec::new() };
    Row { cells, conditions, until: subject.until() }
}

/// Whether its REST storage has `NewDefaultTableConvertor`: limit ranges and roles, for which no printer is
/// written, and storage capacities, which have a printer that `csistoragecapacity/storage` does not use.
fn uses_default(resource: &Resource) -> bool {
    resource.columns.is_empty() || (resource.group == "storage.k8s.io" && resource.kind == "CSIStorageCapacity")
}

pub(crate) fn column(name: &str, kind: &str, format: &str, description: &str, priority: i64) -> Value {
    let mut m = Map::new();
    m.push("name", name);
    m.push("type", kind);
    m.push("format", format);
    m.push("description", description);
    m.push("priority", priority);
    Value::Object(m)
}

/// What makes the cells of a kind.
type Printer = fn(&Subject<'_>) -> Vec<Value>;

fn printer(key: (&str, &str)) -> Option<Printer> {
    Some(match key {
        ("", "ComponentStatus") => core::component_status,
        ("", "ConfigMap") => core::config_map,
        ("", "Endpoints") => core_service::endpoints,
        ("", "Event") => core_event::core,
        ("", "Namespace") => core::namespace,
        ("", "Node") => core_node::node,
        ("", "PersistentVolume") => core_volume::volume,
        ("", "PersistentVolumeClaim") => core_volume::claim,
        ("", "Pod") => core_pod::pod,
        ("", "PodTemplate") => core::pod_template,
        ("", "ReplicationController") => core::replication_controller,
        ("", "ResourceQuota") => core::resource_quota,
        ("", "Secret") => core::secret,
        ("", "Service") => core_service::service,
        ("", "ServiceAccount")
        | ("resource.k8s.io", "DeviceClass" | "ResourceClaimTemplate")
        | ("scheduling.k8s.io", "Workload") => text::name_and_age,
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicy") => admissionregistration::mutating_policy,
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy") => admissionregistration::validating_policy,
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding" | "ValidatingAdmissionPolicyBinding") => {
            admissionregistration::binding
        }
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration") => {
            admissionregistration::webhooks
        }
        ("apiregistration.k8s.io", "APIService") => apiregistration::api_service,
        ("apps", "ControllerRevision") => apps::controller_revision,
        ("apps", "DaemonSet") => apps::daemon_set,
        ("apps", "Deployment") => apps::deployment,
        ("apps", "ReplicaSet") => apps::replica_set,
        ("apps", "StatefulSet") => apps::stateful_set,
        ("autoscaling", "HorizontalPodAutoscaler") => autoscaling::autoscaler,
        ("autoscaling", "Scale") => autoscaling::scale,
        ("batch", "CronJob") => batch::cron_job,
        ("batch", "Job") => batch::job,
        ("certificates.k8s.io", "CertificateSigningRequest") => certificates::signing_request,
        ("certificates.k8s.io", "ClusterTrustBundle") => certificates::trust_bundle,
        ("certificates.k8s.io", "PodCertificateRequest") => certificates::pod_request,
        ("coordination.k8s.io", "Lease") => coordination::lease,
        ("coordination.k8s.io", "LeaseCandidate") => coordination::candidate,
        ("discovery.k8s.io", "EndpointSlice") => discovery::slice,
        ("events.k8s.io", "Event") => core_event::events,
        ("flowcontrol.apiserver.k8s.io", "FlowSchema") => flowcontrol::schema,
        ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration") => flowcontrol::level,
        ("internal.apiserver.k8s.io", "StorageVersion") => internal::storage_version,
        ("networking.k8s.io", "IPAddress") => networking::ip_address,
        ("networking.k8s.io", "Ingress") => networking::ingress,
        ("networking.k8s.io", "IngressClass") => networking::ingress_class,
        ("networking.k8s.io", "NetworkPolicy") => networking::network_policy,
        ("networking.k8s.io", "ServiceCIDR") => networking::service_cidr,
        ("node.k8s.io", "RuntimeClass") => node::runtime_class,
        ("policy", "PodDisruptionBudget") => policy::disruption_budget,
        ("rbac.authorization.k8s.io", "ClusterRoleBinding" | "RoleBinding") => rbac::binding,
        ("resource.k8s.io", "DeviceTaintRule") => resource::taint_rule,
        ("resource.k8s.io", "ResourceClaim") => resource::claim,
        ("resource.k8s.io", "ResourcePoolStatusRequest") => resource::pool_request,
        ("resource.k8s.io", "ResourceSlice") => resource::slice,
        ("scheduling.k8s.io", "PodGroup") => scheduling::pod_group,
        ("scheduling.k8s.io", "PriorityClass") => scheduling::priority_class,
        ("storage.k8s.io", "CSIDriver") => storage::driver,
        ("storage.k8s.io", "CSINode") => storage::node,
        ("storage.k8s.io", "StorageClass") => storage::class,
        ("storage.k8s.io", "VolumeAttachment") => storage::attachment,
        ("storage.k8s.io", "VolumeAttributesClass") => storage::attributes_class,
        ("storagemigration.k8s.io", "StorageVersionMigration") => storagemigration::migration,
        _ => return None,
    })
}
