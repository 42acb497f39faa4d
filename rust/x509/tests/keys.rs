//! Keys, requests and certificates that Go's `crypto/x509` made (`data/keys.json`).

#![allow(missing_docs, reason = "the names of tests say what they are for")]

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hydrofoil_x509::{Certificate, PublicKey, Request, pem};
use proptest::prelude::{ProptestConfig, any, prop, proptest};
use serde_json::Value as Json;

/// The text whose signatures are the proofs: the uid of a pod.
const SIGNED: &[u8] = b"6b1cbc3b-0d7f-4a6a-8b56-3f0a5d9d5a11";
const NAMES: [&str; 7] = ["ed25519", "p224", "p256", "p384", "p521", "rsa2048", "rsa3072"];

static DATA: LazyLock<Json> =
    LazyLock::new(|| serde_json::from_str(include_str!("data/keys.json")).expect("the data is JSON"));

fn bytes(name: &str, what: &str) -> Vec<u8> {
    STANDARD.decode(DATA[name][what].as_str().expect("the data has it")).expect("it is base64")
}

#[test]
fn proofs_of_go_are_verified() {
    for name in NAMES {
        let key = PublicKey::parse(&bytes(name, "pkix")).expect("a key of Go");
        let proof = bytes(name, "proof");
        assert!(key.proves(SIGNED, &proof), "{name}");
        assert!(!key.proves(b"another text", &proof), "{name}");
        let mut bad = proof.clone();
        *bad.last_mut().expect("it is not empty") ^= 1;
        assert!(!key.proves(SIGNED, &bad), "{name}");
        assert!(!key.proves(SIGNED, &[]), "{name}");
    }
}

#[test]
fn requests_of_go_are_signed_by_their_keys() {
    let also = [("rsa3072", "csr-pss"), ("p256", "csr-sha512")];
    for (name, what) in NAMES.map(|name| (name, "csr")).into_iter().chain(also) {
        let der = bytes(name, what);
        let request = Request::parse(&der).expect("a request of Go");
        assert!(request.is_signed(), "{name} {what}");
        assert_eq!(request.key, PublicKey::parse(&bytes(name, "pkix")).ok(), "{name} {what}");
        let mut bad = der.clone();
        *bad.last_mut().expect("it is not empty") ^= 1;
        assert!(!Request::parse(&bad).is_ok_and(|r| r.is_signed()), "{name} {what}");
        assert!(Request::parse(&[&der[..], &[0]].concat()).is_err(), "{name} {what}");
    }
}

#[test]
fn the_parts_of_certificates_are_read() {
    let read = |what: &str| {
        let text = DATA["bundle"][what].as_str().expect("the data has it");
        let (block, rest) = pem::next(text.as_bytes()).expect("a block");
        assert_eq!((&*block.kind, rest), ("CERTIFICATE", &b""[..]));
        Certificate::parse(&block.bytes).expect("a certificate of Go")
    };
    let key = PublicKey::parse(&bytes("ed25519", "pkix")).ok();
    let authority = read("ca");
    assert_eq!((authority.authority, authority.key), (Some(true), key));
    assert_eq!(authority.not_before.rfc3339(), "2026-01-01T00:00:00Z");
    assert_eq!(authority.not_after.rfc3339(), "2050-01-01T00:00:00Z");
    let leaf = read("leaf");
    assert_eq!((leaf.authority, leaf.dns_names), (Some(false), vec!["x.example.com".to_owned()]));
    assert_eq!(read("bare").authority, None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn altered_bytes_never_panic(
        name in prop::sample::select(&NAMES[..]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut der = bytes(name, "csr");
        for (at, byte) in &changes {
            let at = at.index(der.len());
            der[at] = *byte;
        }
        let _ = Request::parse(&der).map(|r| r.is_signed());
        let _ = Certificate::parse(&der);
        let _ = PublicKey::parse(&der).map(|key| key.proves(SIGNED, &der));
        let _ = pem::next(&der);
    }
}
