//! The loop: one thread, all connections.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

use mio::event::Event;
use mio::{Events, Token};

use crate::agent::{Agent, Flow, Next};
use crate::clock::of_seconds;
use crate::connection::{Connection, Fault, Meter, Read1};
use crate::exchange::Stage;
use crate::nap::Naps;
use crate::shared::{Phase, Shared};
use crate::slot::Slot;
use crate::sockets::{Sockets, URGENT};
use crate::world::World;

/// The size of the one buffer that all connections are read into: larger ones cost more misses of the cache.
const BUFFER: usize = 64 << 10;
/// Connections that are read before the urgent ones are looked at again.
const BETWEEN: usize = 16;
/// Reads of one connection before the others have a turn.
const TURN: usize = 4;
/// Connections that are being opened at a time.
const OPENING: usize = 64;
/// The longest wait between two attempts to open a connection again.
const LONGEST: u64 = 1_000_000_000;
/// Seconds without a byte after which an answer is given up.
const SILENCE: f64 = 60.0;
/// Seconds after which a watch without an answer counts as open.
const HELD: f64 = 5.0;
/// The time in which events too many would arrive after the last.
const LINGER: f64 = 0.2;

struct Loop<'a> {
    world: &'a mut World,
    shared: &'a Shared,
    sockets: Sockets,
    slots: Vec<Slot>,
    timers: BinaryHeap<Reverse<(u64, usize)>>,
    /// Slots whose agents are to be asked for their next request.
    turns: VecDeque<usize>,
    /// Slots that wait for a place among the connections that are being opened.
    waiting: VecDeque<usize>,
    opening: usize,
    /// Slots with unread bytes.
    unread: VecDeque<(usize, bool)>,
    buffer: Vec<u8>,
    meter: Meter,
    begun: bool,
    /// Whether the measurement is over, and all that is watched has arrived.
    settled: bool,
    /// Agents with work to do, without those that only wait.
    active: usize,
    naps: Naps,
}

/// Run the agents until all have done their work. The error ends the run.
pub(crate) fn drive(world: &mut World, agents: Vec<Box<dyn Agent>>, shared: &Shared) -> Result<(), String> {
    let sockets = Sockets::new()?;
    let slots: Vec<_> = agents.into_iter().map(Slot::new).collect();
    let waiting = (0..slots.len()).collect();
    let active = slots.iter().filter(|slot: &&Slot| !slot.exchange.agent.waits()).count();
    let watches = slots.len() - active;
    let mut run = Loop {
        world,
        shared,
        sockets,
        slots,
        timers: BinaryHeap::new(),
        turns: VecDeque::new(),
        waiting,
        opening: 0,
        unread: VecDeque::new(),
        buffer: vec![0; BUFFER],
        meter: Meter::default(),
        begun: false,
        settled: false,
        active,
        naps: Naps::new(watches == 0),
    };
    let result = run.run();
    run.publish();
    let pending: Vec<_> = run.slots.iter().filter_map(|slot| slot.exchange.agent.pending(run.world)).collect();
    run.world.owned.extend(pending);
    result
}

