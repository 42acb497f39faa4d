//! Bytes for a socket whose reader may be slow: who sends never waits.

use std::io::{ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::thread;

use parking_lot::Mutex;

/// The writing end of a socket that is not blocking.
#[derive(Debug)]
pub(crate) struct Outbox {
    /// For a thread that waits until the reader has room.
    socket: UnixStream,
    /// What is not sent yet, and whether a thread sends it. Whoever finds the thread at work leaves the bytes to it, so
    /// that they stay in order.
    state: Mutex<(Vec<u8>, bool)>,
}

impl Outbox {
    pub(crate) fn new(socket: UnixStream) -> Arc<Self> {
        Arc::new(Self { socket, state: Mutex::default() })
    }

    /// Send bytes: at once, or by a thread when the reader has room. Nothing happens once the reader has ended.
    pub(crate) fn send(self: &Arc<Self>, bytes: &[u8]) {
        let mut state = self.state.lock();
        if state.1 {
            state.0.extend_from_slice(bytes);
            return;
        }
        let mut left = bytes;
        while !left.is_empty() {
            match (&self.socket).write(left) {
                Ok(0) => return,
                Ok(sent) => left = left.get(sent..).unwrap_or_default(),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    state.0.extend_from_slice(left);
                    state.1 = true;
                    let outbox = Arc::clone(self);
                    let started = thread::Builder::new().name("link".to_owned()).spawn(move || outbox.drain());
                    if started.is_err() {
                        // There is no thread to be had: the reader misses an outcome, and its end is the way out.
                        state.1 = false;
                        drop(self.socket.shutdown(std::net::Shutdown::Both));
                    }
                    return;
                }
                Err(_) => return,
            }
        }
    }

    /// Send what waits, until nothing does.
    fn drain(&self) {
        loop {
            let waiting = {
                let mut state = self.state.lock();
                if state.0.is_empty() {
                    state.1 = false;
                    return;
                }
                std::mem::take(&mut state.0)
            };
            let mut left = &*waiting;
            while !left.is_empty() {
                match (&self.socket).write(left) {
                    Ok(sent) if sent > 0 => left = left.get(sent..).unwrap_or_default(),
                    Err(e) if e.kind() == ErrorKind::WouldBlock => {
                        thread::sleep(std::time::Duration::from_millis(1));
                    }
                    Err(e) if e.kind() == ErrorKind::Interrupted => {}
                    _ => {
                        *self.state.lock() = (Vec::new(), false);
                        return;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn a_reader_that_is_slow_gets_everything_in_order() {
        let (reader, writer) = UnixStream::pair().expect("there are descriptors");
        writer.set_nonblocking(true).expect("it is a socket");
        let outbox = Outbox::new(writer);
        let sent: Vec<u8> = (0..3_000_000_u32).map(|number| (number % 251) as u8).collect();
        sent.chunks(1000).for_each(|bytes| outbox.send(bytes));
        let mut got = vec![0; sent.len()];
        (&reader).read_exact(&mut got).expect("it is sent");
        assert!(got == sent);
        drop(reader);
        outbox.send(&sent);
    }
}
