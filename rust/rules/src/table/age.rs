//! Human-readable durations (apimachinery `pkg/util/duration`).

#![allow(clippy::arithmetic_side_effects, reason = "times lie within years 0 to 9999")]

use hydrofoil_types::Timestamp;

/// Go's zero time in Unix seconds, the first of January of the year 1.
const ZERO: i64 = -62_135_596_800;
/// The longest `time.Duration` in seconds; differences of times stop there.
const LONGEST: i128 = 9_223_372_036;

/// Return a time; `None` for one that is unset.
pub fn moment(text: &str) -> Option<Timestamp> {
    Timestamp::parse(text).filter(|t| t.seconds != ZERO || t.nanos != 0)
}

/// Return a time behind a pointer that is not nil, which may be the zero time.
pub fn pointer_time(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap_or(Timestamp { seconds: ZERO, nanos: 0 })
}

/// `HumanDuration` of the time from one moment to another.
pub fn between(from: Timestamp, to: Timestamp) -> String {
    let nanos = |t: Timestamp| i128::from(t.seconds) * 1_000_000_000 + i128::from(t.nanos);
    human(((nanos(to) - nanos(from)) / 1_000_000_000).clamp(-LONGEST, LONGEST) as i64)
}

/// Return until when, in Unix seconds, the text of the time since a moment stays the same.
pub fn until(from: Timestamp, to: Timestamp) -> i64 {
    let passed = (to.seconds - from.seconds - i64::from(to.nanos < from.nanos)).clamp(-1, LONGEST as i64);
    from.seconds + passed + lasts(passed)
}

/// Return how many seconds more the text of whole seconds stays the same, at least.
fn lasts(seconds: i64) -> i64 {
    let step = match seconds {
        ..=599 => 1,
        600..=28_799 => 60,
        28_800..=691_199 => 3600,
        _ => 86_400,
    };
    step - seconds.rem_euclid(step)
}

/// `HumanDuration` of whole seconds: two or three figures that matter.
pub fn human(seconds: i64) -> String {
    const YEAR: i64 = 24 * 365;
    let (minutes, hours) = (seconds / 60, seconds / 3600);
    let pair = |more: i64, unit: &str, less: i64, small: &str| match less {
        0 => format!("{more}{unit}"),
        _ => format!("{more}{unit}{less}{small}"),
    };
    match (seconds, minutes, hours) {
        // Clocks may differ by a little.
        (..-1, ..) => "<invalid>".to_owned(),
        (-1, ..) => "0s".to_owned(),
        (..120, ..) => format!("{seconds}s"),
        (_, ..10, _) => pair(minutes, "m", seconds % 60, "s"),
        (_, ..180, _) => format!("{minutes}m"),
        (_, _, ..8) => pair(hours, "h", minutes % 60, "m"),
        (_, _, ..48) => format!("{hours}h"),
        (_, _, ..192) => pair(hours / 24, "d", hours % 24, "h"),
        _ if hours < YEAR * 2 => format!("{}d", hours / 24),
        _ if hours < YEAR * 8 => pair(hours / YEAR, "y", hours / 24 % 365, "d"),
        _ => format!("{}y", hours / YEAR),
    }
}

#[cfg(test)]
mod tests {
    use super::{human, lasts};

    #[test]
    fn a_text_lasts_as_long_as_it_says() {
        let spans =
            (0..700).chain(10_700..10_900).chain((28_000..40_000).step_by(7)).chain((170_000..900_000).step_by(997));
        for seconds in spans.chain((63_000_000..64_000_000).step_by(9_973)) {
            let last = seconds + lasts(seconds) - 1;
            assert_eq!(human(seconds), human(last), "{seconds}");
        }
    }

    #[test]
    fn figures_that_matter() {
        const DAY: i64 = 86_400;
        for (seconds, text) in [
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (121, "2m1s"),
            (600, "10m"),
            (10_799, "179m"),
            (10_800, "3h"),
            (11_000, "3h3m"),
            (8 * 3600, "8h"),
            (47 * 3600, "47h"),
            (2 * DAY, "2d"),
            (2 * DAY + 3600, "2d1h"),
            (8 * DAY, "8d"),
            (729 * DAY, "729d"),
            (730 * DAY, "2y"),
            (731 * DAY, "2y1d"),
            (8 * 365 * DAY, "8y"),
        ] {
            assert_eq!(human(seconds), text, "{seconds}");
        }
    }
}
