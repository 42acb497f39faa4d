//! Fields of slices behind feature gates (`dropDisabledFields`).

use hydrofoil_types::Value;

use hydrofoil_rules::{Gate, Release};
use hydrofoil_types::read::{Read, Write};

const BINDING: [&str; 3] = ["bindingConditions", "bindingFailureConditions", "bindsToNode"];
const LISTS: [&str; 4] = ["bools", "ints", "strings", "versions"];
const PARTITION: [&str; 4] = ["consumesCounters", "nodeName", "nodeSelector", "allNodes"];

/// Drop the fields of features that are off, unless the old slice uses them.
pub(super) fn drop_disabled(release: Release, object: &mut Value, old: Option<&Value>) {
    let spec = old.map_or(&Value::Null, |o| o.field("spec"));
    let in_use = |uses: &dyn Fn(&Value) -> bool| spec.list("devices").iter().any(uses);
    if !release.enabled(Gate::DRADeviceTaints) && !in_use(&|d| !d.list("taints").is_empty()) {
        each_device(object, |d| d.drop("taints"));
    }
    if !release.enabled(Gate::DRAPartitionableDevices)
        && !in_use(&|d| PARTITION.iter().any(|key| d.has(key)))
        && spec.list("sharedCounters").is_empty()
        && !spec.has("perDeviceNodeSelection")
    {
        object.within("spec", |spec| {
            spec.drop("sharedCounters");
            spec.drop("perDeviceNodeSelection");
        });
        each_device(object, |d| PARTITION.iter().for_each(|key| d.drop(key)));
    }
    let binds =
        release.enabled(Gate::DRADeviceBindingConditions) && release.enabled(Gate::DRAResourceClaimDeviceStatus);
    if !binds && !in_use(&|d| BINDING.iter().any(|key| d.has(key))) {
        each_device(object, |d| BINDING.iter().for_each(|key| d.drop(key)));
    }
    if !release.enabled(Gate::DRAConsumableCapacity) && !in_use(&consumes) {
        each_device(object, |d| {
            d.drop("allowMultipleAllocations");
            each_value(d, "capacity", |amount| amount.drop("requestPolicy"));
        });
    }
    if !release.enabled(Gate::DRANodeAllocatableResources) {
        each_device(object, |d| d.drop("nodeAllocatableResourceMappings"));
    }
    if !release.enabled(Gate::DRAListTypeAttributes) {
        each_device(object, |d| each_value(d, "attributes", |a| LISTS.iter().for_each(|list| a.drop(list))));
    }
}

/// `draConsumableCapacityFeatureInUse`.
fn consumes(device: &Value) -> bool {
    device.has("allowMultipleAllocations") || device.entries("capacity").any(|(_, amount)| amount.has("requestPolicy"))
}

fn each_device(object: &mut Value, change: impl Fn(&mut Value)) {
    object.within("spec", |spec| spec.each("devices", change));
}

fn each_value(of: &mut Value, key: &str, change: impl Fn(&mut Value)) {
    let Some(values) = of.get_mut(key).and_then(Value::as_object_mut) else { return };
    values.iter_mut().for_each(|(_, value)| change(value));
}
