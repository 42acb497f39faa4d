//! Configure whether the recorded answers are beside the checkout: the tests that need them are ignored otherwise.

use std::path::Path;

fn main() {
    let kit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/conformance/README.md");
    println!("cargo:rustc-check-cfg=cfg(kit)");
    println!("cargo:rerun-if-changed={}", kit.display());
    if kit.is_file() {
        println!("cargo:rustc-cfg=kit");
    }
}
