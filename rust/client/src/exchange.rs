//! One agent and its connection: requests go out, and bytes come in.

use crate::agent::{Agent, Flow};
use crate::clock::of_seconds;
use crate::connection::Fault;
use crate::http::{Head, Part, Reader};
use crate::world::{Timing, World};

/// The wait after a 429 that names none.
const WAIT: f64 = 1.0;
/// How much of an unwanted answer is kept.
const KEPT: usize = 4 << 10;

/// The bytes of a large answer.
const MUCH: usize = 1 << 20;

/// The state of an exchange.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Stage {
    /// No request is under way.
    Free,
    /// A request waits for its answer, or reads it.
    Busy,
    /// The answer is complete, or the agent has left it.
    Over,
    /// The request is sent again at this time.
    Again(u64),
}

pub(crate) struct Exchange {
    pub(crate) agent: Box<dyn Agent>,
    pub(crate) request: Vec<u8>,
    pub(crate) stage: Stage,
    pub(crate) timing: Timing,
    /// When something last happened.
    pub(crate) touched: u64,
    /// Whether the connection ends with the answer.
    pub(crate) close: bool,
    /// The bytes of the answer so far.
    taken: usize,
    reader: Reader,
    refusal: Option<(Head, Vec<u8>)>,
}

impl Exchange {
    pub(crate) fn new(agent: Box<dyn Agent>) -> Self {
        Self {
            agent,
            request: Vec::new(),
            stage: Stage::Free,
            timing: Timing::default(),
            touched: 0,
            close: false,
            taken: 0,
            reader: Reader::default(),
            refusal: None,
        }
    }

    /// The request is sent now, and its latency counts from `due`.
    pub(crate) fn begin(&mut self, now: u64, due: u64) {
        self.stage = Stage::Busy;
        self.timing = Timing { sent: due, first: 0 };
        self.touched = now;
        self.close = false;
        self.refusal = None;
        self.taken = 0;
        self.reader.restart();
    }

    /// Whether the head of the answer has arrived.
    pub(crate) fn answered(&self) -> bool {
        self.timing.first != 0
    }

    /// Whether the answer is large and not complete.
    pub(crate) fn flows(&self) -> bool {
        self.stage == Stage::Busy && self.taken > MUCH
    }

    /// Take bytes of the connection.
    pub(crate) fn take(&mut self, world: &mut World, bytes: &[u8]) -> Result<(), Fault> {
        world.tick();
        self.touched = world.now;
        if self.stage != Stage::Busy {
            // The rest of an answer that the agent left is of no interest.
            let ignored = self.stage == Stage::Over && self.close;
            return if ignored { Ok(()) } else { Err(Fault::Lost("bytes that no request asked for".to_owned())) };
        }
        if self.timing.first == 0 {
            self.timing.first = world.now;
        }
        self.taken += bytes.len();
        let mut rest = bytes;
        loop {
            let (taken, part) = self.reader.next(rest).map_err(|why| Fault::Wrong(why.into()))?;
            rest = &rest[taken..];
            match part {
                None => return Ok(()),
                Some(Part::Head(head)) => self.head(world, head)?,
                Some(Part::Body(piece)) => match &mut self.refusal {
                    Some((_, kept)) => kept.extend_from_slice(&piece[..piece.len().min(KEPT - kept.len().min(KEPT))]),
                    None if self.agent.body(world, piece)? == Flow::Leave => {
                        self.leave();
                        return Ok(());
                    }
                    None => {}
                },
                Some(Part::End) => self.end(world)?,
            }
        }
    }

    /// Leave an answer before its end.
    pub(crate) fn leave(&mut self) {
        self.close = true;
        self.stage = Stage::Over;
    }

    fn head(&mut self, world: &mut World, head: Head) -> Result<(), Fault> {
        self.close = head.close;
        let waits = head.status == 429 || head.status == 503 && head.retry_after.is_some();
        if waits || !self.agent.wants(head.status) {
            self.refusal = Some((head, Vec::new()));
            return Ok(());
        }
        Ok(self.agent.head(world, &head)?)
    }

    fn end(&mut self, world: &mut World) -> Result<(), Fault> {
        world.tick();
        let Some((head, body)) = self.refusal.take() else {
            self.stage = Stage::Over;
            return Ok(self.agent.end(world, self.timing)?);
        };
        if head.status == 429 || head.status == 503 && head.retry_after.is_some() {
            world.retries += 1;
            self.stage = Stage::Again(world.now + of_seconds(head.retry_after.unwrap_or(WAIT)));
            return Ok(());
        }
        self.stage = Stage::Over;
        Ok(self.agent.refuse(world, head.status, &body)?)
    }

    /// The server has ended the connection: complete the answer if that is its end.
    pub(crate) fn connection_end(&mut self, world: &mut World) -> Result<(), Fault> {
        if self.stage == Stage::Busy {
            if self.reader.open_ended() {
                self.close = true;
                return self.end(world);
            }
            return Err(Fault::Lost("the connection ended before the answer".to_owned()));
        }
        self.close = true;
        Ok(())
    }
}
