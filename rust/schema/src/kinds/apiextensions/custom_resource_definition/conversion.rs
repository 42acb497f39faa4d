//! How objects are converted between versions.

use hydrofoil_types::{Causes, Duplicates, Path, Value, Whole};

use hydrofoil_rules::check::Check;
use hydrofoil_rules::format::name;
use hydrofoil_rules::webhook_client;
use hydrofoil_types::read::Read;

const SPEC: Path<'static> = Path::new("spec");

/// `ValidateCustomResourceConversion`.
pub(super) fn validate(spec: &Value, causes: &mut Causes) {
    const NOT: &str = "should not be set when strategy is not set to Webhook";
    let Some(conversion) = spec.opt("conversion") else { return };
    let path = SPEC.child("conversion");
    causes.one_of_required(&path.child("strategy"), conversion.text("strategy"), &["None", "Webhook"]);
    let webhook = conversion.opt("webhook");
    let client = webhook.and_then(|w| w.opt("clientConfig"));
    let versions = webhook.map_or(&[][..], |w| w.list("conversionReviewVersions"));
    let (client_at, versions_at) = (path.child("webhookClientConfig"), path.child("conversionReviewVersions"));
    if conversion.text("strategy") != "Webhook" {
        if client.is_some() {
            causes.forbidden(&client_at, NOT);
        }
        if !versions.is_empty() {
            causes.forbidden(&versions_at, NOT);
        }
        return;
    }
    match client {
        None => causes.required(&client_at, "required when strategy is set to Webhook"),
        Some(client) => webhook_client::validate(client, &client_at, causes),
    }
    if versions.is_empty() {
        return causes.need(&versions_at);
    }
    let mut accepted = false;
    let duplicates = Duplicates::of(versions, Whole);
    for (i, version) in versions.iter().enumerate() {
        let text = version.as_str().unwrap_or("");
        if duplicates.is_repeat(i) {
            causes.invalid_str(&versions_at.index(i), text, "duplicate version");
            continue;
        }
        causes.format(&versions_at.index(i), text, name::label_1035);
        accepted |= matches!(text, "v1" | "v1beta1");
    }
    if !accepted {
        let shown = webhook.map_or(&Value::Null, |w| w.field("conversionReviewVersions"));
        causes.invalid(&versions_at, shown, "must include at least one of v1, v1beta1");
    }
}
