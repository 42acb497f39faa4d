//! A server of config maps without a front end, for tests.

#![allow(dead_code, reason = "each test takes what it needs")]

use std::path::Path;
use std::sync::{Arc, OnceLock};

use hydrofoil_codec::json;
use hydrofoil_engine::kind::{Catalog, Media, ObjectKind};
use hydrofoil_engine::stored::Stored;
use hydrofoil_engine::write::{Change, Draft};
use hydrofoil_engine::{Result, Shard, View, read};
use hydrofoil_schema::Release;
use hydrofoil_store::{Filter, Limits, Local};
use hydrofoil_types::{Clock, Timestamp, Value};

/// The frames of tests.
pub type Bytes = Arc<[u8]>;

/// A moment.
pub const NOW: Timestamp = Timestamp { seconds: 1_800_000_000, nanos: 0 };

/// Return the catalog of the package.
pub fn catalog() -> &'static Catalog {
    static CATALOG: OnceLock<Catalog> = OnceLock::new();
    CATALOG.get_or_init(|| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/hydrofoil/apis/data/catalog.json");
        let release = Release::parse(include_bytes!("../../../../python/hydrofoil/apis/releases/1.36.json"));
        let data = std::fs::read(path).expect("the package data is there");
        Catalog::parse(&data, release.expect("a release")).expect("it parses")
    })
}

/// Return a built-in kind.
pub fn builtin(group: &str, version: &str, plural: &str) -> Arc<dyn ObjectKind> {
    catalog().resource(group, version, plural).expect("a built-in resource")
}

/// Return the kind of config maps.
pub fn config_maps() -> Arc<dyn ObjectKind> {
    static KIND: OnceLock<Arc<dyn ObjectKind>> = OnceLock::new();
    Arc::clone(KIND.get_or_init(|| builtin("", "v1", "configmaps")))
}

/// Return the kinds of a definition with two versions, stored in `v1`; `conversion` is the strategy.
pub fn things(conversion: &str) -> [Arc<dyn ObjectKind>; 2] {
    let schema = r#"{"openAPIV3Schema":{"type":"object","properties":{
        "spec":{"type":"object","required":["size"],"properties":{
            "size":{"type":"integer","minimum":1},"color":{"type":"string","default":"red"}}},
        "status":{"type":"object","properties":{"ready":{"type":"boolean"}}}}}}"#;
    let version = |name: &str, storage: bool| {
        format!(
            r#"{{"name":"{name}","served":true,"storage":{storage},"schema":{schema},"subresources":{{"status":{{}}}},
            "selectableFields":[{{"jsonPath":".spec.color"}}],
            "additionalPrinterColumns":[{{"name":"Size","type":"integer","jsonPath":".spec.size"}}]}}"#
        )
    };
    let text = format!(
        r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{{"name":"things.e.com"}},
        "spec":{{"group":"e.com","scope":"Namespaced","names":{{"plural":"things","kind":"Thing","listKind":"ThingList"}},
        "conversion":{{"strategy":"{conversion}"}},"versions":[{},{}]}},
        "status":{{"acceptedNames":{{"plural":"things","kind":"Thing","listKind":"ThingList"}},"storedVersions":["v1"]}}}}"#,
        version("v1", true),
        version("v2", false)
    );
    let definitions = builtin("apiextensions.k8s.io", "v1", "customresourcedefinitions");
    let (definition, strict) = definitions.decode(text.as_bytes(), Media::Json).expect("a definition");
    assert_eq!(strict, [""; 0]);
    let kinds: Vec<_> = catalog().custom(&definition).into_iter().map(|(_, kind)| kind).collect();
    kinds.try_into().expect("two versions")
}

/// Parse JSON.
pub fn parse(text: &[u8]) -> Value {
    json::parse(text).unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(text))).value
}

/// Decode an object without strict errors.
pub fn draft(kind: &Arc<dyn ObjectKind>, text: &str) -> Draft {
    let (value, strict) = kind.decode(text.as_bytes(), Media::Json).expect("a good object");
    assert_eq!(strict, [""; 0]);
    Draft::new(Arc::clone(kind), value)
}

/// The objects of one resource, and their log.
pub struct World {
    pub kind: Arc<dyn ObjectKind>,
    pub view: View<Bytes>,
    pub log: Local,
    pub shard: Arc<Shard<Bytes>>,
}

impl World {
    /// Return a view with this kind, whose history keeps the given number of events; its first write gets revision 101.
    pub fn new(kind: Arc<dyn ObjectKind>, events: usize) -> Self {
        let limits = Limits { events, ..Limits::default() };
        let view = View::new(limits, None, Arc::new(Clock::default())).expect("a signal");
        let log = Local::open(view.store(), 100);
        let shard = view.shard("objects");
        Self { kind, view, log, shard }
    }

    /// Store a new object.
    pub fn create(&self, text: &str) -> Stored {
        self.commit(&Change::create(&mut draft(&self.kind, text))).expect("a new object")
    }

    /// Replace an object, or create it.
    pub fn put(&self, namespace: &str, name: &str, text: &str) -> Stored {
        match self.get(namespace, name) {
            Some(old) => self.commit(&Change::update(&old, &mut draft(&self.kind, text))).expect("it stands there"),
            None => self.create(text),
        }
    }

    /// Delete an object if it exists; return its last state.
    pub fn delete(&self, namespace: &str, name: &str) -> Option<Stored> {
        let old = self.get(namespace, name)?;
        Some(self.commit(&Change::delete(&old)).expect("it stands there"))
    }

    pub fn get(&self, namespace: &str, name: &str) -> Option<Stored> {
        self.shard.get(&self.kind, namespace, name)
    }

    pub fn commit(&self, change: &Change) -> Result<Stored> {
        change.commit(&self.log, &self.shard)
    }

    /// Parse a selector.
    pub fn filter(&self, namespace: &str, labels: &str, fields: &str) -> Arc<Filter> {
        Arc::new(read::filter(&*self.kind, namespace, labels, fields).expect("a good selector"))
    }
}
