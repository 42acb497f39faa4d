//! Service accounts (`pkg/registry/core/serviceaccount/strategy.go`).

use hydrofoil_types::Value;

use crate::kind::{MetadataCheck, Strategy};
use hydrofoil_types::read::{Read, Write};

pub(crate) static STRATEGY: Strategy = Strategy {
    returns_deleted_object: true,
    prepare_create: |_, object, _| clean_secret_references(object),
    prepare_update: |_, object, _| clean_secret_references(object),
    metadata_on_update: &[MetadataCheck::Update, MetadataCheck::Object],
    warn_create: |_, object, out| warn(object, out),
    warn_update: |_, object, old, out| warn_update(object, old, out),
    row: Some(hydrofoil_rules::table::text::name_and_age),
    ..Strategy::DEFAULT
};

/// `cleanSecretReferences`: only the names are kept.
fn clean_secret_references(object: &mut Value) {
    object.each("secrets", |secret| {
        let name = secret.text("name").to_owned();
        *secret = Value::object();
        if !name.is_empty() {
            secret.put("name", name);
        }
    });
}

/// `warnIfHasEnforceMountableSecretsAnnotation`.
fn warn(object: &Value, out: &mut Vec<String>) {
    if object.field("metadata").field("annotations").has(MOUNTABLE) {
        out.push(format!(
            "metadata.annotations[{MOUNTABLE}]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"
        ));
    }
}

/// Warn of an updated service account, unless the old one gave cause already.
fn warn_update(object: &Value, old: &Value, out: &mut Vec<String>) {
    if !old.field("metadata").field("annotations").has(MOUNTABLE) {
        warn(object, out);
    }
}

/// The deprecated annotation of service accounts.
pub(crate) const MOUNTABLE: &str = "kubernetes.io/enforce-mountable-secrets";
