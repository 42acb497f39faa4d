//! Certificates: those of clients against their authorities, and those that a server makes.

use std::time::Duration;

use hydrofoil_tls::{ClientCa, Config, Connection, Identity, Offer, Pair, Purpose, authority, identity, usable};
use proptest::prelude::*;

const NOW: i64 = 1_800_000_000;
const USER: Purpose<'static> = Purpose::Client("alice", "blue");

fn der(pem: &str) -> Vec<u8> {
    use base64::Engine as _;
    let text: String = pem.lines().filter(|line| !line.starts_with('-')).collect();
    base64::engine::general_purpose::STANDARD.decode(text).unwrap()
}

fn at(second: i64) -> Duration {
    Duration::from_secs(u64::try_from(second).unwrap())
}

fn made() -> (Identity, Identity) {
    let root = authority(NOW).unwrap();
    let client = identity(root.key.as_bytes(), USER, NOW).unwrap();
    (root, client)
}

#[test]
fn a_client_is_its_subject_until_its_certificate_ends() {
    let (root, client) = made();
    let ca = ClientCa::read(root.certificate.as_bytes()).unwrap();
    let leaf = der(&client.certificate);
    let subject = ca.verify(&[&leaf], at(NOW)).unwrap();
    assert_eq!((subject.name.as_str(), subject.groups.as_slice()), ("alice", &["blue".to_owned()][..]));
    let late = ca.verify(&[&leaf], at(NOW + 400 * 86_400)).unwrap_err().0;
    assert!(late.starts_with("x509: certificate has expired or is not yet valid: current time 2028-"), "{late}");
    assert!(late.contains(" is after 2028-01-15T08:00:00Z"), "{late}");
    assert!(ca.verify(&[&leaf], at(NOW - 86_400)).unwrap_err().0.contains(" is before "));
}

#[test]
fn another_authority_of_the_same_name_is_unknown() {
    let (_, client) = made();
    let other = ClientCa::read(authority(NOW).unwrap().certificate.as_bytes()).unwrap();
    let why = other.verify(&[&der(&client.certificate)], at(NOW)).unwrap_err().0;
    assert!(why.starts_with("x509: certificate signed by unknown authority"), "{why}");
}

#[test]
fn a_bundle_trusts_each_of_its_authorities() {
    let (root, client) = made();
    let bundle = format!("{}{}", authority(NOW).unwrap().certificate, root.certificate);
    assert!(ClientCa::read(bundle.as_bytes()).unwrap().verify(&[&der(&client.certificate)], at(NOW)).is_ok());
    assert!(ClientCa::read(b"no certificate here").is_err());
    assert!(ClientCa::read(b"").is_err());
}

#[test]
fn a_server_is_no_client() {
    let (root, _) = made();
    let server = identity(root.key.as_bytes(), Purpose::Server(&["localhost".to_owned()]), NOW).unwrap();
    let ca = ClientCa::read(root.certificate.as_bytes()).unwrap();
    let why = ca.verify(&[&der(&server.certificate)], at(NOW)).unwrap_err().0;
    assert_eq!(why, "x509: certificate specifies an incompatible key usage");
}

#[test]
fn an_identity_is_used_again_while_it_fits() {
    let (root, client) = made();
    let pem = root.certificate.as_bytes();
    let names = ["localhost".to_owned(), "::1".to_owned()];
    let server = identity(root.key.as_bytes(), Purpose::Server(&names), NOW).unwrap();
    assert!(usable(&root, b"", None, NOW));
    assert!(usable(&server, pem, Some(Purpose::Server(&names)), NOW));
    assert!(usable(&client, pem, Some(USER), NOW));
    assert!(!usable(&server, pem, Some(Purpose::Server(&["10.0.0.1".to_owned()])), NOW));
    assert!(!usable(&server, pem, Some(Purpose::Server(&names)), NOW + 340 * 86_400));
    let stray = Identity { key: client.key.clone(), ..server.clone() };
    assert!(!usable(&stray, pem, Some(Purpose::Server(&names)), NOW));
    let other = authority(NOW).unwrap();
    assert!(!usable(&server, other.certificate.as_bytes(), Some(Purpose::Server(&names)), NOW));
}

fn config() -> Config {
    let (root, _) = made();
    let server = identity(root.key.as_bytes(), Purpose::Server(&["localhost".to_owned()]), NOW).unwrap();
    let pair = Pair { chain: server.certificate.as_bytes(), key: server.key.as_bytes(), names: &[] };
    Config::read(&pair, &[], &Offer { newest_only: false, suites: &[], authorities: Some(&[]) }).unwrap()
}

#[test]
fn a_key_must_fit_its_certificate() {
    let (root, client) = made();
    let pair = Pair { chain: root.certificate.as_bytes(), key: client.key.as_bytes(), names: &[] };
    let offer = Offer { newest_only: false, suites: &[], authorities: None };
    assert_eq!(Config::read(&pair, &[], &offer).unwrap_err(), "private key does not match public key");
}

proptest! {
    #[test]
    fn garbage_is_no_certificate(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        let (root, _) = made();
        let ca = ClientCa::read(root.certificate.as_bytes()).unwrap();
        prop_assert!(ca.verify(&[&bytes], at(NOW)).is_err());
        let _ = ClientCa::read(&bytes);
    }

    #[test]
    fn a_changed_certificate_is_refused(place in any::<prop::sample::Index>(), bit in 0_u8..8) {
        let (root, client) = made();
        let ca = ClientCa::read(root.certificate.as_bytes()).unwrap();
        let mut leaf = der(&client.certificate);
        let place = place.index(leaf.len());
        leaf[place] ^= 1 << bit;
        prop_assert!(ca.verify(&[&leaf], at(NOW)).is_err());
    }

    #[test]
    fn garbage_ends_a_handshake(bytes in prop::collection::vec(any::<u8>(), 0..600), cut in 1_usize..50) {
        let mut connection = Connection::new(&config()).unwrap();
        for part in bytes.chunks(cut) {
            if connection.receive(part).is_err() {
                break;
            }
        }
        prop_assert!(connection.handshaking());
        prop_assert!(connection.take_plain().is_empty());
    }
}
