//! AES in CBC and GCM mode (apiserver `pkg/storage/value/encrypt/aes`).

use std::fmt;

use aes::cipher::array::Array;
use aes::cipher::block_padding::{NoPadding, Pkcs7};
use aes::cipher::consts::U12;
use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, KeyInit};
use aes::{Aes128, Aes192, Aes256};
use aes_gcm::AesGcm;
use aes_gcm::aead::{Aead, Payload};

use crate::failure::{Failure, Result};

/// The size of a block, and of the initial vector in front of values in CBC mode.
const BLOCK: usize = 16;
/// The size of the nonce in front of values in GCM mode.
const NONCE: usize = 12;
const SHORT: &str = "the stored data was shorter than the required size";
const OPEN: &str = "cipher: message authentication failed";

/// Fill bytes with random ones.
pub(crate) fn random(bytes: &mut [u8]) -> Result<()> {
    getrandom::fill(bytes).map_err(|_| Failure::new("unable to read sufficient random bytes"))
}

fn size_of_key(secret: &[u8]) -> Failure {
    Failure::new(format!("crypto/aes: invalid key size {}", secret.len()))
}

/// AES in CBC mode, with a key of any of its sizes.
pub(crate) enum Cbc {
    Short(Box<Aes128>),
    Middle(Box<Aes192>),
    Long(Box<Aes256>),
}

impl fmt::Debug for Cbc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Cbc")
    }
}

fn seal_blocks<C: BlockCipherEncrypt + Clone>(cipher: &C, iv: &[u8], data: &[u8]) -> Option<Vec<u8>>
where
    cbc::Encryptor<C>: BlockModeEncrypt + aes::cipher::InnerIvInit<Inner = C>,
{
    use aes::cipher::InnerIvInit;
    let mode = cbc::Encryptor::<C>::inner_iv_slice_init(cipher.clone(), iv).ok()?;
    Some(mode.encrypt_padded_vec::<Pkcs7>(data))
}

fn open_blocks<C: BlockCipherDecrypt + Clone>(cipher: &C, iv: &[u8], data: &[u8]) -> Option<Vec<u8>>
where
    cbc::Decryptor<C>: BlockModeDecrypt + aes::cipher::InnerIvInit<Inner = C>,
{
    use aes::cipher::InnerIvInit;
    let mode = cbc::Decryptor::<C>::inner_iv_slice_init(cipher.clone(), iv).ok()?;
    mode.decrypt_padded_vec::<NoPadding>(data).ok()
}

impl Cbc {
    pub(crate) fn new(secret: &[u8]) -> Result<Self> {
        let found = match secret.len() {
            16 => Aes128::new_from_slice(secret).map(|cipher| Self::Short(Box::new(cipher))),
            24 => Aes192::new_from_slice(secret).map(|cipher| Self::Middle(Box::new(cipher))),
            _ => Aes256::new_from_slice(secret).map(|cipher| Self::Long(Box::new(cipher))),
        };
        found.map_err(|_| size_of_key(secret))
    }

    pub(crate) fn seal(&self, data: &[u8]) -> Result<Vec<u8>> {
        let mut iv = [0; BLOCK];
        random(&mut iv)?;
        let sealed = match self {
            Self::Short(cipher) => seal_blocks(&**cipher, &iv, data),
            Self::Middle(cipher) => seal_blocks(&**cipher, &iv, data),
            Self::Long(cipher) => seal_blocks(&**cipher, &iv, data),
        };
        let sealed = sealed.ok_or_else(|| Failure::new("crypto/cipher: input not full blocks"))?;
        Ok([&iv[..], &sealed].concat())
    }

    pub(crate) fn open(&self, data: &[u8]) -> Result<Vec<u8>> {
        let (iv, data) = data.split_at_checked(BLOCK).ok_or_else(|| Failure::new(SHORT))?;
        let whole = "the stored data is not a multiple of the block size";
        if !data.len().is_multiple_of(BLOCK) {
            return Err(Failure::new(whole));
        }
        let opened = match self {
            Self::Short(cipher) => open_blocks(&**cipher, iv, data),
            Self::Middle(cipher) => open_blocks(&**cipher, iv, data),
            Self::Long(cipher) => open_blocks(&**cipher, iv, data),
        };
        let mut opened = opened.ok_or_else(|| Failure::new(whole))?;
        let padding = opened.last().copied().unwrap_or_default();
        let size = opened.len().checked_sub(usize::from(padding)).filter(|_| padding > 0);
        let size = size.ok_or_else(|| Failure::new("invalid PKCS7 data (empty or not padded)"))?;
        if opened.iter().skip(size).any(|byte| *byte != padding) {
            return Err(Failure::new("invalid padding on input"));
        }
        opened.truncate(size);
        Ok(opened)
    }
}

/// AES in GCM mode, with a key of any of its sizes.
pub(crate) enum Gcm {
    Short(Box<AesGcm<Aes128, U12>>),
    Middle(Box<AesGcm<Aes192, U12>>),
    Long(Box<AesGcm<Aes256, U12>>),
}

impl fmt::Debug for Gcm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gcm")
    }
}

impl Gcm {
    pub(crate) fn new(secret: &[u8]) -> Result<Self> {
        let found = match secret.len() {
            16 => AesGcm::new_from_slice(secret).map(|cipher| Self::Short(Box::new(cipher))),
            24 => AesGcm::new_from_slice(secret).map(|cipher| Self::Middle(Box::new(cipher))),
            _ => AesGcm::new_from_slice(secret).map(|cipher| Self::Long(Box::new(cipher))),
        };
        found.map_err(|_| size_of_key(secret))
    }

    /// Encrypt a value; `aad` is authenticated with it.
    pub(crate) fn seal(&self, data: &[u8], aad: &[u8]) -> Result<Vec<u8>> {
        let mut nonce = [0; NONCE];
        random(&mut nonce)?;
        let (at, payload) = (Array::from(nonce), Payload { msg: data, aad });
        let sealed = match self {
            Self::Short(cipher) => cipher.encrypt(&at, payload),
            Self::Middle(cipher) => cipher.encrypt(&at, payload),
            Self::Long(cipher) => cipher.encrypt(&at, payload),
        };
        let sealed = sealed.map_err(|_| Failure::new("crypto/cipher: message too large for GCM"))?;
        Ok([&nonce[..], &sealed].concat())
    }

    pub(crate) fn open(&self, data: &[u8], aad: &[u8]) -> Result<Vec<u8>> {
        let (nonce, data) = data.split_first_chunk::<NONCE>().ok_or_else(|| Failure::new(SHORT))?;
        let (at, payload) = (Array::from(*nonce), Payload { msg: data, aad });
        let opened = match self {
            Self::Short(cipher) => cipher.decrypt(&at, payload),
            Self::Middle(cipher) => cipher.decrypt(&at, payload),
            Self::Long(cipher) => cipher.decrypt(&at, payload),
        };
        opened.map_err(|_| Failure::new(OPEN))
    }
}
