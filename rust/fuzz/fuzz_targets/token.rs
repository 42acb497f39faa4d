//! Continue tokens: each decoded token can be encoded again, and stays within its prefix.
#![no_main]

use hydrofoil_store::ContinueToken;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(token) = ContinueToken::decode(text) {
        assert_eq!(ContinueToken::decode(&token.encode()).as_ref(), Ok(&token));
        assert!(!token.start.split('/').any(|part| part == ".."));
    }
});
