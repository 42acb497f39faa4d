//! Cluster trust bundles (`pkg/registry/certificates/clustertrustbundle/strategy.go`).

use std::collections::HashMap;

use hydrofoil_types::{Causes, Path, Value};
use hydrofoil_x509::{Certificate, pem};

use crate::kind::{MetadataOrder, NameRule, Request, Strategy};
use hydrofoil_internal::InternalCauses;
use hydrofoil_rules::format::name;
use hydrofoil_rules::meta;
use hydrofoil_rules::signer::signer;
use hydrofoil_rules::table::text::or;
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_types::read::Read;

const METADATA: Path<'static> = Path::new("metadata");
const SPEC: Path<'static> = Path::new("spec");
const MOST_BYTES: usize = 1 << 20;

pub(crate) static STRATEGY: Strategy = Strategy {
    name_rule: NameRule::Other,
    allow_unconditional_update: false,
    metadata_order: MetadataOrder::Own,
    metadata_on_update: &[],
    validate: |req, object, causes| {
        validate(req, object, causes);
        anchors(object.field("spec").text("trustBundle"), causes);
    },
    validate_update,
    row: Some(row),
    ..Strategy::DEFAULT
};

/// `ValidateClusterTrustBundle` without the bundle itself.
fn validate(req: &Request<'_>, object: &Value, causes: &mut Causes) {
    let of = object.field("spec").text("signerName");
    meta::create_named(req.kind, object, &METADATA, |own, bad| own_name(of, own, bad), causes);
    if !of.is_empty() {
        signer(of, &SPEC.child("signerName"), causes);
    }
}

/// `ValidateClusterTrustBundleUpdate`: a bundle that did not change is not read again.
fn validate_update(req: &Request<'_>, object: &Value, old: &Value, causes: &mut Causes) {
    let (spec, before) = (object.field("spec"), old.field("spec"));
    validate(req, object, causes);
    if spec.text("trustBundle") != before.text("trustBundle") {
        anchors(spec.text("trustBundle"), causes);
    }
    meta::update(req.kind, object, old, causes);
    causes.immutable_internal(&SPEC.child("signerName"), "s", spec.field("signerName"), before.field("signerName"));
}

/// `ValidateClusterTrustBundleName`: the name of a bundle of a signer begins with that of the signer.
fn own_name(signer: &str, own: &str, bad: &mut dyn FnMut(&str)) {
    if signer.is_empty() {
        if own.contains(':') {
            return bad("ClusterTrustBundle without signer name must not have \":\" in its name");
        }
        return name::subdomain(own, bad);
    }
    let prefix = format!("{}:", signer.replace('/', ":"));
    match own.strip_prefix(&prefix) {
        Some(rest) => name::subdomain(rest, bad),
        None => bad(&format!("ClusterTrustBundle for signerName {signer} must be named with prefix {prefix}")),
    }
}

/// `validateTrustBundle`: certificates of authorities, each once.
fn anchors(bundle: &str, causes: &mut Causes) {
    let at = SPEC.child("trustBundle");
    if bundle.len() > MOST_BYTES {
        return causes.too_long(&at, MOST_BYTES);
    }
    let mut found: HashMap<Vec<u8>, Vec<usize>> = HashMap::new();
    let mut faults = Vec::new();
    let mut rest = bundle.as_bytes();
    for i in 0.. {
        let Some((block, after)) = pem::next(rest) else { break };
        rest = after;
        match fault(&block) {
            Some(fault) => faults.push(format!("entry {i} {fault}")),
            None => found.entry(block.bytes).or_default().push(i),
        }
    }
    if faults.is_empty() {
        if found.is_empty() {
            faults.push("at least one trust anchor must be provided".to_owned());
        }
        let mut again: Vec<_> = found.into_values().filter(|places| places.len() > 1).collect();
        again.sort_unstable();
        for places in again {
            let places: Vec<_> = places.iter().map(usize::to_string).collect();
            faults.push(format!("duplicate trust anchor (indices [{}])", places.join(" ")));
        }
    }
    for fault in &faults {
        causes.invalid_str(&at, "<value omitted>", fault);
    }
}

/// Return the reason why a block is no trust anchor.
fn fault(block: &pem::Block) -> Option<String> {
    if block.kind != "CERTIFICATE" {
        return Some(format!("has bad block type: {}", block.kind));
    }
    if block.has_headers {
        return Some("has PEM block headers".to_owned());
    }
    match Certificate::parse(&block.bytes) {
        Err(_) => Some("does not parse as X.509".to_owned()),
        Ok(certificate) if certificate.authority == Some(true) => None,
        Ok(_) => Some("does not have the CA bit set".to_owned()),
    }
}

/// `printClusterTrustBundle`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    cells![subject.name(), or(subject.spec().text("signerName"), "<none>")]
}
