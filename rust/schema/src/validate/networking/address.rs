//! IP addresses and service CIDRs.

#![allow(clippy::indexing_slicing, reason = "the place was found in the list, or the length looked at before")]

use hydrofoil_types::{Causes, Map, Path, Value};

use crate::Kind;
use crate::internal::InternalCauses;
use crate::read::Read;
use crate::validate::check::{Check, IMMUTABLE};
use crate::validate::format::{ip, name};
use crate::validate::meta;

const SPEC: Path<'static> = Path::new("spec");

/// `ValidateIPAddress`: the name is the address.
pub(crate) fn ip_address(kind: &Kind, object: &Value, causes: &mut Causes) {
    meta::named(kind, object, &Path::new("metadata"), ip::ip, causes);
    parent(object, causes);
}

fn parent(object: &Value, causes: &mut Causes) {
    let at = SPEC.child("parentRef");
    let Some(parent) = object.sub("spec").opt("parentRef") else { return causes.need(&at) };
    if !parent.zero("group") {
        causes.format(&at.child("group"), parent.s("group"), name::subdomain);
    }
    for key in ["resource", "name"] {
        if parent.zero(key) {
            causes.need(&at.child(key));
        } else {
            causes.format(&at.child(key), parent.s(key), name::path_segment);
        }
    }
    if !parent.zero("namespace") {
        causes.format(&at.child("namespace"), parent.s("namespace"), name::path_segment);
    }
}

pub(crate) fn ip_address_update(object: &Value, old: &Value, causes: &mut Causes) {
    parent(object, causes);
    let (now, before) = (object.sub("spec").sub("parentRef"), old.sub("spec").sub("parentRef"));
    causes.immutable_internal(&SPEC.child("parentRef"), "*networking.ParentReference", now, before);
}

/// `ValidateServiceCIDR`.
pub(crate) fn service_cidr(object: &Value, causes: &mut Causes) {
    let cidrs = object.sub("spec").list("cidrs");
    let at = SPEC.child("cidrs");
    if cidrs.is_empty() {
        return causes.required(&at, "at least one CIDR required");
    }
    if cidrs.len() > 2 {
        let shown = Map::from_unique(vec![("CIDRs".into(), object.sub("spec").sub("cidrs").clone())]);
        return causes.invalid(&at, &shown.into(), "may only hold up to 2 values");
    }
    for (i, cidr) in cidrs.iter().enumerate() {
        causes.format(&at.index(i), cidr.as_str().unwrap_or(""), ip::cidr);
    }
    if let [a, b] = cidrs {
        let family = |v: &Value| ip::parse_cidr_sloppy(v.as_str().unwrap_or("")).map(|(a, _)| a.is_ipv4());
        if let (Some(a), Some(b)) = (family(a), family(b))
            && a == b
        {
            let detail = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
            causes.invalid(&at, object.sub("spec").sub("cidrs"), detail);
        }
    }
}

/// A range may become dual-stack, and else stays.
pub(crate) fn service_cidr_update(object: &Value, old: &Value, causes: &mut Causes) {
    let at = SPEC.child("cidrs");
    let (now, before) = (object.sub("spec").list("cidrs"), old.sub("spec").list("cidrs"));
    match (before.len(), now.len()) {
        (1, 2) => {
            if now[0] != before[0] {
                causes.invalid(&at.index(0), &now[0], IMMUTABLE);
            }
            service_cidr(object, causes);
        }
        (a, b) if a == b => {
            for (i, (cidr, prior)) in now.iter().zip(before).enumerate() {
                if cidr != prior {
                    causes.invalid(&at.index(i), cidr, IMMUTABLE);
                }
            }
        }
        _ => causes.invalid(&at, object.sub("spec").sub("cidrs"), IMMUTABLE),
    }
}
