//! The seats and queues of one priority level (apiserver `fairqueuing/queueset/queueset.go`).
//!
//! Each queue gets the same share of the level. Progress is measured in virtual time, in seat-seconds: a queue's next
//! request begins where its former ones end, and the one that ends first is served. Unlike upstream's, this time is that
//! of the request served last (start-time fair queueing): seats are seldom short here, but the time of the loop is.

use std::sync::Arc;

use hydrofoil_metrics::Histogram;

use crate::{Flow, GUESS, Kind, Kinds, Queue, Reason, Room, Seats, Timing, Turn, Work, slots::Slots};

/// The buckets of parts of a limit (`priority_level_request_utilization`).
const RATIOS: &[f64] = &[0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1.0];

/// A request that arrives.
#[derive(Debug)]
pub struct Arrival<T> {
    /// Its flow.
    pub flow: Arc<Flow>,
    /// Its estimated work.
    pub work: Work,
    /// Its kind.
    pub kind: Kind,
    /// A value that is kept with it.
    pub of: T,
}

/// A request of a level: it waits, runs, or keeps seats after its end.
#[derive(Debug)]
pub struct Ticket<T> {
    /// The request as it arrived.
    pub arrival: Arrival<T>,
    /// The number of its queue.
    pub queue: Option<usize>,
    /// When it arrived.
    pub arrived: f64,
    /// When it began to run.
    pub started: Option<f64>,
    /// Whether it has ended, and keeps its seats for watchers.
    late: bool,
}

/// The fate of a request that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// It runs.
    Runs(usize),
    /// It waits in its queue.
    Waits(usize),
    /// It is refused.
    Refused,
}

/// When a request began, and when it ended.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// The begin.
    pub begun: f64,
    /// The end.
    pub ended: f64,
}

/// The seats and queues of a level.
#[derive(Debug)]
pub struct Level<T> {
    exempt: bool,
    limit: u64,
    length: usize,
    queues: Vec<Queue>,
    /// The demand for seats.
    pub seats: Seats,
    /// Requests that run.
    pub executing: u64,
    /// Requests that have run or do so.
    pub dispatched: u64,
    /// Requests that wait.
    pub waiting: u64,
    /// Requests that were refused, and those of them that had waited for too long.
    pub rejected: u64,
    /// Requests that had waited for too long.
    pub late: u64,
    /// The virtual time: where the request served last began.
    pub now: f64,
    /// Requests that run and wait over time, as parts of the seats and of the room in queues.
    over_time: [Timing; 2],
    tickets: Slots<Ticket<T>>,
    /// Queues with waiting requests, in the order in which they are looked at.
    backlog: Vec<usize>,
    /// Whether the next waiting request lacks seats, rather than time of the loop.
    short: bool,
    deals: usize,
}

impl<T> Level<T> {
    /// Begin without seats; a level that is exempt needs none.
    pub fn new(exempt: bool, now: f64) -> Self {
        Self {
            exempt,
            limit: 0,
            length: 0,
            queues: Vec::new(),
            seats: Seats::new(now),
            executing: 0,
            dispatched: 0,
            waiting: 0,
            rejected: 0,
            late: 0,
            now: 0.0,
            over_time: [Timing::new(RATIOS, now), Timing::new(RATIOS, now)],
            tickets: Slots::default(),
            backlog: Vec::new(),
            short: false,
            deals: 0,
        }
    }

    /// Set the seats that are its own, those it has at present, the number of queues, and their length.
    pub fn configure(&mut self, nominal: u64, limit: u64, count: usize, length: usize, now: f64) {
        (self.limit, self.length) = (limit, length);
        self.seats.limit(nominal, limit, now);
        let [running, waiting] = &mut self.over_time;
        running.limit(limit, now);
        waiting.limit((count as u64).saturating_mul(length as u64), now);
        while self.queues.len() < count {
            self.queues.push(Queue::default());
        }
        while self.queues.len() > count && self.queues.last().is_some_and(|last| !last.active()) {
            self.queues.pop();
        }
    }

    /// Report whether it has no limit.
    pub fn is_exempt(&self) -> bool {
        self.exempt
    }

