//! AES in GCM mode with a key of its own for each value, derived from a seed (apiserver
//! `pkg/storage/value/encrypt/aes/aes_extended_nonce.go`).

use std::fmt;

use hkdf::Hkdf;
use sha2::Sha256;

use crate::aes::{Gcm, random};
use crate::failure::{Failure, Result};

/// The size of a seed, of a derived key and of the bytes that it is derived by.
pub(crate) const SIZE: usize = 32;

/// A seed.
pub(crate) struct Derived(Hkdf<Sha256>);

impl fmt::Debug for Derived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Derived")
    }
}

impl Derived {
    pub(crate) fn new(seed: &[u8]) -> Result<Self> {
        let size = || Failure::new(format!("invalid seed length {} used for key generation", seed.len()));
        if seed.len() < SIZE {
            return Err(size());
        }
        Hkdf::from_prk(seed).map(Self).map_err(|_| size())
    }

    fn cipher(&self, info: &[u8]) -> Result<Gcm> {
        let mut key = [0; SIZE];
        let expand = || Failure::new("failed to KDF expand seed with info: hkdf: entropy limit reached");
        self.0.expand(info, &mut key).map_err(|_| expand())?;
        Gcm::new(&key)
    }

    pub(crate) fn seal(&self, data: &[u8], aad: &[u8]) -> Result<Vec<u8>> {
        let mut info = [0; SIZE];
        random(&mut info)?;
        Ok([&info[..], &self.cipher(&info)?.seal(data, aad)?].concat())
    }

    pub(crate) fn open(&self, data: &[u8], aad: &[u8]) -> Result<Vec<u8>> {
        let short = || Failure::new("the stored data was shorter than the required size");
        let (info, data) = data.split_first_chunk::<SIZE>().ok_or_else(short)?;
        self.cipher(info)?.open(data, aad)
    }
}
