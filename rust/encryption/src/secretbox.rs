//! `XSalsa20` and `Poly1305` as the secretbox of `NaCl` combines them (apiserver `pkg/storage/value/encrypt/secretbox`).

use std::fmt;

use poly1305::Poly1305;
use poly1305::universal_hash::KeyInit;
use salsa20::XSalsa20;
use salsa20::cipher::{KeyIvInit, StreamCipher};

use crate::aes::random;
use crate::failure::{Failure, Result};

const NONCE: usize = 24;
const TAG: usize = 16;
/// The size of the key of the tag, which is the beginning of the stream.
const TAG_KEY: usize = 32;

/// A key of 32 bytes.
pub(crate) struct Secretbox([u8; 32]);

impl fmt::Debug for Secretbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secretbox")
    }
}

impl Secretbox {
    pub(crate) fn new(secret: &[u8]) -> Result<Self> {
        let size = || Failure::new(format!("expected key size 32 for secretbox provider, got {}", secret.len()));
        secret.try_into().map(Self).map_err(|_| size())
    }

    /// Return the stream behind the key of the tag, and the tag's function.
    fn begin(&self, nonce: &[u8; NONCE]) -> (XSalsa20, Poly1305) {
        let mut stream = XSalsa20::new(&self.0.into(), &(*nonce).into());
        let mut key = [0; TAG_KEY];
        stream.apply_keystream(&mut key);
        (stream, Poly1305::new(&key.into()))
    }

    pub(crate) fn seal(&self, data: &[u8]) -> Result<Vec<u8>> {
        let mut nonce = [0; NONCE];
        random(&mut nonce)?;
        let (mut stream, tag) = self.begin(&nonce);
        let mut sealed = data.to_vec();
        stream.apply_keystream(&mut sealed);
        let tag = tag.compute_unpadded(&sealed);
        Ok([&nonce[..], &tag[..], &sealed].concat())
    }

    pub(crate) fn open(&self, data: &[u8]) -> Result<Vec<u8>> {
        let short = || Failure::new("the stored data was shorter than the required size");
        let (nonce, data) = data.split_first_chunk::<NONCE>().ok_or_else(short)?;
        let (found, sealed) = data.split_first_chunk::<TAG>().ok_or_else(short)?;
        let (mut stream, tag) = self.begin(nonce);
        // The comparison of the tags takes the same time for all of them.
        let tag = poly1305::Tag::from(tag.compute_unpadded(sealed));
        if !bool::from(subtle::ConstantTimeEq::ct_eq(&tag[..], &found[..])) {
            // Upstream's message for a tag that is wrong.
            return Err(Failure::new("output array was not large enough for encryption"));
        }
        let mut opened = sealed.to_vec();
        stream.apply_keystream(&mut opened);
        Ok(opened)
    }
}
