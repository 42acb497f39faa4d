//! The writes of a run, and which of their events have arrived: what every watcher is held against.

use crate::body::churn_name;
use crate::event::{Event, Kind};
use crate::marks::Mark;
use crate::print::Print;
use crate::wrong::Wrong;

/// The effect of a write on its object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Change {
    Create,
    #[default]
    Update,
    /// The first half of a pod's deletion: an update that sets the time of its end.
    End,
    Delete,
}

/// One write. Times and versions are 0 while they are unknown.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Write {
    pub(crate) sent: u64,
    pub(crate) acked: u64,
    /// The version in the answer; the answer to a deletion may have none.
    pub(crate) version: u64,
    /// The version in the event.
    pub(crate) seen: u64,
    pub(crate) change: Change,
    /// Whether a watcher of the collection has seen the event.
    pub(crate) shared: bool,
}

/// One object that writers change.
#[derive(Clone, Debug, Default)]
pub(crate) struct Object {
    pub(crate) writes: Vec<Write>,
    pub(crate) uid: Option<String>,
    pub(crate) version: u64,
    /// Whether it is on the server, as far as answers show.
    pub(crate) alive: bool,
    /// Whether a write had no answer.
    pub(crate) unsure: bool,
    /// The step of its life that is next.
    pub(crate) step: usize,
}

/// One event, as the first watcher of the collection saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    number: u32,
    version: u64,
    deletes: bool,
    index: usize,
}

/// All writes and events.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    pub(crate) objects: Vec<Object>,
    sequence: Vec<Seen>,
    /// The bytes of each event, as the last watcher that read it saw them.
    prints: Vec<Print>,
    /// Writes with an answer whose event no watcher of the collection has seen.
    unseen: usize,
    /// The latest moment at which an event arrived.
    pub(crate) moved: u64,
    /// Whether the objects are pods, whose deletions have two events.
    pods: bool,
}

/// The place of one watcher.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    /// Events of ours so far.
    pub(crate) count: usize,
    /// The version of the last event.
    pub(crate) version: u64,
}

fn stale(name: &str, version: u64) -> Wrong {
    Wrong(format!("the event of {name} (resourceVersion {version}) came twice or out of order"))
}

impl Ledger {
    pub(crate) fn new(pods: bool) -> Self {
        Self { pods, ..Self::default() }
    }

    /// Note a write that is sent now; return its number.
    pub(crate) fn note_send(&mut self, number: u32, now: u64, change: Change) -> u32 {
        let object = &mut self.objects[number as usize];
        let write = Write { sent: now.max(1), ..Write::default() };
        if self.pods && change == Change::Delete {
            object.writes.push(Write { change: Change::End, ..write });
        }
        object.writes.push(Write { change, ..write });
        object.writes.len() as u32 - 1
    }

    /// Note the answer to the last write of an object.
    pub(crate) fn note_answer(&mut self, number: u32, now: u64, version: u64) -> Result<(), Wrong> {
        let object = &mut self.objects[number as usize];
        let Some((write, before)) = object.writes.split_last_mut() else { return Ok(()) };
        if let Some(end) = before.last_mut().filter(|end| end.change == Change::End) {
            end.acked = now;
            self.unseen += usize::from(!end.shared);
        }
        write.acked = now;
        write.version = version;
        if !write.shared {
            self.unseen += 1;
        }
        if write.seen != 0 && version != 0 && write.seen != version {
            let name = churn_name(number);
            let seen = write.seen;
            return Err(Wrong(format!(
                "the event of {name} has resourceVersion {seen}, its writer was given {version}"
            )));
        }
        Ok(())
    }

    /// The object and the write that an event concerns.
    fn write_of(&self, mark: Mark, event: &Event<'_>) -> Result<(u32, usize), Wrong> {
        let name = || churn_name(mark.number);
        // A deleted object has the mark of the write before.
        let later = match event.kind {
            Kind::Deleted => 1 + usize::from(self.pods),
            Kind::Modified => usize::from(self.pods && event.ending()),
            _ => 0,
        };
        let index = mark.write as usize + later;
        let write = self.objects.get(mark.number as usize).and_then(|object| object.writes.get(index));
        let write = write.ok_or_else(|| Wrong(format!("an event of {} for a write that was not made", name())))?;
        let fits = match write.change {
            Change::Create => event.kind == Kind::Added,
            Change::Delete => event.kind == Kind::Deleted,
            Change::Update | Change::End => event.kind == Kind::Modified,
        };
        if !fits {
            return Err(Wrong(format!("the event of {}, write {index}, is of another type than its write", name())));
        }
        Ok((mark.number, index))
    }

