//! Named formats (messages of apimachinery `pkg/util/validation`).

use std::sync::LazyLock;

use base64::Engine as _;
use hydrofoil_types::Timestamp;
use regex::Regex;

use super::url::Url;

/// A format.
#[derive(Debug)]
pub(crate) struct Format {
    pub name: &'static str,
    /// The length of its pattern for upstream's cost.
    pub length: u64,
    /// The function that returns the errors in a string.
    pub check: fn(&str) -> Vec<String>,
}

static FORMATS: [Format; 13] = [
    Format { name: "dns1123Label", length: 30, check: |s| label(s, false) },
    Format { name: "dns1123Subdomain", length: 60, check: |s| subdomain(s, false) },
    Format { name: "dns1035Label", length: 30, check: |s| label_1035(s, false) },
    Format { name: "qualifiedName", length: 60, check: check_qualified_name },
    Format { name: "dns1123LabelPrefix", length: 30, check: |s| label(s, true) },
    Format { name: "dns1123SubdomainPrefix", length: 60, check: |s| subdomain(s, true) },
    Format { name: "dns1035LabelPrefix", length: 30, check: |s| label_1035(s, true) },
    Format { name: "labelValue", length: 40, check: label_value },
    Format {
        name: "uri",
        length: 1_500,
        check: |s| Url::parse(s).err().map(|e| format!("parse {s:?}: {e}")).into_iter().collect(),
    },
    Format { name: "uuid", length: 70, check: |s| unless(is_uuid(s), "does not match the UUID format") },
    Format {
        name: "byte",
        length: 90,
        check: |s| unless(base64::engine::general_purpose::STANDARD.decode(s).is_ok(), "invalid base64"),
    },
    Format {
        name: "date",
        length: 120,
        check: |s| unless(Timestamp::parse(&format!("{s}T00:00:00Z")).is_some(), "invalid date"),
    },
    Format { name: "datetime", length: 120, check: |s| unless(Timestamp::parse(s).is_some(), "invalid datetime") },
];

/// Return the format of a name.
pub(crate) fn by_name(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|f| f.name == name)
}

fn unless(fits: bool, why: &str) -> Vec<String> {
    if fits { Vec::new() } else { vec![why.to_owned()] }
}

fn matches(slot: &Regex, text: &str) -> bool {
    slot.is_match(text)
}

/// Complete a prefix of a generated name so that it can be checked as a name.
fn whole(text: &str, prefix: bool) -> String {
    match text.strip_suffix('-') {
        Some(rest) if prefix && !rest.is_empty() => format!("{rest}a"),
        _ => text.to_owned(),
    }
}

fn label(text: &str, prefix: bool) -> Vec<String> {
    static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("^[a-z0-9]([-a-z0-9]*[a-z0-9])?$").ok());
    const WHY: &str = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
    check_name(&whole(text, prefix), 63, PATTERN.as_ref(), WHY)
}

fn label_1035(text: &str, prefix: bool) -> Vec<String> {
    static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new("^[a-z]([-a-z0-9]*[a-z0-9])?$").ok());
    const WHY: &str = "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
    check_name(&whole(text, prefix), 63, PATTERN.as_ref(), WHY)
}

fn subdomain(text: &str, prefix: bool) -> Vec<String> {
    static PATTERN: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$").ok());
    const WHY: &str = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
    check_name(&whole(text, prefix), 253, PATTERN.as_ref(), WHY)
}

fn check_name(text: &str, longest: usize, pattern: Option<&Regex>, why: &str) -> Vec<String> {
    let mut out = Vec::new();
    if text.len() > longest {
        out.push(format!("must be no more than {longest} bytes"));
    }
    if !pattern.is_some_and(|p| matches(p, text)) {
        out.push(why.to_owned());
    }
    out
}

fn name_part() -> Option<&'static Regex> {
    static PATTERN: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new("^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$").ok());
    PATTERN.as_ref()
}

fn check_qualified_name(text: &str) -> Vec<String> {
    const WHY: &str = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
    let mut out = Vec::new();
    let name = match text.split('/').collect::<Vec<_>>().as_slice() {
        [name] => *name,
        [prefix, name] => {
            if prefix.is_empty() {
                out.push("prefix part must be non-empty".to_owned());
            } else {
                out.extend(subdomain(prefix, false).into_iter().map(|why| format!("prefix part {why}")));
            }
            *name
        }
        _ => {
            return vec![format!(
                "a qualified name {WHY} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
            )];
        }
    };
    if name.is_empty() {
        out.push("name part must be non-empty".to_owned());
    } else if name.len() > 63 {
        out.push("name part must be no more than 63 bytes".to_owned());
    }
    if !name_part().is_some_and(|p| matches(p, name)) {
        out.push(format!("name part {WHY}"));
    }
    out
}

fn label_value(text: &str) -> Vec<String> {
    const WHY: &str = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
    let mut out = Vec::new();
    if text.len() > 63 {
        out.push("must be no more than 63 bytes".to_owned());
    }
    if !text.is_empty() && !name_part().is_some_and(|p| matches(p, text)) {
        out.push(WHY.to_owned());
    }
    out
}

fn is_uuid(text: &str) -> bool {
    static PATTERN: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new("(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$").ok());
    PATTERN.as_ref().is_some_and(|p| matches(p, text))
}
