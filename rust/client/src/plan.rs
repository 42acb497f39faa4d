//! The description of a run: its parts, and the objects that they concern.

use serde::{Deserialize, Serialize};

use crate::clock;
use crate::event::Format;

/// An object of ours that is on the server, with the uid that the server gave it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Owned {
    /// The path of its collection.
    pub path: String,
    /// Its name.
    pub name: String,
    /// Its uid; `None` for one whose creation had no answer.
    pub uid: Option<String>,
}

/// The kind of the objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Resource {
    /// `v1` `ConfigMap`.
    ConfigMaps,
    /// `v1` `Pod`.
    Pods,
    /// A custom resource with the data of a `ConfigMap`.
    Custom,
}

/// The encoding of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Encoding {
    /// JSON.
    Json,
    /// Protobuf.
    Protobuf,
    /// CBOR.
    Cbor,
    /// A table, in JSON.
    Table,
    /// Metadata alone, in JSON.
    Metadata,
}

/// One kind of write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Step {
    /// `POST`.
    Create,
    /// `PUT`.
    Update,
    /// A JSON merge patch.
    Merge,
    /// Server-side apply.
    Apply,
    /// A patch of the status.
    Status,
    /// `DELETE`.
    Delete,
}

/// A part of a run.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "part", rename_all = "lowercase")]
pub enum Part {
    /// Create the seeded objects.
    Seed {
        /// Connections.
        connections: u32,
    },
    /// Delete objects.
    Remove {
        /// Connections.
        connections: u32,
        /// The objects.
        items: Vec<Owned>,
    },
    /// List all objects.
    List {
        /// Connections.
        readers: u32,
        /// The query of the request, with its question mark.
        #[serde(default)]
        query: String,
        /// Whether the list may be older than the newest state.
        #[serde(default)]
        old: bool,
        /// The list has every object whose number is a multiple of this.
        #[serde(default = "one")]
        stride: u32,
    },
    /// List all objects in pages.
    Pages {
        /// Connections.
        readers: u32,
        /// Objects of a page.
        limit: u32,
    },
    /// Start the informers of a controller manager together, again and again.
    Manager {
        /// The paths of their collections.
        paths: Vec<String>,
    },
    /// Start informers.
    Informers {
        /// Informers at a time.
        count: u32,
    },
    /// Watch one object each.
    Watch {
        /// Watchers.
        count: u32,
        /// The version to begin at.
        from: u64,
    },
    /// Watch the collection.
    Fanout {
        /// Watchers.
        count: u32,
        /// The version to begin at.
        from: u64,
    },
    /// Watch the collection again, once all is over: the events have to be those that were seen.
    Replay {
        /// The version to begin at.
        from: u64,
    },
    /// Write.
    Writes {
        /// Connections.
        connections: u32,
        /// The steps of an object's life.
        steps: Vec<Step>,
        /// The number of objects, which are written in turn; 0 for a new object after each deleted one.
        objects: u32,
        /// Pods whose status is written where the objects have none.
        pods: Vec<Owned>,
        /// Whether the operations are those that the case counts.
        shown: bool,
    },
    /// One request.
    Call {
        /// Its method.
        method: String,
        /// Its path, with the query.
        path: String,
        /// The media types to accept.
        accept: String,
        /// The media type of the body.
        media: String,
        /// The body.
        body: String,
    },
}

/// A run.
#[derive(Clone, Debug, Deserialize)]
pub struct Plan {
    /// Its parts, which run side by side.
    pub parts: Vec<Part>,
    /// The kind of the objects.
    pub resource: Resource,
    /// Their namespace.
    pub namespace: String,
    /// The name of the run, the value of its label.
    pub run: String,
    /// The number of seeded objects.
    pub objects: u32,
    /// The number of namespaces that the seeded objects are in.
    #[serde(default = "one")]
    pub spread: u32,
    /// Bytes of text in each object.
    pub size: u32,
    /// The length of the measurement.
    pub seconds: f64,
    /// Writes a second; 0 for as many as possible.
    pub rate: f64,
    /// Lists, pages or starts of informers a second; 0 for as many as possible.
    #[serde(default)]
    pub read_rate: f64,
    /// The encoding of answers.
    pub encoding: Encoding,
    /// Whether answers may be packed.
    pub gzip: bool,
    /// Seconds without any progress after which the rest is lost.
    pub patience: f64,
    /// How often in a row a connection may be lost before its agent gives up.
    #[serde(default = "attempts")]
    pub attempts: u32,
}