    /// Note that an event was seen with this version; return its write.
    fn note_event(&mut self, number: u32, index: usize, version: u64) -> Result<Write, Wrong> {
        let object = &mut self.objects[number as usize];
        let name = || churn_name(number);
        let before = index.checked_sub(1).map(|i| &object.writes[i]);
        if before.is_some_and(|before| before.seen == 0 && before.acked != 0) {
            return Err(Wrong(format!("the event of {}, write {}, is lost or out of order", name(), index - 1)));
        }
        let write = &mut object.writes[index];
        let given = if write.seen == 0 { write.version } else { write.seen };
        if given != 0 && given != version {
            let name = name();
            return Err(Wrong(format!("the event of {name} has resourceVersion {version}, the first was {given}")));
        }
        write.seen = version;
        Ok(*write)
    }

    /// Check an event of a watcher of the collection against the writes and all other watchers. Return its write.
    pub(crate) fn check_event(&mut self, place: &mut Place, event: &Event<'_>, mark: Mark) -> Result<Write, Wrong> {
        let (number, index) = self.write_of(mark, event)?;
        let here = Seen { number, version: event.version, deletes: event.kind == Kind::Deleted, index };
        let write = match self.sequence.get(place.count) {
            Some(due) if *due == here => self.objects[number as usize].writes[index],
            Some(due) => return Err(self.mismatch(*due, here)),
            None if event.version <= place.version => return Err(stale(&churn_name(number), event.version)),
            None => {
                let write = self.note_event(number, index, event.version)?;
                if write.shared {
                    return Err(stale(&churn_name(number), event.version));
                }
                self.objects[number as usize].writes[index].shared = true;
                self.unseen -= usize::from(write.acked != 0);
                self.sequence.push(here);
                self.prints.push(Print::default());
                write
            }
        };
        self.prints[place.count] = Print::of(event.raw);
        place.count += 1;
        place.version = event.version;
        Ok(write)
    }

    /// The print of the event that is due to a watcher of the collection, where another one has read it.
    pub(crate) fn due_print(&self, place: &Place) -> Print {
        self.prints.get(place.count).copied().unwrap_or_default()
    }

    /// Where in the events a watcher of the collection is.
    pub(crate) fn due_name(&self, place: &Place) -> String {
        match (self.sequence.get(place.count), self.sequence.last()) {
            (Some(due), _) => format!("in the place of the event of {}", churn_name(due.number)),
            (None, Some(last)) => format!("after the event of {}", churn_name(last.number)),
            (None, None) => format!("in the place of the first event, of {}", churn_name(0)),
        }
    }

    /// Take the event that is due, known by its print. Return its write and version.
    pub(crate) fn take_due(&self, place: &mut Place) -> (Write, u64) {
        let Seen { number, version, index, .. } = self.sequence[place.count];
        place.count += 1;
        place.version = version;
        (self.objects[number as usize].writes[index], version)
    }

    /// Check the state of an object in a list.
    pub(crate) fn check_listed(&self, mark: Mark, version: u64, pods: bool) -> Result<(), Wrong> {
        let name = churn_name(mark.number);
        let writes = self.objects.get(mark.number as usize).map_or(&[][..], |object| &object.writes);
        let Some(write) = writes.get(mark.write as usize) else {
            return Err(Wrong(format!("{name} is listed in a state that was not written")));
        };
        // A pod that ends has the mark of the write before.
        let ends = pods.then(|| writes.get(mark.write as usize + 1).map(|end| end.seen)).flatten();
        let given = if write.seen == 0 { write.version } else { write.seen };
        if given == 0 || given == version || ends.is_some_and(|ends| ends == 0 || ends == version) {
            return Ok(());
        }
        Err(Wrong(format!("{name} is listed with resourceVersion {version}, its writer was given {given}")))
    }

    fn mismatch(&self, due: Seen, here: Seen) -> Wrong {
        let name = churn_name(here.number);
        if here.version > due.version {
            let lost = churn_name(due.number);
            return Wrong(format!("the event of {lost} (resourceVersion {}) is lost or out of order", due.version));
        }
        if self.sequence.contains(&here) {
            return stale(&name, here.version);
        }
        Wrong(format!("the event of {name} (resourceVersion {}) was not sent to another watcher", here.version))
    }

