//! The errors of a log on a disk.

use std::fmt;
use std::io;
use std::path::Path;

/// A problem of a file or folder, in one line that names it.
#[derive(Debug)]
pub struct LogError {
    text: String,
    full: bool,
}

impl LogError {
    /// Return the error of an operation on a file.
    pub(crate) fn io(path: &Path, error: &io::Error) -> Self {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        let full = matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge);
        let what = if full { "no space left on the device".to_owned() } else { plain(error) };
        Self { text: format!("{}: {what}", path.display()), full }
    }

    /// Return the error of a file whose content is not as it must be.
    pub(crate) fn content(path: &Path, what: impl fmt::Display) -> Self {
        Self { text: format!("{}: {what}", path.display()), full: false }
    }

    /// Return the error of work that may succeed later without a change of the file.
    pub(crate) fn later(path: &Path, what: impl fmt::Display) -> Self {
        Self { text: format!("{}: {what}", path.display()), full: true }
    }

    /// Return the same error as one that space does not end.
    pub(crate) fn lasting(self) -> Self {
        Self { full: false, ..self }
    }

    /// Report whether there was no space, so that it may succeed later.
    pub fn is_full(&self) -> bool {
        self.full
    }
}

/// Return the text of the system, without the number of the error.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    let end = text.find(" (os error").unwrap_or(text.len());
    text.get(..end).unwrap_or_default().to_lowercase()
}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for LogError {}

/// The result of work on files.
pub type Result<T> = std::result::Result<T, LogError>;
