//! The time of the event loop, shared by the requests of all levels.
//!
//! Requests that find their turn of the loop used up wait in their queue, so that of many at once those of other flows
//! are served first. Without that the loop would serve whatever arrived, and one client with many connections most.

/// The seconds of one turn of the loop that requests may take (`hydrofoil/pace/shares.py`).
#[derive(Clone, Copy, Debug)]
pub struct Slices {
    /// Those of requests that run from the queues of levels, before the rest of them waits.
    pub queued: f64,
    /// Those in which requests begin. No level holds them back by then.
    pub arrivals: f64,
}

/// The number of waiting requests that one turn serves, at most.
const MOST: u64 = 32;
/// The number of requests in one turn that are the only ones of their queue.
const SINGLE: u64 = 8;
/// The seconds of a request before any was measured.
const GUESS: f64 = 0.0001;
/// Seconds without any request that show that the loop has begun another turn.
const GAP: f64 = 0.0001;

/// How a request may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// At once.
    Free,
    /// Not before those that wait.
    Used,
}

/// The part of the present turn that is used up.
///
/// A mark runs through the loop at the end of a turn; without it, the next turn is seen by the gap before it. Marks are
/// saved where they can be: one costs about a hundredth of a request.
///
/// It counts the time of requests: that of the machine less what other classes of work have had of the loop. Otherwise a
/// turn in which thousands of watchers are served would count as used up by the first request in it.
#[derive(Debug)]
pub struct Turn {
    slices: Slices,
    /// The seconds that other classes have had since the start.
    others: f64,
    began: f64,
    /// When a request ended last.
    ended: f64,
    /// When a request last asked whether it may begin, and when one last arrived at a level.
    asked: f64,
    arrived: f64,
    /// Whether a mark is on its way.
    marked: bool,
    /// Until when requests that no level holds back may begin without a mark.
    until: f64,
    /// How many requests begin in this turn, and how many of them as the only ones of their queue.
    begun: u64,
    single: u64,
    /// Whether requests wait that could run now.
    held: bool,
    /// The seconds of one request.
    cost: f64,
    /// Whether gaps count: only where `ended` is called.
    gaps: bool,
}

impl Turn {
    /// Begin. `gaps`: `ended` is called at the end of each request.
    pub fn new(slices: Slices, gaps: bool) -> Self {
        Self {
            slices,
            others: 0.0,
            began: f64::NEG_INFINITY,
            ended: f64::NEG_INFINITY,
            asked: f64::NEG_INFINITY,
            arrived: f64::NEG_INFINITY,
            marked: false,
            until: f64::NEG_INFINITY,
            begun: 0,
            single: 0,
            held: false,
            cost: GUESS,
            gaps,
        }
    }

    /// Take over how many seconds other classes have had since the start.
    pub fn set_others(&mut self, seconds: f64) {
        self.others = seconds;
    }

    /// Return how a request that arrives may begin, and whether the loop has to be marked.
    pub fn arrive(&mut self, now: f64) -> (Room, bool) {
        let now = now - self.others;
        if self.marked {
            return (if now - self.began > self.slices.queued { Room::Used } else { Room::Free }, false);
        }
        let idle = self.is_idle(now, self.arrived);
        self.arrived = now;
        if idle {
            self.begin(now);
            return (Room::Free, false);
        }
        self.mark(now);
        (Room::Free, true)
    }

    /// Report whether the loop has begun another turn since a request last did something.
    ///
    /// Only time after an end shows it: a request that began and has not ended, since it waits for a webhook or in its
    /// queue, may have had all of that time.
    fn is_idle(&self, now: f64, begun: f64) -> bool {
        self.gaps && begun <= self.ended && now - self.ended > GAP
    }

    /// Report whether a request has to wait before it begins, and whether the loop has to be marked.
    ///
    /// The first half of the share is measured from the first request on, whatever turn that was in; only what exceeds
    /// it is marked, and has the other half. So a turn takes the whole share at most, and few turns need a mark.
    pub fn full(&mut self, now: f64) -> (bool, bool) {
        let now = now - self.others;
        let idle = self.is_idle(now, self.asked);
        self.asked = now;
        if now < self.until {
            return (false, false);
        }
        // Without gaps each turn is marked by its first request, and measured as a whole.
        let part = if self.gaps { self.slices.arrivals / 2.0 } else { self.slices.arrivals };
        if self.marked {
            return (now - self.began > part, false);
        }
        self.until = now + part;
        if idle {
            return (false, false);
        }
        self.mark(now);
        (false, true)
    }

    /// Report whether the only request of a queue may begin although the turn is used up, and count it.
    pub fn single(&mut self, now: f64) -> bool {
        let now = now - self.others;
        let free = self.single < SINGLE && now - self.began < self.slices.arrivals;
        if free {
            self.single = self.single.saturating_add(1);
        }
        free
    }

    /// Note a request that waits; return whether the loop has to be marked.
    pub fn hold(&mut self, now: f64) -> bool {
        let now = now - self.others;
        let mark = !self.marked;
        if mark {
            self.mark(now);
        }
        self.held = true;
        mark
    }

