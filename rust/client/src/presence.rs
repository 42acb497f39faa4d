//! Objects that a list must hold, although they change meanwhile.

use crate::ledger::{Change, Object, Write};

/// Find an object that a list of a version lacks: alive by an answer before the request was sent, or by a version that is
/// in the list, and not deleted since.
pub(crate) fn missing(objects: &[Object], listed: &[u32], (sent, version): (u64, u64)) -> Option<u32> {
    let mut there = vec![false; objects.len()];
    for number in listed {
        if let Some(one) = there.get_mut(*number as usize) {
            *one = true;
        }
    }
    let lacking =
        objects.iter().zip(there).position(|(object, there)| !there && !object.unsure && lives(object, sent, version));
    lacking.map(|number| number as u32)
}

/// Whether an object was there all the time from this moment, or this version, until now.
fn lives(object: &Object, from: u64, version: u64) -> bool {
    let within = |write: &Write| write.acked < from || write.version != 0 && write.version <= version;
    let acked = object.writes.iter().rposition(|write| write.acked != 0 && within(write));
    acked
        .is_some_and(|at| object.writes[at..].iter().all(|write| !matches!(write.change, Change::Delete | Change::End)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(writes: &[(Change, u64)]) -> Object {
        let writes = writes.iter().map(|&(change, acked)| Write { acked, change, ..Write::default() }).collect();
        Object { writes, ..Object::default() }
    }

    #[test]
    fn an_object_that_was_made_before_is_missed() {
        let objects = [object(&[(Change::Create, 5)]), object(&[(Change::Create, 5), (Change::Update, 0)])];
        assert_eq!(missing(&objects, &[0, 1], (10, 0)), None);
        assert_eq!(missing(&objects, &[1], (10, 0)), Some(0));
        assert_eq!(missing(&objects, &[0], (10, 0)), Some(1));
    }

    #[test]
    fn an_object_whose_version_is_in_the_list_is_missed() {
        let mut made = object(&[(Change::Create, 12)]);
        made.writes[0].version = 70;
        assert_eq!(missing(&[made.clone()], &[], (10, 69)), None);
        assert_eq!(missing(&[made], &[], (10, 70)), Some(0));
    }

    #[test]
    fn an_object_that_may_be_absent_is_not_missed() {
        let young = object(&[(Change::Create, 12)]);
        let sent = object(&[(Change::Create, 0)]);
        let going = object(&[(Change::Create, 5), (Change::Delete, 0)]);
        let ending = object(&[(Change::Create, 5), (Change::End, 0), (Change::Delete, 0)]);
        let gone = object(&[(Change::Create, 5), (Change::Delete, 7)]);
        let again = object(&[(Change::Create, 5), (Change::Delete, 7), (Change::Create, 11)]);
        let unsure = Object { unsure: true, ..object(&[(Change::Create, 5)]) };
        assert_eq!(missing(&[young, sent, going, ending, gone, again, unsure], &[], (10, 90)), None);
    }
}
