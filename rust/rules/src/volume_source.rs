//! Sources that the volumes of pods, persistent volumes and attachments share.

use hydrofoil_types::Value;

use crate::quantities::resource_list;
use hydrofoil_types::read::Write;

/// Set the defaults of sources that pods and persistent volumes share.
pub fn shared_sources(holder: &mut Value) {
    holder.within("hostPath", |s| s.unset("type", ""));
    holder.within("iscsi", |s| s.fill("iscsiInterface", "default"));
    holder.within("rbd", |s| {
        s.fill("pool", "rbd");
        s.fill("user", "admin");
        s.fill("keyring", "/etc/ceph/keyring");
    });
    holder.within("azureDisk", |s| {
        s.unset("cachingMode", "ReadWrite");
        s.unset("kind", "Shared");
        s.unset("fsType", "ext4");
        s.unset("readOnly", false);
    });
    holder.within("scaleIO", |s| {
        s.fill("storageMode", "ThinProvisioned");
        s.fill("fsType", "xfs");
    });
}

/// Set the defaults of an inline volume: the sources of its spec, but none of `SetDefaults_PersistentVolume`.
pub fn inline(spec: &mut Value) {
    resource_list(spec, "capacity");
    shared_sources(spec);
}