    /// Count a request that begins.
    pub fn began(&mut self) {
        self.begun = self.begun.saturating_add(1);
    }

    /// Note the end of a request.
    pub fn end_request(&mut self, now: f64) {
        let now = now - self.others;
        self.ended = now;
    }

    /// End a turn at its mark: return how many waiting requests may run in the next, which has to be marked; None if none
    /// wait.
    pub fn end(&mut self, now: f64) -> Option<u64> {
        let now = now - self.others;
        self.marked = false;
        if self.begun > 0 {
            let took = (now - self.began) / self.begun as f64;
            self.cost += (took - self.cost) / 8.0;
        }
        if !self.held {
            // The usual turn: nothing has waited.
            return None;
        }
        self.mark(now);
        Some(((self.slices.queued / self.cost.max(1e-6)) as u64).clamp(1, MOST))
    }

    fn mark(&mut self, now: f64) {
        self.marked = true;
        self.begin(now);
    }

    fn begin(&mut self, now: f64) {
        self.began = now;
        (self.begun, self.single, self.held) = (0, 0, false);
    }
}

#[cfg(test)]
mod tests {
    use super::{GAP, MOST, Room, SINGLE, Slices, Turn};

    const TURN: f64 = 0.0002;
    const LONG: f64 = 0.002;
    const SLICES: Slices = Slices { queued: TURN, arrivals: LONG };

    #[test]
    fn a_turn_is_used_up_and_the_next_one_is_new() {
        let mut turn = Turn::new(SLICES, false);
        assert_eq!(turn.arrive(0.0), (Room::Free, true));
        assert_eq!(turn.arrive(TURN), (Room::Free, false));
        assert_eq!(turn.arrive(2.0 * TURN), (Room::Used, false));
        assert_eq!(turn.end(1.0), None);
        assert_eq!(turn.arrive(1.0), (Room::Free, true));
    }

    #[test]
    fn requests_one_after_the_other_need_no_mark() {
        let mut turn = Turn::new(SLICES, true);
        for at in [0.0, 1.0, 2.0] {
            assert_eq!(turn.arrive(at), (Room::Free, false));
            turn.end_request(at + TURN);
        }
        assert_eq!(turn.arrive(2.0 + TURN + GAP / 2.0), (Room::Free, true));
    }

    #[test]
    fn requests_begin_for_the_whole_share_of_a_turn() {
        let half = LONG / 2.0;
        let mut turn = Turn::new(SLICES, true);
        assert_eq!(turn.full(0.0), (false, false));
        turn.end_request(half - GAP / 2.0);
        assert_eq!(turn.full(half / 2.0), (false, false));
        assert_eq!(turn.full(half), (false, true));
        turn.end_request(half * 1.9);
        assert_eq!(turn.full(half * 1.9), (false, false));
        assert_eq!(turn.full(half * 2.1), (true, false));
        assert_eq!(turn.end(half * 2.5), None);
    }

    /// Else a crowd of requests that wait for a webhook would all begin in one turn.
    #[test]
    fn requests_that_have_not_ended_show_no_gap() {
        let mut turn = Turn::new(SLICES, true);
        turn.full(0.0);
        turn.end_request(0.0);
        let step = LONG / 4.0;
        let held = (1..20).find(|count| turn.full(f64::from(*count) * step).0);
        assert!(held.is_some_and(|count| count <= 5), "{held:?}");
    }

    #[test]
    fn waiting_requests_share_a_turn() {
        let mut turn = Turn::new(SLICES, false);
        assert!(turn.hold(0.0));
        assert_eq!(turn.end(0.0), Some(2));
        assert!(!turn.hold(0.0));
        turn.began();
        turn.began();
        // Two took a tenth of the guess.
        let room = turn.end(TURN / 20.0).expect("one was held");
        assert!((2..=MOST).contains(&room));
        turn.hold(0.5);
        assert!(turn.end(1.0).is_some());
        assert_eq!(turn.end(2.0), None);
    }

    /// Else one request a turn would be served while many watchers are.
    #[test]
    fn the_time_of_watchers_is_not_that_of_requests() {
        let mut turn = Turn::new(SLICES, false);
        assert!(turn.hold(0.0));
        turn.end(0.0);
        turn.set_others(10.0 * LONG);
        assert_eq!(turn.arrive(10.0 * LONG + TURN / 2.0), (Room::Free, false));
        assert_eq!(turn.full(10.0 * LONG + LONG / 4.0), (false, false));
        assert!(turn.single(10.0 * LONG + LONG / 4.0));
        turn.began();
        turn.hold(10.0 * LONG);
        let room = turn.end(10.0 * LONG + TURN / 20.0);
        assert!(room.is_some_and(|room| room > 1), "{room:?}");
    }

    #[test]
    fn a_few_single_requests_begin_in_a_turn_that_is_used_up() {
        let mut turn = Turn::new(SLICES, false);
        turn.arrive(0.0);
        assert!((0..SINGLE).all(|_| turn.single(TURN * 2.0)) && !turn.single(TURN * 2.0));
        turn.end(1.0);
        turn.arrive(1.0);
        assert!(turn.single(1.0) && !turn.single(1.0 + LONG));
    }
}
