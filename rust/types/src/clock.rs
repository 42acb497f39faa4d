//! The clock of a server: the machine's time, or one that stands still or was moved.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::Timestamp;

/// The nanoseconds of a second.
const SECOND: i64 = 1_000_000_000;

/// The source of the time. Each server has its own; nothing else reads the time of the machine.
#[derive(Debug)]
pub struct Clock {
    start: Instant,
    /// Whether `course` differs from the machine's time: the usual clock takes no lock.
    moved: AtomicBool,
    /// Changed by a test only, before `moved` is set (release): who sees the flag sees the course.
    course: Mutex<Course>,
}

/// The difference of a clock from the machine's time, in nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
struct Course {
    /// Added to the machine's time.
    shift: i64,
    /// Added to the time since the start.
    grown: i64,
    /// The time, and the time since the start, while the clock stands still.
    still: Option<(i64, i64)>,
}

impl Default for Clock {
    #[allow(clippy::disallowed_methods, reason = "the one clock")]
    fn default() -> Self {
        Self { start: Instant::now(), moved: AtomicBool::new(false), course: Mutex::default() }
    }
}

impl Clock {
    /// Return the present moment.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        if !self.moved.load(Ordering::Acquire) {
            return machine();
        }
        let now = self.nanoseconds();
        Timestamp { seconds: now.div_euclid(SECOND), nanos: now.rem_euclid(SECOND) as u32 }
    }

    /// Return nanoseconds since 1970.
    #[must_use]
    pub fn nanoseconds(&self) -> i64 {
        if !self.moved.load(Ordering::Acquire) {
            return nanoseconds(machine());
        }
        let course = self.course();
        course.still.map_or_else(|| nanoseconds(machine()).saturating_add(course.shift), |(now, _)| now)
    }

    /// Return the time since the clock was made; it never decreases.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        if !self.moved.load(Ordering::Acquire) {
            return self.start.elapsed();
        }
        let course = *self.course();
        Duration::from_nanos(self.since(course).unsigned_abs())
    }

    /// Report whether the clock stands still.
    #[must_use]
    pub fn is_still(&self) -> bool {
        self.course().still.is_some()
    }

    /// Stop the clock, at nanoseconds since 1970 or now. An earlier moment leaves the time since the start as it is.
    pub fn freeze(&self, at: Option<i64>) {
        let now = self.nanoseconds();
        self.change(|clock, course| {
            let at = at.unwrap_or(now);
            let since = clock.since(*course).saturating_add(at.saturating_sub(now).max(0));
            course.still = Some((at, since));
        });
    }

    /// Move the clock forward by nanoseconds.
    pub fn advance(&self, by: u64) {
        let by = i64::try_from(by).unwrap_or(i64::MAX);
        self.change(|_, course| {
            let Course { shift, grown, still } = course;
            let (now, since) = still.as_mut().map_or((shift, grown), |(now, since)| (now, since));
            (*now, *since) = (now.saturating_add(by), since.saturating_add(by));
        });
    }

    /// Continue from the present moment of the clock.
    pub fn run(&self) {
        self.change(|clock, course| {
            if let Some((now, since)) = course.still.take() {
                course.shift = now.saturating_sub(nanoseconds(machine()));
                course.grown = since.saturating_sub(clock.real());
            }
        });
    }

    /// Return to the machine's time; the time since the start continues.
    pub fn reset(&self) {
        if !self.moved.load(Ordering::Acquire) {
            return;
        }
        self.change(|clock, course| {
            *course = Course { shift: 0, grown: clock.since(*course).saturating_sub(clock.real()), still: None };
        });
    }

    fn change(&self, change: impl FnOnce(&Self, &mut Course)) {
        let mut course = self.course();
        change(self, &mut course);
        self.moved.store(true, Ordering::Release);
    }

    fn course(&self) -> MutexGuard<'_, Course> {
        self.course.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn since(&self, course: Course) -> i64 {
        course.still.map_or_else(|| self.real().saturating_add(course.grown), |(_, since)| since)
    }

    fn real(&self) -> i64 {
        i64::try_from(self.start.elapsed().as_nanos()).unwrap_or(i64::MAX)
    }
}

#[allow(clippy::disallowed_methods, clippy::cast_possible_wrap, reason = "the one clock; seconds fit for ages")]
fn machine() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp { seconds: since.as_secs() as i64, nanos: since.subsec_nanos() }
}

fn nanoseconds(at: Timestamp) -> i64 {
    at.seconds.saturating_mul(SECOND).saturating_add(i64::from(at.nanos))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Clock, SECOND};

    #[test]
    fn it_goes_on() {
        let clock = Clock::default();
        let (now, elapsed) = (clock.now(), clock.elapsed());
        assert!(clock.elapsed() >= elapsed);
        assert!(now.seconds > 1_700_000_000);
    }

    #[test]
    fn it_stands_still_until_it_is_moved() {
        let clock = Clock::default();
        clock.freeze(Some(1_767_225_600 * SECOND));
        let (now, elapsed) = (clock.now(), clock.elapsed());
        assert_eq!(now.rfc3339(), "2026-01-01T00:00:00Z");
        assert_eq!((clock.now(), clock.elapsed()), (now, elapsed));
        assert!(clock.is_still());
        clock.advance(3_600_000_000_000);
        assert_eq!(clock.now().rfc3339(), "2026-01-01T01:00:00Z");
        assert_eq!(clock.elapsed(), elapsed + Duration::from_secs(3600));
    }

    #[test]
    fn it_runs_from_where_it_was() {
        let clock = Clock::default();
        clock.freeze(Some(100 * SECOND));
        let elapsed = clock.elapsed();
        clock.run();
        assert!(!clock.is_still());
        assert!((100..110).contains(&clock.now().seconds));
        assert!(clock.elapsed() >= elapsed);
        clock.advance(50 * SECOND.unsigned_abs());
        assert!((150..160).contains(&clock.now().seconds));
    }

    #[test]
    fn an_earlier_moment_leaves_ages_as_they_are() {
        let clock = Clock::default();
        clock.advance(10 * SECOND.unsigned_abs());
        let elapsed = clock.elapsed();
        clock.freeze(Some(0));
        assert_eq!(clock.nanoseconds(), 0);
        assert!(clock.elapsed() >= elapsed);
        clock.freeze(Some(5 * SECOND));
        assert!(clock.elapsed() >= elapsed + Duration::from_secs(5), "a later one is an advance");
        let before = clock.elapsed();
        clock.reset();
        assert!(clock.now().seconds > 1_700_000_000);
        assert!(clock.elapsed() >= before);
    }
}
