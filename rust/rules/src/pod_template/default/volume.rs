//! Defaults of the volumes of a pod.

use hydrofoil_types::Value;

use crate::pod_template::default::image::is_latest;
use crate::volume_claim;
use crate::volume_source::shared_sources;
use hydrofoil_types::read::{Read, Write};

/// `SetDefaults_Volume` and the defaults of each source.
pub fn volume(volume: &mut Value) {
    let Some(map) = volume.as_object_mut() else { return };
    if !map.iter().any(|(key, value)| key != "name" && !matches!(value, Value::Null)) {
        map.set("emptyDir", Value::object());
    }
    volume.within("image", |image| {
        if image.zero("pullPolicy") {
            let policy = if is_latest(image.text("reference")) { "Always" } else { "IfNotPresent" };
            image.put("pullPolicy", policy);
        }
    });
    for key in ["secret", "configMap", "downwardAPI", "projected"] {
        volume.within(key, |source| source.unset("defaultMode", 0o644));
    }
    volume.within("downwardAPI", |source| source.each("items", downward_item));
    volume.within("projected", |source| {
        source.each("sources", |projection| {
            projection.within("downwardAPI", |d| d.each("items", downward_item));
            projection.within("serviceAccountToken", |t| t.unset("expirationSeconds", 3600));
        });
    });
    volume.within("ephemeral", |source| {
        source.within("volumeClaimTemplate", |t| volume_claim::default(t.make("spec")));
    });
    shared_sources(volume);
}

fn downward_item(item: &mut Value) {
    item.within("fieldRef", |r| r.fill("apiVersion", "v1"));
}
