//! The keys of objects in a storage, as kube-apiserver has them in etcd.

/// The collections of built-in kinds that have another path than their plural (kubernetes
/// `pkg/kubeapiserver/default_storage_factory_builder.go`), or one with their group.
const SPECIAL: &[(&str, &str)] = &[
    ("/endpoints", "services/endpoints"),
    ("/nodes", "minions"),
    ("/replicationcontrollers", "controllers"),
    ("/services", "services/specs"),
    ("apiextensions.k8s.io/customresourcedefinitions", "apiextensions.k8s.io/customresourcedefinitions"),
    ("apiregistration.k8s.io/apiservices", "apiregistration.k8s.io/apiservices"),
    ("networking.k8s.io/ingresses", "ingress"),
];

/// Return the group and the plural of a collection: `apps/deployments`, `/secrets`, and
/// `example.com/widgets.example.com` of custom resources.
fn parts(collection: &str) -> (&str, &str, bool) {
    let (group, plural) = collection.split_once('/').unwrap_or(("", collection));
    let own = plural.strip_suffix(group).and_then(|plural| plural.strip_suffix('.'));
    match own {
        Some(own) if !group.is_empty() => (group, own, true),
        _ => (group, plural, false),
    }
}

/// Return the resource of a collection as configurations name it: `deployments.apps`, `secrets`.
pub fn resource(collection: &str) -> String {
    let (group, plural, _) = parts(collection);
    if group.is_empty() { plural.to_owned() } else { format!("{plural}.{group}") }
}

/// Return the key of an object in the storage: `/registry/secrets/default/token`.
pub fn storage_key(collection: &str, key: &str) -> String {
    let (group, plural, custom) = parts(collection);
    if custom {
        return format!("/registry/{group}/{plural}/{key}");
    }
    let special = SPECIAL.iter().find(|(name, _)| *name == collection);
    format!("/registry/{}/{key}", special.map_or(plural, |(_, path)| path))
}

#[cfg(test)]
mod tests {
    use super::{resource, storage_key};

    #[test]
    fn keys_are_those_of_kube_apiserver() {
        let cases = [
            ("/secrets", "secrets", "/registry/secrets/a/b"),
            ("/services", "services", "/registry/services/specs/a/b"),
            ("/endpoints", "endpoints", "/registry/services/endpoints/a/b"),
            ("apps/deployments", "deployments.apps", "/registry/deployments/a/b"),
            ("coordination.k8s.io/leases", "leases.coordination.k8s.io", "/registry/leases/a/b"),
            ("networking.k8s.io/ingresses", "ingresses.networking.k8s.io", "/registry/ingress/a/b"),
            ("example.com/widgets.example.com", "widgets.example.com", "/registry/example.com/widgets/a/b"),
        ];
        for (collection, named, key) in cases {
            assert_eq!((resource(collection).as_str(), storage_key(collection, "a/b").as_str()), (named, key));
        }
        let definitions = "apiextensions.k8s.io/customresourcedefinitions";
        assert_eq!(storage_key(definitions, "x"), format!("/registry/{definitions}/x"));
    }
}
