//! Warnings of files that share a path in a volume (`warningsForOverlappingVirtualPaths`).

use hydrofoil_text::quoted;
use hydrofoil_types::Value;

use hydrofoil_types::read::Read;

/// The number of overlaps in a volume that are looked for: an answer has room for some ninety of them.
const MOST: usize = 1000;

/// A file, and the source that it comes from (empty: the volume itself).
struct File {
    path: String,
    source: String,
}

impl File {
    fn new(path: &str, source: &str) -> Self {
        Self { path: path.trim_end_matches('/').to_owned(), source: source.to_owned() }
    }

    fn path_text(&self) -> String {
        let path = quoted(&self.path);
        if self.source.is_empty() { path } else { format!("{path} ({})", self.source) }
    }

    /// Return the bytes of the path in an order in which all that is below a folder follows it.
    fn order(&self) -> Vec<u8> {
        self.path.bytes().map(|byte| if byte == b'/' { 0 } else { byte }).collect()
    }

    /// Report whether the path is a folder, or the same path.
    fn holds(&self, other: &Self) -> bool {
        other.path.strip_prefix(&self.path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// Warn of the overlaps in each volume, and of projections without a source.
pub(super) fn overlaps(volumes: &[Value], out: &mut Vec<String>) {
    for volume in volumes {
        let name = quoted(volume.text("name"));
        let config = volume.field("configMap");
        let secret = volume.field("secret");
        among(&items(config, ""), &name, &format!("ConfigMap {}", quoted(config.text("name"))), out);
        among(&items(secret, ""), &name, &format!("Secret {}", quoted(secret.text("secretName"))), out);
        among(&items(volume.field("downwardAPI"), ""), &name, "DownwardAPI", out);
        let mut files = Vec::new();
        for source in volume.field("projected").list("sources") {
            if source.is_zero() {
                out.push(format!("volume {name} (Projected) has no sources provided"));
            }
            files.extend(projected_files(source));
        }
        among(&files, &name, "Projected", out);
    }
}

/// Warn of each file whose path is that of an earlier one, above it or below it.
fn among(files: &[File], volume: &str, kind: &str, out: &mut Vec<String>) {
    for (later, earlier) in pairs(files) {
        out.push(format!(
            "volume {volume} ({kind}): overlapping paths: {} with {}",
            later.path_text(),
            earlier.path_text()
        ));
    }
}

/// Return the files that overlap, the later one of two first, in the order of their list.
fn pairs(files: &[File]) -> Vec<(&File, &File)> {
    let mut sorted: Vec<(usize, &File)> = files.iter().enumerate().filter(|(_, file)| !file.path.is_empty()).collect();
    sorted.sort_by_cached_key(|(_, file)| file.order());
    let mut found = Vec::new();
    // The files whose path holds that of the present one.
    let mut above: Vec<(usize, &File)> = Vec::new();
    for (at, file) in sorted {
        while above.pop_if(|(_, folder)| !folder.holds(file)).is_some() {}
        // Both orders of a pair occur: the present file may precede its folder.
        for other in above.iter().take(MOST.saturating_sub(found.len())) {
            let pair = [*other, (at, file)];
            found.push(if at > other.0 { [pair[1], pair[0]] } else { pair });
        }
        above.push((at, file));
    }
    found.sort_by_key(|[later, earlier]| (later.0, earlier.0));
    found.into_iter().map(|[later, earlier]| (later.1, earlier.1)).collect()
}

/// Return the files that a source lists.
fn items(of: &Value, source: &str) -> Vec<File> {
    of.list("items").iter().map(|item| File::new(item.text("path"), source)).collect()
}

/// Return the files of a projected source.
fn projected_files(of: &Value) -> Vec<File> {
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

#[cfg(test)]
mod tests {
    use super::{File, MOST, pairs};

    #[test]
    fn overlaps_are_in_the_order_of_the_list() {
        let paths = ["a/b", "a-b", "a", "c/", "a/b/c", "", "c", "a/bc"];
        let files = paths.map(|path| File::new(path, ""));
        let found: Vec<_> =
            pairs(&files).into_iter().map(|(one, other)| (one.path_text(), other.path_text())).collect();
        let wanted = [("a", "a/b"), ("a/b/c", "a/b"), ("a/b/c", "a"), ("c", "c"), ("a/bc", "a")];
        assert_eq!(found, wanted.map(|(one, other)| (format!("{one:?}"), format!("{other:?}"))));
    }

    #[test]
    fn many_files_end_soon() {
        let same: Vec<File> = (0..100_000).map(|_| File::new("a", "")).collect();
        assert_eq!(pairs(&same).len(), MOST);
        let apart: Vec<File> = (0..100_000).map(|i| File::new(&format!("folder/{i}"), "")).collect();
        assert!(pairs(&apart).is_empty());
    }
}
