//! Seats and queues of priority levels.

use std::{
    sync::{
        Arc, LazyLock, OnceLock,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Instant,
};

use hydrofoil_fairness as fairness;
use hydrofoil_fairness::{Arrival, Kind, Room, Start, Times};
use hydrofoil_shared as shared;
use parking_lot::{Mutex, MutexGuard};
use pyo3::{
    gc::{PyTraverseError, PyVisit},
    prelude::*,
};

use crate::counting::Histogram;
use crate::flow::{Flow, Work};
use crate::handles::Region;

/// The number of a ticket whose request has ended.
const ENDED: usize = usize::MAX;
#[allow(clippy::disallowed_methods, reason = "work takes its time on this machine, whatever clock its server has")]
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Return seconds since the first call.
pub(crate) fn now() -> f64 {
    START.elapsed().as_secs_f64()
}

/// The clock of requests on one loop: it stands still while other classes of work have the loop.
///
/// Otherwise a turn in which thousands of watchers are served would count as used up by the first request in it, and
/// one request a turn would be served.
#[pyclass(frozen, module = "hydrofoil._native")]
#[derive(Default)]
pub(crate) struct RequestClock {
    /// The nanoseconds that were not of requests.
    others: AtomicU64,
}

impl RequestClock {
    /// Return the seconds that were not of requests.
    fn others(&self) -> f64 {
        self.others.load(Ordering::Relaxed) as f64 / 1e9
    }
}

#[pymethods]
impl RequestClock {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    fn set_aside(&self, seconds: f64) {
        self.others.fetch_add((seconds * 1e9) as u64, Ordering::Relaxed);
    }

    fn seconds(&self) -> f64 {
        now() - self.others()
    }
}

/// The time of the loop, and the requests of all levels by kind.
#[pyclass(frozen, module = "hydrofoil._native")]
pub(crate) struct LoopTurns {
    clock: Py<RequestClock>,
    /// Level, turn and kinds are always locked in this order (`Queues::with`): a thread that had the turn and asked for
    /// a level could wait for one that has the level and asks for the turn.
    turn: Mutex<fairness::Turn>,
    /// Locked last.
    kinds: Mutex<fairness::Kinds>,
    /// The object that marks the loop, and waits.
    host: Py<PyAny>,
}

impl LoopTurns {
    /// Return the turn, which knows what other classes have had.
    fn turn(&self) -> MutexGuard<'_, fairness::Turn> {
        let mut turn = self.turn.lock();
        turn.set_others(self.clock.get().others());
        turn
    }

    fn mark(&self, py: Python<'_>, wanted: bool) -> PyResult<()> {
        if wanted {
            self.host.call_method0(py, "mark")?;
        }
        Ok(())
    }
}

#[pymethods]
impl LoopTurns {
    #[new]
    #[pyo3(signature = (host, clock, queued, arrivals, gaps=true))]
    fn new(host: Py<PyAny>, clock: Py<RequestClock>, queued: f64, arrivals: f64, gaps: bool) -> Self {
        let turn = fairness::Turn::new(fairness::Slices { queued, arrivals }, gaps);
        Self { clock, turn: Mutex::new(turn), kinds: Mutex::new(fairness::Kinds::new(now())), host }
    }

    fn full(&self, py: Python<'_>) -> PyResult<bool> {
        let (full, mark) = self.turn().full(now());
        self.mark(py, mark)?;
        Ok(full)
    }

    fn end(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        let room = self.turn().end(now());
        self.mark(py, room.is_some())?;
        Ok(room)
    }

    fn limit(&self, running: u64, waiting: u64) {
        self.kinds.lock().limit(running, waiting, now());
    }

    fn requests(&self, writes: bool, waits: bool) -> u64 {
        self.kinds.lock().of(writes, waits).value()
    }

    fn requests_over_time(&self, writes: bool, waits: bool) -> Histogram {
        self.kinds.lock().of(writes, waits).until(now()).into()
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.host)
    }
}

/// The Python objects of a request.
struct Held {
    request: Py<PyAny>,
    flow: Py<Flow>,
    granted: Option<Py<PyAny>>,
}

