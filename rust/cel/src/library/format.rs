//! Named formats (apiserver `pkg/cel/library/format.go`).

use super::{Native, no_overload};
use crate::value::Val;
use crate::value::format::{Format, by_name};

pub(crate) fn find(name: &str) -> Option<Native> {
    macro_rules! constant {
        ($name:literal) => {
            |_| Ok(by_name($name).map_or(Val::Null, Val::Format))
        };
    }
    Some(match name {
        "validate" => |a| match a {
            [Val::Format(format), Val::Str(s)] => Ok(validate(format, s)),
            _ => no_overload("validate", a),
        },
        "format.named" => |a| match a {
            [Val::Str(s)] => Ok(by_name(s).map_or(Val::Optional(None), |f| Val::some(Val::Format(f)))),
            _ => no_overload("format.named", a),
        },
        "format.dns1123Label" => constant!("dns1123Label"),
        "format.dns1123Subdomain" => constant!("dns1123Subdomain"),
        "format.dns1035Label" => constant!("dns1035Label"),
        "format.qualifiedName" => constant!("qualifiedName"),
        "format.dns1123LabelPrefix" => constant!("dns1123LabelPrefix"),
        "format.dns1123SubdomainPrefix" => constant!("dns1123SubdomainPrefix"),
        "format.dns1035LabelPrefix" => constant!("dns1035LabelPrefix"),
        "format.labelValue" => constant!("labelValue"),
        "format.uri" => constant!("uri"),
        "format.uuid" => constant!("uuid"),
        "format.byte" => constant!("byte"),
        "format.date" => constant!("date"),
        "format.datetime" => constant!("datetime"),
        _ => return None,
    })
}

fn validate<'a>(format: &Format, text: &str) -> Val<'a> {
    let wrong = (format.check)(text);
    if wrong.is_empty() {
        return Val::Optional(None);
    }
    Val::some(Val::list(wrong.into_iter().map(Val::text).collect()))
}
