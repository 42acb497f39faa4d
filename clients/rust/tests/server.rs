//! The helper against a server.

use std::time::Duration;

use hydrofoil::Server;
use serde_json::json;

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn status(server: &Server, path: &str) -> u16 {
    let agent = ureq::Agent::new_with_config(ureq::Agent::config_builder().http_status_as_error(false).build());
    agent.get(format!("{}{path}", server.url())).call().unwrap().status().as_u16()
}

fn map(name: &str) -> String {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}).to_string()
}

#[test]
fn a_status_is_set_as_by_a_controller() {
    let server = Server::start(&[]).unwrap();
    server
        .apply("{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, image: i}]}}")
        .unwrap();
    server.set_status("pods/p", &json!({"phase": "Running"}), "default").unwrap();
    assert_eq!(server.get("pods/p", "default").unwrap()["status"]["phase"], "Running");
    assert!(server.get("pods/q", "default").is_err());
}

#[test]
fn a_server_is_in_the_hand_of_the_test() {
    let server = Server::start(&[]).unwrap();
    assert!(std::fs::read_to_string(server.kubeconfig()).unwrap().contains(server.url()));
    let before = server.snapshot().unwrap();
    server.apply(&map("a")).unwrap();
    let found = server.wait("configmaps/a", "exists", "default", Duration::from_secs(10)).unwrap();
    assert_eq!(found["kind"], "ConfigMap");
    assert_eq!(status(&server, &format!("{MAPS}/a")), 200);
    assert_eq!(server.restore(&before).unwrap(), 1);
    assert_eq!(status(&server, &format!("{MAPS}/a")), 404);

    let fault = server.add_fault("status", json!({"code": 503, "verb": "list", "times": 1})).unwrap();
    assert_eq!((status(&server, MAPS), status(&server, MAPS)), (503, 200));
    assert_eq!(server.fault(&fault).unwrap()["hits"], 1);
    assert_eq!(server.requests("verb=list&code=503").unwrap()[0]["path"], MAPS);
    server.clear_faults().unwrap();

    server.freeze("2026-01-01T00:00:00Z").unwrap();
    server.advance(Duration::from_secs(25 * 3600)).unwrap();
    server.apply(&map("b")).unwrap();
    let made = server.wait("configmaps/b", "exists", "default", Duration::from_secs(1)).unwrap();
    assert_eq!(made["metadata"]["creationTimestamp"], "2026-01-02T01:00:00Z");

    server.restart().unwrap();
    let user = server.user("bob", &["dev"]).unwrap();
    assert!(user["headers"]["Authorization"].as_str().unwrap().starts_with("Bearer "));
    server.reset().unwrap();
    assert!(server.requests("").unwrap().is_empty());
    assert_eq!(status(&server, &format!("{MAPS}/b")), 404);
}

#[test]
fn an_error_has_the_words_of_the_server() {
    let server = Server::start(&[]).unwrap();
    let error = server.add_fault("nothing", json!({})).unwrap_err();
    assert!(error.to_string().contains("nothing"), "{error}");
    let error = Server::start(&["--no-such-flag"]).unwrap_err();
    assert_eq!(error.to_string(), "hydrofoil has not started");
}

#[test]
fn a_text_is_a_manifest_or_a_path_by_its_form() {
    let server = Server::start(&[]).unwrap();
    let folder = std::env::temp_dir().join(format!("hydrofoil-objects-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("b c")).unwrap();
    std::fs::write(folder.join("a.yaml"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n").unwrap();
    std::fs::write(folder.join("b c").join("b.json"), map("b")).unwrap();
    std::fs::write(folder.join("notes.txt"), "no manifest").unwrap();
    server.apply(folder.to_str().unwrap()).unwrap();
    server.apply_file(folder.join("a.yaml")).unwrap();
    server.apply(&format!("[{}]", map("c"))).unwrap();
    for name in ["a", "b", "c"] {
        assert_eq!(status(&server, &format!("{MAPS}/{name}")), 200, "{name}");
    }
    let error = server.apply("nowhere.yaml").unwrap_err().to_string();
    assert!(error.contains("\"nowhere.yaml\" is no file or folder, and no manifest"), "{error}");
    std::fs::write(folder.join("b c").join("b.json"), "kind: ConfigMap\n").unwrap();
    let error = server.apply_file(folder.join("b c")).unwrap_err().to_string();
    assert!(error.contains("b c, document 1: an object needs apiVersion and kind"), "{error}");
    std::fs::remove_dir_all(folder).unwrap();
}