fn arrival(flow: Py<Flow>, work: fairness::Work, request: Py<PyAny>, verb: &str) -> Arrival<Held> {
    Arrival { flow: flow.get().inner(), work, kind: Kind::of(verb), of: Held { request, flow, granted: None } }
}

/// A request that waits or runs, as pages show it: request, flow, work, queue, place in it, seconds since it came and
/// began.
type Shown = (Py<PyAny>, Py<Flow>, Work, Option<usize>, Option<usize>, f64, Option<f64>);

/// The seats and queues of a level.
#[pyclass(frozen, module = "hydrofoil._native")]
pub(crate) struct Queues {
    /// Locked first, before the turn of the loop.
    level: Mutex<fairness::Level<Held>>,
    turns: Py<LoopTurns>,
    /// The memory of all processes of the server, if the level has its seats in common with them.
    region: OnceLock<Arc<shared::Region>>,
}

/// The seats of a level in the memory that all processes of a server map.
#[derive(Debug)]
struct RegionSeats {
    region: Arc<shared::Region>,
    counter: usize,
}

impl fairness::CommonSeats for RegionSeats {
    fn of_others(&self) -> u64 {
        let own = self.region.count(self.counter, self.region.slot());
        u64::try_from(self.region.total(self.counter).saturating_sub(own)).unwrap_or_default()
    }

    fn change(&self, seats: i64) {
        self.region.add(self.counter, seats);
    }
}

impl Queues {
    /// Change the level, beside the turn and the requests of all levels.
    fn with<T>(
        &self,
        what: impl FnOnce(&mut fairness::Level<Held>, &mut fairness::Turn, &mut fairness::Kinds, f64) -> T,
    ) -> T {
        let turns = self.turns.get();
        let mut level = self.level.lock();
        // Last of all locks but those below, and for some microseconds: other processes wait for it.
        let _one = self.region.get().map(|region| region.hold());
        what(&mut level, &mut turns.turn(), &mut turns.kinds.lock(), now())
    }

    /// Report whether requests that arrive have to wait for the next turn of the loop.
    pub(crate) fn is_turn_full(&self, py: Python<'_>) -> PyResult<bool> {
        self.turns.get().full(py)
    }

    /// Run a read that was answered already and began at `begun`, if it need not have waited; report whether it ran.
    pub(crate) fn pass(&self, py: Python<'_>, flow: &Py<Flow>, work: fairness::Work, begun: f64) -> PyResult<bool> {
        let arrival = Arrival {
            flow: flow.get().inner(),
            work,
            kind: Kind::Read,
            of: Held { request: py.None(), flow: flow.clone_ref(py), granted: None },
        };
        let (passed, mark) = self.with(|level, turn, kinds, now| {
            let (room, marks) = if level.is_exempt() { (Room::Free, false) } else { turn.arrive(begun) };
            let passed = level.pass(arrival, turn, kinds, Times { begun, ended: now }, room);
            (passed, marks | (passed && Self::ended(level, turn, now)))
        });
        self.turns.get().mark(py, mark)?;
        Ok(passed)
    }

    /// Note a request that ended, and whether others wait; return whether the loop has to be marked.
    fn ended(level: &fairness::Level<Held>, turn: &mut fairness::Turn, now: f64) -> bool {
        turn.end_request(now);
        level.backlog() > 0 && turn.hold(now)
    }
}

#[pymethods]
impl Queues {
    #[new]
    #[pyo3(signature = (turns, exempt=false))]
    fn new(turns: Py<LoopTurns>, exempt: bool) -> Self {
        Self { level: Mutex::new(fairness::Level::new(exempt, now())), turns, region: OnceLock::new() }
    }

    /// Take the seats from a limit that other processes take theirs from, too, under the name of the level.
    fn share(&self, region: &Region, name: &str) {
        let region = &region.0;
        let Some(counter) = region.counter(name) else { return };
        self.level.lock().seats.common = Some(Arc::new(RegionSeats { region: Arc::clone(region), counter }));
        // It is shared once: a level keeps its name.
        let _ = self.region.set(Arc::clone(region));
    }

