//! Seats and queues of a level.

use std::sync::Arc;

use hydrofoil_fairness::{Arrival, Counts, Flow, Kind, Kinds, Level, Room, Slices, Start, Times, Turn, Work};

/// A level with everything around it, at a time that the test sets.
struct Bench {
    level: Level<u32>,
    turn: Turn,
    kinds: Kinds,
    now: f64,
}

impl Bench {
    fn new(limit: u64, count: usize, length: usize) -> Self {
        let mut level = Level::new(false, 0.0);
        level.configure(limit, limit, count, length, 0.0);
        Self {
            level,
            turn: Turn::new(Slices { queued: 0.0002, arrivals: 0.002 }, false),
            kinds: Kinds::new(0.0),
            now: 1.0,
        }
    }

    fn begin(&mut self, flow: &Arc<Flow>, work: Work, room: Room) -> Start {
        let arrival = Arrival { flow: Arc::clone(flow), work, kind: Kind::Read, of: 0 };
        self.level.start(arrival, room, &mut self.turn, &mut self.kinds, self.now)
    }

    fn one(&mut self, flow: &Arc<Flow>) -> Start {
        self.begin(flow, Work::ONE, Room::Free)
    }

    fn pass(&mut self, flow: &Arc<Flow>, room: Room) -> bool {
        let arrival = Arrival { flow: Arc::clone(flow), work: Work::ONE, kind: Kind::Read, of: 0 };
        let times = Times { begun: self.now, ended: self.now + 0.5 };
        self.level.pass(arrival, &mut self.turn, &mut self.kinds, times, room)
    }

    fn dispatch(&mut self) -> Vec<usize> {
        self.level.dispatch(100, &mut self.turn, &mut self.kinds, self.now)
    }

    fn end(&mut self, start: Start) -> f64 {
        let (Start::Runs(number) | Start::Waits(number)) = start else { panic!("it was refused") };
        let after = self.level.finish(number, &mut self.kinds, self.now).expect("it runs");
        if after == 0.0 {
            self.level.release(number, self.now).expect("it was kept");
        }
        after
    }
}

fn flow(cards: &[usize]) -> Arc<Flow> {
    Arc::new(Flow { counts: Arc::new(Counts::default()), hand: cards.into() })
}

fn rejected(flow: &Flow) -> [u64; 3] {
    flow.counts.with(|counts| counts.rejected)
}

#[test]
fn an_exempt_level_has_no_limit() {
    let (mut b, f) = (Bench::new(0, 0, 0), flow(&[0]));
    b.level = Level::new(true, 0.0);
    let started: Vec<Start> = (0..100).map(|_| b.one(&f)).collect();
    assert_eq!((b.level.executing, b.level.seats.most, b.level.running().count()), (100, 100, 100));
    for start in started {
        assert!(b.end(start) == 0.0);
    }
    assert_eq!((b.level.executing, b.level.dispatched), (0, 100));
    f.counts.with(|counts| assert_eq!((counts.executing, counts.dispatched), (0, 100)));
}

#[test]
fn a_request_that_need_not_wait_passes() {
    let (mut b, f) = (Bench::new(1, 1, 10), flow(&[0]));
    assert!(b.level.limit() == 1 && b.pass(&f, Room::Free) && !b.pass(&f, Room::Used));
    let counted =
        |b: &Bench| (b.level.executing, b.level.dispatched, b.level.waiting, b.level.rejected, b.level.seats.used);
    assert_eq!(counted(&b), (0, 1, 0, 0, 0));
    f.counts.with(|counts| {
        assert_eq!((counts.executing, counts.dispatched, counts.seats), (0, 1, 0));
        assert!((counts.regular.sum() - 0.5).abs() < f64::EPSILON);
    });
    // No seat is free; then another waits.
    let first = b.one(&f);
    assert!(!b.pass(&f, Room::Free));
    let second = b.one(&f);
    assert!(matches!(second, Start::Waits(_)) && !b.pass(&f, Room::Free));
    assert_eq!(counted(&b), (1, 2, 1, 0, 1));
    b.end(first);
    b.dispatch();
    b.end(second);
    assert!(b.pass(&f, Room::Free));
    b.level = Level::new(true, 0.0);
    assert!(b.pass(&f, Room::Used) && b.level.is_exempt());
    assert_eq!(counted(&b), (0, 1, 0, 0, 0));
}

