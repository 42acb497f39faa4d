//! A file in memory that each process maps as a whole.

use std::ffi::c_void;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::layout::{ATTACHED, HEAP_AT, REVISION, SLOTS, USED};

/// The sizes of address space that are tried, the largest first: only what is written takes memory.
const SIZES: [u32; 4] = [40, 38, 36, 33];

/// The memory of one server, as one process sees it.
#[derive(Debug)]
pub struct Region {
    base: NonNull<u8>,
    size: usize,
    file: OwnedFd,
    slot: usize,
}

// SAFETY: the mapping lives as long as the region. Words in it are read and written as atomics; other bytes are written
// by the owner before a block is published, and by nobody while any process uses the block.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

impl Region {
    /// Make a region, and map it as its owner.
    pub fn create() -> io::Result<Self> {
        let file = memory_file()?;
        let mut failure = None;
        for bits in SIZES {
            let size = 1_usize << bits;
            // SAFETY: a call with numbers alone.
            if unsafe { libc::ftruncate(file.as_raw_fd(), size as libc::off_t) } == 0 {
                match map(&file, size) {
                    Ok(base) => {
                        let region = Self { base, size, file, slot: crate::OWNER };
                        region.word(USED).store(1, Ordering::Release);
                        return Ok(region);
                    }
                    Err(why) => failure = Some(why),
                }
            } else {
                failure = Some(io::Error::last_os_error());
            }
        }
        Err(failure.unwrap_or_else(io::Error::last_os_error))
    }

    /// Map the region of a descriptor as the process of a slot.
    pub fn open(file: RawFd, slot: usize) -> io::Result<Self> {
        if slot >= SLOTS {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        // SAFETY: the duplicate is new, and closed by its owner alone.
        let file = unsafe { libc::fcntl(file, libc::F_DUPFD_CLOEXEC, 0) };
        if file < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: as above.
        let file = unsafe { OwnedFd::from_raw_fd(file) };
        // SAFETY: `stat` is plain numbers, which the call fills.
        let size = unsafe {
            let mut stat: libc::stat = std::mem::zeroed();
            if libc::fstat(file.as_raw_fd(), &raw mut stat) != 0 {
                return Err(io::Error::last_os_error());
            }
            stat.st_size as usize
        };
        if size <= HEAP_AT {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let region = Self { base: map(&file, size)?, size, file, slot };
        region.word(USED).fetch_max((slot as u64).saturating_add(1), Ordering::AcqRel);
        Ok(region)
    }

    /// Return the descriptor that another process maps.
    pub fn fileno(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    /// Return the slot of this process.
    pub fn slot(&self) -> usize {
        self.slot
    }

    /// Return the latest revision of the truth that was published.
    pub fn revision(&self) -> u64 {
        self.word(REVISION).load(Ordering::Acquire)
    }

    /// Publish that the truth is at a revision.
    pub fn raise(&self, revision: u64) {
        self.word(REVISION).fetch_max(revision, Ordering::AcqRel);
    }

    /// Return the processes that read the feed, a bit each.
    pub fn readers(&self) -> u64 {
        self.word(ATTACHED).load(Ordering::Acquire)
    }

    /// Record that the process of a slot reads the feed from now on, or no longer.
    pub fn attach(&self, slot: usize, reads: bool) {
        let bit = 1_u64.checked_shl(slot as u32).unwrap_or_default();
        if reads {
            self.word(ATTACHED).fetch_or(bit, Ordering::AcqRel);
        } else {
            self.word(ATTACHED).fetch_and(!bit, Ordering::AcqRel);
        }
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Return a word that several processes use.
    pub(crate) fn word(&self, at: usize) -> &AtomicU64 {
        debug_assert!(at.is_multiple_of(8));
        // SAFETY: the place is within the mapping and aligned, and every process reads and writes it as an atomic.
        unsafe { &*self.place(at, 8).cast::<AtomicU64>().as_ptr() }
    }

    /// Return a word of 32 bits that several processes use.
    pub(crate) fn half(&self, at: usize) -> &AtomicU32 {
        debug_assert!(at.is_multiple_of(4));
        // SAFETY: as of `word`.
        unsafe { &*self.place(at, 4).cast::<AtomicU32>().as_ptr() }
    }

    /// Return the start of some bytes. Panic if they are not within the region.
    pub(crate) fn place(&self, at: usize, length: usize) -> NonNull<u8> {
        let end = at.checked_add(length).expect("a place is a small number");
        assert!(end <= self.size, "a place outside of the region");
        // SAFETY: it is within the mapping.
        unsafe { self.base.add(at) }
    }

    /// Give the memory of some whole pages back to the system: they read as 0.
    #[cfg(target_os = "linux")]
    pub(crate) fn punch(&self, at: usize, length: usize) {
        let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        // SAFETY: a call with numbers alone. No process uses the bytes. Where it fails, the memory is kept.
        unsafe { libc::fallocate(self.file.as_raw_fd(), mode, at as libc::off_t, length as libc::off_t) };
    }

    /// Keep the memory: other systems have no regions.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn punch(&self, _at: usize, _length: usize) {}
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping is this region's, and no reference to it outlives the region.
        unsafe { libc::munmap(self.base.as_ptr().cast::<c_void>(), self.size) };
    }
}

/// Return a new file that is in memory alone, and ends with its last descriptor.
#[cfg(target_os = "linux")]
fn memory_file() -> io::Result<OwnedFd> {
    // SAFETY: the name is a text that ends with 0; the call has no other input.
    let file = unsafe { libc::memfd_create(c"hydrofoil".as_ptr(), libc::MFD_CLOEXEC) };
    if file < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the descriptor is new, and nobody else closes it.
    Ok(unsafe { OwnedFd::from_raw_fd(file) })
}

#[cfg(not(target_os = "linux"))]
fn memory_file() -> io::Result<OwnedFd> {
    Err(io::ErrorKind::Unsupported.into())
}

fn map(file: &OwnedFd, size: usize) -> io::Result<NonNull<u8>> {
    let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_NORESERVE);
    // SAFETY: the system chooses the address; the file is as large as the mapping.
    let base = unsafe { libc::mmap(std::ptr::null_mut(), size, access, flags, file.as_raw_fd(), 0) };
    if base == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    NonNull::new(base.cast::<u8>()).ok_or_else(io::Error::last_os_error)
}