    fn configure(&self, py: Python<'_>, nominal: u64, limit: u64, count: usize, length: usize) -> PyResult<()> {
        let mark = self.with(|level, turn, _, now| {
            level.configure(nominal, limit, count, length, now);
            level.backlog() > 0 && turn.hold(now)
        });
        self.turns.get().mark(py, mark)
    }

    fn enter(slf: &Bound<'_, Self>, flow: Py<Flow>, request: Py<PyAny>, verb: &str) -> Ticket {
        let arrival = arrival(flow, fairness::Work::ONE, request, verb);
        let number = slf.get().with(|level, _, kinds, now| level.enter(arrival, kinds, now));
        Ticket::new(slf, number, false)
    }

    fn start(
        slf: &Bound<'_, Self>,
        flow: Py<Flow>,
        work: &Work,
        request: Py<PyAny>,
        verb: &str,
    ) -> PyResult<Option<Ticket>> {
        let arrival = arrival(flow, work.inner(), request, verb);
        let (start, mark) = slf.get().with(|level, turn, kinds, now| {
            let (room, marks) = turn.arrive(now);
            let start = level.start(arrival, room, turn, kinds, now);
            (start, marks | (matches!(start, Start::Waits(_)) && turn.hold(now)))
        });
        slf.get().turns.get().mark(slf.py(), mark)?;
        Ok(match start {
            Start::Runs(number) => Some(Ticket::new(slf, number, false)),
            Start::Waits(number) => Some(Ticket::new(slf, number, true)),
            Start::Refused => None,
        })
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.turns)
    }

    /// Run waiting requests; return what each of them waits for.
    fn dispatch(&self, py: Python<'_>, most: usize) -> Vec<Py<PyAny>> {
        self.with(|level, turn, kinds, now| {
            let numbers = level.dispatch(most, turn, kinds, now);
            let granted = |number| level.ticket(number)?.arrival.of.granted.as_ref();
            numbers.into_iter().filter_map(granted).map(|granted| granted.clone_ref(py)).collect()
        })
    }

    #[getter]
    fn limit(&self) -> u64 {
        self.level.lock().limit()
    }

    #[getter]
    fn backlog(&self) -> usize {
        self.level.lock().backlog()
    }

    #[getter]
    fn waiting(&self) -> u64 {
        self.level.lock().waiting
    }

    #[getter]
    fn executing(&self) -> u64 {
        self.level.lock().executing
    }

    #[getter]
    fn dispatched(&self) -> u64 {
        self.level.lock().dispatched
    }

    #[getter]
    fn rejected(&self) -> u64 {
        self.level.lock().rejected
    }

    #[getter]
    fn late(&self) -> u64 {
        self.level.lock().late
    }

    #[getter]
    fn progress(&self) -> f64 {
        self.level.lock().now
    }

    #[getter]
    fn seats(&self) -> u64 {
        self.level.lock().seats.used
    }

    #[getter]
    fn high(&self) -> u64 {
        self.level.lock().seats.high
    }

    #[getter]
    fn average(&self) -> f64 {
        self.level.lock().seats.average
    }

    #[getter]
    fn deviation(&self) -> f64 {
        self.level.lock().seats.deviation
    }

    #[getter]
    fn smoothed(&self) -> f64 {
        self.level.lock().seats.smoothed
    }

    fn look(&self) {
        self.level.lock().look(now());
    }

    fn demands(&self) -> Histogram {
        self.level.lock().seats.demands(now()).into()
    }

    fn uses(&self) -> Histogram {
        self.level.lock().seats.uses(now()).into()
    }

    fn requests_over_time(&self, waits: bool) -> Histogram {
        self.level.lock().requests(waits, now()).into()
    }

    /// Return of each queue: waiting and running requests, seats, virtual time, seats wanted at first and at most,
    /// work.
    fn states(&self) -> Vec<(usize, u64, u64, f64, u64, u64, f64)> {
        let level = self.level.lock();
        let state = |queue: &fairness::Queue| {
            let works = || queue.waiting.iter().filter_map(|number| Some(level.ticket(*number)?.arrival.work));
            let first = works().map(|work| work.first).sum();
            let most = works().map(|work| work.most()).sum();
            (queue.waiting.len(), queue.executing, queue.seats, queue.next, first, most, queue.work)
        };
        level.queues().iter().map(state).collect()
    }

    /// Return the requests that wait, queue by queue, and those that run.
    fn requests(&self, py: Python<'_>) -> Vec<Shown> {
        let now = now();
        let level = self.level.lock();
        let show = |ticket: &fairness::Ticket<Held>, place: Option<usize>| {
            let held = &ticket.arrival.of;
            let began = ticket.started.map(|started| now - started);
            let (request, flow) = (held.request.clone_ref(py), held.flow.clone_ref(py));
            (request, flow, Work::from(ticket.arrival.work), ticket.queue, place, now - ticket.arrived, began)
        };
        let mut found = Vec::new();
        for queue in level.queues() {
            let tickets = queue.waiting.iter().filter_map(|number| level.ticket(*number));
            found.extend(tickets.enumerate().map(|(place, ticket)| show(ticket, Some(place))));
        }
        found.extend(level.running().map(|ticket| show(ticket, None)));
        found
    }
}