fn one() -> u32 {
    1
}

fn attempts() -> u32 {
    12
}

/// Read a plan.
pub fn plan(json: &[u8]) -> Result<Plan, String> {
    serde_json::from_slice(json).map_err(|e| e.to_string())
}

impl Part {
    /// Whether its operations are those that the case counts.
    pub(crate) fn shown(&self) -> bool {
        !matches!(self, Self::Writes { shown: false, .. } | Self::Replay { .. })
    }
}

impl Plan {
    pub(crate) fn nanos(&self) -> u64 {
        clock::of_seconds(self.seconds)
    }

    /// The operations a second of a part; 0 for as many as possible.
    pub(crate) fn rate_of(&self, part: usize) -> f64 {
        match self.parts[part] {
            Part::List { .. } | Part::Pages { .. } | Part::Informers { .. } => self.read_rate,
            Part::Writes { .. } => self.rate,
            _ => 0.0,
        }
    }

    /// The path of the collection: that of all namespaces, if the objects are in several.
    pub(crate) fn collection(&self) -> String {
        let (group, resource) = self.resource.path();
        if self.spread > 1 {
            return format!("{group}/{resource}");
        }
        format!("{group}/namespaces/{}/{resource}", self.namespace)
    }

    /// The namespace of a seeded object: the order of all is that of their numbers.
    pub(crate) fn namespace_of(&self, number: u32) -> String {
        if self.spread <= 1 {
            return self.namespace.clone();
        }
        format!("{}-{:04}", self.namespace, number / self.objects.div_ceil(self.spread).max(1))
    }

    /// The path of the collection that a seeded object is created in.
    pub(crate) fn collection_of(&self, number: u32) -> String {
        let (group, resource) = self.resource.path();
        format!("{group}/namespaces/{}/{resource}", self.namespace_of(number))
    }
}

impl Resource {
    /// The path of its group and version, and its plural.
    fn path(self) -> (&'static str, &'static str) {
        match self {
            Self::ConfigMaps => ("/api/v1", "configmaps"),
            Self::Pods => ("/api/v1", "pods"),
            Self::Custom => ("/apis/bench.hydrofoil.dev/v1", "records"),
        }
    }

    /// Its version and kind.
    pub(crate) fn kind(self) -> (&'static str, &'static str) {
        match self {
            Self::ConfigMaps => ("v1", "ConfigMap"),
            Self::Pods => ("v1", "Pod"),
            Self::Custom => ("bench.hydrofoil.dev/v1", "Record"),
        }
    }
}

impl Encoding {
    /// How its bytes are read.
    pub(crate) fn format(self) -> Format {
        match self {
            Self::Protobuf => Format::Protobuf,
            Self::Cbor => Format::Cbor,
            _ => Format::Json,
        }
    }

    /// Whether objects have their data.
    pub(crate) fn has_data(self) -> bool {
        !matches!(self, Self::Table | Self::Metadata)
    }

    /// The media type of lists.
    pub(crate) fn list(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Protobuf => "application/vnd.kubernetes.protobuf",
            Self::Cbor => "application/cbor",
            Self::Table => "application/json;as=Table;v=v1;g=meta.k8s.io",
            Self::Metadata => "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
        }
    }

    /// The media type of single objects.
    pub(crate) fn object(self) -> &'static str {
        match self {
            Self::Metadata => "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
            _ => self.list(),
        }
    }

    /// The media type of watches.
    pub(crate) fn watch(self) -> &'static str {
        match self {
            Self::Protobuf => "application/vnd.kubernetes.protobuf;stream=watch",
            _ => self.object(),
        }
    }

    /// Whether a media type of an answer is of this encoding.
    pub(crate) fn is(self, media: &str) -> bool {
        let wanted = match self {
            Self::Protobuf => "application/vnd.kubernetes.protobuf",
            Self::Cbor => "application/cbor",
            _ => "application/json",
        };
        media.starts_with(wanted)
    }

    /// The kind that lists in this encoding are of.
    pub(crate) fn list_kind(self, resource: Resource) -> &'static str {
        match (self, resource) {
            (Self::Table, _) => "Table",
            (Self::Metadata, _) => "PartialObjectMetadataList",
            (_, Resource::ConfigMaps) => "ConfigMapList",
            (_, Resource::Pods) => "PodList",
            (_, Resource::Custom) => "RecordList",
        }
    }
}
