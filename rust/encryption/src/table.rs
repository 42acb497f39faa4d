//! The providers of all resources (apiserver `pkg/server/options/encryptionconfig/config.go`).

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::failure::{Failure, Result};
use crate::metrics::Metrics;
use crate::provider::{Around, Provider, Providers};
use crate::settings::Settings;

const ANY: &str = "*.*";

/// The providers of a configuration, by resource.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// The plug-ins, in the order of the file.
    plugins: Vec<Arc<Provider>>,
    resources: FxHashMap<String, Providers>,
    none: Providers,
}

/// Return the entry for all resources of the group of one: `*.apps`, and `*.` of the core group.
fn group(resource: &str) -> String {
    format!("*.{}", resource.split_once('.').map_or("", |(_, group)| group))
}

impl Table {
    /// Return the providers that settings name. Fails for a resource that an earlier entry covers.
    pub(crate) fn new(settings: &Settings, metrics: &Arc<Metrics>) -> Result<Self> {
        let mut table = Self::default();
        let mut around = Around { server: &settings.server, metrics, runtime: None };
        for entry in &settings.resources {
            let made: Result<Vec<_>> =
                entry.providers.iter().map(|given| Ok(Arc::new(Provider::new(given, &mut around)?))).collect();
            let made = made?;
            table.plugins.extend(made.iter().filter(|provider| matches!(***provider, Provider::Kms(_))).cloned());
            for resource in &entry.resources {
                // `secrets.` is the resource of the core group, too.
                let resource = match resource.strip_suffix('.') {
                    Some(plural) if plural != "*" => plural,
                    _ => resource,
                };
                for wider in [group(resource).as_str(), ANY] {
                    if table.resources.contains_key(wider) {
                        let text = format!("resource \"{resource}\" is masked by earlier rule \"{wider}\"");
                        return Err(Failure::new(text));
                    }
                }
                table.resources.entry(resource.to_owned()).or_default().0.extend(made.iter().cloned());
            }
        }
        Ok(table)
    }

    /// Return the name of each plug-in, and why it is not healthy as far as is known.
    pub(crate) fn health(&self) -> Vec<(String, Option<String>)> {
        let problem = |provider: &Arc<Provider>| match &**provider {
            Provider::Kms(kms) => Some(kms.problem()),
            _ => None,
        };
        self.plugins.iter().filter_map(problem).collect()
    }

    /// Return the providers of a resource: those that name it, or its group, or everything.
    pub(crate) fn of(&self, resource: &str) -> &Providers {
        let found = self.resources.get(resource).or_else(|| self.resources.get(&group(resource)));
        found.or_else(|| self.resources.get(ANY)).unwrap_or(&self.none)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Table;
    use crate::settings::Settings;

    fn table(names: &[&[&str]]) -> Result<Table, String> {
        let entries: Vec<_> =
            names.iter().map(|names| format!(r#"{{"resources":{names:?},"providers":["identity"]}}"#)).collect();
        let text = format!(r#"{{"resources":[{}]}}"#, entries.join(","));
        Table::new(&Settings::parse(&text)?, &Arc::default()).map_err(|e| e.to_string())
    }

    #[test]
    fn the_closest_entry_counts() {
        let table = table(&[&["secrets"], &["secrets", "pods.metrics.k8s.io"], &["*.apps"], &["*."], &["*.*"]]);
        let table = table.expect("it is valid");
        let count = |resource| table.of(resource).0.len();
        assert_eq!(count("secrets"), 2, "two entries of one resource are one list");
        assert_eq!(["pods", "deployments.apps", "widgets.example.com"].map(count), [1, 1, 1]);
        assert_eq!(super::Table::default().of("secrets").0.len(), 0);
    }

    #[test]
    fn an_entry_that_is_covered_is_refused() {
        let refused = |names: &[&[&str]]| table(names).expect_err("it is covered");
        assert_eq!(refused(&[&["*."], &["secrets"]]), r#"resource "secrets" is masked by earlier rule "*.""#);
        assert_eq!(refused(&[&["*.apps"], &["*.apps"]]), r#"resource "*.apps" is masked by earlier rule "*.apps""#);
        assert_eq!(refused(&[&["*.*"], &["*.apps"]]), r#"resource "*.apps" is masked by earlier rule "*.*""#);
    }
}
