//! Kinds: the operations on the objects of a resource, built in or of a definition.
//!
//! An [`ObjectKind`] implements every operation that differs between built-in and custom kinds. The steps of reads and
//! writes use only its methods, and never check which of the two it is.

mod builtin;
mod catalog;
mod custom;
mod decode;
mod info;
mod media;
mod mirror;
mod shared;
mod traits;
mod type_meta;

use std::borrow::Cow;

use hydrofoil_cel::Patience;
use hydrofoil_codec::Decoded;
use hydrofoil_merge::Versions;
use hydrofoil_schema::table::Row;
use hydrofoil_store as store;
use hydrofoil_store::{FieldTarget, Shown, Version};
use hydrofoil_types::{Causes, Fingerprint, Schema, SmolStr, Timestamp, Value};

pub use catalog::Catalog;
pub use info::TypeInfo;
pub use media::Media;
pub use mirror::{Mirror, Mirrored};
pub use traits::Traits;
pub use type_meta::TypeMismatch;
pub(crate) use type_meta::go_name;

use crate::error::Result;

/// The columns of a table, and the row of an object.
pub trait Table {
    /// Return the definitions of the columns.
    fn columns(&self) -> Vec<Value>;

    /// Return the row of an object; ages are counted up to `now`.
    fn row(&self, object: &Value, now: Timestamp) -> Row;
}

/// The steps of upstream's strategies (`pkg/registry/<group>/<resource>/strategy.go`; for custom resources apiextensions
/// `pkg/registry/customresource/strategy.go`).
pub trait Strategy {
    /// Return the settings of the kind in the generic flows.
    fn traits(&self) -> Traits;

    /// Return the paths that a client cannot set through an endpoint, so that they get no owner.
    fn reset_fields(&self, subresource: &str) -> &'static [&'static [&'static str]];

    /// Set the type of an object that may omit it.
    fn identify(&self, object: &mut Value);

    /// Set the defaults that an object still lacks.
    fn default(&self, object: &mut Value, now: Timestamp);

    /// Change a new object, or an update of `old`, as its strategy does before validation.
    fn prepare(&self, object: &mut Value, old: Option<&Value>, subresource: &str, now: Timestamp);

    /// Return the causes for which an object is rejected at a moment, and its warnings of ratcheting validation. They may
    /// be incomplete if the time budget of the caller ran out.
    fn validate(
        &self,
        object: &Value,
        old: Option<&Value>,
        subresource: &str,
        now: Timestamp,
        patience: Option<&Patience>,
    ) -> Causes;

    /// Complete a valid new object that was sent without labels, as upstream does when it reads such an object back.
    fn complete_unlabelled(&self, object: &mut Value);

    /// Return the warnings of the kind, together with those of validation.
    fn warnings(&self, object: &Value, old: Option<&Value>, subresource: &str, passed: Vec<String>) -> Vec<String>;

    /// Return the warnings that a new object has even if it is refused: those of its preparation.
    fn prepare_warnings(&self, _object: &Value) -> Vec<String> {
        Vec::new()
    }
}

/// The stored form of objects, and its conversion to the version of the kind.
pub trait Storage {
    /// Return the result of an apply without members that are not read back from the store, if it may have some.
    fn read_back(&self, _object: &Value) -> Option<Value> {
        None
    }

    /// Return the fingerprint of the schema that writes stored bytes.
    fn fingerprint(&self) -> Fingerprint;

    /// Report whether all stored objects are in the version of the kind.
    fn stores_own_version(&self) -> bool;

    /// Report whether the stored bytes of objects may be in different versions.
    fn stores_many_versions(&self) -> bool;

    /// Report whether the stored bytes of an object are in the version of the kind.
    fn is_stored_form(&self, version: &Version) -> bool;

    /// Decode a stored object and convert it to the version of the kind.
    fn read(&self, version: &Version) -> Result<Value>;

    /// Return the JSON of a stored object in the version of the kind, with its resource version.
    fn json<'v>(&self, version: &'v Version) -> Result<Cow<'v, [u8]>>;

