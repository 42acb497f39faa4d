//! Service CIDRs (`pkg/registry/networking/servicecidr/strategy.go`).

#![allow(clippy::indexing_slicing, reason = "the place was found in the list, or the length looked at before")]

use hydrofoil_types::{Causes, Map, Path, Value};

use crate::kind::{Strategy, reset_metadata};
use hydrofoil_rules::check::{Check, IMMUTABLE};
use hydrofoil_rules::format::ip;
use hydrofoil_rules::table::text::join;
use hydrofoil_rules::table::{Subject, cells};
use hydrofoil_types::read::Read;

pub(crate) static STRATEGY: Strategy = Strategy {
    has_status: true,
    status_resets_metadata: true,
    reset_fields: reset_metadata,
    validate: |_, object, causes| validate(object, causes),
    validate_update: |req, object, old, causes| {
        if req.subresource != "status" {
            validate_update(object, old, causes);
        }
    },
    row: Some(row),
    ..Strategy::DEFAULT
};

const SPEC: Path<'static> = Path::new("spec");

/// `ValidateServiceCIDR`.
fn validate(object: &Value, causes: &mut Causes) {
    let cidrs = object.field("spec").list("cidrs");
    let at = SPEC.child("cidrs");
    if cidrs.is_empty() {
        return causes.required(&at, "at least one CIDR required");
    }
    if cidrs.len() > 2 {
        let shown = Map::from_unique(vec![("CIDRs".into(), object.field("spec").field("cidrs").clone())]);
        return causes.invalid(&at, &shown.into(), "may only hold up to 2 values");
    }
    for (i, cidr) in cidrs.iter().enumerate() {
        causes.format(&at.index(i), cidr.as_str().unwrap_or(""), ip::cidr);
    }
    if let [a, b] = cidrs {
        let family =
            |v: &Value| ip::parse_cidr_sloppy(v.as_str().unwrap_or("")).map(|(a, n)| ip::is_v4(ip::network(a, n)));
        if let (Some(a), Some(b)) = (family(a), family(b))
            && a == b
        {
            let detail = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64";
            causes.invalid(&at, object.field("spec").field("cidrs"), detail);
        }
    }
}

/// `ValidateServiceCIDRUpdate`: a range may become dual-stack, and is immutable otherwise.
fn validate_update(object: &Value, old: &Value, causes: &mut Causes) {
    let at = SPEC.child("cidrs");
    let (now, before) = (object.field("spec").list("cidrs"), old.field("spec").list("cidrs"));
    match (before.len(), now.len()) {
        (1, 2) => {
            if now[0] != before[0] {
                causes.invalid(&at.index(0), &now[0], IMMUTABLE);
            }
            validate(object, causes);
        }
        (a, b) if a == b => {
            for (i, (cidr, prior)) in now.iter().zip(before).enumerate() {
                if cidr != prior {
                    causes.invalid(&at.index(i), cidr, IMMUTABLE);
                }
            }
        }
        _ => causes.invalid(&at, object.field("spec").field("cidrs"), IMMUTABLE),
    }
}

/// `printServiceCIDR`.
fn row(subject: &Subject<'_>) -> Vec<Value> {
    cells![subject.name(), join(subject.spec().list("cidrs"), ","), subject.age()]
}
