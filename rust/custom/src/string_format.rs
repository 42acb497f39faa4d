//! Formats of texts (kube-openapi `pkg/validation/strfmt`).

#![allow(clippy::arithmetic_side_effects, reason = "sums of digits are small")]
#![allow(clippy::indexing_slicing, reason = "the length was looked at before")]
#![allow(clippy::string_slice, reason = "what is cut out is ASCII, or begins where a character was found")]

use std::net::IpAddr;
use std::sync::LazyLock;

use hydrofoil_types::Timestamp;
use regex::Regex;

use hydrofoil_rules::format::{ip, name, url};

/// A format that is checked; unknown ones are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StringFormat {
    /// 24 hexadecimal digits.
    BsonObjectId,
    /// An absolute URI or path.
    Uri,
    /// An email address.
    Email,
    /// A host name.
    Hostname,
    /// An IPv4 address.
    Ipv4,
    /// An IPv6 address.
    Ipv6,
    /// A CIDR network.
    Cidr,
    /// A MAC address.
    Mac,
    /// A UUID, of a version if that is not 0.
    Uuid(u8),
    /// An ISBN: 10, 13, or 0 for either.
    Isbn(u8),
    /// A credit card number.
    CreditCard,
    /// A social security number.
    Ssn,
    /// A colour in hexadecimal.
    HexColor,
    /// A colour as `rgb(r,g,b)`.
    RgbColor,
    /// Base64.
    Byte,
    /// Anything.
    Password,
    /// `2006-01-02`.
    Date,
    /// A duration of Go or Scala.
    Duration,
    /// RFC 3339.
    DateTime,
    /// A DNS label.
    ShortName,
    /// A DNS subdomain.
    LongName,
}

impl StringFormat {
    /// All formats by their names without dashes (kube-openapi `pkg/validation/strfmt/default.go`).
    pub const ALL: [(&str, Self); 26] = [
        ("bsonobjectid", Self::BsonObjectId),
        ("uri", Self::Uri),
        ("email", Self::Email),
        ("hostname", Self::Hostname),
        ("ipv4", Self::Ipv4),
        ("ipv6", Self::Ipv6),
        ("cidr", Self::Cidr),
        ("mac", Self::Mac),
        ("uuid", Self::Uuid(0)),
        ("uuid3", Self::Uuid(3)),
        ("uuid4", Self::Uuid(4)),
        ("uuid5", Self::Uuid(5)),
        ("isbn", Self::Isbn(0)),
        ("isbn10", Self::Isbn(10)),
        ("isbn13", Self::Isbn(13)),
        ("creditcard", Self::CreditCard),
        ("ssn", Self::Ssn),
        ("hexcolor", Self::HexColor),
        ("rgbcolor", Self::RgbColor),
        ("byte", Self::Byte),
        ("password", Self::Password),
        ("date", Self::Date),
        ("duration", Self::Duration),
        ("datetime", Self::DateTime),
        ("k8sshortname", Self::ShortName),
        ("k8slongname", Self::LongName),
    ];

    /// Return the format of a name; dashes in it do not count.
    pub fn parse(name: &str) -> Option<Self> {
        let plain = name.replace('-', "");
        Self::ALL.iter().find(|(known, _)| *known == plain).map(|(_, format)| *format)
    }

    /// Report whether a text has the format.
    pub fn allows(self, text: &str) -> bool {
        match self {
            Self::BsonObjectId => text.len() == 24 && text.bytes().all(|b| b.is_ascii_hexdigit()),
            Self::Uri => uri(text),
            Self::Email => email(text),
            Self::Hostname => hostname(text),
            Self::Ipv4 => text.contains('.') && ip::parse_sloppy(text).is_some(),
            Self::Ipv6 => text.contains(':') && text.parse::<IpAddr>().is_ok(),
            Self::Cidr => ip::parse_cidr_sloppy(text).is_some(),
            Self::Mac => mac(text),
            Self::Uuid(version) => uuid(text, version),
            Self::Isbn(0) => isbn(text, 10) || isbn(text, 13),
            Self::Isbn(length) => isbn(text, length),
            Self::CreditCard => credit_card(text),
            Self::Ssn => text.len() == 11 && SSN.is_match(text),
            Self::HexColor => {
                let digits = text.strip_prefix('#').unwrap_or(text);
                matches!(digits.len(), 3 | 6) && digits.bytes().all(|b| b.is_ascii_hexdigit())
            }
            Self::RgbColor => RGB.is_match(text),
            Self::Byte => BASE64.is_match(text),
            Self::Password => true,
            Self::Date => text.len() == 10 && Timestamp::parse(&format!("{text}T00:00:00Z")).is_some(),
            Self::Duration => duration(text),
            Self::DateTime => date_time(text),
            Self::ShortName => text.len() <= 63 && !text.contains('.') && name::is_subdomain(text),
            Self::LongName => name::is_subdomain(text),
        }
    }
}

