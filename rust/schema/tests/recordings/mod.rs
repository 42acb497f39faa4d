//! The recorded answers of kube-apiserver, in `tests/conformance/answers`: JSON lines, compressed or not.

use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde_json::Value as Json;

/// Return the folder of the recorded corpora.
pub fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance/answers/corpus")
}

/// Return the cases of a corpus.
pub fn cases(path: &Path) -> Vec<Json> {
    let data = std::fs::read(path).expect("a readable corpus");
    let mut text = String::new();
    if path.extension().is_some_and(|e| e == "gz") {
        GzDecoder::new(data.as_slice()).read_to_string(&mut text).expect("a compressed text");
    } else {
        text = String::from_utf8(data).expect("a text");
    }
    text.lines().map(|line| serde_json::from_str(line).expect("one case a line")).collect()
}
