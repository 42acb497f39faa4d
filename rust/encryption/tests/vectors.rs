//! Values that kube-apiserver 1.36.1 has written to etcd, and properties of all providers.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hydrofoil_encryption::{Settings, Transformers};
use proptest::prelude::*;
use serde::Deserialize;

/// A value in etcd.
#[derive(Deserialize)]
struct Vector {
    name: String,
    key: String,
    value: String,
}

fn vector(name: &str) -> (String, Vec<u8>) {
    let all: Vec<Vector> = serde_json::from_str(include_str!("vectors.json")).expect("they are JSON");
    let found = all.into_iter().find(|vector| vector.name == name).expect("it is recorded");
    (found.key, STANDARD.decode(found.value).expect("it is base64"))
}

/// Return the JSON of a provider with keys, each a name, a letter and its number.
fn provider(kind: &str, keys: &[(&str, u8, usize)]) -> String {
    let key = |(name, letter, size): &(&str, u8, usize)| {
        format!(r#"{{"name":"{name}","secret":"{}"}}"#, STANDARD.encode(vec![*letter; *size]))
    };
    format!(r#"{{"{kind}":[{}]}}"#, keys.iter().map(key).collect::<Vec<_>>().join(","))
}

fn transformers(providers: &[String]) -> Transformers {
    let text = format!(r#"{{"resources":[{{"resources":["*.*"],"providers":[{}]}}]}}"#, providers.join(","));
    Transformers::new(&Settings::parse(&text).expect("they are valid")).expect("they are valid")
}

fn identity() -> String {
    r#""identity""#.to_owned()
}

/// The providers of the recorded values, and a part of their content.
fn recorded() -> [(&'static str, String, &'static [u8]); 5] {
    [
        ("aescbc", provider("aescbc", &[("one", b'a', 32)]), b"marker-secret"),
        ("aesgcm", provider("aesgcm", &[("two", b'b', 32)]), b"marker-map"),
        ("secretbox", provider("secretbox", &[("three", b'a', 32)]), b"ServiceAccount"),
        ("aesgcm24", provider("aesgcm", &[("four", b'c', 24)]), b"marker-lease"),
        ("aesgcm16", provider("aesgcm", &[("five", b'd', 16)]), b"Endpoints"),
    ]
}

fn failure(found: Result<(Vec<u8>, bool), hydrofoil_encryption::Failure>) -> String {
    found.expect_err("it is not readable").to_string()
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

#[test]
fn values_of_kube_apiserver_are_read() {
    for (name, provider, part) in recorded() {
        let (key, stored) = vector(name);
        let own = transformers(std::slice::from_ref(&provider));
        let (value, stale) = own.from_storage("secrets", &key, &stored).expect(name);
        assert!(value.starts_with(b"k8s\0") && contains(&value, part) && !stale, "{name}");
        let again = own.to_storage("secrets", &key, &value).expect(name);
        assert_eq!(again.len(), stored.len(), "{name}");
        assert_eq!(again.get(..20), stored.get(..20), "{name}: its prefix");
        assert!(!contains(&again, part), "{name}");
        assert_eq!(own.from_storage("secrets", &key, &again).expect(name), (value.clone(), false));
        // After clear text and another key.
        let older = transformers(&[identity(), provider]);
        assert_eq!(older.from_storage("secrets", &key, &stored).expect(name), (value.clone(), true));
        assert_eq!(older.from_storage("secrets", &key, &value).expect(name), (value.clone(), false));
        assert_eq!(failure(own.from_storage("secrets", &key, &value)), "no matching prefix found");
    }
    let (key, stored) = vector("identity");
    let (value, _) = transformers(&[identity()]).from_storage("namespaces", &key, &stored).expect("it is clear");
    assert_eq!(value, stored);
}

#[test]
fn the_messages_are_those_of_kube_apiserver() {
    let (key, stored) = vector("aesgcm");
    let of = |providers: &[String]| failure(transformers(providers).from_storage("configmaps", &key, &stored));
    let (wrong, other) = (provider("aesgcm", &[("two", b'z', 32)]), provider("aesgcm", &[("x", b'b', 32)]));
    assert_eq!(of(std::slice::from_ref(&wrong)), "cipher: message authentication failed");
    assert_eq!(of(&[wrong.clone(), wrong, identity()]), "cipher: message authentication failed");
    assert_eq!(of(std::slice::from_ref(&other)), "no matching key was found for the provided AES transformer");
    assert_eq!(of(&[identity()]), "no matching prefix found");
    let unnamed = Transformers::new(&Settings::parse(r#"{"resources":[]}"#).expect("valid")).expect("valid");
    let found = failure(unnamed.from_storage("configmaps", &key, &stored));
    assert_eq!(found, "identity transformer tried to read encrypted data");
}

#[test]
fn a_value_of_another_key_in_the_storage_is_refused() {
    let (_, stored) = vector("aesgcm");
    let own = transformers(&[provider("aesgcm", &[("two", b'b', 32)])]);
    let found = own.from_storage("configmaps", "/registry/configmaps/default/b", &stored);
    assert_eq!(failure(found), "cipher: message authentication failed");
}

#[test]
fn a_rotated_key_reads_and_is_stale() {
    let (key, stored) = vector("aescbc");
    let keys = provider("aescbc", &[("new", b'n', 24), ("one", b'a', 32)]);
    let own = transformers(&[keys, provider("aescbc", &[("one", b'q', 32)])]);
    let (value, stale) = own.from_storage("secrets", &key, &stored).expect("it has the key");
    assert!(stale);
    let (again, form) = own.seal("secrets", &key, &value).expect("it has the key");
    assert!(again.starts_with(b"k8s:enc:aescbc:v1:new:"));
    assert_eq!(
        (form, own.from_storage("secrets", &key, &again).expect("it has the key")),
        (own.form("secrets"), (value, false))
    );
    assert_ne!(form, transformers(&[provider("aescbc", &[("new", b'm', 24)])]).form("secrets"));
}

#[test]
fn keys_are_never_shown() {
    let text = format!(
        r#"{{"resources":[{{"resources":["*.*"],"providers":[{}]}}]}}"#,
        provider("aesgcm", &[("two", b'b', 32)])
    );
    let settings = Settings::parse(&text).expect("they are valid");
    let made = Transformers::new(&settings).expect("they are valid");
    let shown = format!("{settings:?} {made:?}");
    assert!(shown.contains("two") && !shown.contains("bbb") && !shown.contains("98, 98"), "{shown}");
    let wrong = Settings::parse(&text.replace("YmJi", "****")).expect_err("it is no base64");
    assert!(!wrong.contains("***") && !wrong.contains("YmJi"), "{wrong}");
}

fn any_provider() -> impl Strategy<Value = String> {
    let sizes = prop_oneof![Just(16_usize), Just(24), Just(32)];
    (prop_oneof![Just("aescbc"), Just("aesgcm"), Just("secretbox")], sizes, any::<u8>())
        .prop_map(|(kind, size, letter)| provider(kind, &[("k", letter, if kind == "secretbox" { 32 } else { size })]))
}

proptest! {
    #[test]
    fn it_is_read_as_it_was_written(provider in any_provider(), value in prop::collection::vec(any::<u8>(), 0..100)) {
        let own = transformers(&[provider]);
        let stored = own.to_storage("secrets", "/registry/secrets/a/b", &value).expect("it is written");
        let found = own.from_storage("secrets", "/registry/secrets/a/b", &stored).expect("it is read");
        prop_assert_eq!(found, (value, false));
    }

    #[test]
    fn a_changed_bit_is_an_error(
        kind in prop_oneof![Just("aesgcm"), Just("secretbox")],
        value in prop::collection::vec(any::<u8>(), 0..100),
        at in any::<prop::sample::Index>(),
        bit in 0u8..8,
    ) {
        let own = transformers(&[provider(kind, &[("k", b'k', 32)])]);
        let mut stored = own.to_storage("secrets", "/registry/secrets/a/b", &value).expect("it is written");
        let at = at.index(stored.len());
        if let Some(byte) = stored.get_mut(at) {
            *byte ^= 1 << bit;
        }
        prop_assert!(own.from_storage("secrets", "/registry/secrets/a/b", &stored).is_err());
    }

    #[test]
    fn arbitrary_bytes_are_read_or_refused(provider in any_provider(), rest in prop::collection::vec(any::<u8>(), 0..80)) {
        let own = transformers(&[provider, identity()]);
        for prefix in ["", "k8s:enc:", "k8s:enc:aescbc:v1:k:", "k8s:enc:aesgcm:v1:k:", "k8s:enc:secretbox:v1:k:"] {
            let stored = [prefix.as_bytes(), &rest].concat();
            let found = own.from_storage("secrets", "/registry/secrets/a/b", &stored);
            prop_assert!(found.is_err() || !stored.starts_with(b"k8s:enc:") || stored.starts_with(b"k8s:enc:aescbc"));
        }
    }
}
