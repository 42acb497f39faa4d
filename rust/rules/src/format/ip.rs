//! Addresses and networks (apimachinery `pkg/util/validation/ip.go`).

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]
#![allow(clippy::string_slice, reason = "it is cut at characters of ASCII that were found there")]

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// `netutils.ParseIPSloppy`: leading zeros of IPv4 octets are read as decimal, mapped addresses as IPv4.
pub fn parse_sloppy(text: &str) -> Option<IpAddr> {
    if text.contains(':') {
        return parse_v6(text).map(|a| a.to_ipv4_mapped().map_or(IpAddr::V6(a), IpAddr::V4));
    }
    parse_v4(text).map(IpAddr::V4)
}

fn parse_v4(text: &str) -> Option<Ipv4Addr> {
    let mut octets = [0u8; 4];
    let mut parts = text.split('.');
    for octet in &mut octets {
        let part = parts.next()?;
        if part.is_empty() || !part.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let digits = part.trim_start_matches('0');
        *octet = if digits.is_empty() { 0 } else { digits.parse().ok()? };
    }
    parts.next().is_none().then(|| octets.into())
}

fn parse_v6(text: &str) -> Option<Ipv6Addr> {
    if let Ok(address) = text.parse() {
        return Some(address);
    }
    // An embedded IPv4 address may have leading zeros as well.
    let at = text.rfind(':')? + 1;
    let v4 = parse_v4(&text[at..])?;
    text[at..].contains('.').then_some(())?;
    format!("{}{v4}", &text[..at]).parse().ok()
}

/// `ParseCIDRSloppy`: the address as written, and the length of the prefix.
pub fn parse_cidr_sloppy(text: &str) -> Option<(IpAddr, u8)> {
    let (address, length) = text.split_once('/')?;
    if length.is_empty() || length.len() > 3 || !length.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let length: u8 = length.parse().ok()?;
    let ip = if address.contains(':') { IpAddr::V6(parse_v6(address)?) } else { IpAddr::V4(parse_v4(address)?) };
    let max = if ip.is_ipv4() { 32 } else { 128 };
    (length <= max).then_some((ip, length))
}

/// Report whether a network is one of IPv4, as mapped addresses are (`netutils.IPFamilyOfCIDR`).
pub fn is_v4(network: IpAddr) -> bool {
    network.to_canonical().is_ipv4()
}

/// Return the network of a CIDR: its address without the bits beyond the prefix.
pub fn network(ip: IpAddr, length: u8) -> IpAddr {
    match ip {
        IpAddr::V4(a) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0);
            IpAddr::V4(Ipv4Addr::from(u32::from(a) & mask))
        }
        IpAddr::V6(a) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
            IpAddr::V6(Ipv6Addr::from(u128::from(a) & mask))
        }
    }
}

/// Report whether `netip.ParseAddr` accepts the text.
fn strict(text: &str) -> bool {
    let v4 = text.rsplit(':').next().unwrap_or(text);
    !v4.contains('.') || v4.split('.').all(|part| part == "0" || !part.starts_with('0'))
}

fn is_mapped(text: &str) -> bool {
    text.contains(':') && parse_v6(text).is_some_and(|a| a.to_ipv4_mapped().is_some())
}

const IP: &str = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const CIDR: &str = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

/// `IsValidIPForLegacyField` with strict validation, which is on in 1.36.
pub fn ip_legacy(text: &str, bad: &mut dyn FnMut(&str)) {
    if parse_sloppy(text).is_none() {
        return bad(IP);
    }
    if !strict(text) {
        bad("must not have leading 0s");
    } else if is_mapped(text) {
        bad("must not be an IPv4-mapped IPv6 address");
    }
}

/// `IsValidIP`: canonical.
pub fn ip(text: &str, bad: &mut dyn FnMut(&str)) {
    let mut fine = true;
    ip_legacy(text, &mut |detail| {
        fine = false;
        bad(detail);
    });
    if let (true, Some(address)) = (fine, parse_sloppy(text)) {
        let canonical = address.to_string();
        if canonical != text {
            bad(&format!("must be in canonical form (\"{canonical}\")"));
        }
    }
}

/// `IsValidCIDRForLegacyField` with strict validation.
pub fn cidr_legacy(text: &str, bad: &mut dyn FnMut(&str)) {
    let Some((address, length)) = parse_cidr_sloppy(text) else { return bad(CIDR) };
    let (written, prefix) = text.split_once('/').unwrap_or((text, ""));
    if !strict(written) || (prefix.len() > 1 && prefix.starts_with('0')) {
        bad("must not have leading 0s in IP or prefix length");
    } else if is_mapped(written) {
        bad("must not have an IPv4-mapped IPv6 address");
    } else if network(address, length) != address {
        bad("must not have bits set beyond the prefix length");
    }
}

/// `IsValidCIDR`: canonical.
pub fn cidr(text: &str, bad: &mut dyn FnMut(&str)) {
    let mut fine = true;
    cidr_legacy(text, &mut |detail| {
        fine = false;
        bad(detail);
    });
    if let (true, Some((address, length))) = (fine, parse_cidr_sloppy(text)) {
        let canonical = format!("{}/{length}", network(address, length));
        if canonical != text {
            bad(&format!("must be in canonical form (\"{canonical}\")"));
        }
    }
}

/// `IsValidInterfaceAddress`.
pub fn interface(text: &str, bad: &mut dyn FnMut(&str)) {
    let Some((address, length)) = parse_cidr_sloppy(text) else {
        return bad("must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)");
    };
    let canonical = format!("{address}/{length}");
    if canonical != text {
        bad(&format!("must be in canonical form (\"{canonical}\")"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sloppy_and_strict() {
        let count = |f: super::super::Format, text: &str| {
            let mut n = 0;
            f(text, &mut |_| n += 1);
            n
        };
        assert_eq!(parse_sloppy("010.1.1.1"), parse_sloppy("10.1.1.1"));
        for good in ["1.2.3.4", "::1", "2001:db8::ffff"] {
            assert_eq!(count(ip, good), 0, "{good}");
        }
        for bad in ["1.2.3", "01.2.3.4", "::ffff:1.2.3.4", "2001:DB8::1", "", "x", "1.2.3.4.5", "::1%eth0"] {
            assert_eq!(count(ip, bad), 1, "{bad}");
        }
        for bad in ["1.2.3.4", "1.2.3.4/24", "1.2.3.0/024", "10.0.0.0/33", "::/129", "10.0.0.0/"] {
            assert_eq!(count(cidr, bad), 1, "{bad}");
        }
        assert_eq!(count(cidr, "0.0.0.0/0"), 0);
        assert_eq!(count(cidr, "::/0"), 0);
    }
}
