//! The other versions of a type, in which managed fields may be.

use hydrofoil_merge::Versions;
use hydrofoil_schema::convert;
use hydrofoil_types::{Schema, Value};

use crate::typed::Typed;

impl Versions for Typed {
    fn schema(&self, api_version: &str) -> Option<&Schema> {
        if let Some(custom) = &self.custom {
            return custom.owned_in(api_version);
        }
        if let Some(storage) = self.storage.as_ref().filter(|s| s.api_version == api_version) {
            return Some(&storage.schema);
        }
        self.served.iter().find(|(kind, _)| kind.is_version(api_version)).map(|(_, schema)| schema)
    }

    fn convert(&self, api_version: &str, object: &Value) -> Value {
        if let Some(custom) = &self.custom {
            return custom.in_version(api_version, object);
        }
        match self.served.iter().find(|(kind, _)| kind.is_version(api_version)) {
            Some((kind, _)) => convert::from_storage(kind, object.clone()),
            None => convert::to_storage(&self.kind, object.clone()),
        }
    }
}
