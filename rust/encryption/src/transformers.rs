//! The conversions of a server, whose configuration may be replaced.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::failure::{Failure, Result};
use crate::metrics::Metrics;
use crate::provider::Place;
use crate::settings::Settings;
use crate::table::Table;

/// The conversions between the bytes of objects and those in a storage.
///
/// Resources are named as configurations name them (`secrets`, `deployments.apps`), and keys as kube-apiserver has them
/// in etcd (`/registry/secrets/default/token`). All methods may be called by any thread, except by one that must not
/// wait: a value may need the answer of a plug-in.
#[derive(Debug)]
pub struct Transformers {
    /// Held for a clone of the handle only: a conversion keeps the table that it began with, and a new configuration
    /// never waits for a plug-in that is asked by an old one.
    table: Mutex<Arc<Table>>,
    metrics: Arc<Metrics>,
}

impl Transformers {
    /// Return the conversions of a configuration.
    pub fn new(settings: &Settings) -> Result<Self> {
        Self::counting(settings, Arc::default())
    }

    /// Return the conversions of a configuration, counted with those of others.
    pub fn counting(settings: &Settings, metrics: Arc<Metrics>) -> Result<Self> {
        Ok(Self { table: Mutex::new(Arc::new(Table::new(settings, &metrics)?)), metrics })
    }

    fn table(&self) -> Arc<Table> {
        Arc::clone(&self.table.lock())
    }

    fn place<'a>(&'a self, resource: &'a str, key: &'a str) -> Place<'a> {
        Place { resource, key, metrics: &self.metrics }
    }

    /// Use the configuration of others from now on; conversions under way finish with the former one.
    pub fn adopt(&self, other: &Self) {
        let table = other.table();
        *self.table.lock() = table;
    }

    /// Return the stored form of a value.
    pub fn to_storage(&self, resource: &str, key: &str, value: &[u8]) -> Result<Vec<u8>> {
        Ok(self.seal(resource, key, value)?.0)
    }

    /// Return the stored form of a value, and a number of that form: that of its provider and key, 0 without
    /// encryption.
    pub fn seal(&self, resource: &str, key: &str, value: &[u8]) -> Result<(Vec<u8>, u64)> {
        self.table().of(resource).seal(self.place(resource, key), value)
    }

    /// Return a value from its stored form, and whether that is stale: the value would be written in another form now.
    pub fn from_storage(&self, resource: &str, key: &str, stored: &[u8]) -> Result<(Vec<u8>, bool)> {
        if key.is_empty() {
            return Err(Failure::new("authenticated data must not be empty"));
        }
        self.table().of(resource).open(self.place(resource, key), stored)
    }

    /// Return the number of the form that values of a resource are written in now.
    pub fn form(&self, resource: &str) -> u64 {
        self.table().of(resource).form()
    }

    /// Return the name of each plug-in, and why it is not healthy. A plug-in of which that is long known is looked at
    /// again: this does not wait.
    pub fn health(&self) -> Vec<(String, Option<String>)> {
        self.table().health()
    }

    /// Return the counts of conversions.
    pub fn metrics(&self) -> &Arc<Metrics> {
        &self.metrics
    }
}
