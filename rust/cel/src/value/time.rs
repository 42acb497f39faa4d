//! Durations and moments: Go's formats, and calendars.

#![allow(
    clippy::arithmetic_side_effects,
    reason = "moments lie within years 1 to 9999 and offsets within a day; durations are summed with checks"
)]
#![allow(clippy::string_slice, reason = "a sign has one byte")]

use hydrofoil_text::{calendar, duration};
use hydrofoil_types::Timestamp;

const SECOND: u64 = 1_000_000_000;

/// Return the nanoseconds of a duration in the format `duration`: Go's form, or with words, days and weeks
/// (kube-openapi `strfmt.ParseDuration`).
pub(crate) fn parse_long_duration(text: &str) -> Option<i64> {
    duration::parse(text).or_else(|| {
        let packed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        duration::parse_with(&packed, |unit| {
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

/// Return a duration as CEL's `string()` writes it: seconds.
pub(crate) fn duration_text(nanos: i64) -> String {
    let (seconds, rest) = (nanos / 1_000_000_000, (nanos % 1_000_000_000).unsigned_abs());
    let sign = if nanos < 0 && seconds == 0 { "-" } else { "" };
    if rest == 0 {
        return format!("{seconds}s");
    }
    let fraction = format!("{rest:09}");
    format!("{sign}{seconds}.{}s", fraction.trim_end_matches('0'))
}

/// Return a moment as Go's `RFC3339Nano`.
pub(crate) fn moment_text(t: Timestamp) -> String {
    let text = t.rfc3339();
    if t.nanos == 0 {
        return text;
    }
    let fraction = format!("{:09}", t.nanos);
    format!("{}.{}Z", text.trim_end_matches('Z'), fraction.trim_end_matches('0'))
}

/// Return the nanoseconds since 1970.
pub(crate) fn nanos(t: Timestamp) -> i128 {
    i128::from(t.seconds) * i128::from(SECOND) + i128::from(t.nanos)
}

/// Return the moment the given number of nanoseconds after 1970, within years 1 to 9999.
pub(crate) fn moment(nanos: i128) -> Option<Timestamp> {
    let seconds = i64::try_from(nanos.div_euclid(SECOND.into())).ok()?;
    let nanos = nanos.rem_euclid(SECOND.into()) as u32;
    (-62_135_596_800..=253_402_300_799).contains(&seconds).then_some(Timestamp { seconds, nanos })
}

/// Return a part of a date or time of day at an offset in seconds.
pub(crate) fn part(t: Timestamp, offset: i64, name: &str) -> i64 {
    let local = t.seconds + offset;
    let (days, of_day) = (local.div_euclid(86400), local.rem_euclid(86400));
    let (year, month, day) = calendar::civil(days);
    match name {
        "getFullYear" => year,
        "getMonth" => month - 1,
        "getDate" => day,
        "getDayOfMonth" => day - 1,
        "getDayOfYear" => days - calendar::days(year, 1, 1),
        "getDayOfWeek" => (days + 4).rem_euclid(7),
        "getHours" => of_day / 3600,
        "getMinutes" => of_day / 60 % 60,
        "getSeconds" => of_day % 60,
        _ => i64::from(t.nanos / 1_000_000),
    }
}

/// Return the offset in seconds of `+02:00` or `UTC`. Names of time zones are not supported here.
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
