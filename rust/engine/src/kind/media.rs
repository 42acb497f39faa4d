//! The media types of bodies.

/// The format of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Media {
    /// `application/json`.
    Json,
    /// `application/yaml`.
    Yaml,
    /// `application/vnd.kubernetes.protobuf`.
    Protobuf,
    /// `application/cbor`.
    Cbor,
}

impl Media {
    /// Return the format with a short name: `json`, `yaml`, `protobuf` or `cbor`.
    pub fn by_name(name: &str) -> Self {
        match name {
            "yaml" => Self::Yaml,
            "protobuf" => Self::Protobuf,
            "cbor" => Self::Cbor,
            _ => Self::Json,
        }
    }
}
