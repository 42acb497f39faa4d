//! Records that the owner writes once, for all workers.

#![allow(clippy::arithmetic_side_effects, reason = "positions are counted by who gives them")]
#![allow(clippy::indexing_slicing, reason = "words are counted by their number")]

use std::sync::atomic::Ordering;

use crate::Region;
use crate::layout::{FEED_AT, POSITION};

/// The words of a record.
pub const WORDS: usize = 4;

/// One record.
pub type Record = [u64; WORDS];

/// The number of records that the ring has room for: a worker that is further behind has lost its place.
pub const FEED_RECORDS: u64 = 1 << 19;

/// The records from which on a reader is told that it is lapped, though the one it reads is not written over yet: the
/// owner may be writing while it reads.
const MARGIN: u64 = 1 << 10;

/// The place of a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor(u64);

/// A reader whose next record is no longer there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lapped;

impl Region {
    /// Append a record. The owner does so from one thread at a time.
    pub fn append(&self, record: Record) {
        let at = self.word(POSITION).load(Ordering::Relaxed);
        self.words(at, |word, number| word.store(record[number], Ordering::Relaxed));
        self.word(POSITION).store(at + 1, Ordering::Release);
    }

    /// Return the place of the next record.
    pub fn end(&self) -> Cursor {
        Cursor(self.word(POSITION).load(Ordering::Acquire))
    }

    /// Return the next record of a reader, and move it on; `None` if it has all of them.
    pub fn read(&self, cursor: &mut Cursor) -> Result<Option<Record>, Lapped> {
        if self.end() == *cursor {
            return Ok(None);
        }
        let mut record = Record::default();
        self.words(cursor.0, |word, number| record[number] = word.load(Ordering::Relaxed));
        // After the words: had the owner begun to write over them, it would be this far by now.
        std::sync::atomic::fence(Ordering::Acquire);
        if self.end().0 - cursor.0 > FEED_RECORDS - MARGIN {
            return Err(Lapped);
        }
        cursor.0 += 1;
        Ok(Some(record))
    }

    fn words(&self, at: u64, mut each: impl FnMut(&std::sync::atomic::AtomicU64, usize)) {
        let start = FEED_AT + (at % FEED_RECORDS) as usize * (WORDS * 8);
        (0..WORDS).for_each(|number| each(self.word(start + number * 8), number));
    }
}

impl Cursor {
    /// Return the place as a number, which another process makes a cursor of.
    pub fn number(self) -> u64 {
        self.0
    }

    /// Return the cursor at a place.
    pub fn at(number: u64) -> Self {
        Self(number)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn each_reader_has_every_record_once() {
        let owner = Region::create().expect("there is memory");
        let worker = Region::open(owner.fileno(), 1).expect("it is the same");
        let mut cursor = worker.end();
        let total = 200_000;
        let read = std::thread::scope(|threads| {
            let reader = threads.spawn(|| {
                let mut read = 0;
                while read < total {
                    match worker.read(&mut cursor) {
                        Ok(Some(record)) => {
                            assert_eq!(record, [read, !read, 7, read * 3]);
                            read += 1;
                        }
                        Ok(None) => worker.sleep(Duration::from_secs(5), || worker.end() != cursor),
                        Err(Lapped) => panic!("the ring is larger"),
                    }
                }
                read
            });
            for number in 0..total {
                owner.append([number, !number, 7, number * 3]);
                if number % 16 == 0 {
                    owner.wake();
                }
            }
            owner.wake();
            reader.join().expect("it ends")
        });
        assert_eq!(read, total);
    }

    #[test]
    fn a_reader_that_is_passed_by_is_told() {
        let region = Region::create().expect("there is memory");
        let mut cursor = region.end();
        (0..FEED_RECORDS + 5).for_each(|number| region.append([number; WORDS]));
        assert_eq!(region.read(&mut cursor), Err(Lapped));
        let mut cursor = Cursor::at(region.end().number() - 2);
        assert_eq!(region.read(&mut cursor), Ok(Some([FEED_RECORDS + 3; WORDS])));
    }
}
