//! The demand for seats of a level over time (apiserver `pkg/util/flowcontrol/fairqueuing/integrator.go`).

use std::fmt::Debug;
use std::sync::Arc;

use hydrofoil_metrics::Histogram;

use crate::Timing;

/// The part of the last smoothed demand in the next: its half-life is 5 minutes.
const SMOOTHING: f64 = 0.977;
/// The buckets of the part of the seats that is in demand (`demand_seats`).
const DEMANDS: &[f64] = &[0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.7, 2.0, 2.8, 4.0, 6.0];
/// The buckets of the part of the seats that is in use (`priority_level_seat_utilization`).
const USES: &[f64] = &[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0];

/// The seats of a level that the processes of one server take from the same limit.
pub trait CommonSeats: Debug + Send + Sync {
    /// Return the seats that other processes use.
    fn of_others(&self) -> u64;

    /// Record that this process uses more, or less.
    fn change(&self, seats: i64);
}

/// The numbers of seats in use and wanted.
#[derive(Clone, Debug)]
pub struct Seats {
    /// What other processes use of the same seats; `None` if there are none.
    pub common: Option<Arc<dyn CommonSeats>>,
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
    /// Demand times seconds since the last look, and its square times seconds.
    sums: (f64, f64),
    demands: Timing,
    uses: Timing,
}

impl Seats {
    /// Begin without any request.
    pub fn new(now: f64) -> Self {
        Self {
            common: None,
            used: 0,
            wanted: 0,
            most: 0,
            high: 0,
            average: 0.0,
            deviation: 0.0,
            smoothed: 0.0,
            begun: now,
            since: now,
            sums: (0.0, 0.0),
            demands: Timing::new(DEMANDS, now),
            uses: Timing::new(USES, now),
        }
    }

    /// Set the seats that are the level's own, and those that it has at present.
    pub fn limit(&mut self, nominal: u64, present: u64, now: f64) {
        self.demands.limit(nominal, now);
        self.uses.limit(present, now);
    }

    /// Take seats.
    pub fn take(&mut self, seats: u64, now: f64) {
        self.pass(now);
        self.used = self.used.saturating_add(seats);
        if let Some(common) = &self.common {
            common.change(seats as i64);
        }
        self.uses.set(self.used, now);
        self.note_change(now);
    }

    /// Give seats back.
    pub fn release(&mut self, seats: u64, now: f64) {
        self.pass(now);
        self.used = self.used.saturating_sub(seats);
        if let Some(common) = &self.common {
            common.change(0_i64.saturating_sub(seats as i64));
        }
        self.uses.set(self.used, now);
        self.note_change(now);
    }

    /// Want seats that are not free.
    pub fn want(&mut self, seats: u64, now: f64) {
        self.pass(now);
        self.wanted = self.wanted.saturating_add(seats);
        self.note_change(now);
    }

    /// Stop wanting seats.
    pub fn waive(&mut self, seats: u64, now: f64) {
        self.pass(now);
        self.wanted = self.wanted.saturating_sub(seats);
        self.note_change(now);
    }

    /// Count a demand that takes no seat: that of a level without a limit.
    pub fn count_demand(&mut self, demand: u64) {
        self.most = self.most.max(demand);
    }

    /// Complete the figures of a period, and begin the next with a demand beside that for seats.
    pub fn look(&mut self, beside: u64, now: f64) {
        self.pass(now);
        (self.high, self.most) = (self.most, self.demand().max(beside));
        let period = now - self.begun;
        if period > 0.0 {
            self.average = self.sums.0 / period;
            self.deviation = (self.sums.1 / period - self.average * self.average).max(0.0).sqrt();
            let envelope = self.average + self.deviation;
            self.smoothed = envelope.max(SMOOTHING * self.smoothed + (1.0 - SMOOTHING) * envelope);
        }
        self.begun = now;
        self.sums = (0.0, 0.0);
    }

    /// Return how long each part of the level's own seats was in demand.
    pub fn demands(&mut self, now: f64) -> Histogram {
        self.demands.until(now)
    }

    /// Return how long each part of its present seats was in use.
    pub fn uses(&mut self, now: f64) -> Histogram {
        self.uses.until(now)
    }

    /// Return the seats that other processes use.
    pub fn of_others(&self) -> u64 {
        self.common.as_ref().map_or(0, |common| common.of_others())
    }

    fn demand(&self) -> u64 {
        self.used.saturating_add(self.wanted)
    }

    fn note_change(&mut self, now: f64) {
        let demand = self.demand();
        self.most = self.most.max(demand);
        self.demands.set(demand, now);
    }

    /// Add the demand since the last change.
    fn pass(&mut self, now: f64) {
        let demand = self.demand() as f64;
        let seen = demand * (now - self.since);
        self.sums.0 += seen;
        self.sums.1 += seen * demand;
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
        found.limit(4, 8, 0.0);
        found.take(4, 0.0);
        found.release(4, 5.0);
        let half = 5_000_000_000;
        assert!(found.demands(10.0).counts().starts_with(&[half, 0, 0, 0, half, 0]));
        assert!(found.uses(10.0).counts().starts_with(&[half, 0, 0, 0, 0, half, 0]));
        found.look(0, 10.0);
        assert_eq!(found.high, 4);
        assert!(close(found.average, 2.0) && close(found.deviation, 2.0) && close(found.smoothed, 4.0));
        found.look(3, 20.0);
        assert_eq!((found.high, found.most), (0, 3));
        assert!(close(found.average, 0.0) && close(found.smoothed, SMOOTHING * 4.0));
    }

    #[test]
    fn seats_that_are_wanted_are_demand_as_well() {
        let mut found = Seats::new(0.0);
        found.take(1, 0.0);
        found.want(3, 0.0);
        assert_eq!((found.most, found.wanted), (4, 3));
        found.waive(3, 1.0);
        found.look(0, 2.0);
        assert_eq!((found.high, found.most, found.used), (4, 1, 1));
        assert!(close(found.average, 2.5));
    }

    #[test]
    fn requests_without_seats_count_for_the_greatest_demand_alone() {
        let mut found = Seats::new(0.0);
        found.count_demand(7);
        found.count_demand(2);
        found.look(2, 10.0);
        assert_eq!((found.high, found.most), (7, 2));
        assert!(close(found.average, 0.0));
    }
}
