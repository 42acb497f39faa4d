//! The notification of the loop when other threads have applied events.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

/// A descriptor that becomes readable when a feed has applied events.
#[derive(Debug)]
pub struct Signal {
    /// Writer and reader; `None` once it is closed.
    ends: Mutex<Option<(UnixStream, UnixStream)>>,
    /// Whether a byte is in the pipe that the loop has not read. Feeds write only the first one: a thousand events cost
    /// one system call. The loop clears it before it looks at the view, so that an event applied meanwhile is signalled
    /// again; the other order would lose the last one.
    given: AtomicBool,
}

impl Signal {
    /// Return a signal that is not set.
    pub fn new() -> io::Result<Self> {
        let (reader, writer) = UnixStream::pair()?;
        reader.set_nonblocking(true)?;
        writer.set_nonblocking(true)?;
        Ok(Self { ends: Mutex::new(Some((writer, reader))), given: AtomicBool::new(false) })
    }

    /// Return the descriptor to read from; -1 once it is closed.
    pub fn fileno(&self) -> i32 {
        self.ends.lock().as_ref().map_or(-1, |(_, reader)| reader.as_raw_fd())
    }

    /// Close the descriptor: no feed is left.
    pub fn close(&self) {
        drop(self.ends.lock().take());
    }

    /// Make the descriptor readable, once until it is cleared.
    pub fn give(&self) {
        if !self.given.swap(true, Ordering::AcqRel)
            && let Some((writer, _)) = &mut *self.ends.lock()
        {
            // It can only fail if an unread byte is in the pipe.
            let _ = writer.write(&[1]);
        }
    }

    /// Clear the signal; later events set it again.
    pub fn clear(&self) -> io::Result<()> {
        if let Some((_, reader)) = &mut *self.ends.lock() {
            match reader.read(&mut [0; 16]) {
                Err(e) if e.kind() != ErrorKind::WouldBlock => return Err(e),
                _ => {}
            }
        }
        self.given.store(false, Ordering::Release);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(signal: &Signal) -> usize {
        let mut ends = signal.ends.lock();
        ends.as_mut().map_or(0, |(_, reader)| reader.read(&mut [0; 16]).unwrap_or(0))
    }

    #[test]
    fn once_closed_it_is_not_given() {
        let signal = Signal::new().expect("descriptors");
        assert!(signal.fileno() >= 0);
        signal.close();
        signal.give();
        assert_eq!((signal.fileno(), bytes(&signal), signal.clear().is_ok()), (-1, 0, true));
    }

    #[test]
    fn it_is_given_once_until_it_is_cleared() {
        let signal = Signal::new().expect("descriptors");
        signal.give();
        signal.give();
        assert_eq!(bytes(&signal), 1);
        signal.give();
        assert_eq!(bytes(&signal), 0);
        signal.clear().expect("nothing to read is no error");
        signal.give();
        assert_eq!(bytes(&signal), 1);
    }
}
