//! Conversions and parts of times (cel-go `common/types`).

#![allow(
    clippy::arithmetic_side_effects,
    reason = "sizes and costs are bounded by the budget of a run; numbers of a rule are calculated with checks"
)]

use hydrofoil_text::duration;
use hydrofoil_types::Timestamp;

use super::{Native, no_overload};
use crate::value::{Fail, Out, Val, number, time};

pub(crate) fn find(name: &str) -> Option<Native> {
    Some(match name {
        "type" => |a| match a {
            [v] => Ok(Val::Type(v.kind().into())),
            _ => Err(Fail::overload()),
        },
        "dyn" => |a| match a {
            [v] => Ok(v.clone()),
            _ => Err(Fail::overload()),
        },
        "bool" => |a| match a {
            [v @ Val::Bool(_)] => Ok(v.clone()),
            [Val::Str(text)] => match &**text {
                "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Val::Bool(true)),
                "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Val::Bool(false)),
                _ => unable(a, "bool"),
            },
            _ => no_overload("bool", a),
        },
        "bytes" => |a| match a {
            [v @ Val::Bytes(_)] => Ok(v.clone()),
            [Val::Str(text)] => Ok(Val::Bytes(text.as_bytes().into())),
            _ => no_overload("bytes", a),
        },
        "double" => |a| match a {
            [v @ Val::Double(_)] => Ok(v.clone()),
            [Val::Int(n)] => Ok(Val::Double(*n as f64)),
            [Val::Uint(n)] => Ok(Val::Double(*n as f64)),
            [Val::Str(text)] => match text.parse() {
                Ok(f) => Ok(Val::Double(f)),
                Err(_) => unable(a, "double"),
            },
            _ => no_overload("double", a),
        },
        "int" => int,
        "uint" => |a| match a {
            [v @ Val::Uint(_)] => Ok(v.clone()),
            [Val::Int(n)] => u64::try_from(*n).map(Val::Uint).map_err(|_| Fail::unsigned_overflow()),
            [Val::Double(f)] if *f > -1.0 && *f < 18_446_744_073_709_551_616.0 => Ok(Val::Uint(*f as u64)),
            [Val::Double(_)] => Err(Fail::unsigned_overflow()),
            [Val::Str(text)] => match text.parse() {
                Ok(n) => Ok(Val::Uint(n)),
                Err(_) => unable(a, "uint"),
            },
            _ => no_overload("uint", a),
        },
        "string" => string,
        "duration" => |a| match a {
            [v @ Val::Duration(_)] => Ok(v.clone()),
            [Val::Int(n)] => Ok(Val::Duration(*n)),
            [Val::Str(text)] => match duration::parse(text) {
                Some(n) => Ok(Val::Duration(n)),
                None => unable(a, "google.protobuf.Duration"),
            },
            _ => no_overload("duration", a),
        },
        "timestamp" => |a| match a {
            [v @ Val::Time(_)] => Ok(v.clone()),
            [Val::Int(n)] => {
                let found = time::moment(i128::from(*n) * 1_000_000_000);
                found.map(Val::Time).ok_or_else(|| Fail::new("timestamp overflow"))
            }
            [Val::Str(text)] => match Timestamp::parse(text) {
                Some(t) => Ok(Val::Time(t)),
                None => unable(a, "google.protobuf.Timestamp"),
            },
            _ => no_overload("timestamp", a),
        },
        "getFullYear" => |a| part("getFullYear", a),
        "getMonth" => |a| part("getMonth", a),
        "getDayOfYear" => |a| part("getDayOfYear", a),
        "getDayOfMonth" => |a| part("getDayOfMonth", a),
        "getDate" => |a| part("getDate", a),
        "getDayOfWeek" => |a| part("getDayOfWeek", a),
        "getHours" => |a| part("getHours", a),
        "getMinutes" => |a| part("getMinutes", a),
        "getSeconds" => |a| part("getSeconds", a),
        "getMilliseconds" => |a| part("getMilliseconds", a),
        _ => return None,
    })
}

fn unable<'a>(args: &[Val<'_>], to: &str) -> Out<'a> {
    let from = args.first().map_or("", Val::kind);
    Err(Fail::new(format!("type conversion error from '{from}' to '{to}'")))
}

fn int<'a>(a: &[Val<'a>]) -> Out<'a> {
    match a {
        [v @ Val::Int(_)] => Ok(v.clone()),
        [Val::Uint(n)] => i64::try_from(*n).map(Val::Int).map_err(|_| Fail::overflow()),
        [Val::Double(f)] if f.abs() < 9_223_372_036_854_775_808.0 => Ok(Val::Int(*f as i64)),
        [Val::Double(_)] => Err(Fail::overflow()),
        [Val::Duration(n)] => Ok(Val::Int(*n)),
        [Val::Time(t)] => Ok(Val::Int(t.seconds)),
        [Val::Str(text)] => match text.parse() {
            Ok(n) => Ok(Val::Int(n)),
            Err(_) => unable(a, "int"),
        },
        _ => no_overload("int", a),
    }
}

/// Convert a value to a string, as `string()` does.
pub(crate) fn string<'a>(a: &[Val<'a>]) -> Out<'a> {
    match a {
        [v @ Val::Str(_)] => Ok(v.clone()),
        [Val::Double(f)] => Ok(Val::text(number(*f))),
        [v @ (Val::Bool(_) | Val::Int(_) | Val::Uint(_))] => Ok(Val::text(v.error_text())),
        [Val::Bytes(bytes)] => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Val::text(text)),
            Err(_) => Err(Fail::new("invalid UTF-8 in bytes, cannot convert to string")),
        },
        [Val::Duration(n)] => Ok(Val::text(time::duration_text(*n))),
        [Val::Time(t)] => Ok(Val::text(time::moment_text(*t))),
        [Val::Ip(ip)] => Ok(Val::text(ip.to_string())),
        [Val::Cidr(cidr)] => Ok(Val::text(cidr.to_string())),
        _ => no_overload("string", a),
    }
}

fn part<'a>(name: &str, a: &[Val<'a>]) -> Out<'a> {
    match a {
        [Val::Time(t)] => Ok(Val::Int(time::part(*t, 0, name))),
        [Val::Time(t), Val::Str(zone)] => match time::offset(zone) {
            Some(offset) => Ok(Val::Int(time::part(*t, offset, name))),
            None => Err(Fail::new(format!("unknown time zone {}", &**zone))),
        },
        [Val::Duration(n)] => {
            let unit = match name {
                "getHours" => 3_600_000_000_000,
                "getMinutes" => 60_000_000_000,
                "getSeconds" => 1_000_000_000,
                "getMilliseconds" => 1_000_000,
                _ => return no_overload(name, a),
            };
            Ok(Val::Int(n / unit))
        }
        _ => no_overload(name, a),
    }
}
