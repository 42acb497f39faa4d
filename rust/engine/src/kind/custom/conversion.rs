//! The conversion of custom resources by a webhook.

use hydrofoil_codec::json;
use hydrofoil_custom as custom;
use hydrofoil_store::{Shown, Version};
use hydrofoil_types::Value;

use super::Custom;
use crate::error::Result;
use crate::kind::{Storage, WebhookConversion};

impl WebhookConversion for Custom {
    fn has_webhook(&self) -> bool {
        self.definition.webhook
    }

    fn is_foreign(&self) -> bool {
        self.definition.webhook && !self.is_storage()
    }

    fn converted_to_store(&self, json: &[u8]) -> Result<Option<Value>> {
        let mut value = json::decode(&self.info.schema, json)?.value;
        custom::prune(&mut value, self.storage());
        Ok(Some(value))
    }

    fn to_convert(&self, version: &Version) -> Result<Option<Vec<u8>>> {
        if !self.definition.webhook || version.fingerprint() == self.version().fingerprint {
            return Ok(None);
        }
        let value = self.as_stored(version)?;
        let needed = value.str_at(&["apiVersion"]) != self.version().api_version;
        Ok(needed.then(|| json::encode(&self.info.schema, &value)))
    }

    fn is_pending(&self, version: &Version, undecided: bool) -> Result<bool> {
        if version.other(self.version().view).is_some() {
            return Ok(false);
        }
        let pending = self.to_convert(version)?.is_some();
        if undecided && !pending {
            self.json(version)?;
        }
        Ok(pending)
    }

    fn set_converted(&self, version: &Version, json: &[u8]) -> Result<()> {
        let mut value = json::decode(&self.info.schema, json)?.value;
        custom::prune(&mut value, self.version());
        let json = json::encode(&self.info.schema, &value);
        version.keep_other(self.version().view, &json, self.definition.fields(&value));
        Ok(())
    }

    /// Return the view of this version if objects may be stored in others: a webhook may change values. Without a
    /// webhook, all versions show the same value at a path.
    fn view(&self) -> Option<Shown> {
        let foreign = !self.is_storage() || self.definition.stored_in > 1;
        let view = Shown { stored: self.version().fingerprint, view: self.version().view };
        (self.definition.webhook && foreign).then_some(view)
    }
}
