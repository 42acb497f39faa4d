//! Sleeping until another process has something.

use std::ptr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::Region;
use crate::layout::{SLEEPERS, WORD};

impl Region {
    /// Wake every process that sleeps. It costs a system call only if any does.
    pub fn wake(&self) {
        // Both orders are total, here and in `sleep`: either the sleeper sees the new word, or this sees the sleeper.
        self.half(WORD).fetch_add(1, Ordering::SeqCst);
        if self.half(SLEEPERS).load(Ordering::SeqCst) > 0 {
            // SAFETY: the word lives as long as the region.
            unsafe { libc::syscall(libc::SYS_futex, self.half(WORD).as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
        }
    }

    /// Sleep until another process wakes this one, for a time at most; return at once if `ready`, which is asked when
    /// no wake can be missed any more.
    pub fn sleep(&self, most: Duration, ready: impl Fn() -> bool) {
        self.half(SLEEPERS).fetch_add(1, Ordering::SeqCst);
        let word = self.half(WORD).load(Ordering::SeqCst);
        if !ready() {
            let time = libc::timespec { tv_sec: most.as_secs() as _, tv_nsec: most.subsec_nanos().into() };
            let none: *const u32 = ptr::null();
            // SAFETY: the word and the time live until the call returns. A wake for nothing does no harm.
            unsafe {
                libc::syscall(
                    libc::SYS_futex,
                    self.half(WORD).as_ptr(),
                    libc::FUTEX_WAIT,
                    word,
                    &raw const time,
                    none,
                    0,
                );
            }
        }
        self.half(SLEEPERS).fetch_sub(1, Ordering::SeqCst);
    }
}
