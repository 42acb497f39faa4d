//! Questions for the latest revision: those that wait share the next one.

use std::mem::take;

/// Those who ask for the latest revision.
#[derive(Debug, Default)]
pub(crate) struct Asks {
    /// Those whose question is under way.
    asked: Vec<u64>,
    /// Those who came after it was sent.
    next: Vec<u64>,
}

impl Asks {
    /// Add a question; report whether it must be sent now.
    pub(crate) fn add(&mut self, id: u64) -> bool {
        self.next.push(id);
        self.begin()
    }

    /// Return those who have an answer now, and whether the next question must be sent.
    pub(crate) fn take_answered(&mut self) -> (Vec<u64>, bool) {
        let done = take(&mut self.asked);
        let more = self.begin();
        (done, more)
    }

    fn begin(&mut self) -> bool {
        let begins = self.asked.is_empty() && !self.next.is_empty();
        if begins {
            self.asked = take(&mut self.next);
        }
        begins
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_after_a_question_was_sent_waits_for_the_next() {
        let mut asks = Asks::default();
        assert!(asks.add(1));
        assert!(!asks.add(2) && !asks.add(3));
        assert_eq!(asks.take_answered(), (vec![1], true));
        assert_eq!(asks.take_answered(), (vec![2, 3], false));
        assert!(asks.add(4));
    }
}
