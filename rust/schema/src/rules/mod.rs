//! Rules that kinds share: metadata, names, selectors, quantities, pod templates, conditions, tables.

pub(crate) mod address;
pub(crate) mod check;
pub(crate) mod conditions;
pub(crate) mod data;
pub(crate) mod domain_path;
pub(crate) mod expression;
pub(crate) mod format;
pub(crate) mod gates;
pub(crate) mod hostname;
pub(crate) mod load_balancer;
pub(crate) mod meta;
pub(crate) mod node_label;
pub(crate) mod persistent_volume;
pub(crate) mod pod_template;
pub(crate) mod qos;
pub(crate) mod quantities;
pub(crate) mod resource;
pub(crate) mod selector;
pub(crate) mod signer;
pub(crate) mod table;
pub(crate) mod volume_claim;
pub(crate) mod volume_source;
pub(crate) mod webhook_client;
pub(crate) mod workload;
pub(crate) mod workload_status;
