//! A definition compiled: its names and its versions.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;

use hydrofoil_types::{Arena, Schema, SmolStr, Value};

use super::columns::Columns;
use super::scale::Scale;
use super::structural::Node;
use crate::read::Read;

/// What the server needs to know of the resources that a definition brings.
#[derive(Debug)]
pub struct Definition {
    /// The group.
    pub group: SmolStr,
    /// The name in URLs.
    pub plural: SmolStr,
    /// The accepted kind.
    pub kind: SmolStr,
    /// The accepted kind of lists.
    pub list_kind: SmolStr,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// Whether unknown members are kept everywhere, as the oldest definitions may say.
    pub preserve: bool,
    /// Whether versions are converted by a webhook.
    pub webhook: bool,
    /// All versions, served or not, in their order.
    pub versions: Vec<Version>,
    /// The place of the version that is stored.
    pub storage: usize,
    /// In how many versions objects may be stored.
    pub stored_in: usize,
    /// The labels of field selectors of all versions, sorted, and where each leads.
    pub selectable: Box<[(SmolStr, Box<[SmolStr]>)]>,
}

/// One version.
#[derive(Debug)]
pub struct Version {
    /// The name.
    pub name: SmolStr,
    /// Group and version.
    pub api_version: SmolStr,
    /// The schema.
    pub schema: Node,
    /// Whether `/status` exists.
    pub status: bool,
    /// Where `/scale` looks.
    pub scale: Option<Scale>,
    /// The printer columns.
    pub columns: Columns,
    /// The labels of its own field selectors.
    pub selectable: Box<[SmolStr]>,
    /// Equal for versions whose stored objects read alike.
    pub fingerprint: u64,
    /// What objects stored in other forms become in this version: equal while all schemas and the conversion are.
    pub view: u64,
    owned: OnceLock<Schema>,
}

impl Definition {
    /// Compiles a stored definition in loose form, whose names are accepted.
    pub fn compile(object: &Value) -> Self {
        let spec = object.sub("spec");
        let names = object.sub("status").sub("acceptedNames");
        let group = SmolStr::new(spec.s("group"));
        let preserve = spec.b("preserveUnknownFields");
        let kind = names.s("kind");
        let mut versions: Vec<Version> =
            spec.list("versions").iter().map(|v| Version::compile(&group, kind, preserve, v)).collect();
        let mut hash = DefaultHasher::new();
        spec.sub("conversion").to_json().hash(&mut hash);
        for version in &versions {
            version.fingerprint.hash(&mut hash);
        }
        for version in &mut versions {
            let mut own = hash.clone();
            version.name.hash(&mut own);
            version.view = own.finish();
        }
        let mut labels: Vec<SmolStr> = versions.iter().flat_map(|v| v.selectable.iter().cloned()).collect();
        labels.sort();
        labels.dedup();
        let path = |label: &SmolStr| label.split('.').map(SmolStr::new).collect();
        let selectable: Box<[(SmolStr, Box<[SmolStr]>)]> = labels.iter().map(|l| (l.clone(), path(l))).collect();
        Self {
            storage: spec.list("versions").iter().position(|v| v.b("storage")).unwrap_or(0),
            plural: names.s("plural").into(),
            kind: kind.into(),
            list_kind: names.s("listKind").into(),
            namespaced: spec.s("scope") == "Namespaced",
            webhook: spec.sub("conversion").s("strategy") == "Webhook",
            stored_in: object.sub("status").list("storedVersions").len(),
            group,
            preserve,
            versions,
            selectable,
        }
    }

    /// The version of an `apiVersion`.
    pub fn version(&self, api_version: &str) -> Option<&Version> {
        self.versions.iter().find(|v| v.api_version == api_version)
    }

    /// The values that field selectors look at, in the order of `selectable`.
    pub fn fields(&self, object: &Value) -> Box<[SmolStr]> {
        let text = |path: &[SmolStr]| {
            let found = path.iter().try_fold(object, |here, key| here.get(key));
            match found {
                None | Some(Value::Null) => SmolStr::default(),
                Some(Value::Str(text)) => text.clone(),
                Some(Value::Float(f)) => hydrofoil_types::go::float(*f).into(),
                Some(other) => other.to_json().into(),
            }
        };
        self.selectable.iter().map(|(_, path)| text(path)).collect()
    }
}

impl Version {
    fn compile(group: &str, kind: &str, preserve: bool, version: &Value) -> Self {
        let name = version.s("name");
        let props = version.sub("schema").sub("openAPIV3Schema");
        let subresources = version.sub("subresources");
        let labels =
            version.list("selectableFields").iter().map(|f| SmolStr::new(f.s("jsonPath").trim_start_matches('.')));
        let mut schema = Node::compile(props);
        super::rules::attach(&mut schema, props, true);
        // What the whole definition keeps, its root says for all below.
        schema.preserve |= preserve;
        let mut hash = DefaultHasher::new();
        (group, kind, name, preserve).hash(&mut hash);
        props.to_json().hash(&mut hash);
        Self {
            name: name.into(),
            api_version: format!("{group}/{name}").into(),
            schema,
            status: subresources.has("status"),
            scale: subresources.opt("scale").map(Scale::parse),
            columns: Columns::compile(version.list("additionalPrinterColumns")),
            selectable: labels.collect(),
            // Zero marks objects of built-in kinds.
            fingerprint: hash.finish().max(1),
            view: 0,
            owned: OnceLock::new(),
        }
    }

    /// The schema by which its fields are owned, made when first needed; `builtin` has the metadata.
    pub fn owned(&self, builtin: &Arena) -> &Schema {
        self.owned.get_or_init(|| super::owned::schema(&self.schema, builtin))
    }
}
