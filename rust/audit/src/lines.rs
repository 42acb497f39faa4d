//! Records of a log that wait to be written.

/// The greatest room that is made ready for the next lines.
const KEPT_BYTES: usize = 1 << 20;

/// Lines in one piece, bounded in number and bytes.
#[derive(Debug)]
pub struct Lines {
    most: usize,
    most_bytes: usize,
    data: Vec<u8>,
    ends: Vec<usize>,
}

impl Lines {
    /// Make an empty piece of at most `most` lines and `most_bytes` bytes.
    pub fn new(most: usize, most_bytes: usize) -> Self {
        Self { most, most_bytes, data: Vec::new(), ends: Vec::new() }
    }

    /// Return the number of lines.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// Append the line that `write` appends without its end. Return the number of lines then, 0 if there is no room.
    pub fn add(&mut self, write: impl FnOnce(&mut Vec<u8>)) -> usize {
        if self.ends.len() >= self.most {
            return 0;
        }
        let begin = self.data.len();
        write(&mut self.data);
        self.data.push(b'\n');
        if self.data.len() > self.most_bytes {
            self.data.truncate(begin);
            return 0;
        }
        self.ends.push(self.data.len());
        self.ends.len()
    }

    /// Take all lines, and the end of each.
    pub fn take(&mut self) -> (Vec<u8>, Vec<usize>) {
        // The next ones will need as much, but not after a disk that was slow for a while.
        let next = Vec::with_capacity(self.data.len().min(KEPT_BYTES));
        (std::mem::replace(&mut self.data, next), std::mem::take(&mut self.ends))
    }
}

#[cfg(test)]
mod tests {
    use super::Lines;

    fn add(lines: &mut Lines, text: &[u8]) -> usize {
        lines.add(|out| out.extend_from_slice(text))
    }

    #[test]
    fn lines_are_taken_in_one_piece() {
        let mut lines = Lines::new(9, 99);
        assert_eq!((add(&mut lines, b"a"), add(&mut lines, b"bc")), (1, 2));
        assert_eq!(lines.take(), (b"a\nbc\n".to_vec(), vec![2, 5]));
        assert_eq!((lines.count(), add(&mut lines, b"d")), (0, 1));
    }

    #[test]
    fn what_does_not_fit_leaves_nothing() {
        let mut lines = Lines::new(2, 5);
        assert_eq!((add(&mut lines, b"a"), add(&mut lines, b"bcd"), add(&mut lines, b"ef")), (1, 0, 2));
        assert_eq!(add(&mut lines, b""), 0);
        assert_eq!(lines.take().0, b"a\nef\n");
    }
}
