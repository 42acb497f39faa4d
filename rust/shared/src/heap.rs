//! The owner's blocks: sizes by classes, memory by segments.

#![allow(clippy::arithmetic_side_effects, reason = "sizes and places are bounded by the region")]
#![allow(clippy::indexing_slicing, reason = "places come from the structure that they lead through")]

use std::collections::BTreeSet;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::Region;
use crate::block::{self, Block, HEADER};
use crate::layout::{HEAP_AT, OWNER, SEGMENT};

/// The largest block, with its header, that shares a segment with others.
const SMALL: usize = SEGMENT / 4;

/// The blocks of a region. The owner alone has a heap; other processes only let go of blocks.
#[derive(Debug)]
pub struct Heap {
    region: Arc<Region>,
    /// The sizes of the classes, the smallest first: an eighth is wasted at most.
    sizes: Vec<usize>,
    /// Held while a block is found or taken back, never while bytes are copied.
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    segments: Vec<Segment>,
    /// The segments without blocks, which have no memory.
    empty: BTreeSet<usize>,
    /// By class, the segments with room. The first one is filled first, so that others can become empty.
    open: Vec<BTreeSet<usize>>,
}

#[derive(Clone, Debug)]
enum Segment {
    Empty,
    /// Blocks of one class: how many there are, the next place that was never used, and those that were.
    Small {
        class: usize,
        used: usize,
        next: usize,
        free: Vec<u32>,
    },
    /// The first of the segments of a large block, and their number.
    Large(usize),
    /// One of the others.
    Rest,
}

impl Heap {
    /// Return the heap of a region that has no blocks.
    pub fn new(region: &Arc<Region>) -> Self {
        let sizes: Vec<usize> =
            std::iter::successors(Some(64_usize), |size: &usize| Some((size + size / 8).next_multiple_of(8)))
                .take_while(|size| *size < SMALL)
                .chain([SMALL])
                .collect();
        let open = vec![BTreeSet::new(); sizes.len()];
        Self { region: Arc::clone(region), sizes, state: Mutex::new(State { open, ..State::default() }) }
    }

    /// Return the region.
    pub fn region(&self) -> &Arc<Region> {
        &self.region
    }

    /// Return a new block of the owner: the parts, one after the other. Panic when the address space is used up.
    pub fn write(&self, parts: &[&[u8]]) -> Block {
        let length: usize = parts.iter().map(|part| part.len()).sum();
        let at = self.take(length + HEADER);
        block::begin(&self.region, at, parts, length.max(1), 1 << OWNER)
    }

    /// Let go of all blocks that a process has which has ended.
    pub fn release_all(&self, slot: usize) {
        let places: Vec<usize> = {
            let mut state = self.state.lock();
            self.collect(&mut state);
            let each = state.segments.iter().enumerate().flat_map(|(number, segment)| self.places(number, segment));
            each.filter(|at| block::is_used(&self.region, *at) && block::is_used_by(&self.region, *at, slot)).collect()
        };
        for at in places {
            block::release(&self.region, at, slot);
        }
    }

    /// Return the bytes of memory that blocks have, and those of it that are free.
    pub fn size(&self) -> (usize, usize) {
        let mut state = self.state.lock();
        self.collect(&mut state);
        let mut free = 0;
        for segment in &state.segments {
            if let Segment::Small { class, used, .. } = segment {
                free += SEGMENT - used * self.sizes[*class];
            }
        }
        ((state.segments.len() - state.empty.len()) * SEGMENT, free)
    }

    fn take(&self, size: usize) -> usize {
        let mut state = self.state.lock();
        self.collect(&mut state);
        if size > SMALL {
            return self.take_large(&mut state, size.div_ceil(SEGMENT));
        }
        let class = self.sizes.partition_point(|least| *least < size);
        let number = if let Some(number) = state.open[class].first() {
            *number
        } else {
            let number = self.take_segments(&mut state, 1);
            state.segments[number] = Segment::Small { class, used: 0, next: 0, free: Vec::new() };
            state.open[class].insert(number);
            number
        };
        let most = SEGMENT / self.sizes[class];
        let Segment::Small { used, next, free, .. } = &mut state.segments[number] else {
            unreachable!("an open segment has small blocks")
        };
        *used += 1;
        let place = free.pop().map_or_else(
            || {
                *next += 1;
                *next - 1
            },
            |place| place as usize,
        );
        if *used == most {
            state.open[class].remove(&number);
        }
        start(number) + place * self.sizes[class]
    }

    fn take_large(&self, state: &mut State, count: usize) -> usize {
        let number = self.take_segments(state, count);
        state.segments[number] = Segment::Large(count);
        state.segments[number + 1..number + count].fill(Segment::Rest);
        start(number)
    }

