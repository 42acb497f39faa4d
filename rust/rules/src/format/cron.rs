//! Schedules of cron jobs, with the texts of `robfig/cron/v3` `ParseStandard`.

#![allow(clippy::arithmetic_side_effects, reason = "it counts what an object of a few megabytes has")]
#![allow(clippy::indexing_slicing, reason = "the place was found in the list, or the length looked at before")]

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// Return the error of a schedule, if any.
pub fn problem(schedule: &str) -> Option<String> {
    if let Some(rest) = schedule.strip_prefix('@') {
        return descriptor(schedule, rest);
    }
    let fields: Vec<&str> = schedule.split_whitespace().collect();
    if schedule.is_empty() {
        return Some("empty spec string".to_owned());
    }
    if fields.len() != 5 {
        return Some(format!("expected exactly 5 fields, found {}: [{}]", fields.len(), fields.join(" ")));
    }
    let bounds: [(u64, u64, &[&str], u64); 5] =
        [(0, 59, &[], 0), (0, 23, &[], 0), (1, 31, &[], 0), (1, 12, &MONTHS, 1), (0, 6, &DAYS, 0)];
    fields.iter().zip(bounds).find_map(|(field, (min, max, names, first))| {
        field
            .split(',')
            .filter(|part| !part.is_empty())
            .find_map(|part| range(part, min, max, &|text| number(text, names, first)).err())
    })
}

fn descriptor(schedule: &str, name: &str) -> Option<String> {
    if matches!(name, "yearly" | "annually" | "monthly" | "weekly" | "daily" | "midnight" | "hourly") {
        return None;
    }
    if let Some(duration) = name.strip_prefix("every ") {
        return hydrofoil_text::duration::parse(duration)
            .is_none()
            .then(|| format!("failed to parse duration {schedule}: time: invalid duration \"{duration}\""));
    }
    Some(format!("unrecognized descriptor: {schedule}"))
}

fn number(text: &str, names: &[&str], first: u64) -> Result<u64, String> {
    let lower = text.to_lowercase();
    if let Some(at) = names.iter().position(|n| *n == lower) {
        return Ok(at as u64 + first);
    }
    integer(text)
}

fn integer(text: &str) -> Result<u64, String> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!("failed to parse int from {text}: strconv.Atoi: parsing \"{text}\": invalid syntax"));
    }
    match text.parse::<i64>() {
        Err(_) => Err(format!("failed to parse int from {text}: strconv.Atoi: parsing \"{text}\": value out of range")),
        Ok(n) if n < 0 => Err(format!("negative number ({n}) not allowed: {text}")),
        Ok(n) => Ok(n.unsigned_abs()),
    }
}

fn range(text: &str, min: u64, max: u64, parse: &dyn Fn(&str) -> Result<u64, String>) -> Result<(), String> {
    let steps: Vec<&str> = text.split('/').collect();
    let ends: Vec<&str> = steps[0].split('-').collect();
    let (start, mut end) = if matches!(ends[0], "*" | "?") {
        (min, max)
    } else {
        let start = parse(ends[0])?;
        match ends.len() {
            1 => (start, start),
            2 => (start, parse(ends[1])?),
            _ => return Err(format!("too many hyphens: {text}")),
        }
    };
    let step = match steps.len() {
        1 => 1,
        2 => {
            let step = integer(steps[1])?;
            if ends.len() == 1 {
                end = max;
            }
            step
        }
        _ => return Err(format!("too many slashes: {text}")),
    };
    if start < min {
        return Err(format!("beginning of range ({start}) below minimum ({min}): {text}"));
    }
    if end > max {
        return Err(format!("end of range ({end}) above maximum ({max}): {text}"));
    }
    if start > end {
        return Err(format!("beginning of range ({start}) beyond end of range ({end}): {text}"));
    }
    if step == 0 {
        return Err(format!("step of range should be a positive number: {text}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::problem;

    #[test]
    fn schedules() {
        for good in ["* * * * *", "*/5 0-6 1,15 jan-MAR mon", "@hourly", "@every 1h30m", "? ? ? ? ?"] {
            assert_eq!(problem(good), None, "{good}");
        }
        for (bad, text) in [
            ("abc", "expected exactly 5 fields, found 1: [abc]"),
            ("61 * * * *", "end of range (61) above maximum (59): 61"),
            ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
            ("*/0 * * * *", "step of range should be a positive number: */0"),
            ("* * * * FRIx", "failed to parse int from FRIx: strconv.Atoi: parsing \"FRIx\": invalid syntax"),
            ("@never", "unrecognized descriptor: @never"),
        ] {
            assert_eq!(problem(bad).as_deref(), Some(text), "{bad}");
        }
    }
}
