//! Certificates, signing requests, keys and PEM of any bytes in objects: each is refused or read, and none panics.

#![no_main]

use hydrofoil_x509::{Certificate, PublicKey, Request, pem};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let _ = Certificate::parse(data);
    if let Ok(request) = Request::parse(data) {
        let _ = request.is_signed();
    }
    if let Ok(key) = PublicKey::parse(data) {
        let _ = key.proves(b"text", data);
    }
    let mut rest = data;
    while let Some((block, behind)) = pem::next(rest) {
        assert!(behind.len() < rest.len());
        let _ = Certificate::parse(&block.bytes);
        rest = behind;
    }
});
