//! The client's side of a handshake as any bytes: an alert at most, and no text.

#![no_main]

use std::sync::LazyLock;

use hydrofoil_tls::{Config, Connection, Offer, Pair, Purpose};
use libfuzzer_sys::fuzz_target;

static CONFIG: LazyLock<Config> = LazyLock::new(|| {
    let now = 1_800_000_000;
    let root = hydrofoil_tls::authority(now).expect("an authority");
    let names = ["localhost".to_owned()];
    let made = hydrofoil_tls::identity(root.key.as_bytes(), Purpose::Server(&names), now).expect("a certificate");
    let pair = Pair { chain: made.certificate.as_bytes(), key: made.key.as_bytes(), names: &[] };
    Config::read(&pair, &[], &Offer { newest_only: false, suites: &[], authorities: Some(&[]) }).expect("settings")
});

fuzz_target!(|data: &[u8]| {
    let mut connection = Connection::new(&CONFIG).expect("a connection");
    for part in data.chunks(64) {
        if connection.receive(part).is_err() {
            break;
        }
    }
    assert!(connection.take_plain().is_empty());
});
