//! What is accepted lasts: a body, a patch or a configuration that is taken leaves an object that reads back as itself,
//! in every encoding, and is patched and loaded again.
#![no_main]

use std::sync::{Arc, LazyLock};

use hydrofoil_codec::{cbor, json};
use hydrofoil_engine::kind::{Catalog, Media, ObjectKind};
use hydrofoil_engine::stored::Stored;
use hydrofoil_engine::write::{Apply, Draft, Patch, PatchType};
use hydrofoil_schema::Release;
use libfuzzer_sys::fuzz_target;

const NOW: &str = "2026-01-01T00:00:00Z";

static KINDS: LazyLock<Vec<Arc<dyn ObjectKind>>> = LazyLock::new(|| {
    let release = Release::parse(include_bytes!("../../../python/hydrofoil/apis/releases/1.36.json")).unwrap();
    let catalog = Catalog::parse(include_bytes!("../../../python/hydrofoil/apis/data/catalog.json"), release).unwrap();
    let definitions = catalog.resource("apiextensions.k8s.io", "v1", "customresourcedefinitions").unwrap();
    let text = br#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.e.com"},
        "spec":{"group":"e.com","scope":"Namespaced","names":{"plural":"things","kind":"Thing","listKind":"ThingList"},
        "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object",
            "x-kubernetes-preserve-unknown-fields":true}}}]},
        "status":{"acceptedNames":{"plural":"things","kind":"Thing","listKind":"ThingList"},"storedVersions":["v1"]}}"#;
    let (definition, _) = definitions.decode(text, Media::Json).unwrap();
    let thing = catalog.custom(&definition).into_iter().next().unwrap().1;
    let revisions = catalog.resource("apps", "v1", "controllerrevisions").unwrap();
    let scalers = catalog.resource("autoscaling", "v1", "horizontalpodautoscalers").unwrap();
    vec![thing, revisions, definitions, scalers]
});

/// Store an object; `None` if it is of another type.
fn stored(draft: &mut Draft) -> Option<Stored> {
    draft.set_type();
    let stored = draft.preview(7).ok()?;
    let text = stored.json().expect("it is JSON").to_vec();
    let parsed = json::parse(&text).expect("it reads back");
    assert!(parsed.strict.is_empty());
    let (again, _) = draft.kind().decode(&text, Media::Json).expect("a client sends it back");
    let copy = Draft::new(Arc::clone(draft.kind()), again).preview(7).expect("it is stored again");
    assert_eq!(copy.json().expect("JSON"), text.as_slice());
    draft.kind().decode(&cbor::encode_tagged(None, &parsed.value), Media::Cbor).expect("it is CBOR");
    Some(stored)
}

fuzz_target!(|data: &[u8]| {
    let [which, rest @ ..] = data else { return };
    let kind = &KINDS[usize::from(which >> 4) % KINDS.len()];
    let base = br#"{"metadata":{"name":"m","namespace":"a"},"spec":{},"data":{}}"#;
    let (value, _) = kind.decode(base, Media::Json).expect("a good object");
    let Some(old) = stored(&mut Draft::new(Arc::clone(kind), value)) else { return };
    let patch = |patch_type| Patch { patch_type, text: rest, lenient: true }.to(kind, &old);
    let made = match which & 7 {
        0 => kind.decode(rest, Media::Json),
        1 => kind.decode(rest, Media::Yaml),
        2 => kind.decode(rest, Media::Cbor),
        3 => kind.decode(rest, Media::Protobuf),
        4 => patch(PatchType::Json),
        5 => patch(PatchType::Merge),
        6 => patch(PatchType::Strategic),
        _ => {
            let apply = Apply { config: rest, manager: "m", subresource: "", force: true, now: NOW, known: None };
            apply.to(kind, Some(&old))
        }
    };
    let Ok((value, _)) = made else { return };
    let Some(new) = stored(&mut Draft::new(Arc::clone(kind), value)) else { return };
    let labels = Patch { patch_type: PatchType::Merge, text: br#"{"metadata":{"labels":{"a":"b"}}}"#, lenient: true };
    let (patched, _) = labels.to(kind, &new).expect("it is patched");
    stored(&mut Draft::new(Arc::clone(kind), patched));
});
