//! Warnings of files that share a path in a volume (`warningsForOverlappingVirtualPaths`).

use hydrofoil_types::{Value, quoted};

use crate::read::Read;

/// A file, and the source that it comes from (empty: the volume itself).
struct File {
    path: String,
    source: String,
}

impl File {
    fn new(path: &str, source: &str) -> Self {
        Self { path: path.trim_end_matches('/').to_owned(), source: source.to_owned() }
    }

    fn shown(&self) -> String {
        let path = quoted(&self.path);
        if self.source.is_empty() { path } else { format!("{path} ({})", self.source) }
    }

    /// Report whether one of the paths is the other one or below it.
    fn overlaps(&self, other: &Self) -> bool {
        let below = |path: &str, folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        let (a, b) = (self.path.as_str(), other.path.as_str());
        !a.is_empty() && !b.is_empty() && (a == b || below(a, b) || below(b, a))
    }
}

/// Warn of the overlaps in each volume, and of projections without a source.
pub(super) fn overlaps(volumes: &[Value], out: &mut Vec<String>) {
    for volume in volumes {
        let name = quoted(volume.text("name"));
        let config = volume.field("configMap");
        let secret = volume.field("secret");
        among(items(config, ""), &name, &format!("ConfigMap {}", quoted(config.text("name"))), out);
        among(items(secret, ""), &name, &format!("Secret {}", quoted(secret.text("secretName"))), out);
        among(items(volume.field("downwardAPI"), ""), &name, "DownwardAPI", out);
        let mut files = Vec::new();
        for source in volume.field("projected").list("sources") {
            if source.is_zero() {
                out.push(format!("volume {name} (Projected) has no sources provided"));
            }
            for file in projected(source) {
                add(&mut files, file, &name, "Projected", out);
            }
        }
    }
}

fn among(found: Vec<File>, volume: &str, kind: &str, out: &mut Vec<String>) {
    let mut files = Vec::new();
    for file in found {
        add(&mut files, file, volume, kind, out);
    }
}

fn add(files: &mut Vec<File>, file: File, volume: &str, kind: &str, out: &mut Vec<String>) {
    for other in files.iter().filter(|other| file.overlaps(other)) {
        let (one, other) = (file.shown(), other.shown());
        out.push(format!("volume {volume} ({kind}): overlapping paths: {one} with {other}"));
    }
    files.push(file);
}

/// Return the files that a source lists.
fn items(of: &Value, source: &str) -> Vec<File> {
    of.list("items").iter().map(|item| File::new(item.text("path"), source)).collect()
}

/// Return the files of a projected source.
fn projected(of: &Value) -> Vec<File> {
    let named = |kind: &str, name: &str| format!("{kind} {}", quoted(name));
    for (key, kind) in [("configMap", "ConfigMap"), ("secret", "Secret")] {
        let source = of.field(key);
        if source.has("items") {
            return items(source, &named(kind, source.text("name")));
        }
    }
    if of.field("downwardAPI").has("items") {
        return items(of.field("downwardAPI"), "DownwardAPI");
    }
    if let Some(token) = of.opt("serviceAccountToken") {
        return vec![File::new(token.text("path"), "ServiceAccountToken")];
    }
    if let Some(bundle) = of.opt("clusterTrustBundle") {
        let name = if bundle.has("name") { bundle.text("name") } else { bundle.text("signerName") };
        return vec![File::new(bundle.text("path"), &named("ClusterTrustBundle", name))];
    }
    let certificate = of.field("podCertificate");
    [
        ("certificateChainPath", "PodCertificate chain"),
        ("keyPath", "PodCertificate key"),
        ("credentialBundlePath", "PodCertificate credential bundle"),
    ]
    .into_iter()
    .filter(|(key, _)| !certificate.zero(key))
    .map(|(key, source)| File::new(certificate.text(key), source))
    .collect()
}
