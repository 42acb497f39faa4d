//! Options of Windows pods.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]
#![allow(clippy::indexing_slicing, reason = "the place was found in the list, or the length looked at before")]

use hydrofoil_types::{Causes, Path, Value};

use crate::check::Check;
use crate::format::name;
use hydrofoil_types::read::Read;

/// `validateWindowsSecurityContextOptions`.
pub fn options(context: &Value, path: &Path<'_>, causes: &mut Causes) {
    let Some(options) = context.opt("windowsOptions") else { return };
    let path = path.child("windowsOptions");
    let text = |key: &str| options.opt(key).map(|v| v.as_str().unwrap_or(""));
    if let Some(name) = text("gmsaCredentialSpecName") {
        causes.format(&path.child("gmsaCredentialSpecName"), name, name::subdomain);
    }
    if let Some(spec) = text("gmsaCredentialSpec") {
        let at = path.child("gmsaCredentialSpec");
        if spec.is_empty() {
            causes.invalid_str(&at, spec, "gmsaCredentialSpec cannot be an empty string");
        } else if spec.len() > 64 * 1024 {
            causes.invalid_str(&at, spec, "gmsaCredentialSpec size must be under 64 KiB");
        }
    }
    if let Some(name) = text("runAsUserName") {
        user_name(name, &path.child("runAsUserName"), causes);
    }
}

fn user_name(name: &str, at: &Path<'_>, causes: &mut Causes) {
    let mut bad = |detail: &str| causes.invalid_str(at, name, detail);
    if name.is_empty() {
        return bad("runAsUserName cannot be an empty string");
    }
    if name.bytes().any(|b| b < 0x20 || b == 0x7f) {
        return bad("runAsUserName cannot contain control characters");
    }
    let parts: Vec<&str> = name.split('\\').collect();
    let (domain, user) = match parts.as_slice() {
        [user] => (None, *user),
        [domain, user] => (Some(*domain), *user),
        _ => return bad("runAsUserName cannot contain more than one backslash"),
    };
    if let Some(domain) = domain {
        if domain.len() >= 256 {
            bad("runAsUserName's Domain length must be under 256 characters");
        }
        if !net_bios(domain) && !dns(domain) {
            bad("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
        }
    }
    if user.is_empty() {
        bad("runAsUserName's User cannot be empty");
    } else if user.len() > 104 {
        bad("runAsUserName's User length must not be longer than 104 characters");
    }
    if !user.is_empty() && user.bytes().all(|b| b == b'.' || b == b' ') {
        bad("runAsUserName's User cannot contain only periods or spaces");
    }
    if user.contains(|c| "\"/\\:;|=,+*?<>@[]".contains(c)) {
        bad("runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]");
    }
}

fn net_bios(domain: &str) -> bool {
    let count = domain.chars().count();
    (1..=15).contains(&count) && !domain.starts_with('.') && !domain.contains(|c| "\\/:*?\"<>|".contains(c))
}

fn dns(domain: &str) -> bool {
    domain.split('.').all(|label| {
        let b = label.as_bytes();
        !b.is_empty()
            && b.len() <= 63
            && b[0].is_ascii_alphanumeric()
            && b[b.len() - 1].is_ascii_alphanumeric()
            && b.iter().all(|c| c.is_ascii_alphanumeric() || *c == b'-')
    })
}

/// `validateWindowsHostProcessPod`.
pub fn host_process(pod: &Value, path: &Path<'_>, causes: &mut Causes) {
    let of = |holder: &Value| {
        holder.field("securityContext").field("windowsOptions").get("hostProcess").and_then(Value::as_bool)
    };
    let whole = of(pod);
    let (mut count, mut processes) = (0, 0);
    super::each_container(pod, path, &mut |container, at| {
        count += 1;
        let own = of(container);
        if let (Some(whole), Some(own)) = (whole, own)
            && whole != own
        {
            let detail = format!("pod hostProcess value must be identical if both are specified, was {whole}");
            let at = at.child("securityContext");
            let at = at.child("windowsOptions");
            causes.invalid(&at.child("hostProcess"), &Value::Bool(own), &detail);
        }
        processes += usize::from(own.or(whole).unwrap_or(false));
    });
    if processes == 0 {
        return;
    }
    if processes != count {
        let detail = "If pod contains any hostProcess containers then all containers must be HostProcess containers";
        causes.invalid_str(path, "", detail);
    }
    if !pod.flag("hostNetwork") {
        let detail = "hostNetwork must be true if pod contains any hostProcess containers";
        causes.invalid(&path.child("hostNetwork"), &Value::Bool(false), detail);
    }
}
