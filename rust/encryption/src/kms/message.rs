//! The messages of plug-ins (`k8s.io/kms/apis/v2/api.proto`), and the one that is stored (`kmsv2/v2/api.proto`).

use std::collections::BTreeMap;

use prost::Message;

pub(crate) type Annotations = BTreeMap<String, Vec<u8>>;

#[derive(Clone, PartialEq, Message)]
pub(crate) struct StatusRequest {}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct StatusResponse {
    #[prost(string, tag = "1")]
    pub(crate) version: String,
    #[prost(string, tag = "2")]
    pub(crate) healthz: String,
    #[prost(string, tag = "3")]
    pub(crate) key_id: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct EncryptRequest {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) plaintext: Vec<u8>,
    #[prost(string, tag = "2")]
    pub(crate) uid: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct EncryptResponse {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) ciphertext: Vec<u8>,
    #[prost(string, tag = "2")]
    pub(crate) key_id: String,
    #[prost(btree_map = "string, bytes", tag = "3")]
    pub(crate) annotations: Annotations,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct DecryptRequest {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) ciphertext: Vec<u8>,
    #[prost(string, tag = "2")]
    pub(crate) uid: String,
    #[prost(string, tag = "3")]
    pub(crate) key_id: String,
    #[prost(btree_map = "string, bytes", tag = "4")]
    pub(crate) annotations: Annotations,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct DecryptResponse {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) plaintext: Vec<u8>,
}

/// A value as it is stored.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct EncryptedObject {
    #[prost(bytes = "vec", tag = "1")]
    pub(crate) data: Vec<u8>,
    #[prost(string, tag = "2")]
    pub(crate) key_id: String,
    /// The encrypted seed or key.
    #[prost(bytes = "vec", tag = "3")]
    pub(crate) source: Vec<u8>,
    #[prost(btree_map = "string, bytes", tag = "4")]
    pub(crate) annotations: Annotations,
    /// [`KEY`] or [`SEED`].
    #[prost(int32, tag = "5")]
    pub(crate) kind: i32,
}

/// The source is the key of the value.
pub(crate) const KEY: i32 = 0;
/// The source is the seed that the key of the value is derived from.
pub(crate) const SEED: i32 = 1;
