//! The head of an answer that differs from one before in its id, its date and its length.

use std::fmt::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use hydrofoil_text::calendar::civil;

const DAY: i64 = 86_400;
const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The header line `Date`, made once a second (RFC 9110, 5.6.7).
#[derive(Debug)]
pub struct Date {
    second: i64,
    line: String,
}

impl Default for Date {
    fn default() -> Self {
        let mut date = Self { second: 0, line: String::new() };
        date.write();
        date
    }
}

impl Date {
    /// Return the line with its end, at a second since 1970.
    pub fn line(&mut self, second: i64) -> &str {
        if second != self.second {
            self.second = second;
            self.write();
        }
        &self.line
    }

    fn write(&mut self) {
        let (day, rest) = (self.second.div_euclid(DAY), self.second.rem_euclid(DAY));
        let (year, month, date) = civil(day);
        let weekday = usize::try_from(day.rem_euclid(7)).ok().and_then(|at| WEEKDAYS.get(at)).unwrap_or(&"");
        let month = usize::try_from(month.saturating_sub(1)).ok().and_then(|at| MONTHS.get(at)).unwrap_or(&"");
        let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
        self.line.clear();
        let line =
            format_args!("Date: {weekday}, {date:02} {month} {year:04} {hour:02}:{minute:02}:{second:02} GMT\r\n");
        // A string takes whatever is written.
        let _ = self.line.write_fmt(line);
    }
}

/// The ids of requests that came without one: a prefix and a number.
#[derive(Debug)]
pub struct AuditIds {
    prefix: Box<str>,
    /// The next number. Any thread may take one; they only have to differ.
    next: AtomicU64,
}

impl AuditIds {
    /// Begin with the number 0.
    #[must_use]
    pub fn new(prefix: &str) -> Self {
        Self { prefix: prefix.into(), next: AtomicU64::new(0) }
    }

    /// Return the next id.
    pub fn take(&self) -> String {
        let number = self.next.fetch_add(1, Ordering::Relaxed) & 0xFFFF_FFFF_FFFF;
        format!("{}{number:012x}", self.prefix)
    }
}

/// An answer up to its body: the text around its id, and the rest of its lines.
#[derive(Debug)]
pub struct AnswerHead {
    before: Box<[u8]>,
    after: Box<[u8]>,
}

impl AnswerHead {
    /// Take the lines of an answer with an id; `None` if that is not in it exactly once.
    #[must_use]
    pub fn new(head: &[u8], id: &str) -> Option<Self> {
        let mut found = memchr::memmem::find_iter(head, id);
        let at = found.next()?;
        if id.is_empty() || found.next().is_some() {
            return None;
        }
        Some(Self { before: head.get(..at)?.into(), after: head.get(at + id.len()..)?.into() })
    }

    /// Return the head with another id, the line of a date and the length of a body.
    #[must_use]
    pub fn with(&self, id: &str, date: &str, length: usize) -> Vec<u8> {
        let mut head = Vec::with_capacity(self.before.len() + self.after.len() + id.len() + date.len() + 40);
        for part in [&self.before, id.as_bytes(), &self.after, date.as_bytes(), b"Content-Length: "] {
            head.extend_from_slice(part);
        }
        let mut digits = [0; 20];
        let mut at = digits.len();
        let mut rest = length;
        loop {
            at = at.saturating_sub(1);
            if let Some(digit) = digits.get_mut(at) {
                *digit = b'0'.saturating_add((rest % 10) as u8);
            }
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        head.extend_from_slice(digits.get(at..).unwrap_or_default());
        head.extend_from_slice(b"\r\n\r\n");
        head
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_is_that_of_its_second() {
        let mut date = Date::default();
        assert_eq!(date.line(0), "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n");
        assert_eq!(date.line(1_795_875_781), "Date: Sat, 28 Nov 2026 14:23:01 GMT\r\n");
        assert_eq!(date.line(951_782_399), "Date: Mon, 28 Feb 2000 23:59:59 GMT\r\n");
        assert_eq!(date.line(-1), "Date: Wed, 31 Dec 1969 23:59:59 GMT\r\n");
    }

    #[test]
    fn ids_differ() {
        let ids = AuditIds::new("a-");
        assert_eq!([ids.take(), ids.take()], ["a-000000000000", "a-000000000001"]);
    }

    #[test]
    fn a_head_differs_in_id_date_and_length() {
        let head = AnswerHead::new(b"HTTP/1.1 200 OK\r\nAudit-Id: 1-2\r\nA: b\r\n", "1-2").unwrap();
        for (length, text) in [(0, "0"), (7, "7"), (10, "10"), (usize::MAX, "18446744073709551615")] {
            let expected =
                format!("HTTP/1.1 200 OK\r\nAudit-Id: x\r\nA: b\r\nDate: d\r\nContent-Length: {text}\r\n\r\n");
            assert_eq!(String::from_utf8(head.with("x", "Date: d\r\n", length)).unwrap(), expected);
        }
        assert!(AnswerHead::new(b"a 1 1", "1").is_none());
        assert!(AnswerHead::new(b"a", "1").is_none() && AnswerHead::new(b"a", "").is_none());
    }
}
