//! The notification of the loop when other threads have applied events.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};

/// A descriptor that becomes readable when a feed has applied events.
#[derive(Debug)]
pub struct Signal {
    writer: UnixStream,
    reader: UnixStream,
    given: AtomicBool,
}

impl Signal {
    /// Return a signal that is not set.
    pub fn new() -> io::Result<Self> {
        let (reader, writer) = UnixStream::pair()?;
        reader.set_nonblocking(true)?;
        writer.set_nonblocking(true)?;
        Ok(Self { writer, reader, given: AtomicBool::new(false) })
    }

    /// Return the descriptor to read from.
    pub fn fileno(&self) -> i32 {
        self.reader.as_raw_fd()
    }

    /// Make the descriptor readable, once until it is cleared.
    pub fn give(&self) {
        if !self.given.swap(true, Ordering::AcqRel) {
            // It can only fail if an unread byte is in the pipe, or if the reader is closed.
            let _ = (&self.writer).write(&[1]);
        }
    }

    /// Clear the signal; later events set it again.
    pub fn clear(&self) -> io::Result<()> {
        match (&self.reader).read(&mut [0; 16]) {
            Err(e) if e.kind() != ErrorKind::WouldBlock => return Err(e),
            _ => {}
        }
        self.given.store(false, Ordering::Release);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(signal: &Signal) -> usize {
        (&signal.reader).read(&mut [0; 16]).unwrap_or(0)
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