    /// Return the seats at present.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Complete the figures of a period, and begin the next.
    pub fn look(&mut self, now: f64) {
        self.seats.look(if self.exempt { self.executing } else { 0 }, now);
    }

    /// Return how long which part of the limit ran, or waited.
    pub fn requests(&mut self, waits: bool, now: f64) -> Histogram {
        let [running, waiting] = &mut self.over_time;
        if waits { waiting } else { running }.until(now)
    }

    /// Return its queues.
    pub fn queues(&self) -> &[Queue] {
        &self.queues
    }

    /// Return how many queues have waiting requests.
    pub fn backlog(&self) -> usize {
        self.backlog.len()
    }

    /// Return a request that waits or runs.
    pub fn ticket(&self, number: usize) -> Option<&Ticket<T>> {
        self.tickets.get(number)
    }

    /// Return what is kept with a request that waits or runs.
    pub fn of_mut(&mut self, number: usize) -> Option<&mut T> {
        Some(&mut self.tickets.get_mut(number)?.arrival.of)
    }

    /// Return the requests that run.
    pub fn running(&self) -> impl Iterator<Item = &Ticket<T>> {
        self.tickets.iter().filter(|ticket| ticket.started.is_some() && !ticket.late)
    }

    /// Begin a request of a level without a limit.
    pub fn enter(&mut self, arrival: Arrival<T>, kinds: &mut Kinds, now: f64) -> usize {
        arrival.flow.counts.with(|counts| {
            counts.estimate(1);
            counts.run(0, None);
        });
        kinds.enter(arrival.kind, false, now);
        self.executing = self.executing.saturating_add(1);
        self.dispatched = self.dispatched.saturating_add(1);
        self.seats.count_demand(self.executing);
        self.tickets.put(Ticket { arrival, queue: None, arrived: now, started: Some(now), late: false })
    }

    /// Begin a request, let it wait in a queue of its flow, or refuse it.
    pub fn start(&mut self, arrival: Arrival<T>, room: Room, turn: &mut Turn, kinds: &mut Kinds, now: f64) -> Start {
        if self.exempt {
            return Start::Runs(self.enter(arrival, kinds, now));
        }
        let seats = arrival.work.most();
        arrival.flow.counts.with(|counts| counts.estimate(seats));
        let place = self.choose(&arrival.flow);
        let Some((number, queue)) = place.and_then(|number| Some((number, self.queues.get_mut(number)?))) else {
            if !self.fits(seats) {
                return self.refuse(&arrival, Reason::Limit);
            }
            turn.began();
            let number = self.put(arrival, None, now);
            self.run(number, kinds, now);
            self.count(now);
            return Start::Runs(number);
        };
        if queue.waiting.len() >= self.length
            && (room == Room::Used || self.seats.used.saturating_add(self.seats.of_others()) >= self.limit)
        {
            return self.refuse(&arrival, Reason::Full);
        }
        // An idle queue gathers no share for later.
        queue.next = queue.next.max(self.now);
        let single = !queue.active() && queue.next <= self.now;
        let fits = self.fits(seats);
        let begins = fits && ((self.waiting == 0 && room == Room::Free) || (single && !self.short && turn.single(now)));
        let ticket = self.put(arrival, Some(number), now);
        if begins {
            turn.began();
            self.run(ticket, kinds, now);
            self.count(now);
            return Start::Runs(ticket);
        }
        self.short |= !fits;
        self.wait(ticket, number, seats, kinds, now);
        self.count(now);
        Start::Waits(ticket)
    }

    /// Run a request that has been answered already, from its begin to its end: if it need not have waited. Report
    /// whether it ran; of one that did not, nothing is counted.
    pub fn pass(&mut self, arrival: Arrival<T>, turn: &mut Turn, kinds: &mut Kinds, times: Times, room: Room) -> bool {
        let free = self.exempt || (self.waiting == 0 && room == Room::Free && self.fits(arrival.work.most()));
        if !free {
            return false;
        }
        let Start::Runs(number) = self.start(arrival, room, turn, kinds, times.begun) else { return false };
        self.finish(number, kinds, times.ended);
        self.release(number, times.ended);
        true
    }

