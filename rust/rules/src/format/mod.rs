//! Formats of texts with upstream's explanations (apimachinery `pkg/util/validation`).

pub mod cron;
pub mod ip;
pub mod json;
pub mod label;
pub mod name;
pub mod text;
pub mod url;
pub mod version;

/// A check that calls the function with each error of a text; nothing is allocated for a valid one.
pub type Format = fn(&str, &mut dyn FnMut(&str));
