//! A compiled definition: its names and its versions.

use std::sync::OnceLock;

use hydrofoil_types::{Arena, Digest, Fingerprint, Schema, SmolStr, Value};

use super::columns::Columns;
use super::scale::Scale;
use super::structural::Node;
use hydrofoil_types::read::Read;

/// The parts of a definition that the server needs in order to serve its resources.
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
    /// Whether objects are namespaced.
    pub namespaced: bool,
    /// Whether unknown members are kept everywhere, as the oldest definitions may specify.
    pub preserve: bool,
    /// Whether versions are converted by a webhook.
    pub webhook: bool,
    /// All versions, served or not, in their order.
    pub versions: Vec<Version>,
    /// The index of the storage version.
    pub storage: usize,
    /// The number of versions in which objects may be stored.
    pub stored_in: usize,
    /// The labels of field selectors of all versions, sorted, and their paths.
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
    /// The paths of `/scale`.
    pub scale: Option<Scale>,
    /// The printer columns.
    pub columns: Columns,
    /// The labels of its own field selectors.
    pub selectable: Box<[SmolStr]>,
    /// Equal for versions whose stored objects read alike.
    pub fingerprint: Fingerprint,
    /// Fingerprint of the conversion to this version: equal while all schemas and the conversion are.
    pub view: Fingerprint,
    owned: OnceLock<Schema>,
}

impl Definition {
    /// Compile a stored definition in loose form, whose names are accepted.
    pub fn compile(object: &Value) -> Self {
        let spec = object.field("spec");
        let names = object.field("status").field("acceptedNames");
        let group = SmolStr::new(spec.text("group"));
        let preserve = spec.flag("preserveUnknownFields");
        let kind = names.text("kind");
        let mut versions: Vec<Version> =
            spec.list("versions").iter().map(|v| Version::compile(&group, kind, preserve, v)).collect();
        let mut all = digest([spec.field("conversion").to_json().as_bytes()]);
        for version in &versions {
            all = digest([&all[..], &version.fingerprint.digest().unwrap_or_default()]);
        }
        for version in &mut versions {
            version.view = Fingerprint::of(digest([&all[..], version.name.as_bytes()]));
        }
        let mut labels: Vec<SmolStr> = versions.iter().flat_map(|v| v.selectable.iter().cloned()).collect();
        labels.sort();
        labels.dedup();
        let path = |label: &SmolStr| label.split('.').map(SmolStr::new).collect();
        let selectable: Box<[(SmolStr, Box<[SmolStr]>)]> = labels.iter().map(|l| (l.clone(), path(l))).collect();
        Self {
            storage: spec.list("versions").iter().position(|v| v.flag("storage")).unwrap_or(0),
            plural: names.text("plural").into(),
            kind: kind.into(),
            list_kind: names.text("listKind").into(),
            namespaced: spec.text("scope") == "Namespaced",
            webhook: spec.field("conversion").text("strategy") == "Webhook",
            stored_in: object.field("status").list("storedVersions").len(),
            group,
            preserve,
            versions,
            selectable,
        }
    }

    /// Return the version of an `apiVersion`.
    pub fn version(&self, api_version: &str) -> Option<&Version> {
        self.versions.iter().find(|v| v.api_version == api_version)
    }

    /// Return the values that field selectors look at, in the order of `selectable`.
    pub fn fields(&self, object: &Value) -> Box<[SmolStr]> {
        let text = |path: &[SmolStr]| {
            let found = path.iter().try_fold(object, |here, key| here.get(key));
            match found {
                None | Some(Value::Null) => SmolStr::default(),
                Some(Value::Str(text)) => text.clone(),
                Some(Value::Float(f)) => hydrofoil_types::go::float(f.get()).into(),
                Some(other) => other.to_json().into(),
            }
        };
        self.selectable.iter().map(|(_, path)| text(path)).collect()
    }
}

impl Version {
    fn compile(group: &str, kind: &str, preserve: bool, version: &Value) -> Self {
        let name = version.text("name");
        let props = version.field("schema").field("openAPIV3Schema");
        let subresources = version.field("subresources");
        let labels =
            version.list("selectableFields").iter().map(|f| SmolStr::new(f.text("jsonPath").trim_start_matches('.')));
        let mut schema = Node::compile(props);
        super::rules::attach(&mut schema, props, true);
        // Fields that the whole definition preserves are preserved from the root down.
        schema.preserve |= preserve;
        let preserved: &[u8] = if preserve { b"preserve" } else { b"prune" };
        let properties = props.to_json();
        let texts = [group.as_bytes(), kind.as_bytes(), name.as_bytes(), preserved, properties.as_bytes()];
        let fingerprint = Fingerprint::of(digest(texts));
        Self {
            name: name.into(),
            api_version: format!("{group}/{name}").into(),
            schema,
            status: subresources.has("status"),
            scale: subresources.opt("scale").map(Scale::parse),
            columns: Columns::compile(version.list("additionalPrinterColumns")),
            selectable: labels.collect(),
            fingerprint,
            view: Fingerprint::UNKNOWN,
            owned: OnceLock::new(),
        }
    }

    /// Return the schema by which its fields are owned, made when first needed; `builtin` has the metadata.
    pub fn ownership_schema(&self, builtin: &Arena) -> &Schema {
        self.owned.get_or_init(|| super::owned::schema(&self.schema, builtin))
    }
}

/// Return the BLAKE3 digest of texts, each with its length in front: as hard to find twice as SHA-256, and cheaper by far
/// without instructions for that.
fn digest<'t>(texts: impl IntoIterator<Item = &'t [u8]>) -> Digest {
    let mut hash = blake3::Hasher::new();
    for text in texts {
        hash.update(&(text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hash.finalize().into()
}
