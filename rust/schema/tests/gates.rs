//! Rules behind feature gates: a gate of the release reaches the field that it guards, in both directions.

#![allow(missing_docs, reason = "the names of tests say what they are for")]

use hydrofoil_codec::json;
use hydrofoil_schema::{Kind, Release, Request, default, prepare, validate};
use hydrofoil_types::{Catalog, Causes, Timestamp, Value};

const NOW: Timestamp = Timestamp { seconds: 1_800_000_000, nanos: 0 };
const CATALOG: &[u8] = include_bytes!("../../../python/hydrofoil/apis/data/catalog.json");

/// The object that a server with one gate on, and no other, creates; and the causes for which it refuses that.
fn created(gates: &[&str], plural: (&str, &str, &str), text: &str) -> (String, Causes) {
    let catalog = Catalog::parse(CATALOG).expect("the package data parses");
    let resource = catalog.resource(plural.0, plural.1, plural.2).expect("a resource");
    let schema = catalog.schema(&resource.type_name).expect("its type");
    let kind = Kind::of(resource, Release::new(36, gates.iter().copied()));
    let mut object: Value = json::decode(&schema, text.as_bytes()).expect("an object").value;
    let request = Request { kind: &kind, subresource: "", old: None, now: NOW };
    default::apply(&kind, &mut object, NOW);
    prepare::create(&request, &mut object);
    let causes = validate::create(&request, &object);
    (String::from_utf8(json::encode(&schema, &object)).expect("text"), causes)
}

const POD: (&str, &str, &str) = ("", "v1", "pods");

fn pod(member: &str, container: &str) -> String {
    format!(
        r#"{{"metadata":{{"name":"a","namespace":"b"}},"spec":{{"serviceAccountName":"c"{member},
        "containers":[{{"name":"x","image":"y"{container}}}]}}}}"#
    )
}

#[test]
fn fields_of_pods_are_kept_where_their_gate_is_on() {
    let cases = [
        ("HostnameOverride", "hostnameOverride", pod(r#","hostnameOverride":"h""#, "")),
        ("PodLevelResources", "resources\":{\"limits", pod(r#","resources":{"limits":{"cpu":"1"}}"#, "")),
        ("ContainerStopSignals", "stopSignal", pod("", r#","lifecycle":{"stopSignal":"SIGTERM"}"#)),
        ("GenericWorkload", "schedulingGroup", pod(r#","schedulingGroup":{"podGroupName":"g"}"#, "")),
        (
            "ClusterTrustBundleProjection",
            "clusterTrustBundle",
            pod(
                r#","volumes":[{"name":"v","projected":{"sources":[{"clusterTrustBundle":{"name":"n","path":"p"}}]}}]"#,
                "",
            ),
        ),
        (
            "ContainerRestartRules",
            "restartPolicyRules",
            pod(
                "",
                r#","restartPolicy":"Never","restartPolicyRules":[{"action":"Restart","exitCodes":{"operator":"In","values":[1]}}]"#,
            ),
        ),
        (
            "EnvFiles",
            "fileKeyRef",
            pod(
                r#","volumes":[{"name":"v","emptyDir":{}}]"#,
                r#","env":[{"name":"E","valueFrom":{"fileKeyRef":{"volumeName":"v","path":"p","key":"k"}}}]"#,
            ),
        ),
    ];
    for (gate, field, text) in cases {
        assert!(created(&[gate], POD, &text).0.contains(field), "{gate} is on");
        assert!(!created(&[], POD, &text).0.contains(field), "{gate} is off");
    }
}

#[test]
fn rules_of_pods_follow_their_gate() {
    let compares = pod(r#","tolerations":[{"key":"k","operator":"Lt","value":"3","effect":"NoSchedule"}]"#, "");
    assert!(created(&["TaintTolerationComparisonOperators"], POD, &compares).1.is_empty());
    let refused = created(&[], POD, &compares).1;
    assert_eq!(refused.as_slice()[0].field, "spec.tolerations[0].operator");
    let wrong = compares.replace(r#""3""#, r#""03""#);
    let refused = created(&["TaintTolerationComparisonOperators"], POD, &wrong).1;
    assert_eq!(refused.as_slice()[0].field, "spec.tolerations[0].value");

    let spread = pod(
        r#","topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"t","whenUnsatisfiable":"DoNotSchedule",
        "matchLabelKeys":["l"],"labelSelector":{}}]"#,
        "",
    )
    .replace(r#""name":"a","#, r#""name":"a","labels":{"l":"m"},"#);
    let merge = "MatchLabelKeysInPodTopologySpreadSelectorMerge";
    let (merged, _) = created(&["MatchLabelKeysInPodTopologySpread", merge], POD, &spread);
    assert!(merged.contains(r#""matchExpressions":[{"key":"l""#));
    let (kept, _) = created(&["MatchLabelKeysInPodTopologySpread"], POD, &spread);
    assert!(kept.contains("matchLabelKeys") && !kept.contains("matchExpressions"));
    assert!(!created(&[], POD, &spread).0.contains("matchLabelKeys"));
}

#[test]
fn fields_of_other_kinds_follow_their_gate() {
    let lease = r#"{"metadata":{"name":"a","namespace":"b"},"spec":{"strategy":"OldestEmulationVersion"}}"#;
    let leases = ("coordination.k8s.io", "v1", "leases");
    assert!(created(&["CoordinatedLeaderElection"], leases, lease).0.contains("OldestEmulationVersion"));
    assert!(!created(&[], leases, lease).0.contains("OldestEmulationVersion"));

    let class = r#"{"metadata":{"name":"a"},"spec":{"extendedResourceName":"e.com/gpu"}}"#;
    let classes = ("resource.k8s.io", "v1", "deviceclasses");
    assert!(created(&["DRAExtendedResource"], classes, class).0.contains("e.com/gpu"));
    assert!(!created(&[], classes, class).0.contains("e.com/gpu"));

    let scaler = r#"{"metadata":{"name":"a","namespace":"b"},"spec":{"maxReplicas":3,"minReplicas":0,
        "scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"d"},
        "behavior":{"scaleUp":{"tolerance":"500m"}}}}"#;
    let scalers = ("autoscaling", "v2", "horizontalpodautoscalers");
    let (kept, _) = created(&["HPAConfigurableTolerance"], scalers, scaler);
    assert!(kept.contains("tolerance"));
    let (dropped, causes) = created(&[], scalers, scaler);
    assert!(!dropped.contains("tolerance"));
    let fields = |causes: &Causes| causes.as_slice().iter().map(|c| c.field.to_string()).collect::<Vec<_>>();
    assert!(fields(&causes).contains(&"spec.minReplicas".to_owned()));
    let (_, causes) = created(&["HPAScaleToZero"], scalers, scaler);
    assert!(!fields(&causes).contains(&"spec.minReplicas".to_owned()));

    let service = r#"{"metadata":{"name":"1a","namespace":"b"},"spec":{"ports":[{"port":80}]}}"#;
    let services = ("", "v1", "services");
    let name = "metadata.name".to_owned();
    assert!(!fields(&created(&["RelaxedServiceNameValidation"], services, service).1).contains(&name));
    assert!(fields(&created(&[], services, service).1).contains(&name));
}