fn regex(text: &str) -> Regex {
    Regex::new(text).expect("the pattern is a literal")
}

static SSN: LazyLock<Regex> = LazyLock::new(|| regex(r"^[0-9]{3}[- ]?[0-9]{2}[- ]?[0-9]{4}$"));
static RGB: LazyLock<Regex> = LazyLock::new(|| {
    let part = r"\s*(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])\s*";
    regex(&format!(r"^rgb\({part},{part},{part}\)$"))
});
static BASE64: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$"));
static HOSTNAME: LazyLock<Regex> = LazyLock::new(|| {
    regex(concat!(
        r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)",
        r"|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$"
    ))
});
static CARD: LazyLock<Regex> = LazyLock::new(|| {
    regex(concat!(
        r"^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}",
        r"|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35[0-9]{3})[0-9]{11})$"
    ))
});
static SPAN: LazyLock<Regex> = LazyLock::new(|| regex(r"([0-9]+)\s*([A-Za-zµ]+)"));

fn hostname(text: &str) -> bool {
    text.len() <= 255 && text.split('.').all(|part| part.len() <= 63) && HOSTNAME.is_match(text)
}

/// `url.ParseRequestURI`: absolute, or a path from the root.
fn uri(text: &str) -> bool {
    if text.is_empty() || text.bytes().any(|b| b < 0x20 || b == 0x7f) {
        return false;
    }
    let scheme = text.split_once(':').is_some_and(|(scheme, _)| {
        let mut bytes = scheme.bytes();
        bytes.next().is_some_and(|b| b.is_ascii_alphabetic())
            && bytes.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
    });
    (scheme || text.starts_with('/') || text == "*") && url::parse(text).is_ok()
}

/// `mail.ParseAddress`, as far as addresses in schemas need: `a@b`, or `Name <a@b>`.
fn email(text: &str) -> bool {
    let text = text.trim();
    let spec = match text.strip_suffix('>') {
        Some(rest) => match rest.rsplit_once('<') {
            Some((_, spec)) => spec,
            None => return false,
        },
        None => text,
    };
    let Some((local, domain)) = spec.rsplit_once('@') else { return false };
    let atom = |part: &str| {
        !part.is_empty()
            && part.chars().all(|c| c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c) || !c.is_ascii())
    };
    let quoted = local.len() > 2 && local.starts_with('"') && local.ends_with('"');
    let literal = domain.starts_with('[') && domain.ends_with(']');
    (quoted || local.split('.').all(atom)) && (literal || domain.split('.').all(atom))
}

fn mac(text: &str) -> bool {
    let groups = |separator: char, size: usize, counts: &[usize]| {
        let parts: Vec<&str> = text.split(separator).collect();
        counts.contains(&parts.len())
            && parts.iter().all(|p| p.len() == size && p.bytes().all(|b| b.is_ascii_hexdigit()))
    };
    groups(':', 2, &[6, 8, 20]) || groups('-', 2, &[6, 8, 20]) || groups('.', 4, &[3, 4, 10])
}

fn uuid(text: &str, version: u8) -> bool {
    let bytes = text.as_bytes();
    let mut digits = Vec::with_capacity(32);
    let mut rest = bytes;
    for size in [8, 4, 4, 4, 12] {
        if size != 8
            && let [b'-', more @ ..] = rest
        {
            rest = more;
        }
        if rest.len() < size || !rest[..size].iter().all(u8::is_ascii_hexdigit) {
            return false;
        }
        digits.extend_from_slice(&rest[..size]);
        rest = &rest[size..];
    }
    let variant = || matches!(digits[16].to_ascii_lowercase(), b'8' | b'9' | b'a' | b'b');
    rest.is_empty()
        && match version {
            0 => true,
            3 => digits[12] == b'3',
            v => digits[12] == b'0' + v && variant(),
        }
}

fn isbn(text: &str, length: u8) -> bool {
    let clean: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace() && *b != b'-').collect();
    if clean.len() != usize::from(length) {
        return false;
    }
    let digit = |b: u8| b.is_ascii_digit().then(|| u32::from(b - b'0'));
    let mut sum = 0;
    for (i, b) in clean.iter().enumerate() {
        let value = match digit(*b) {
            Some(value) => value,
            None if length == 10 && i == 9 && *b == b'X' => 10,
            None => return false,
        };
        let weight = if length == 10 { i as u32 + 1 } else { [1, 3][i % 2] };
        sum += weight * value;
    }
    sum.is_multiple_of(if length == 10 { 11 } else { 10 })
}

fn credit_card(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let luhn: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(i, b)| {
            let digit = u32::from(b - b'0') * if i % 2 == 1 { 2 } else { 1 };
            if digit >= 10 { digit % 10 + 1 } else { digit }
        })
        .sum();
    CARD.is_match(&digits) && luhn.is_multiple_of(10)
}