    /// Return the first of a number of segments that are beside each other.
    fn take_segments(&self, state: &mut State, count: usize) -> usize {
        let mut run = 0..0;
        let found = state.empty.iter().find_map(|number| {
            run = if run.end == *number { run.start..number + 1 } else { *number..number + 1 };
            (run.len() == count).then_some(run.start)
        });
        let number = found.unwrap_or(state.segments.len());
        if found.is_some() {
            (number..number + count).for_each(|one| assert!(state.empty.remove(&one), "it is in the set"));
        } else {
            assert!(start(number + count) <= self.region.size(), "the address space of the shared memory is used up");
            state.segments.resize(number + count, Segment::Empty);
        }
        number
    }

    /// Take back the blocks that were let go of.
    fn collect(&self, state: &mut State) {
        for at in block::take_freed(&self.region) {
            let number = (at - HEAP_AT) / SEGMENT;
            match &mut state.segments[number] {
                Segment::Small { class, used, free, .. } => {
                    let class = *class;
                    *used -= 1;
                    free.push(((at - start(number)) / self.sizes[class]) as u32);
                    if *used == 0 {
                        state.open[class].remove(&number);
                        self.give_back(state, number, 1);
                    } else {
                        state.open[class].insert(number);
                    }
                }
                Segment::Large(count) => {
                    let count = *count;
                    self.give_back(state, number, count);
                }
                Segment::Empty | Segment::Rest => debug_assert!(false, "no block begins there"),
            }
        }
    }

    fn give_back(&self, state: &mut State, number: usize, count: usize) {
        self.region.punch(start(number), count * SEGMENT);
        state.segments[number..number + count].fill(Segment::Empty);
        state.empty.extend(number..number + count);
    }

    /// Return the places where blocks of a segment begin or have begun.
    fn places(&self, number: usize, segment: &Segment) -> impl Iterator<Item = usize> + use<> {
        let (count, size) = match segment {
            Segment::Small { class, next, .. } => (*next, self.sizes[*class]),
            Segment::Large(_) => (1, 0),
            Segment::Empty | Segment::Rest => (0, 0),
        };
        (0..count).map(move |place| start(number) + place * size)
    }
}

fn start(number: usize) -> usize {
    HEAP_AT + number * SEGMENT
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heap() -> Heap {
        Heap::new(&Arc::new(Region::create().expect("there is memory")))
    }

    #[test]
    fn blocks_have_their_bytes_until_the_last_process_lets_go() {
        let heap = heap();
        let worker = Arc::new(Region::open(heap.region().fileno(), 2).expect("it is the same"));
        let block = heap.write(&[b"one ", b"text"]);
        block.lend(1 << 2);
        let place = block.place();
        drop(block);
        let lent = Block::at(&worker, place);
        let other = heap.write(&[b"another text"]);
        assert_eq!((&*lent, &*other), (&b"one text"[..], &b"another text"[..]));
        drop(lent);
        assert_eq!(heap.write(&[b"a third"]).place(), place, "it is free");
    }

    #[test]
    fn memory_goes_back_to_the_system() {
        let heap = heap();
        let large = vec![7; 3 * SEGMENT];
        let sizes = [0, 1, 40, 41, 1000, 5000, SMALL - HEADER, SMALL - HEADER + 1, SEGMENT, large.len()];
        for _ in 0..3 {
            let blocks: Vec<_> = sizes.iter().map(|size| heap.write(&[&large[..*size]])).collect();
            assert!(blocks.iter().zip(sizes).all(|(block, size)| block[..size] == large[..size]));
            let mut places: Vec<_> = blocks.iter().map(|b| (b.place() as usize, b.len())).collect();
            places.sort_unstable();
            assert!(places.windows(2).all(|pair| pair[0].0 + pair[0].1 + HEADER <= pair[1].0), "none overlap");
            drop(blocks);
            assert_eq!(heap.size(), (0, 0));
        }
        assert!(heap.state.lock().segments.len() <= 16, "segments are used again");
    }

    #[test]
    fn a_process_that_ended_has_no_blocks() {
        let heap = heap();
        let kept: Vec<_> = (0..2000).map(|i| heap.write(&[&vec![1; i]])).collect();
        for block in &kept {
            block.lend(1 << 5);
        }
        let places: Vec<_> = kept.iter().map(Block::place).collect();
        drop(kept);
        assert_ne!(heap.size().0, 0, "the other one has them");
        heap.release_all(5);
        assert_eq!(heap.size(), (0, 0));
        assert_eq!(places.len(), 2000);
    }
}