    /// Run so many waiting requests at most while seats are free: the queue that ends first is next.
    pub fn dispatch(&mut self, most: usize, turn: &mut Turn, kinds: &mut Kinds, now: f64) -> Vec<usize> {
        let mut found = Vec::new();
        while let Some((place, number, ticket, seats)) = self.first() {
            self.short = !self.fits(seats);
            if self.short {
                if let Some(ticket) = self.tickets.get(ticket) {
                    ticket.arrival.flow.counts.with(|counts| counts.unfit = counts.unfit.saturating_add(1));
                }
                break;
            }
            if found.len() == most {
                turn.hold(now);
                break;
            }
            turn.began();
            // The others are looked at first where several end at the same time.
            self.backlog.remove(place);
            self.backlog.push(number);
            if let Some(queue) = self.queues.get_mut(number) {
                queue.waiting.pop_front();
            }
            self.leave(ticket, kinds, now);
            self.run(ticket, kinds, now);
            self.count(now);
            found.push(ticket);
        }
        found
    }

    /// End the wait of a request: it is refused, or its client has disconnected. Return what is kept with it.
    pub fn expire(&mut self, number: usize, kinds: &mut Kinds, now: f64) -> Option<T> {
        let ticket = self.tickets.get(number)?;
        if ticket.started.is_some() {
            return None;
        }
        let waited = now - ticket.arrived;
        if let Some(queue) = ticket.queue.and_then(|queue| self.queues.get_mut(queue)) {
            queue.waiting.retain(|waiting| *waiting != number);
        }
        self.leave(number, kinds, now);
        self.count(now);
        self.rejected = self.rejected.saturating_add(1);
        self.late = self.late.saturating_add(1);
        let ticket = self.tickets.take(number)?;
        ticket.arrival.flow.counts.with(|counts| {
            counts.reject(Reason::Late);
            counts.refused.observe(waited, 1);
        });
        Some(ticket.arrival.of)
    }

    /// End a request that runs: return after how many seconds its seats are to be released; None if it did not run.
    pub fn finish(&mut self, number: usize, kinds: &mut Kinds, now: f64) -> Option<f64> {
        let ticket = self.tickets.get_mut(number)?;
        let (Some(started), false) = (ticket.started, ticket.late) else { return None };
        let (took, work, kind) = (now - started, ticket.arrival.work, ticket.arrival.kind);
        ticket.arrival.flow.counts.with(|counts| counts.finish(took, kind == Kind::Watch));
        kinds.leave(kind, false, now);
        self.executing = self.executing.saturating_sub(1);
        if let Some(queue) = ticket.queue.and_then(|queue| self.queues.get_mut(queue)) {
            queue.executing = queue.executing.saturating_sub(1);
            // The share was charged with a guess.
            queue.next -= work.first as f64 * (GUESS - took);
        }
        ticket.late = true;
        let after = if ticket.queue.is_some() { work.extra } else { 0.0 };
        if !self.exempt {
            self.count(now);
        }
        Some(after)
    }

    /// Release the seats of a request that has ended. Return what was kept with it.
    pub fn release(&mut self, number: usize, now: f64) -> Option<T> {
        let ticket = self.tickets.take(number)?;
        if self.exempt {
            return Some(ticket.arrival.of);
        }
        let seats = ticket.arrival.work.most();
        self.seats.release(seats, now);
        ticket.arrival.flow.counts.with(|counts| counts.seats = counts.seats.saturating_sub(seats));
        if let Some(queue) = ticket.queue.and_then(|queue| self.queues.get_mut(queue)) {
            queue.seats = queue.seats.saturating_sub(seats);
        }
        Some(ticket.arrival.of)
    }

    /// Note the present numbers of requests.
    fn count(&mut self, now: f64) {
        let [running, waiting] = &mut self.over_time;
        running.set(self.executing, now);
        waiting.set(self.waiting, now);
    }

    fn put(&mut self, arrival: Arrival<T>, queue: Option<usize>, now: f64) -> usize {
        self.tickets.put(Ticket { arrival, queue, arrived: now, started: None, late: false })
    }

    fn refuse(&mut self, arrival: &Arrival<T>, reason: Reason) -> Start {
        self.rejected = self.rejected.saturating_add(1);
        arrival.flow.counts.with(|counts| counts.reject(reason));
        Start::Refused
    }

