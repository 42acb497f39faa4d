//! Device classes (`pkg/registry/resource/deviceclass/strategy.go`).

use hydrofoil_types::{Causes, Path, Value};

use super::device_claim::validate::some;
use super::{configuration, selectors};
use crate::kind::{GenerationRule, MetadataCheck, NameRule, Strategy};
use hydrofoil_rules::gates::drop_unused;
use hydrofoil_rules::resource;
use hydrofoil_rules::table::text::name_and_age;
use hydrofoil_rules::{Gate, Release};
use hydrofoil_types::read::Read;

pub(crate) static STRATEGY: Strategy = Strategy {
    name_rule: NameRule::Declared,
    returns_deleted_object: true,
    generation: GenerationRule::of_spec("resource.DeviceClassSpec"),
    metadata_on_update: &[MetadataCheck::Object, MetadataCheck::Update],
    drop_disabled,
    validate: |_, object, causes| validate(object, causes),
    row: Some(name_and_age),
    ..Strategy::DEFAULT
};

const SPEC: Path<'static> = Path::new("spec");

/// `dropDisabledDRAExtendedResourceFields`.
fn drop_disabled(release: Release, object: &mut Value, old: Option<&Value>) {
    if !release.enabled(Gate::DRAExtendedResource) {
        drop_unused(object, old, &["extendedResourceName"]);
    }
}

/// `ValidateDeviceClass`.
fn validate(object: &Value, causes: &mut Causes) {
    let spec = object.field("spec");
    selectors::validate(spec.list("selectors"), &SPEC.child("selectors"), causes);
    let at = SPEC.child("config");
    let configs = spec.list("config");
    for (i, config) in some(configs, &at, causes).iter().enumerate() {
        configuration::validate(config, &at.index(i), causes);
    }
    if let Some(extended) = spec.opt("extendedResourceName") {
        let text = extended.as_str().unwrap_or("");
        if !resource::is_extended(text) {
            let detail = "must be a valid extended resource name";
            causes.invalid_str(&SPEC.child("extendedResourceName"), text, detail);
        }
    }
}