    /// Check an event of the watcher of one object. Return its write.
    pub(crate) fn own(
        &mut self,
        place: &mut Place,
        watched: u32,
        event: &Event<'_>,
        mark: Mark,
    ) -> Result<Write, Wrong> {
        if mark.number != watched {
            let (name, wanted) = (churn_name(mark.number), churn_name(watched));
            return Err(Wrong(format!("an event of {name} for a watcher of {wanted}")));
        }
        let (number, index) = self.write_of(mark, event)?;
        if index < place.count || event.version <= place.version {
            return Err(stale(&churn_name(number), event.version));
        }
        if index > place.count {
            let (name, due) = (churn_name(number), place.count);
            return Err(Wrong(format!("the event of {name}, write {due}, is lost or out of order")));
        }
        let write = self.note_event(number, index, event.version)?;
        place.count += 1;
        place.version = event.version;
        Ok(write)
    }

    /// The number of events that a watcher of the collection has to have; `None` while some are not seen by any.
    pub(crate) fn due(&self) -> Option<usize> {
        (self.unseen == 0).then_some(self.sequence.len())
    }

    /// The number of events that the watcher of one object has to have.
    pub(crate) fn due_of(&self, number: u32) -> usize {
        let writes = self.objects.get(number as usize).map_or(&[][..], |object| &object.writes);
        writes.iter().rposition(|write| write.acked != 0).map_or(0, |at| at + 1)
    }

    /// The objects that are on the server, or may be: number and uid.
    pub(crate) fn remaining(&self) -> impl Iterator<Item = (u32, Option<&String>)> {
        self.objects.iter().enumerate().filter_map(|(number, object)| {
            let unanswered = object.writes.last().is_some_and(|write| write.acked == 0);
            (object.alive || unanswered).then_some((number as u32, object.uid.as_ref()))
        })
    }

    /// The event that a watcher of the collection waits for in vain.
    pub(crate) fn missing(&self, place: &Place) -> String {
        if let Some(due) = self.sequence.get(place.count) {
            return format!("the event of {} (resourceVersion {}) is lost", churn_name(due.number), due.version);
        }
        for (number, object) in self.objects.iter().enumerate() {
            if let Some(write) = object.writes.iter().find(|write| write.acked != 0 && !write.shared) {
                let name = churn_name(number as u32);
                return format!("the event of {name} (resourceVersion {}) is lost", write.version);
            }
        }
        "an event is lost".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Facts, Format};
    use crate::marks::CHURN;

    /// A ledger with `count` objects that were created, updated and deleted at the versions 10, 11, 12, 20, 21, ...
    fn ledger(count: u32) -> Ledger {
        let mut ledger = Ledger::default();
        for number in 0..count {
            ledger.objects.push(Object::default());
            for step in 0..3 {
                ledger.note_send(number, 1, [Change::Create, Change::Update, Change::Delete][step as usize]);
                ledger.note_answer(number, 2, u64::from(10 * (number + 1) + step) * u64::from(step != 2)).unwrap();
            }
        }
        ledger
    }

