//! The seats of a priority level: what each of its requests changes (apiserver `fairqueuing/integrator.go`).

use std::collections::BTreeMap;

/// The part of the last smoothed demand in the next: its half-life is 5 minutes.
const SMOOTHING: f64 = 0.977;

/// The numbers of requests and seats of a level, and its demand for seats over time.
///
/// The demand is the number of seats in use and wanted. Times are in seconds from an arbitrary point.
#[derive(Clone, Debug, Default)]
pub struct Seats {
    /// Requests that run.
    pub executing: u64,
    /// Requests that have run or do so.
    pub dispatched: u64,
    /// The seats in use, those included that watchers take after their request.
    pub used: u64,
    /// The seats that waiting requests want.
    pub wanted: u64,
    /// The greatest demand since the last look.
    pub most: u64,
    /// The greatest demand between the last two looks; likewise the next two.
    pub high: u64,
    /// The average of the demand over time.
    pub average: f64,
    /// Its deviation.
    pub deviation: f64,
    /// The average of several looks.
    pub smoothed: f64,
    begun: f64,
    since: f64,
    /// How long each demand lasted since the last look, in seconds.
    times: BTreeMap<u64, f64>,
}

impl Seats {
    /// Begin without any request.
    pub fn new(now: f64) -> Self {
        Self { begun: now, since: now, ..Self::default() }
    }

    /// Count a request of a level without a limit: it takes no seat.
    pub fn enter(&mut self) {
        self.executing = self.executing.saturating_add(1);
        self.dispatched = self.dispatched.saturating_add(1);
        self.most = self.most.max(self.executing);
    }

    /// End a request; its seats are released apart.
    pub fn leave(&mut self) {
        self.executing = self.executing.saturating_sub(1);
    }

    /// Run a request on its seats.
    pub fn run(&mut self, seats: u64, now: f64) {
        self.pass(now);
        self.executing = self.executing.saturating_add(1);
        self.dispatched = self.dispatched.saturating_add(1);
        self.used = self.used.saturating_add(seats);
        self.most = self.most.max(self.demand());
    }

    /// Give seats back.
    pub fn release(&mut self, seats: u64, now: f64) {
        self.pass(now);
        self.used = self.used.saturating_sub(seats);
    }

    /// Change the number of seats that waiting requests want.
    pub fn want(&mut self, seats: i64, now: f64) {
        self.pass(now);
        self.wanted = self.wanted.saturating_add_signed(seats);
        self.most = self.most.max(self.demand());
    }

    /// Complete the figures of a period, and begin the next.
    pub fn look(&mut self, now: f64) {
        self.pass(now);
        (self.high, self.most) = (self.most, self.demand());
        let period = now - self.begun;
        if period > 0.0 {
            let (mut sum, mut squares) = (0.0, 0.0);
            for (&demand, seconds) in &self.times {
                let passed = demand as f64 * seconds;
                sum += passed;
                squares += passed * demand as f64;
            }
            self.average = sum / period;
            self.deviation = (squares / period - self.average * self.average).max(0.0).sqrt();
            let envelope = self.average + self.deviation;
            self.smoothed = envelope.max(SMOOTHING * self.smoothed + (1.0 - SMOOTHING) * envelope);
        }
        self.begun = now;
        self.times.clear();
    }

    /// Return how long each demand lasted since the last look, in seconds.
    pub fn lasted(&mut self, now: f64) -> Vec<(u64, f64)> {
        self.pass(now);
        self.times.iter().map(|(&demand, &seconds)| (demand, seconds)).collect()
    }

    fn demand(&self) -> u64 {
        self.used.saturating_add(self.wanted)
    }

    /// Add the demand since the last change.
    fn pass(&mut self, now: f64) {
        *self.times.entry(self.demand()).or_default() += now - self.since;
        self.since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::{SMOOTHING, Seats};

    fn close(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-9
    }

    #[test]
    fn demand_is_measured_over_time() {
        let mut found = Seats::new(0.0);
        found.run(4, 0.0);
        found.release(4, 5.0);
        assert_eq!(found.lasted(10.0), [(0, 5.0), (4, 5.0)]);
        found.look(10.0);
        assert_eq!(found.high, 4);
        assert!(close(found.average, 2.0) && close(found.deviation, 2.0) && close(found.smoothed, 4.0));
        found.look(20.0);
        assert_eq!(found.high, 0);
        assert!(close(found.average, 0.0) && close(found.smoothed, SMOOTHING * 4.0));
    }

    #[test]
    fn seats_that_are_wanted_are_demand_as_well() {
        let mut found = Seats::new(0.0);
        found.run(1, 0.0);
        found.want(3, 0.0);
        assert_eq!((found.most, found.wanted), (4, 3));
        found.want(-3, 1.0);
        found.look(2.0);
        assert_eq!((found.high, found.most, found.used), (4, 1, 1));
        assert!(close(found.average, 2.5));
    }
}