#[test]
fn a_level_without_queues_refuses() {
    let (mut b, f) = (Bench::new(2, 0, 0), flow(&[0]));
    let first = b.one(&f);
    b.one(&f);
    assert_eq!((b.one(&f), rejected(&f)), (Start::Refused, [1, 0, 0]));
    b.end(first);
    assert!(matches!(b.one(&f), Start::Runs(_)));
}

#[test]
fn a_request_wider_than_the_level_runs_alone() {
    let (mut b, f) = (Bench::new(2, 0, 0), flow(&[0]));
    let five = Work { first: 5, ..Work::ONE };
    let wide = b.begin(&f, five, Room::Free);
    assert_eq!(b.one(&f), Start::Refused);
    b.end(wide);
    assert!(matches!(b.one(&f), Start::Runs(_)));
    assert_eq!(b.begin(&f, five, Room::Free), Start::Refused);
}

#[test]
fn requests_wait_for_seats_and_full_queues_refuse() {
    let (mut b, f) = (Bench::new(1, 1, 2), flow(&[0]));
    let running = b.one(&f);
    let waiting = [b.one(&f), b.one(&f)];
    assert!(waiting.iter().all(|start| matches!(start, Start::Waits(_))));
    assert_eq!((b.one(&f), rejected(&f)), (Start::Refused, [0, 1, 0]));
    assert_eq!((b.level.waiting, b.level.seats.wanted, b.level.backlog()), (2, 2, 1));
    assert!(b.dispatch().is_empty());
    f.counts.with(|counts| assert_eq!(counts.unfit, 1));
    b.end(running);
    for start in waiting {
        assert_eq!(b.dispatch().len(), 1);
        b.end(start);
    }
    assert_eq!((b.level.waiting, b.level.seats.wanted, b.level.seats.used, b.level.backlog()), (0, 0, 0, 0));
}

#[test]
fn a_flow_with_little_work_overtakes_one_with_much() {
    let (mut b, greedy, modest) = (Bench::new(1, 2, 50), flow(&[0]), flow(&[1]));
    let mut running = b.one(&greedy);
    for _ in 0..20 {
        assert!(matches!(b.one(&greedy), Start::Waits(_)));
    }
    let Start::Waits(one) = b.one(&modest) else { panic!("the seat is taken") };
    for turn in 1.. {
        b.now += 0.001;
        b.end(running);
        let next = b.dispatch()[0];
        running = Start::Runs(next);
        if next == one {
            assert!(turn <= 2);
            break;
        }
    }
}

#[test]
fn queues_share_alike() {
    let (mut b, one, other) = (Bench::new(1, 2, 50), flow(&[0]), flow(&[1]));
    let mut running = b.one(&one);
    for _ in 0..10 {
        b.one(&one);
        b.one(&other);
    }
    let mut served = 0;
    for _ in 0..10 {
        b.end(running);
        let next = b.dispatch()[0];
        served += u32::from(b.level.ticket(next).is_some_and(|found| Arc::ptr_eq(&found.arrival.flow, &one)));
        running = Start::Runs(next);
    }
    assert!((4..=6).contains(&served));
}

#[test]
fn a_busy_loop_makes_requests_wait_where_seats_are_free() {
    let (mut b, f) = (Bench::new(10, 1, 3), flow(&[0]));
    for _ in 0..3 {
        assert!(matches!(b.begin(&f, Work::ONE, Room::Used), Start::Waits(_)));
    }
    assert_eq!(b.begin(&f, Work::ONE, Room::Used), Start::Refused);
    // A turn has room for two of them; the third one waits for the next.
    assert_eq!(b.level.dispatch(2, &mut b.turn, &mut b.kinds, b.now).len(), 2);
    assert!(b.turn.end(b.now).is_some());
    assert_eq!((b.dispatch().len(), b.level.executing), (1, 3));
    assert_eq!(b.turn.end(b.now), None);
}

