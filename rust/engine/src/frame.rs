//! The bytes that the front end sends.

/// Bytes that are made once and shared by all connections.
///
/// The front end chooses the type: an object of its own runtime, so that it need not copy them.
pub trait Frame: Send + Sync + Sized + 'static {
    /// Make a frame of `length` bytes, to be filled by `write`.
    fn fill(length: usize, write: impl FnOnce(&mut [u8])) -> Self;

    /// Copy bytes into a frame.
    fn make(bytes: &[u8]) -> Self;

    /// Return another reference to the same frame.
    #[must_use]
    fn share(&self) -> Self;

    /// Pass the bytes to `look`.
    fn read<T>(&self, look: impl FnOnce(&[u8]) -> T) -> T;

    /// Do work that may take long without blocking the runtime that frames belong to.
    fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> T {
        work()
    }
}

impl Frame for std::sync::Arc<[u8]> {
    fn fill(length: usize, write: impl FnOnce(&mut [u8])) -> Self {
        let mut bytes = vec![0; length];
        write(&mut bytes);
        bytes.into()
    }

    fn make(bytes: &[u8]) -> Self {
        bytes.into()
    }

    fn share(&self) -> Self {
        Self::clone(self)
    }

    fn read<T>(&self, look: impl FnOnce(&[u8]) -> T) -> T {
        look(self)
    }
}
