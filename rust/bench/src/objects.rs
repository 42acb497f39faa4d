//! Realistic objects, each with its kind and schema.

use std::path::Path;

use hydrofoil_codec::{json, proto};
use hydrofoil_schema::{Kind, Release, Request, validate};
use hydrofoil_types::{Catalog, Causes, Schema, Timestamp, Value};

/// Return the catalog of the package.
pub fn catalog() -> Catalog {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/hydrofoil/apis/data/catalog.json");
    Catalog::parse(&std::fs::read(path).expect("the package data is there")).expect("the package data parses")
}

/// Return the release of the package.
pub fn release() -> Release {
    Release::parse(include_bytes!("../../../python/hydrofoil/apis/releases/1.36.json")).expect("a release")
}

/// An object of a built-in kind in every form that a request uses.
#[derive(Debug)]
pub struct Subject {
    /// The kind.
    pub kind: Kind,
    /// Its schema.
    pub schema: Schema,
    /// The object in loose form.
    pub value: Value,
    /// Its canonical JSON.
    pub json: Vec<u8>,
    /// The same object as enveloped protobuf.
    pub protobuf: Vec<u8>,
}

impl Subject {
    /// Return a running pod with two containers.
    pub fn pod(catalog: &Catalog) -> Self {
        Self::read(catalog, ("", "v1", "pods"), include_bytes!("../objects/pod.json"))
    }

    /// Return a deployment of such pods.
    pub fn deployment(catalog: &Catalog) -> Self {
        Self::read(catalog, ("apps", "v1", "deployments"), include_bytes!("../objects/deployment.json"))
    }

    /// Return a config map of 1 KB.
    pub fn config_map(catalog: &Catalog) -> Self {
        Self::read(catalog, ("", "v1", "configmaps"), include_bytes!("../objects/config_map.json"))
    }

    fn read(catalog: &Catalog, (group, version, plural): (&str, &str, &str), text: &[u8]) -> Self {
        let resource = catalog.resource(group, version, plural).expect("a built-in resource");
        let kind = Kind::of(resource, release());
        let schema = catalog.schema(&resource.type_name).expect("the type of a resource");
        let json = json::encode(&schema, &json::decode(&schema, text).expect("a good object").value);
        // Members are now in canonical order, as in every stored object.
        let value = json::decode(&schema, &json).expect("its own encoding").value;
        let mut subject = Self { kind, schema, value, json, protobuf: Vec::new() };
        subject.protobuf = subject.encode_protobuf();
        assert!(subject.validate().is_empty(), "{:?}", subject.validate());
        assert_eq!(subject.encode_json(), subject.json);
        assert_eq!(json::encode(&subject.schema, &subject.decode_protobuf()), subject.json);
        subject
    }

    /// Decode JSON to loose form.
    pub fn decode_json(&self) -> Value {
        json::decode(&self.schema, &self.json).expect("its own encoding").value
    }

    /// Encode loose form as JSON.
    pub fn encode_json(&self) -> Vec<u8> {
        json::encode(&self.schema, &self.value)
    }

    /// Decode protobuf to loose form.
    pub fn decode_protobuf(&self) -> Value {
        proto::decode(&self.schema, &self.protobuf).expect("its own encoding")
    }

    /// Encode loose form as protobuf.
    pub fn encode_protobuf(&self) -> Vec<u8> {
        let version = self.value.str_at(&["apiVersion"]);
        proto::envelope(version, &self.kind.kind, &proto::encode(&self.schema, &self.value))
    }

    /// Validate it as a new object; it has no causes.
    pub fn validate(&self) -> Causes {
        validate::create(
            &Request { kind: &self.kind, subresource: "", old: None, now: Timestamp::default() },
            &self.value,
        )
    }
}

/// Return a stored definition of a custom resource with ten rules, in loose form.
pub fn definition(catalog: &Catalog) -> Value {
    let resource =
        catalog.resource("apiextensions.k8s.io", "v1", "customresourcedefinitions").expect("a built-in resource");
    let schema = catalog.schema(&resource.type_name).expect("the type of a resource");
    json::decode(&schema, include_bytes!("../objects/definition.json")).expect("a good object").value
}
