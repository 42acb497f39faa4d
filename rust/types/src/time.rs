//! Times of the wire: RFC 3339 in UTC.

#![allow(clippy::arithmetic_side_effects, reason = "dates lie within years 0 to 9999, seconds of CBOR within 64 bits")]
#![allow(clippy::indexing_slicing, reason = "the length was looked at before")]
#![allow(clippy::string_slice, reason = "what is cut out is digits")]

use hydrofoil_text::calendar::{civil, days, days_in};

/// A moment: seconds since 1970 and nanoseconds within the second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub seconds: i64,
    /// Nanoseconds, 0 to 999,999,999.
    pub nanos: u32,
}

impl Timestamp {
    /// Parse RFC 3339, as Go's `time.Parse(time.RFC3339, ...)` with an optional fraction.
    pub fn parse(text: &str) -> Option<Self> {
        let b = text.as_bytes();
        if b.len() < 20 || b[4] != b'-' || b[7] != b'-' || b[10] != b'T' || b[13] != b':' || b[16] != b':' {
            return None;
        }
        let number = |from: usize, to: usize| -> Option<i64> {
            b[from..to].iter().all(u8::is_ascii_digit).then(|| text[from..to].parse().ok())?
        };
        let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
        let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
        if !(1..=12).contains(&month)
            || !(1..=days_in(year, month)).contains(&day)
            || hour > 23
            || minute > 59
            || second > 59
        {
            return None;
        }
        let mut at = 19;
        let mut nanos = 0u32;
        if b[at] == b'.' || b[at] == b',' {
            at += 1;
            let start = at;
            while at < b.len() && b[at].is_ascii_digit() {
                if at - start < 9 {
                    nanos = nanos * 10 + u32::from(b[at] - b'0');
                }
                at += 1;
            }
            if at == start {
                return None;
            }
            for _ in (at - start).min(9)..9 {
                nanos *= 10;
            }
        }
        let offset = match &b[at..] {
            [b'Z'] => 0,
            [sign @ (b'+' | b'-'), _, _, b':', _, _] => {
                let (h, m) = (number(at + 1, at + 3)?, number(at + 4, at + 6)?);
                if h > 23 || m > 59 {
                    return None;
                }
                (h * 3600 + m * 60) * if *sign == b'-' { -1 } else { 1 }
            }
            _ => return None,
        };
        let seconds = days(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - offset;
        Some(Self { seconds, nanos })
    }

    /// Format as `2006-01-02T15:04:05Z`.
    pub fn rfc3339(self) -> String {
        let mut out = Vec::with_capacity(32);
        self.write_second(&mut out);
        out.push(b'Z');
        text(out)
    }

    /// Format as `2006-01-02T15:04:05.000000Z`.
    pub fn rfc3339_micro(self) -> String {
        let mut out = Vec::with_capacity(32);
        self.write_micro(&mut out);
        text(out)
    }

    /// Append `2006-01-02T15:04:05.000000Z`.
    pub fn write_micro(self, out: &mut Vec<u8>) {
        self.write_second(out);
        out.push(b'.');
        digits(out, 6, self.nanos / 1000);
        out.push(b'Z');
    }

    /// Append `2006-01-02T15:04:05`: digit by digit, since every event and object has times.
    fn write_second(self, out: &mut Vec<u8>) {
        let (year, month, day) = civil(self.seconds.div_euclid(86400));
        let s = self.seconds.rem_euclid(86400) as u32;
        // A time zone can move a moment beyond four-digit years; Go writes the sign before them.
        if year < 0 {
            out.push(b'-');
        }
        let year = year.unsigned_abs();
        if year < 10_000 {
            digits(out, 4, year as u32);
        } else {
            out.extend_from_slice(year.to_string().as_bytes());
        }
        for (mark, value) in
            [(b'-', month as u32), (b'-', day as u32), (b'T', s / 3600), (b':', s / 60 % 60), (b':', s % 60)]
        {
            let [high, low] = [value / 10 % 10, value % 10].map(|digit| b'0' + digit as u8);
            out.extend_from_slice(&[mark, high, low]);
        }
    }
}

/// Append the last digits of a number, six at most.
fn digits(out: &mut Vec<u8>, count: usize, mut value: u32) {
    let mut found = [b'0'; 6];
    for place in (0..count).rev() {
        found[place] += (value % 10) as u8;
        value /= 10;
    }
    out.extend_from_slice(&found[..count]);
}

fn text(out: Vec<u8>) -> String {
    String::from_utf8(out).expect("digits and marks are ASCII")
}

#[cfg(test)]
mod tests {
    use super::Timestamp;

    #[test]
    fn round_trips_and_offsets() {
        let t = Timestamp::parse("2001-02-03T04:05:06.000007Z").unwrap();
        assert_eq!(t.rfc3339(), "2001-02-03T04:05:06Z");
        assert_eq!(t.rfc3339_micro(), "2001-02-03T04:05:06.000007Z");
        assert_eq!(Timestamp::parse("2001-02-03T05:05:06+01:00").unwrap().rfc3339(), "2001-02-03T04:05:06Z");
        assert_eq!(Timestamp::parse("1970-01-01T00:00:00Z").unwrap().seconds, 0);
    }

    #[test]
    fn a_zone_carries_out_of_four_digits() {
        let shown = |text| Timestamp::parse(text).unwrap().rfc3339();
        assert_eq!(shown("9999-12-31T23:59:59-23:59"), "10000-01-01T23:58:59Z");
        assert_eq!(shown("0000-01-01T00:00:00+01:00"), "-0001-12-31T23:00:00Z");
    }

    #[test]
    fn refuses() {
        for bad in
            ["yesterday", "2001-02-30T00:00:00Z", "2001-02-03T24:00:00Z", "2001-02-03T04:05:06", "2001-02-03 04:05:06Z"]
        {
            assert!(Timestamp::parse(bad).is_none(), "{bad}");
        }
    }
}