impl Loop<'_> {
    fn run(&mut self) -> Result<(), String> {
        let (mut events, mut urgent) = (Events::with_capacity(1024), Events::with_capacity(64));
        let mut looked = 0;
        let mut over = None;
        loop {
            self.world.tick();
            if self.shared.stopped() {
                return Ok(());
            }
            self.open_waiting()?;
            self.begin();
            self.wake();
            while let Some(at) = self.turns.pop_front() {
                self.turn(at)?;
            }
            for _ in 0..self.unread.len() {
                let Some((at, ended)) = self.unread.pop_front() else { break };
                self.read(at, ended)?;
            }
            if self.world.now.saturating_sub(looked) > 10_000_000 {
                looked = self.world.now;
                self.publish();
                self.look()?;
            }
            if self.begun && !self.settled && self.is_satisfied(false)? {
                self.settle();
            }
            if self.settled && over.is_none() && self.is_satisfied(true)? {
                over = Some(self.world.now);
            }
            if let Some(since) = over {
                let watched = self.slots.iter().any(|slot| slot.exchange.agent.waits());
                if !watched || self.world.now.saturating_sub(since) > of_seconds(LINGER) {
                    return Ok(());
                }
            }
            let patience = self.patience();
            if !patience.is_zero() {
                self.naps.take();
            }
            self.sockets.wait(&mut events, patience)?;
            for (count, event) in events.iter().enumerate() {
                if count.is_multiple_of(BETWEEN) {
                    self.hurry(&mut urgent)?;
                }
                if event.token() != URGENT {
                    self.event(event)?;
                }
            }
        }
    }

    /// Serve the urgent connections.
    fn hurry(&mut self, events: &mut Events) -> Result<(), String> {
        self.sockets.hurry(events)?;
        events.iter().try_for_each(|event| self.event(event))
    }

    fn event(&mut self, event: &Event) -> Result<(), String> {
        let at = event.token().0;
        if event.is_writable() {
            self.writable(at)?;
        }
        if event.is_readable() || event.is_read_closed() || event.is_error() {
            self.read(at, event.is_read_closed() || event.is_error())?;
        }
        Ok(())
    }

    /// The time that the loop may sleep.
    fn patience(&self) -> Duration {
        if !self.turns.is_empty() || !self.unread.is_empty() {
            return Duration::ZERO;
        }
        let due = self.timers.peek().map_or(u64::MAX, |Reverse((due, _))| *due);
        Duration::from_nanos(due.saturating_sub(self.world.now).min(10_000_000))
    }

    /// Open connections, as many as may be opened at a time.
    fn open_waiting(&mut self) -> Result<(), String> {
        while self.opening < OPENING {
            let Some(at) = self.waiting.pop_front() else { break };
            if self.slots[at].done || self.slots[at].connection.is_some() {
                continue;
            }
            let agent = &self.slots[at].exchange.agent;
            let reconnects = agent.reconnects() && !self.begun || agent.runs_after_measurement() && !self.settled;
            if reconnects {
                self.ready(at);
                continue;
            }
            let addresses = &self.world.target.addresses;
            let address = addresses[self.slots[at].failures as usize % addresses.len()];
            let registry = self.sockets.registry(agent.urgent());
            match Connection::open(&self.world.target, address, registry, Token(at)) {
                Ok(connection) => {
                    let slot = &mut self.slots[at];
                    slot.connection = Some(connection);
                    slot.opening = true;
                    slot.exchange.touched = self.world.now;
                    self.opening += 1;
                }
                Err(why) => self.fault(at, Fault::Lost(why))?,
            }
        }
        Ok(())
    }

    /// Count a slot as ready for the measurement.
    fn ready(&mut self, at: usize) {
        if !self.slots[at].ready {
            self.slots[at].ready = true;
            self.world.opened += 1;
        }
    }

    /// Begin the measurement, once all are ready and it is wanted.
    fn begin(&mut self) {
        if self.begun || self.world.opened < self.slots.len() {
            return;
        }
        self.shared.enter(Phase::Ready);
        if !self.shared.may_go() {
            return;
        }
        self.begun = true;
        self.world.tick();
        self.world.began = Some(self.world.now);
        self.world.ledger.moved = self.world.now;
        let before = self.meter;
        self.shared.began(before.received, before.sent);
        for at in 0..self.slots.len() {
            let agent = &self.slots[at].exchange.agent;
            if !agent.runs_before_measurement() && !agent.runs_after_measurement() {
                self.turns.push_back(at);
            }
        }
    }

    fn wake(&mut self) {
        while let Some(&Reverse((due, at))) = self.timers.peek() {
            if due > self.world.now {
                break;
            }
            self.timers.pop();
            match self.slots[at].exchange.stage {
                Stage::Again(due) if due <= self.world.now => self.slots[at].exchange.stage = Stage::Free,
                Stage::Free => {}
                _ => continue,
            }
            self.turns.push_back(at);
        }
    }

    fn at(&mut self, due: u64, slot: usize) {
        self.timers.push(Reverse((due, slot)));
    }

    /// Ask an agent for its next request, and send it.
    fn turn(&mut self, at: usize) -> Result<(), String> {
        let slot = &mut self.slots[at];
        if slot.done || slot.exchange.stage != Stage::Free {
            return Ok(());
        }
        if slot.connection.is_none() {
            if !slot.opening {
                self.waiting.push_back(at);
            }
            return Ok(());
        }
        if slot.opening && !slot.connection.as_ref().is_some_and(Connection::ready) {
            return Ok(());
        }
        slot.exchange.request.clear();
        match slot.exchange.agent.next(self.world, &mut slot.exchange.request) {
            Next::Done => {
                slot.done = true;
                self.active -= usize::from(!slot.exchange.agent.waits());
                self.ready(at);
                self.close(at);
            }
            Next::At(due) => self.at(due, at),
            next @ (Next::Send | Next::Due(_)) => {
                let now = self.world.tick();
                slot.exchange.begin(now, if let Next::Due(due) = next { due } else { now });
                let Some(connection) = &mut slot.connection else { return Ok(()) };
                if let Err(fault) = connection.send(&slot.exchange.request, &mut self.meter) {
                    self.fault(at, fault)?;
                }
            }
        }
        Ok(())
    }

    fn close(&mut self, at: usize) {
        let slot = &mut self.slots[at];
        if slot.opening {
            slot.opening = false;
            self.opening -= 1;
        }
        if let Some(connection) = slot.connection.take() {
            connection.close(self.sockets.registry(slot.exchange.agent.urgent()));
        }
    }

    fn writable(&mut self, at: usize) -> Result<(), String> {
        let Some(connection) = &mut self.slots[at].connection else { return Ok(()) };
        if let Err(fault) = connection.writable(&mut self.meter) {
            return self.fault(at, fault);
        }
        self.note_ready(at);
        Ok(())
    }

    /// A connection may have become ready.
    fn note_ready(&mut self, at: usize) {
        let slot = &mut self.slots[at];
        if !slot.opening || !slot.connection.as_ref().is_some_and(Connection::ready) {
            return;
        }
        let is_before = slot.exchange.agent.runs_before_measurement();
        // A watch is open when it is answered: servers do more for it than for a connection.
        if !is_before || slot.exchange.answered() {
            slot.opening = false;
            self.opening -= 1;
            self.ready(at);
        }
        if self.slots[at].is_free() && (is_before || self.begun) {
            self.turns.push_back(at);
        }
    }

    fn read(&mut self, at: usize, ended: bool) -> Result<(), String> {
        for round in 0.. {
            let slot = &mut self.slots[at];
            let Some(connection) = &mut slot.connection else { return Ok(()) };
            let (exchange, world) = (&mut slot.exchange, &mut *self.world);
            let read = connection.read(&mut self.buffer, &mut self.meter, &mut |bytes| exchange.take(world, bytes));
            let outcome = match read {
                Ok(Read1::Ended) => exchange.connection_end(world).map(|()| Read1::Ended),
                other => other,
            };
            // Only the answer to a watch has no end: every other one may be cut off again and again.
            if exchange.stage == Stage::Busy && exchange.answered() && exchange.agent.waits() {
                slot.failures = 0;
            }
            if slot.opening {
                self.note_ready(at);
            }
            match outcome {
                Err(fault) => return self.fault(at, fault),
                Ok(Read1::Ended) => {
                    self.close(at);
                    return self.after(at);
                }
                Ok(read) => {
                    self.after(at)?;
                    self.naps.note_drained(read == Read1::Drained && self.slots[at].exchange.flows());
                    if read == Read1::Drained && !ended || self.slots[at].connection.is_none() {
                        return Ok(());
                    }
                    // The end follows the last bytes, and no other event shows it.
                    if read == Read1::Drained && round >= 1 {
                        return Ok(());
                    }
                }
            }
            if round + 1 == TURN {
                self.unread.push_back((at, ended));
                return Ok(());
            }
        }
        Ok(())
    }

    /// An answer may be complete: send the next request.
    fn after(&mut self, at: usize) -> Result<(), String> {
        let exchange = &mut self.slots[at].exchange;
        match exchange.stage {
            Stage::Over => {
                exchange.stage = Stage::Free;
                self.slots[at].failures = 0;
                if self.slots[at].exchange.close || self.slots[at].exchange.agent.reconnects() {
                    self.close(at);
                }
                self.turn(at)
            }
            Stage::Again(due) => {
                if exchange.close {
                    self.close(at);
                }
                self.at(due, at);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// A connection is lost, or its answer wrong.
    fn fault(&mut self, at: usize, fault: Fault) -> Result<(), String> {
        let why = match fault {
            Fault::Wrong(wrong) => return Err(wrong.0),
            Fault::Lost(why) => why,
        };
        let slot = &mut self.slots[at];
        let established = slot.connection.as_ref().is_some_and(Connection::ready);
        if established && slot.exchange.stage == Stage::Busy {
            self.world.reconnects += 1;
        }
        if slot.exchange.stage == Stage::Busy {
            slot.exchange.agent.lose(self.world);
        }
        slot.exchange.stage = Stage::Free;
        slot.failures += 1;
        if slot.failures > self.world.plan.attempts || !self.begun && !established && slot.failures > 3 {
            self.world.unreachable = true;
            return Err(format!("{}: {why}", slot.exchange.agent.name()));
        }
        let wait = if slot.failures == 1 { 0 } else { (25_000_000_u64 << slot.failures).min(LONGEST) };
        self.close(at);
        if self.begun || self.slots[at].exchange.agent.runs_before_measurement() {
            self.at(self.world.now + wait, at);
        } else {
            self.waiting.push_back(at);
        }
        Ok(())
    }

    /// Look at all connections: answers that stay out, and agents that count on time.
    fn look(&mut self) -> Result<(), String> {
        let silence = of_seconds(SILENCE);
        for at in 0..self.slots.len() {
            let slot = &mut self.slots[at];
            if slot.done || slot.connection.is_none() {
                continue;
            }
            let busy = slot.exchange.stage == Stage::Busy;
            let waits = (busy || slot.opening) && !slot.exchange.agent.runs_before_measurement();
            if waits && self.world.now.saturating_sub(slot.exchange.touched) > silence {
                // The second one in a row is the last.
                self.slots[at].failures += self.world.plan.attempts / 2;
                self.fault(at, Fault::Lost(format!("no answer in {SILENCE} s")))?;
                continue;
            }
            let held = busy && slot.opening && slot.exchange.agent.runs_before_measurement();
            if held && self.world.now.saturating_sub(slot.exchange.touched) > of_seconds(HELD) {
                // Something on the way keeps the head until the first event.
                slot.opening = false;
                self.opening -= 1;
                self.ready(at);
                continue;
            }
            if busy && slot.exchange.answered() {
                match slot.exchange.agent.idle(self.world) {
                    Ok(Flow::More) => {}
                    Ok(Flow::Leave) => {
                        slot.exchange.leave();
                        self.after(at)?;
                    }
                    Err(wrong) => return Err(wrong.0),
                }
            }
        }
        Ok(())
    }

    /// End the measurement, and let those begin that wait for its end.
    fn settle(&mut self) {
        self.settled = true;
        self.publish();
        self.shared.enter(Phase::Closing);
        self.world.ledger.moved = self.world.now;
        for at in 0..self.slots.len() {
            if self.slots[at].exchange.agent.runs_after_measurement() {
                self.turns.push_back(at);
            }
        }
    }

    /// Whether all work is done and all that is watched has arrived, to those that are late as well.
    fn is_satisfied(&mut self, late: bool) -> Result<bool, String> {
        if self.active > 0 {
            return Ok(false);
        }
        let short = |slot: &&Slot| {
            let agent = &slot.exchange.agent;
            !slot.done && (late || !agent.runs_after_measurement()) && !agent.satisfied(self.world)
        };
        let Some(slot) = self.slots.iter().find(short) else { return Ok(true) };
        if self.world.now.saturating_sub(self.world.ledger.moved) > of_seconds(self.world.plan.patience) {
            return Err(format!("{}: {}", slot.exchange.agent.name(), slot.exchange.agent.missing(self.world)));
        }
        Ok(false)
    }

    /// Show how far the run is.
    fn publish(&mut self) {
        let parts = &self.world.plan.parts;
        let shown = || self.world.figures.iter().zip(parts).filter(|(_, part)| part.shown());
        let ops = shown().map(|(figures, _)| figures.ops).sum();
        let elapsed = self.world.elapsed();
        self.shared.publish((ops, elapsed), self.world.opened, self.meter, &mut self.world.recent);
    }
}
