//! Durations and moments: Go's texts for them, and calendars.

#![allow(
    clippy::arithmetic_side_effects,
    reason = "moments lie within years 1 to 9999 and offsets within a day; durations are summed with checks"
)]
#![allow(clippy::string_slice, reason = "a sign has one byte")]

use hydrofoil_types::Timestamp;

const SECOND: i128 = 1_000_000_000;

/// Nanoseconds of a duration as Go writes it: `1h2m3.5s`.
pub(crate) fn parse_duration(text: &str) -> Option<i64> {
    parse(text, |unit| {
        Some(match unit {
            "ns" => 1,
            "us" | "µs" | "μs" => 1_000,
            "ms" => 1_000_000,
            "s" => SECOND,
            "m" => 60 * SECOND,
            "h" => 3600 * SECOND,
            _ => return None,
        })
    })
}

/// Nanoseconds of a duration as the format `duration` takes it: with words, days and weeks too
/// (kube-openapi `strfmt.ParseDuration`).
pub(crate) fn parse_long_duration(text: &str) -> Option<i64> {
    parse_duration(text).or_else(|| {
        let packed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        parse(&packed, |unit| {
            Some(match unit {
                "ns" | "nano" => 1,
                "us" | "µs" | "micro" => 1_000,
                "ms" | "milli" => 1_000_000,
                "s" | "sec" | "second" | "seconds" => SECOND,
                "m" | "min" | "minute" | "minutes" => 60 * SECOND,
                "h" | "hr" | "hour" | "hours" => 3600 * SECOND,
                "d" | "day" | "days" => 86400 * SECOND,
                "w" | "wk" | "week" | "weeks" => 604_800 * SECOND,
                _ => return None,
            })
        })
    })
}

fn parse(text: &str, unit: impl Fn(&str) -> Option<i128>) -> Option<i64> {
    let (negative, mut rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if rest == "0" {
        return Some(0);
    }
    let mut total = 0i128;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(end);
        let next = after.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(after.len());
        let (name, after) = after.split_at(next);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if number.len() > 30 || (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
            return None;
        }
        let scale = unit(name)?;
        total = total.checked_add(whole.parse::<i128>().unwrap_or(0).checked_mul(scale)?)?;
        let mut step = scale;
        for digit in fraction.bytes() {
            step /= 10;
            total = total.checked_add(i128::from(digit - b'0') * step)?;
        }
        rest = after;
    }
    i64::try_from(if negative { -total } else { total }).ok()
}

/// A duration as CEL's `string()` writes it: seconds.
pub(crate) fn duration_text(nanos: i64) -> String {
    let (seconds, rest) = (nanos / 1_000_000_000, (nanos % 1_000_000_000).unsigned_abs());
    let sign = if nanos < 0 && seconds == 0 { "-" } else { "" };
    if rest == 0 {
        return format!("{seconds}s");
    }
    let fraction = format!("{rest:09}");
    format!("{sign}{seconds}.{}s", fraction.trim_end_matches('0'))
}

/// A moment as Go's `RFC3339Nano`.
pub(crate) fn moment_text(t: Timestamp) -> String {
    let text = t.rfc3339();
    if t.nanos == 0 {
        return text;
    }
    let fraction = format!("{:09}", t.nanos);
    format!("{}.{}Z", text.trim_end_matches('Z'), fraction.trim_end_matches('0'))
}

/// Nanoseconds since 1970.
pub(crate) fn nanos(t: Timestamp) -> i128 {
    i128::from(t.seconds) * SECOND + i128::from(t.nanos)
}

/// The moment so many nanoseconds after 1970, within years 1 to 9999.
pub(crate) fn moment(nanos: i128) -> Option<Timestamp> {
    let seconds = i64::try_from(nanos.div_euclid(SECOND)).ok()?;
    let nanos = nanos.rem_euclid(SECOND) as u32;
    (-62_135_596_800..=253_402_300_799).contains(&seconds).then_some(Timestamp { seconds, nanos })
}

/// A part of a date or time of day, after moving it by an offset in seconds.
pub(crate) fn part(t: Timestamp, offset: i64, name: &str) -> i64 {
    let local = t.seconds + offset;
    let (days, of_day) = (local.div_euclid(86400), local.rem_euclid(86400));
    let (year, month, day) = civil(days);
    match name {
        "getFullYear" => year,
        "getMonth" => month - 1,
        "getDate" => day,
        "getDayOfMonth" => day - 1,
        "getDayOfYear" => days - days_before(year),
        "getDayOfWeek" => (days + 4).rem_euclid(7),
        "getHours" => of_day / 3600,
        "getMinutes" => of_day / 60 % 60,
        "getSeconds" => of_day % 60,
        _ => i64::from(t.nanos / 1_000_000),
    }
}

fn civil(days: i64) -> (i64, i64, i64) {
    // Eras of 400 years that begin in March.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

/// The days between 1970 and the beginning of a year.
fn days_before(year: i64) -> i64 {
    let y = year - 1;
    365 * (year - 1970) + (y.div_euclid(4) - y.div_euclid(100) + y.div_euclid(400)) - 477
}

/// The offset in seconds of `+02:00` or `UTC`. Names of places are not known here.
pub(crate) fn offset(zone: &str) -> Option<i64> {
    if matches!(zone, "UTC" | "" | "Z" | "GMT" | "Etc/UTC") {
        return Some(0);
    }
    let (sign, rest) = match zone.as_bytes().first()? {
        b'-' => (-1, &zone[1..]),
        b'+' => (1, &zone[1..]),
        _ => (1, zone),
    };
    let (hours, minutes) = rest.split_once(':')?;
    let (hours, minutes): (i64, i64) = (hours.parse().ok()?, minutes.parse().ok()?);
    let known = (-24..=24).contains(&hours) && (-59..60).contains(&minutes);
    known.then(|| sign * (hours * 3600 + minutes * 60))
}