    /// Return the queue of a flow's hand with the least waiting work; each time another one is looked at first.
    fn choose(&mut self, flow: &Flow) -> Option<usize> {
        self.deals = self.deals.wrapping_add(1);
        let size = flow.hand.len();
        let card = |at: usize| flow.hand.get(self.deals.wrapping_add(at).checked_rem(size)?).copied();
        let mut best = card(0)?;
        if self.waiting > 0 {
            let work = |number: usize| self.queues.get(number).map_or(f64::INFINITY, |queue| queue.work);
            for at in 1..size {
                let other = card(at)?;
                if work(other) < work(best) {
                    best = other;
                }
            }
        }
        (best < self.queues.len()).then_some(best)
    }

    /// Return the waiting request that ends first: the place of its queue in the backlog, the queue, itself, its seats.
    fn first(&self) -> Option<(usize, usize, usize, u64)> {
        let mut best = None;
        let mut least = f64::INFINITY;
        for (place, &number) in self.backlog.iter().enumerate() {
            let queue = self.queues.get(number)?;
            let ticket = *queue.waiting.front()?;
            let work = self.tickets.get(ticket)?.arrival.work;
            let end = queue.next + work.total();
            if best.is_none() || end < least {
                (best, least) = (Some((place, number, ticket, work.most())), end);
            }
        }
        best
    }

    fn wait(&mut self, ticket: usize, number: usize, seats: u64, kinds: &mut Kinds, now: f64) {
        let (Some(queue), Some(found)) = (self.queues.get_mut(number), self.tickets.get(ticket)) else { return };
        if queue.waiting.is_empty() {
            self.backlog.push(number);
        }
        queue.waiting.push_back(ticket);
        queue.work += found.arrival.work.total();
        self.waiting = self.waiting.saturating_add(1);
        self.seats.want(seats, now);
        kinds.enter(found.arrival.kind, true, now);
        found.arrival.flow.counts.with(|counts| counts.wait(seats, queue.waiting.len()));
    }

    /// Count the end of a wait; the request is no longer in its queue.
    fn leave(&mut self, ticket: usize, kinds: &mut Kinds, now: f64) {
        let Some(found) = self.tickets.get(ticket) else { return };
        let (work, seats) = (found.arrival.work, found.arrival.work.most());
        self.waiting = self.waiting.saturating_sub(1);
        self.seats.waive(seats, now);
        kinds.leave(found.arrival.kind, true, now);
        found.arrival.flow.counts.with(|counts| counts.leave(seats));
        let Some(number) = found.queue else { return };
        let Some(queue) = self.queues.get_mut(number) else { return };
        queue.work -= work.total();
        if queue.waiting.is_empty() {
            queue.work = 0.0;
            self.backlog.retain(|waiting| *waiting != number);
            self.short &= !self.backlog.is_empty();
        }
    }

    fn run(&mut self, number: usize, kinds: &mut Kinds, now: f64) {
        let Some(ticket) = self.tickets.get_mut(number) else { return };
        ticket.started = Some(now);
        let (work, seats) = (ticket.arrival.work, ticket.arrival.work.most());
        self.executing = self.executing.saturating_add(1);
        self.dispatched = self.dispatched.saturating_add(1);
        self.seats.take(seats, now);
        kinds.enter(ticket.arrival.kind, false, now);
        let queued = ticket.queue.map(|_| now - ticket.arrived);
        ticket.arrival.flow.counts.with(|counts| counts.run(seats, queued));
        if let Some(queue) = ticket.queue.and_then(|queue| self.queues.get_mut(queue)) {
            queue.executing = queue.executing.saturating_add(1);
            queue.seats = queue.seats.saturating_add(seats);
            self.now = self.now.max(queue.next);
            queue.next += work.total();
        }
    }

    /// Report whether seats are free; a request that needs more than there are runs alone.
    fn fits(&self, seats: u64) -> bool {
        let others = self.seats.of_others();
        if seats > self.limit {
            return self.executing == 0 && others == 0;
        }
        self.seats.used.saturating_add(others).saturating_add(seats) <= self.limit
    }
}