/// `strfmt.ParseDuration`: Go's form, or numbers with the units of Scala anywhere in the text.
fn duration(given: &str) -> bool {
    const UNITS: [(&[&str], &str); 8] = [
        (&["ns"], "nano"),
        (&["us", "µs"], "micro"),
        (&["ms"], "milli"),
        (&["s"], "sec"),
        (&["m"], "min"),
        (&["h", "hr"], "hour"),
        (&["d"], "day"),
        (&["w", "wk"], "week"),
    ];
    if hydrofoil_text::duration::parse(given).is_some() {
        return true;
    }
    let mut known = false;
    for found in SPAN.captures_iter(given) {
        if found[1].parse::<i64>().is_err() {
            return false;
        }
        let unit = found[2].to_lowercase();
        known |= UNITS.iter().any(|(short, long)| short.contains(&unit.as_str()) || unit.starts_with(long));
    }
    known
}

/// `strfmt.IsDateTime`: a date, `t`, and a time with its zone.
fn date_time(text: &str) -> bool {
    let lower = text.to_lowercase();
    let Some((date, time)) = lower.split_once('t') else { return false };
    if date.len() != 10 || time.len() < 9 || !StringFormat::Date.allows(date) {
        return false;
    }
    let Some((clock, rest)) = time.split_at_checked(8) else { return false };
    let bytes = clock.as_bytes();
    let shape = bytes.iter().enumerate().all(|(i, b)| if i % 3 == 2 { *b == b':' } else { b.is_ascii_digit() });
    if !shape || &clock[..2] > "23" || &clock[3..5] > "59" || &clock[6..] > "59" {
        return false;
    }
    let zone = match rest.find(['z', '+', '-']) {
        // A fraction: any one character, then digits.
        Some(at) if at > 0 => {
            let fraction = rest[..at].char_indices().nth(1).map_or("", |(i, _)| &rest[i..at]);
            if fraction.is_empty() || !fraction.bytes().all(|b| b.is_ascii_digit()) {
                return false;
            }
            &rest[at..]
        }
        Some(_) => rest,
        None => return false,
    };
    let offset = |z: &str| {
        let b = z.as_bytes();
        b.len() == 6 && b[3] == b':' && [1, 2, 4, 5].iter().all(|i| b[*i].is_ascii_digit())
    };
    zone == "z" || offset(zone)
}

#[cfg(test)]
mod tests {
    use super::StringFormat;

    #[test]
    fn formats() {
        let cases: &[(&str, &[&str], &[&str])] = &[
            ("date", &["2001-02-03"], &["soon", "2001-2-3", "2001-02-30"]),
            (
                "date-time",
                &["2001-02-03T04:05:06Z", "2001-02-03t04:05:06.12+01:00"],
                &["2001-02-03", "2001-02-03T24:00:00Z", "2001-02-03T04:05:06"],
            ),
            ("duration", &["5m", "1h30m", "22 ns", "3 days"], &["x", "5", ""]),
            ("byte", &["YWJj", "YQ=="], &["%", "", "YWJ"]),
            ("email", &["a@b.c", "A <a@b>"], &["x", "@b", "a b@c"]),
            ("hostname", &["a.example.com", "localhost"], &["a_b", "-a", ""]),
            ("ipv4", &["1.2.3.4", "001.2.3.4"], &["1.2.3", "::1"]),
            ("ipv6", &["::1"], &["1.2.3.4"]),
            ("cidr", &["1.2.3.0/24"], &["1.2.3.4"]),
            ("mac", &["01:23:45:67:89:ab", "0123.4567.89ab"], &["01:23"]),
            ("uuid", &["11111111-2222-3333-4444-555555555555", "11111111222233334444555555555555"], &["x"]),
            ("uuid4", &["11111111-2222-4333-8444-555555555555"], &["11111111-2222-3333-4444-555555555555"]),
            ("isbn", &["0321751043", "978-0321751041"], &["0321751044"]),
            ("creditcard", &["4111 1111 1111 1111"], &["4111 1111 1111 1112"]),
            ("hexcolor", &["#fff", "abcdef"], &["#ffff"]),
            ("rgbcolor", &["rgb(1, 2,255)"], &["rgb(1,2,256)"]),
            ("uri", &["http://x/y", "/y"], &["x/y", ""]),
            ("k8s-short-name", &["ab-c"], &["a.b", "A"]),
        ];
        for (name, good, bad) in cases {
            let format = StringFormat::parse(name).expect(name);
            good.iter().for_each(|text| assert!(format.allows(text), "{name} {text}"));
            bad.iter().for_each(|text| assert!(!format.allows(text), "{name} {text}"));
        }
        assert_eq!(StringFormat::parse("made-up"), None);
    }
}
