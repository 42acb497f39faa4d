//! The Gregorian calendar, extended to all years: a time zone can move a time beyond the years 0 to 9999.

#![allow(clippy::arithmetic_side_effects, reason = "years and days are those of 64 bits of seconds")]

/// Report whether a year has 366 days.
pub fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

/// Return the number of days of a month (1 to 12).
pub fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Return the days from 1970-01-01 to a date; eras of 400 years that begin in March avoid tables.
pub fn days(year: i64, month: i64, day: i64) -> i64 {
    let y = if month <= 2 { year - 1 } else { year };
    let era = y.div_euclid(400);
    let yoe = y.rem_euclid(400);
    let doy = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719_468
}

/// Return year, month and day of the given number of days after 1970-01-01.
pub fn civil(days: i64) -> (i64, i64, i64) {
    let z = days + 719_468;
    let era = z.div_euclid(146_097);
    let doe = z.rem_euclid(146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    (yoe + era * 400 + i64::from(month <= 2), month, doy - (153 * mp + 2) / 5 + 1)
}

#[cfg(test)]
mod tests {
    use super::{civil, days, days_in, is_leap};

    #[test]
    fn dates_and_days_are_inverse() {
        let known = [((1970, 1, 1), 0), ((2000, 2, 29), 11_016), ((1969, 12, 31), -1), ((10_000, 1, 1), 2_932_897)];
        for (date, since) in known {
            assert_eq!(days(date.0, date.1, date.2), since);
            assert_eq!(civil(since), date);
        }
        for day in (-800_000..3_000_000).step_by(997) {
            let (year, month, of_month) = civil(day);
            assert_eq!(days(year, month, of_month), day);
            assert!((1..=days_in(year, month)).contains(&of_month));
        }
    }

    #[test]
    fn leap_years() {
        assert_eq!([1900, 2000, 2023, 2024, -4].map(is_leap), [false, true, false, true, true]);
        let lengths = [days_in(2024, 2), days_in(2023, 2), days_in(2023, 4), days_in(2023, 12)];
        assert_eq!(lengths, [29, 28, 30, 31]);
    }
}
