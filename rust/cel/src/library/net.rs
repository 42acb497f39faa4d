//! Addresses and networks (apiserver `pkg/cel/library/ip.go`, `cidr.go`).

use std::net::IpAddr;

use super::{Native, no_overload};
use crate::value::{Cidr, Fail, Out, Val};

pub(crate) fn find(name: &str) -> Option<Native> {
    Some(match name {
        "ip" => |a| match a {
            [Val::Str(s)] => parse_ip(s).map(Val::Ip),
            [Val::Cidr(cidr)] => Ok(Val::Ip(cidr.ip)),
            _ => no_overload("ip", a),
        },
        "isIP" => |a| match a {
            [Val::Str(s)] => Ok(Val::Bool(parse_ip(s).is_ok())),
            _ => no_overload("isIP", a),
        },
        "ip.isCanonical" => |a| match a {
            [Val::Str(s)] => parse_ip(s).map(|ip| Val::Bool(ip.to_string() == **s)),
            _ => no_overload("ip.isCanonical", a),
        },
        "family" => |a| match a {
            [Val::Ip(ip)] => Ok(Val::Int(if ip.is_ipv4() { 4 } else { 6 })),
            _ => no_overload("family", a),
        },
        "isUnspecified" => |a| is(a, IpAddr::is_unspecified),
        "isLoopback" => |a| is(a, IpAddr::is_loopback),
        "isLinkLocalMulticast" => |a| {
            is(a, |ip| match ip {
                IpAddr::V4(ip) => ip.octets()[..3] == [224, 0, 0],
                IpAddr::V6(ip) => ip.segments()[0] & 0xff0f == 0xff02,
            })
        },
        "isLinkLocalUnicast" => |a| is(a, link_local),
        "isGlobalUnicast" => |a| {
            is(a, |ip| {
                let broadcast = matches!(ip, IpAddr::V4(ip) if ip.is_broadcast());
                !(broadcast || ip.is_unspecified() || ip.is_loopback() || ip.is_multicast() || link_local(ip))
            })
        },
        "cidr" => |a| match a {
            [Val::Str(s)] => parse_cidr(s).map(Val::Cidr),
            _ => no_overload("cidr", a),
        },
        "isCIDR" => |a| match a {
            [Val::Str(s)] => Ok(Val::Bool(parse_cidr(s).is_ok())),
            _ => no_overload("isCIDR", a),
        },
        "prefixLength" => |a| match a {
            [Val::Cidr(cidr)] => Ok(Val::Int(i64::from(cidr.bits))),
            _ => no_overload("prefixLength", a),
        },
        "masked" => |a| match a {
            [Val::Cidr(cidr)] => Ok(Val::Cidr(cidr.network())),
            _ => no_overload("masked", a),
        },
        "containsIP" => |a| match a {
            [Val::Cidr(cidr), Val::Ip(ip)] => Ok(Val::Bool(cidr.contains(*ip))),
            [Val::Cidr(cidr), Val::Str(s)] => parse_ip(s).map(|ip| Val::Bool(cidr.contains(ip))),
            _ => no_overload("containsIP", a),
        },
        "containsCIDR" => |a| {
            let (cidr, other) = match a {
                [Val::Cidr(cidr), Val::Cidr(other)] => (cidr, *other),
                [Val::Cidr(cidr), Val::Str(s)] => (cidr, parse_cidr(s)?),
                _ => return no_overload("containsCIDR", a),
            };
            Ok(Val::Bool(cidr.bits <= other.bits && cidr.contains(other.network().ip)))
        },
        _ => return None,
    })
}

fn is<'a>(a: &[Val<'_>], holds: fn(&IpAddr) -> bool) -> Out<'a> {
    match a {
        [Val::Ip(ip)] => Ok(Val::Bool(holds(ip))),
        _ => Err(Fail::overload()),
    }
}

fn link_local(ip: &IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.segments()[0] & 0xffc0 == 0xfe80,
    }
}

fn parse_ip(s: &str) -> Result<IpAddr, Fail> {
    if let Some((address, _)) = s.split_once('%')
        && address.contains(':')
    {
        return Err(Fail::new(format!("IP address {s:?} with zone value is not allowed")));
    }
    match s.parse() {
        Ok(IpAddr::V6(ip)) if ip.to_ipv4_mapped().is_some() => {
            Err(Fail::new(format!("IPv4-mapped IPv6 address {s:?} is not allowed")))
        }
        Ok(ip) => Ok(ip),
        Err(_) => {
            let why = format!(
                "IP Address {s:?} parse error during conversion from string: ParseAddr({s:?}): {}",
                unparsable(s)
            );
            Err(Fail::new(why))
        }
    }
}

fn parse_cidr(s: &str) -> Result<Cidr, Fail> {
    let refuse = |why: &str| {
        Fail::new(format!("network address parse error during conversion from string: netip.ParsePrefix({s:?}): {why}"))
    };
    let (address, bits) = s.rsplit_once('/').ok_or_else(|| refuse("no '/'"))?;
    let ip: IpAddr = address.parse().map_err(|_| refuse("unable to parse IP"))?;
    if matches!(ip, IpAddr::V6(ip) if ip.to_ipv4_mapped().is_some()) {
        return Err(Fail::new(format!("IPv4-mapped IPv6 address {s:?} is not allowed")));
    }
    let longest = if ip.is_ipv4() { 32 } else { 128 };
    let plain = !bits.is_empty() && bits.bytes().all(|b| b.is_ascii_digit()) && (bits == "0" || !bits.starts_with('0'));
    let bits =
        bits.parse().ok().filter(|b: &u8| plain && *b <= longest).ok_or_else(|| refuse("bad bits after slash"))?;
    Ok(Cidr { ip, bits })
}

/// Return Go's reason why a text is no address (`net/netip` `parseIPv4Fields`).
fn unparsable(text: &str) -> String {
    const NO_ADDRESS: &str = "unable to parse IP";
    match text.find(['.', ':', '%']).map(|at| text.as_bytes().get(at)) {
        Some(Some(b'.')) => {}
        Some(Some(b'%')) => return "missing IPv6 address".to_owned(),
        _ => return NO_ADDRESS.to_owned(),
    }
    let (mut value, mut digits, mut fields) = (0_u32, 0_usize, 0_usize);
    for (at, c) in text.char_indices() {
        let here = || format!(" (at {:?})", text.get(at..).unwrap_or(""));
        if let Some(digit) = c.to_digit(10) {
            if digits == 1 && value == 0 {
                return "IPv4 field has octet with leading zero".to_owned();
            }
            value = value.saturating_mul(10).saturating_add(digit);
            digits = digits.saturating_add(1);
            if value > 255 {
                return "IPv4 field has value >255".to_owned();
            }
        } else if c == '.' {
            if digits == 0 || at.saturating_add(1) == text.len() {
                return format!("IPv4 field must have at least one digit{}", here());
            }
            if fields == 3 {
                return "IPv4 address too long".to_owned();
            }
            (value, digits, fields) = (0, 0, fields.saturating_add(1));
        } else {
            return format!("unexpected character{}", here());
        }
    }
    if fields < 3 { "IPv4 address too short".to_owned() } else { NO_ADDRESS.to_owned() }
}