    fn make_event(kind: Kind, version: u64, mark: Mark, raw: &[u8]) -> Event<'_> {
        let (facts, mark, format) = (Facts::default(), Some(mark), Format::Json);
        Event { kind, version, mark, data: None, object: raw, facts, raw, format }
    }

    fn events(count: u32) -> Vec<(Kind, u64, Mark)> {
        let kinds = [Kind::Added, Kind::Modified, Kind::Deleted];
        let event = |number: u32, step: u32| {
            let mark = Mark { place: CHURN, number, write: step.min(1) };
            (kinds[step as usize], u64::from(10 * (number + 1) + step), mark)
        };
        (0..count).flat_map(|number| (0..3).map(move |step| event(number, step))).collect()
    }

    fn follow(ledger: &mut Ledger, events: &[(Kind, u64, Mark)], watched: Option<u32>) -> Result<Place, Wrong> {
        let mut place = Place::default();
        for &(kind, version, mark) in events {
            let event = make_event(kind, version, mark, b"");
            match watched {
                None => ledger.check_event(&mut place, &event, mark)?,
                Some(number) => ledger.own(&mut place, number, &event, mark)?,
            };
        }
        Ok(place)
    }

    #[test]
    fn right_sequences_pass() {
        let mut ledger = ledger(3);
        assert_eq!(ledger.due(), None);
        for _ in 0..3 {
            assert_eq!(follow(&mut ledger, &events(3), None).unwrap().count, 9);
        }
        assert_eq!(ledger.due(), Some(9));
        let mut ledger = self::ledger(1);
        assert_eq!(follow(&mut ledger, &events(1), Some(0)).unwrap().count, ledger.due_of(0));
    }

    #[test]
    fn every_lost_doubled_or_moved_event_is_found() {
        let all = events(3);
        for leader in [false, true] {
            for at in 0..all.len() {
                let mut lost = all.clone();
                lost.remove(at);
                let mut doubled = all.clone();
                doubled.insert(at, all[at]);
                let mut moved = all.clone();
                moved.swap(at, (at + 1) % all.len());
                for (what, events) in [("lost", lost), ("doubled", doubled), ("moved", moved)] {
                    let mut ledger = ledger(3);
                    if !leader {
                        follow(&mut ledger, &all, None).unwrap();
                    }
                    let found = follow(&mut ledger, &events, None);
                    let short = found.as_ref().is_ok_and(|place| ledger.due().is_none_or(|due| place.count < due));
                    if let Ok(place) = &found {
                        assert!(ledger.missing(place).contains("churn-"), "{what} {at}");
                    }
                    assert!(
                        found.is_err() || short || follow(&mut ledger, &all, None).is_err(),
                        "{what} {at} {leader}"
                    );
                    if let Err(Wrong(why)) = found {
                        assert!(why.contains("churn-"), "{why}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_watcher_of_one_object_is_held_to_its_writes() {
        let all = events(1);
        for at in 0..3 {
            let mut lost = all.clone();
            lost.remove(at);
            let found = follow(&mut ledger(1), &lost, Some(0));
            assert!(found.is_err() || at == 2 && found.unwrap().count < ledger(1).due_of(0));
            let mut doubled = all.clone();
            doubled.insert(at, all[at]);
            assert!(follow(&mut ledger(1), &doubled, Some(0)).is_err());
        }
        assert!(follow(&mut ledger(2), &events(2)[3..], Some(0)).is_err(), "the object of another watcher");
    }

    #[test]
    fn a_pod_ends_before_it_is_deleted() {
        let events = [
            (Kind::Added, 5, ""),
            (Kind::Modified, 6, r#""deletionTimestamp":"2026-01-01T00:00:00Z""#),
            (Kind::Deleted, 7, r#""deletionTimestamp":"2026-01-01T00:00:00Z""#),
        ];
        for lost in 0..4 {
            let mut ledger = Ledger { pods: true, objects: vec![Object::default()], ..Ledger::default() };
            for change in [Change::Create, Change::Delete] {
                ledger.note_send(0, 1, change);
                ledger.note_answer(0, 2, 0).unwrap();
            }
            let mut place = Place::default();
            let mark = Mark { place: CHURN, number: 0, write: 0 };
            let mut wrong = false;
            for (_, &(kind, version, raw)) in events.iter().enumerate().filter(|(at, _)| *at != lost) {
                let event = make_event(kind, version, mark, raw.as_bytes());
                wrong |= ledger.check_event(&mut place, &event, mark).is_err();
            }
            assert_eq!(!wrong && ledger.due() == Some(place.count), lost == 3, "{lost}");
        }
    }

    #[test]
    fn both_kinds_of_watchers_follow_the_same_object() {
        for own_first in [false, true] {
            let mut ledger = ledger(1);
            let order = if own_first { [Some(0), None] } else { [None, Some(0)] };
            for watched in order {
                assert_eq!(follow(&mut ledger, &events(1), watched).unwrap().count, 3);
            }
            assert_eq!((ledger.due(), ledger.due_of(0)), (Some(3), 3));
        }
    }

    #[test]
    fn a_version_that_the_writer_was_not_given_is_wrong() {
        let mut changed = events(1);
        changed[1].1 = 15;
        assert!(follow(&mut ledger(1), &changed, None).is_err());
        let mut ledger = Ledger::default();
        ledger.objects.push(Object::default());
        ledger.note_send(0, 1, Change::Create);
        follow(&mut ledger, &events(1)[..1], None).unwrap();
        assert!(ledger.note_answer(0, 2, 11).is_err(), "an answer after the event is held against it");
    }
}
