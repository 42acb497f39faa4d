//! Certificates and bundles of any bytes: each is refused or read, and none panics.

#![no_main]

use std::sync::LazyLock;
use std::time::Duration;

use hydrofoil_tls::ClientCa;
use libfuzzer_sys::fuzz_target;

static CA: LazyLock<ClientCa> = LazyLock::new(|| {
    let made = hydrofoil_tls::authority(1_800_000_000).expect("an authority");
    ClientCa::read(made.certificate.as_bytes()).expect("its certificate")
});

fuzz_target!(|data: &[u8]| {
    assert!(CA.verify(&[data], Duration::from_secs(1_800_000_000)).is_err());
    let _ = ClientCa::read(data);
});
