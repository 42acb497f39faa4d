//! The outer form of a certificate (RFC 5280, 4.1): what path validation does not give.

use hydrofoil_text::calendar::days;

use hydrofoil_x509::der::{
    BIT_STRING, GENERALIZED_TIME, INTEGER, Malformed, Reader, SEQUENCE, UTC_TIME, VERSION, Value,
};

/// The members of a certificate that this crate reads itself.
#[derive(Debug)]
pub(crate) struct Certificate<'a> {
    /// 1 to 3.
    pub(crate) version: u8,
    /// The signed part, with its tag.
    pub(crate) signed: &'a [u8],
    /// The content of the signature's algorithm.
    pub(crate) algorithm: &'a [u8],
    pub(crate) signature: &'a [u8],
    /// The content of the issuer's name.
    pub(crate) issuer: &'a [u8],
    /// The content of the subject's name.
    pub(crate) subject: &'a [u8],
    /// The key's info, with its tag.
    pub(crate) key_info: &'a [u8],
    /// The first and the last second in which it is valid, since 1970.
    pub(crate) validity: (i64, i64),
}

/// Return the last second in which a certificate in DER is valid, since 1970; `None` for a malformed one.
pub fn end(der: &[u8]) -> Option<i64> {
    Some(Certificate::read(der).ok()?.validity.1)
}

impl<'a> Certificate<'a> {
    pub(crate) fn read(der: &'a [u8]) -> Result<Self, Malformed> {
        let mut outer = Reader::new(der);
        let mut parts = outer.enter(SEQUENCE)?;
        if !outer.at_end() {
            return Err(Malformed);
        }
        let signed = parts.expect(SEQUENCE)?;
        let algorithm = parts.expect(SEQUENCE)?.content;
        let signature = bits(parts.expect(BIT_STRING)?)?;
        let mut tbs = Reader::new(signed.content);
        let mut version = 1;
        if tbs.sees(VERSION) {
            match tbs.enter(VERSION)?.expect(INTEGER)?.content {
                [number @ 0..=2] => version = number + 1,
                _ => return Err(Malformed),
            }
        }
        tbs.expect(INTEGER)?;
        if tbs.expect(SEQUENCE)?.content != algorithm {
            return Err(Malformed);
        }
        let issuer = tbs.expect(SEQUENCE)?.content;
        let mut times = tbs.enter(SEQUENCE)?;
        let validity = (time(times.read()?)?, time(times.read()?)?);
        let subject = tbs.expect(SEQUENCE)?.content;
        let key_info = tbs.expect(SEQUENCE)?.whole;
        if version == 1 && !tbs.at_end() {
            return Err(Malformed);
        }
        Ok(Self { version, signed: signed.whole, algorithm, signature, issuer, subject, key_info, validity })
    }
}

/// Algorithm and key of a key's info, whose tag is absent.
pub(crate) fn key(info: &[u8]) -> Result<(&[u8], &[u8]), Malformed> {
    let mut parts = Reader::new(info);
    let algorithm = parts.expect(SEQUENCE)?.content;
    Ok((algorithm, bits(parts.expect(BIT_STRING)?)?))
}

fn bits(value: Value<'_>) -> Result<&[u8], Malformed> {
    match value.content {
        [0, rest @ ..] => Ok(rest),
        _ => Err(Malformed),
    }
}

fn time(value: Value<'_>) -> Result<i64, Malformed> {
    let text = value.content.strip_suffix(b"Z").ok_or(Malformed)?;
    if !text.iter().all(u8::is_ascii_digit) {
        return Err(Malformed);
    }
    let number = |digits: &[u8]| digits.iter().fold(0_i64, |n, d| n * 10 + i64::from(d - b'0'));
    let (year, rest) = match (value.tag, text.len()) {
        (UTC_TIME, 12) => {
            let short = number(&text[..2]);
            (if short < 50 { 2000 + short } else { 1900 + short }, &text[2..])
        }
        (GENERALIZED_TIME, 14) => (number(&text[..4]), &text[4..]),
        _ => return Err(Malformed),
    };
    let [month, day, hour, minute, second] = [0, 2, 4, 6, 8].map(|at| number(&rest[at..at + 2]));
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return Err(Malformed);
    }
    Ok(days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second)
}
