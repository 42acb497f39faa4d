//! Conversions that a webhook does between two attempts of a step: an attempt ends at the first one that is not known,
//! and is made again with its result.

use hydrofoil_codec::json;
use hydrofoil_merge::{Unconverted, Versions};
use hydrofoil_types::{Schema, Value};
use parking_lot::Mutex;

use crate::kind::ObjectKind;

/// The conversions that are known, with their results.
///
/// Found by the whole object and version: a hash could give one object the form of another. Few are known at a time,
/// one for each attempt of a write, so that a walk is shorter than a table.
#[derive(Debug, Default)]
pub struct Conversions(Mutex<Vec<Known>>);

#[derive(Debug)]
struct Known {
    object: Vec<u8>,
    api_version: String,
    result: Result<Value, String>,
}

impl Conversions {
    /// Add the result of a conversion of an object to a version: JSON, or why it failed.
    pub fn add(&self, object: &[u8], api_version: &str, result: Result<&[u8], &str>) {
        let result = match result {
            Ok(json) => json::parse(json).map(|decoded| decoded.value).map_err(|why| why.to_string()),
            Err(why) => Err(why.to_owned()),
        };
        self.0.lock().push(Known { object: object.to_vec(), api_version: api_version.to_owned(), result });
    }

    fn get(&self, object: &[u8], api_version: &str) -> Option<Result<Value, String>> {
        let known = self.0.lock();
        let found = known.iter().find(|known| known.object == object && known.api_version == api_version);
        found.map(|known| known.result.clone())
    }
}

/// The versions of a kind with the conversions that are known.
#[derive(Debug)]
pub(super) struct Answered<'a> {
    pub kind: &'a dyn ObjectKind,
    pub known: Option<&'a Conversions>,
}

impl Versions for Answered<'_> {
    fn schema(&self, api_version: &str) -> Option<&Schema> {
        self.kind.schema(api_version)
    }

    fn missing(&self, api_version: &str) -> Option<String> {
        self.kind.missing(api_version)
    }

    fn convert(&self, from: &str, to: &str, object: &Value) -> Result<Value, Unconverted> {
        let why = match self.kind.convert(from, to, object) {
            Err(why @ Unconverted::Pending(_)) => why,
            other => return other,
        };
        let found = self.known.and_then(|known| known.get(&json::encode_any(object), to));
        found.map_or(Err(why), |result| result.map_err(Unconverted::Failed))
    }
}