#[test]
fn the_only_request_of_a_queue_begins_in_a_turn_that_is_used_up() {
    let (mut b, greedy, modest) = (Bench::new(10, 2, 30), flow(&[0]), flow(&[1]));
    b.turn.arrive(b.now);
    let first = b.one(&greedy);
    for _ in 0..20 {
        assert!(matches!(b.begin(&greedy, Work::ONE, Room::Used), Start::Waits(_)));
    }
    let one = b.begin(&modest, Work::ONE, Room::Used);
    assert!(matches!(one, Start::Runs(_)));
    // The next one has to wait until others had their share.
    b.now += 0.001;
    b.end(one);
    assert!(matches!(b.begin(&modest, Work::ONE, Room::Used), Start::Waits(_)));
    b.end(first);
}

#[test]
fn a_request_that_lacks_seats_is_not_overtaken() {
    let (mut b, wide, modest) = (Bench::new(4, 2, 30), flow(&[0]), flow(&[1]));
    b.turn.arrive(b.now);
    b.begin(&wide, Work { first: 3, ..Work::ONE }, Room::Free);
    b.begin(&wide, Work { first: 3, ..Work::ONE }, Room::Free);
    assert!(matches!(b.begin(&modest, Work::ONE, Room::Free), Start::Waits(_)));
}

#[test]
fn a_request_can_stop_waiting() {
    let (mut b, f) = (Bench::new(1, 1, 5), flow(&[0]));
    let running = b.one(&f);
    let Start::Waits(late) = b.one(&f) else { panic!("the seat is taken") };
    b.now += 1.0;
    assert_eq!(b.level.expire(late, &mut b.kinds, b.now), Some(0));
    assert_eq!((b.level.waiting, b.level.late, rejected(&f)), (0, 1, [0, 0, 1]));
    f.counts.with(|counts| assert_eq!(counts.refused.counts()[7], 1));
    let Start::Runs(number) = running else { panic!("it was the first") };
    assert_eq!(b.level.expire(number, &mut b.kinds, b.now), None);
    b.end(running);
    assert_eq!(b.level.finish(number, &mut b.kinds, b.now), None);
    assert_eq!(b.level.executing, 0);
}

#[test]
fn watchers_keep_seats_for_a_while() {
    let (mut b, f) = (Bench::new(5, 1, 5), flow(&[0]));
    let ticket = b.begin(&f, Work { first: 1, last: 5, extra: 0.01 }, Room::Free);
    let Start::Runs(number) = ticket else { panic!("seats are free") };
    assert!(b.end(ticket) > 0.0);
    assert_eq!((b.level.executing, b.level.seats.used, b.level.running().count()), (0, 5, 0));
    assert!(matches!(b.one(&f), Start::Waits(_)));
    assert!(b.dispatch().is_empty());
    b.level.release(number, b.now);
    assert_eq!((b.dispatch().len(), b.level.seats.used), (1, 1));
}

#[test]
fn fewer_queues_remain_until_they_are_empty() {
    let (mut b, f) = (Bench::new(1, 3, 5), flow(&[2]));
    let ticket = b.one(&f);
    b.level.configure(1, 1, 1, 5, b.now);
    assert_eq!(b.level.queues().len(), 3);
    b.end(ticket);
    b.level.configure(1, 1, 1, 5, b.now);
    assert_eq!(b.level.queues().len(), 1);
    // Its hand is from before: the level decides without a queue.
    assert!(matches!(b.one(&f), Start::Runs(_)));
}

#[test]
fn the_least_filled_queue_of_a_hand_is_chosen() {
    let (mut b, f) = (Bench::new(1, 3, 5), flow(&[0, 1, 2]));
    for _ in 0..7 {
        b.one(&f);
    }
    assert!(b.level.queues().iter().all(|queue| queue.waiting.len() == 2));
}
