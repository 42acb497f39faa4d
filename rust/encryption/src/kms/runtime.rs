//! The thread of all plug-ins of a configuration.

use std::future::Future;
use std::io;
use std::sync::mpsc::channel;
use std::thread;

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// A thread that runs calls of plug-ins; it ends with this.
#[derive(Debug)]
pub(crate) struct Runtime {
    handle: Handle,
    /// Dropped at the end.
    _running: oneshot::Sender<()>,
}

impl Runtime {
    pub(crate) fn new() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        let (running, ended) = oneshot::channel();
        let handle = runtime.handle().clone();
        thread::Builder::new().name("kms".to_owned()).spawn(move || {
            drop(runtime.block_on(ended));
        })?;
        Ok(Self { handle, _running: running })
    }

    /// Make something that begins work by itself.
    pub(crate) fn within<T>(&self, make: impl FnOnce() -> T) -> T {
        let _entered = self.handle.enter();
        make()
    }

    /// Begin work that nothing waits for.
    pub(crate) fn begin(&self, work: impl Future<Output = ()> + Send + 'static) {
        drop(self.handle.spawn(work));
    }

    /// Do work, and wait for its end; `None` if it did not end properly.
    pub(crate) fn wait<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> Option<T> {
        let (sender, receiver) = channel();
        self.begin(async move { drop(sender.send(work.await)) });
        receiver.recv().ok()
    }
}
