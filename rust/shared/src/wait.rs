//! Sleeping until another process has something.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::Region;
use crate::layout::{SLEEPERS, WORD};

impl Region {
    /// Wake every process that sleeps. It costs a system call only if any does.
    pub fn wake(&self) {
        // Both orders are total, here and in `sleep`: either the sleeper sees the new word, or this sees the sleeper.
        self.half(WORD).fetch_add(1, Ordering::SeqCst);
        if self.half(SLEEPERS).load(Ordering::SeqCst) > 0 {
            wake_all(self.half(WORD));
        }
    }

    /// Sleep until another process wakes this one, for a time at most; return at once if `ready`, which is asked when
    /// no wake can be missed any more.
    pub fn sleep(&self, most: Duration, ready: impl Fn() -> bool) {
        self.half(SLEEPERS).fetch_add(1, Ordering::SeqCst);
        let word = self.half(WORD).load(Ordering::SeqCst);
        if !ready() {
            wait(self.half(WORD), word, most);
        }
        self.half(SLEEPERS).fetch_sub(1, Ordering::SeqCst);
    }
}

/// Wake all processes that wait for another value of a word.
#[cfg(target_os = "linux")]
fn wake_all(word: &AtomicU32) {
    // SAFETY: the word lives as long as the region.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}

/// Wait until a word has another value and somebody says so, for a time at most.
#[cfg(target_os = "linux")]
fn wait(word: &AtomicU32, value: u32, most: Duration) {
    let time = libc::timespec { tv_sec: most.as_secs() as _, tv_nsec: most.subsec_nanos().into() };
    let none: *const u32 = std::ptr::null();
    // SAFETY: the word and the time live until the call returns. A wake for nothing does no harm.
    unsafe {
        libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, value, &raw const time, none, 0);
    }
}

#[cfg(not(target_os = "linux"))]
fn wake_all(_word: &AtomicU32) {}

#[cfg(not(target_os = "linux"))]
fn wait(_word: &AtomicU32, _value: u32, most: Duration) {
    std::thread::sleep(most.min(Duration::from_millis(1)));
}