    /// Return the JSON of the metadata of a stored object in the version of the kind.
    fn metadata<'v>(&self, version: &'v Version) -> Result<Cow<'v, [u8]>>;

    /// Convert an object to the storage version and encode it for the store.
    fn to_storage(&self, object: &Value) -> store::Draft;

    /// Return the values of the field selectors of an object in the version of the kind.
    fn select(&self, object: &Value) -> Box<[SmolStr]> {
        self.to_storage(object).fields
    }

    /// Encode an object in the version of the kind, for an answer and not for the store.
    fn to_shown(&self, object: &Value) -> store::Draft {
        self.to_storage(object)
    }

    /// Return an object as if it were stored and read.
    fn as_read<'v>(&self, object: &'v Value) -> Result<Cow<'v, Value>> {
        Ok(Cow::Borrowed(object))
    }

    /// Return a stored object at the revision at which it left a selection, if a copy of its bytes is not enough.
    fn at_deselection(&self, _version: &Version, _revision: u64) -> Result<Option<Version>> {
        Ok(None)
    }

    /// Return the values of the field selectors of a stored object.
    fn fields(&self, version: &Version) -> Box<[SmolStr]> {
        version.fields().into()
    }

    /// Return the bytes of a stored object in a store that other API servers use as well: those of kube-apiserver.
    fn write_shared(&self, draft: &store::Draft) -> Result<Vec<u8>>;

    /// Return the object of such bytes in its stored form. Defaults that they lack are set, as upstream does whenever it
    /// reads an object.
    fn read_shared(&self, bytes: &[u8], now: Timestamp) -> Result<store::Draft>;

    /// Set the values of the field selectors of an object from another server, which may use another definition.
    fn adapt(&self, _key: &str, _draft: &mut store::Draft) {}
}

/// The conversion by a webhook (apiextensions `pkg/apiserver/conversion/webhook_converter.go`).
pub trait WebhookConversion {
    /// Report whether a webhook converts between the versions of the kind.
    fn has_webhook(&self) -> bool {
        false
    }

    /// Report whether the webhook must convert an object before it is stored.
    fn is_foreign(&self) -> bool {
        false
    }

    /// Decode an object that the webhook converted for the store; `None` if the kind has no webhook.
    fn converted_to_store(&self, _json: &[u8]) -> Result<Option<Value>> {
        Ok(None)
    }

    /// Return the JSON of a stored object that the webhook must convert before it is shown, if it must.
    fn to_convert(&self, _version: &Version) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    /// Report whether the webhook must still convert a stored object. If not, but the values of field selectors are
    /// `undecided`, compute them.
    fn is_pending(&self, _version: &Version, _undecided: bool) -> Result<bool> {
        Ok(false)
    }

    /// Cache the result of the webhook for a stored object.
    fn set_converted(&self, _version: &Version, _json: &[u8]) -> Result<()> {
        Ok(())
    }

    /// Return the view in which field selectors read objects, if it is not the stored form.
    fn view(&self) -> Option<Shown> {
        None
    }
}

/// A resource in one version, with all operations on its objects.
pub trait ObjectKind: Strategy + Storage + WebhookConversion + Table + Versions + Send + Sync {
    /// Return the names and the type.
    fn info(&self) -> &TypeInfo;

    /// Return the schema of field ownership.
    fn ownership_schema(&self) -> &Schema;

    /// Return the type of the metadata.
    fn metadata_schema(&self) -> Schema;

    /// Report whether objects have raw members.
    fn has_raw(&self) -> bool;

    /// Return the target of a field label, or upstream's error for an unsupported label.
    fn field_target(&self, label: &str) -> Result<FieldTarget, String>;

    /// Return the members of the metadata of a list at its end.
    fn end_of_list(&self) -> &'static str;

    /// Complete an object decoded from JSON, or from `media` through `json`.
    fn complete_decoded(&self, decoded: &mut Decoded, media: Media, json: &[u8]) -> Result<()>;

    /// Complete the result of an apply.
    fn complete_applied(&self, object: &mut Value) -> Result<()>;

    /// Complete an object of only type and metadata.
    fn complete_empty(&self, object: &mut Value);

    /// Remove the members that the type of the object ignores from a strategic merge patch.
    fn clean_strategic(&self, patch: &mut Value);

    /// Check that the result of a patch has the type of the kind.
    fn check_type(&self, object: &Value) -> Result<(), TypeMismatch>;
}
