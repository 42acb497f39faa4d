//! Formats of texts with upstream's explanations (apimachinery `pkg/util/validation`).

pub(crate) mod cron;
pub(crate) mod ip;
pub(crate) mod json;
pub(crate) mod label;
pub(crate) mod name;
pub(crate) mod text;
pub(crate) mod url;
pub(crate) mod version;

/// A check that calls the function with each error of a text; nothing is allocated for a valid one.
pub(crate) type Format = fn(&str, &mut dyn FnMut(&str));
