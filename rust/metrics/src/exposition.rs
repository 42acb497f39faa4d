//! Metrics of several processes in the text format of Prometheus, as those of one server.

use std::collections::HashMap;
use std::fmt::Write;

/// One family: its lines of help and type, and its samples in the order of their first appearance.
#[derive(Debug, Default)]
struct Family<'t> {
    head: Vec<&'t str>,
    is_gauge: bool,
    samples: Vec<(&'t str, f64)>,
}

/// Return one exposition: counters, histograms and the gauges named in `summed` are the sums over all processes, other
/// gauges the largest value. Processes of `ended` no longer run: what they counted stays, what they had is gone.
pub fn merge(running: &[&str], ended: &[&str], summed: &[&str]) -> String {
    let mut families: Vec<(&str, Family<'_>)> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut samples: HashMap<&str, (usize, usize)> = HashMap::new();
    let texts = running.iter().map(|text| (*text, true)).chain(ended.iter().map(|text| (*text, false)));
    for (text, runs) in texts {
        let mut at = None;
        for line in text.lines() {
            if let Some(comment) = line.strip_prefix("# ") {
                let mut words = comment.splitn(3, ' ');
                let (kind, Some(name)) = (words.next(), words.next()) else { continue };
                let next = families.len();
                let place = *places.entry(name).or_insert(next);
                if place == next {
                    families.push((name, Family::default()));
                }
                at = Some(place);
                if let Some((_, family)) = families.get_mut(place)
                    && family.head.len() < 2
                    && !family.head.contains(&line)
                {
                    family.head.push(line);
                    family.is_gauge |= kind == Some("TYPE") && words.next() == Some("gauge");
                }
                continue;
            }
            let Some((name, family)) = at.and_then(|place| families.get_mut(place)) else { continue };
            let Some((series, value)) = sample(line) else { continue };
            if family.is_gauge && !runs {
                continue;
            }
            let place = (at.unwrap_or_default(), family.samples.len());
            let (_, known) = *samples.entry(series).or_insert(place);
            match family.samples.get_mut(known) {
                Some((_, sum)) if !family.is_gauge || summed.contains(name) => *sum += value,
                Some((_, most)) => *most = most.max(value),
                None => family.samples.push((series, value)),
            }
        }
    }
    let mut out = String::with_capacity(running.first().map_or(0, |text| text.len()));
    for (_, family) in families {
        for line in family.head {
            out.push_str(line);
            out.push('\n');
        }
        for (series, value) in family.samples {
            // Writing to a text does not fail.
            let _ = if value.fract() == 0.0 && value.abs() < 1e15 {
                writeln!(out, "{series} {value:.0}")
            } else if value.is_infinite() {
                writeln!(out, "{series} {}Inf", if value > 0.0 { '+' } else { '-' })
            } else {
                writeln!(out, "{series} {value}")
            };
        }
    }
    out
}

/// Return the series of a line, and its value. Values of labels may have spaces, the value has none.
fn sample(line: &str) -> Option<(&str, f64)> {
    let (series, value) = line.rsplit_once(' ')?;
    Some((series, value.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::merge;

    const ONE: &str = "# HELP a_total text of it\n# TYPE a_total counter\na_total{x=\"1 2\"} 3\n# HELP g text\n# TYPE g gauge\ng 2\n\
        # HELP h text\n# TYPE h gauge\nh 7\n";
    const OTHER: &str = "# HELP a_total text of it\n# TYPE a_total counter\na_total{x=\"1 2\"} 0.5\na_total{x=\"3\"} 1\n# HELP g text\n\
        # TYPE g gauge\ng 5\n# HELP h text\n# TYPE h gauge\nh 1\n# HELP s text\n# TYPE s histogram\ns_bucket{le=\"+Inf\"} 1\n";

    #[test]
    fn counts_add_up_and_states_do_as_they_are_named() {
        let merged = "# HELP a_total text of it\n# TYPE a_total counter\na_total{x=\"1 2\"} 3.5\na_total{x=\"3\"} 1\n\
            # HELP g text\n# TYPE g gauge\ng 7\n# HELP h text\n# TYPE h gauge\nh 7\n\
            # HELP s text\n# TYPE s histogram\ns_bucket{le=\"+Inf\"} 1\n";
        assert_eq!(merge(&[ONE, OTHER], &[], &["g"]), merged);
        let ended = merge(&[ONE], &[OTHER], &["g"]);
        assert!(ended.contains("a_total{x=\"1 2\"} 3.5\n") && ended.contains("\ng 2\n"), "{ended}");
        assert_eq!(merge(&[ONE], &[], &[]), ONE);
    }
}