/// One request of a level.
#[pyclass(frozen, module = "hydrofoil._native")]
pub(crate) struct Ticket {
    queues: Py<Queues>,
    /// Its number in the level, until it has ended.
    number: AtomicUsize,
    #[pyo3(get)]
    waits: bool,
}

impl Ticket {
    fn new(queues: &Bound<'_, Queues>, number: usize, waits: bool) -> Self {
        Self { queues: queues.clone().unbind(), number: AtomicUsize::new(number), waits }
    }
}

#[pymethods]
impl Ticket {
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.queues)
    }

    #[getter]
    fn executing(&self) -> bool {
        let number = self.number.load(Ordering::Relaxed);
        self.queues.get().level.lock().ticket(number).is_some_and(|ticket| ticket.started.is_some())
    }

    fn hold(&self, granted: Py<PyAny>) {
        let number = self.number.load(Ordering::Relaxed);
        if let Some(held) = self.queues.get().level.lock().of_mut(number) {
            held.granted = Some(granted);
        }
    }

    /// End the wait of a request; return what it waits for.
    fn expire(&self) -> Option<Py<PyAny>> {
        let number = self.number.load(Ordering::Relaxed);
        let held = self.queues.get().with(|level, _, kinds, now| level.expire(number, kinds, now))?;
        self.number.store(ENDED, Ordering::Relaxed);
        held.granted
    }

    fn __call__(slf: &Bound<'_, Self>, _outcome: &Bound<'_, PyAny>) -> PyResult<()> {
        Self::end(slf)
    }

    /// End a request: release its seats, at once or when watchers have their events.
    fn end(slf: &Bound<'_, Self>) -> PyResult<()> {
        let (this, py) = (slf.get(), slf.py());
        let number = this.number.load(Ordering::Relaxed);
        let queues = this.queues.get();
        let (later, mark, held) = queues.with(|level, turn, kinds, now| {
            let Some(after) = level.finish(number, kinds, now) else { return (None, false, None) };
            let held = if after > 0.0 { None } else { level.release(number, now) };
            (Some(after), Queues::ended(level, turn, now), held)
        });
        match later {
            None => return Ok(()),
            Some(after) if after > 0.0 => {
                queues.turns.get().host.call_method1(py, "later", (after, slf.getattr("release")?))?;
            }
            Some(_) => this.number.store(ENDED, Ordering::Relaxed),
        }
        // Dropping the request may run its destructor: no lock is held.
        drop(held);
        queues.turns.get().mark(py, mark)
    }

    /// Release the seats of a request that has ended.
    fn release(&self, py: Python<'_>) -> PyResult<()> {
        let number = self.number.swap(ENDED, Ordering::Relaxed);
        let queues = self.queues.get();
        let (held, mark) = queues.with(|level, turn, _, now| {
            let held = level.release(number, now);
            (held, Queues::ended(level, turn, now))
        });
        drop(held);
        queues.turns.get().mark(py, mark)
    }
}
