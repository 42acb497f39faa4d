//! A state in a file: every object as it is stored, so that it is loaded without being decoded.
//!
//! ```text
//! MAGIC  format  version of the program  revision  n { resource  n { object } }  CRC-32 of all before
//! object: key  revision  outline  JSON  whether there is another JSON  JSON
//! outline: offset of the revision  length of the head  schema  n { label  value }  n { field }
//! ```
//!
//! The schema that wrote the JSON is 0 for built-in kinds, 1 if it is unknown, and 2 with its digest. Numbers are 64 bits, least byte first; texts have their length in front.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::sync::Arc;

use hydrofoil_types::{Digest, Fingerprint, SmolStr};

use crate::{Checkpoint, Draft, Tree, Version};

const MAGIC: &[u8] = b"hydrofoil snapshot\n";
const FORMAT: u64 = 2;

/// The reason why bytes are no state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SavedError {
    /// They do not begin as a state does.
    Foreign,
    /// Another version of the program wrote them.
    Version(String),
    /// Some bytes are missing or different.
    Damaged,
}

impl fmt::Display for SavedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign => write!(f, "it is no snapshot"),
            Self::Version(by) => {
                write!(f, "it was saved by version {by}, this is version {}", env!("CARGO_PKG_VERSION"))
            }
            Self::Damaged => write!(f, "it is damaged"),
        }
    }
}

impl Error for SavedError {}

impl Checkpoint {
    /// Return the state as bytes.
    pub fn save(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        number(&mut out, FORMAT);
        text(&mut out, env!("CARGO_PKG_VERSION").as_bytes());
        number(&mut out, self.revision);
        number(&mut out, self.shards.len() as u64);
        for (name, tree) in &self.shards {
            text(&mut out, name.as_bytes());
            number(&mut out, tree.len() as u64);
            tree.each(|version| object(&mut out, version));
        }
        let sum = crc32fast::hash(&out);
        number(&mut out, u64::from(sum));
        out
    }

    /// Return the state of saved bytes.
    pub fn load(bytes: &[u8]) -> Result<Self, SavedError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(SavedError::Foreign)?;
        let mut reader = Reader(rest);
        let format = reader.number()?;
        let by = reader.string()?;
        if format != FORMAT || by != env!("CARGO_PKG_VERSION") {
            return Err(SavedError::Version(by));
        }
        let (content, sum) = bytes.split_last_chunk::<8>().ok_or(SavedError::Damaged)?;
        if u64::from(crc32fast::hash(content)) != u64::from_le_bytes(*sum) {
            return Err(SavedError::Damaged);
        }
        let revision = reader.number()?;
        let mut shards = BTreeMap::new();
        for _ in 0..reader.number()? {
            let name = reader.string()?;
            let mut tree = Tree::default();
            for _ in 0..reader.number()? {
                let version = reader.object()?;
                if version.revision() > revision {
                    return Err(SavedError::Damaged);
                }
                tree.insert(Arc::new(version));
            }
            shards.insert(name, tree);
        }
        Ok(Self { shards, revision })
    }
}

pub(crate) fn number(out: &mut Vec<u8>, value: u64) {
    out.extend_from_slice(&value.to_le_bytes());
}

pub(crate) fn text(out: &mut Vec<u8>, value: &[u8]) {
    number(out, value.len() as u64);
    out.extend_from_slice(value);
}

/// What is known of an object beside its bytes.
#[derive(Clone, Debug)]
pub(crate) struct Outline<L = Box<[(SmolStr, SmolStr)]>, F = Box<[SmolStr]>> {
    pub(crate) rv_at: usize,
    pub(crate) head: usize,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) labels: L,
    pub(crate) fields: F,
}

impl<L: AsRef<[(SmolStr, SmolStr)]>, F: AsRef<[SmolStr]>> Outline<L, F> {
    /// Append it.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        number(out, self.rv_at as u64);
        number(out, self.head as u64);
        match self.fingerprint.digest() {
            Some(digest) => {
                number(out, 2);
                out.extend_from_slice(&digest);
            }
            None => number(out, u64::from(self.fingerprint != Fingerprint::BUILTIN)),
        }
        number(out, self.labels.as_ref().len() as u64);
        for (key, value) in self.labels.as_ref() {
            text(out, key.as_bytes());
            text(out, value.as_bytes());
        }
        number(out, self.fields.as_ref().len() as u64);
        for field in self.fields.as_ref() {
            text(out, field.as_bytes());
        }
    }
}

fn object(out: &mut Vec<u8>, version: &Version) {
    text(out, version.key().as_bytes());
    number(out, version.revision());
    version.draft().write(out);
}

impl Draft {
    /// Append the object to bytes that [`Draft::read`] reads.
    pub fn write(&self, out: &mut Vec<u8>) {
        let Self { json, given, rv_at, head, labels, fields, fingerprint } = self;
        Outline { rv_at: *rv_at, head: *head, fingerprint: *fingerprint, labels, fields }.write(out);
        text(out, json);
        number(out, u64::from(given.is_some()));
        if let Some(given) = given {
            text(out, given);
        }
    }

    /// Return the object of bytes that [`Draft::write`] wrote.
    pub fn read(bytes: &[u8]) -> Result<Self, SavedError> {
        Reader(bytes).draft()
    }
}

/// The bytes that are still to be read.
pub(crate) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn number(&mut self) -> Result<u64, SavedError> {
        let (first, rest) = self.0.split_first_chunk::<8>().ok_or(SavedError::Damaged)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*first))
    }

    fn digest(&mut self) -> Result<Digest, SavedError> {
        let (first, rest) = self.0.split_first_chunk().ok_or(SavedError::Damaged)?;
        self.0 = rest;
        Ok(*first)
    }

    /// Return a number that is the size of something in the bytes.
    pub(crate) fn size(&mut self) -> Result<usize, SavedError> {
        usize::try_from(self.number()?).ok().filter(|size| *size <= self.0.len()).ok_or(SavedError::Damaged)
    }

    /// Pass some bytes over.
    pub(crate) fn skip(&mut self, size: usize) -> Result<(), SavedError> {
        self.0 = self.0.get(size..).ok_or(SavedError::Damaged)?;
        Ok(())
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], SavedError> {
        let size = self.size()?;
        let (first, rest) = self.0.split_at_checked(size).ok_or(SavedError::Damaged)?;
        self.0 = rest;
        Ok(first)
    }

    pub(crate) fn str(&mut self) -> Result<&'a str, SavedError> {
        str::from_utf8(self.bytes()?).map_err(|_| SavedError::Damaged)
    }

    fn string(&mut self) -> Result<String, SavedError> {
        self.str().map(str::to_owned)
    }

    pub(crate) fn outline(&mut self) -> Result<Outline, SavedError> {
        let (rv_at, head) = (self.number()? as usize, self.number()? as usize);
        let fingerprint = match self.number()? {
            0 => Fingerprint::BUILTIN,
            1 => Fingerprint::UNKNOWN,
            2 => Fingerprint::of(self.digest()?),
            _ => return Err(SavedError::Damaged),
        };
        let labels = (0..self.size()?)
            .map(|_| Ok((SmolStr::new(self.str()?), SmolStr::new(self.str()?))))
            .collect::<Result<_, _>>()?;
        let fields = (0..self.size()?).map(|_| self.str().map(SmolStr::new)).collect::<Result<_, _>>()?;
        Ok(Outline { rv_at, head, fingerprint, labels, fields })
    }

    fn draft(&mut self) -> Result<Draft, SavedError> {
        let Outline { rv_at, head, fingerprint, labels, fields } = self.outline()?;
        let json = self.bytes()?.to_vec();
        let given = if self.number()? == 0 { None } else { Some(self.bytes()?.to_vec()) };
        if rv_at > json.len() || head > json.len() || given.as_ref().is_some_and(|given| rv_at > given.len()) {
            return Err(SavedError::Damaged);
        }
        Ok(Draft { json, given, rv_at, head, labels, fields, fingerprint })
    }

    fn object(&mut self) -> Result<Version, SavedError> {
        let key: Arc<str> = Arc::from(self.str()?);
        let revision = self.number()?;
        Ok(Version::new(key, revision, self.draft()?, None))
    }
}

#[cfg(test)]
#[allow(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "they cut bytes that they made")]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::{MAGIC, SavedError};
    use crate::view::testing::draft;
    use crate::{Checkpoint, Limits, Local, View};

    fn state() -> Checkpoint {
        let view = View::new(Limits::default(), None, Arc::default());
        let log = Local::open(&view, 7);
        let mut given = draft("web", "up");
        given.given = Some([&given.json[..], b" "].concat());
        log.create(&view.shard("core/pods"), "a/one", given).expect("it is written");
        log.create(&view.shard("core/pods"), "a/two", draft("", "down")).expect("it is written");
        log.create(&view.shard("core/nodes"), "n", draft("x", "")).expect("it is written");
        view.checkpoint()
    }

    #[test]
    fn it_is_read_as_it_was_saved() {
        let (before, bytes) = (state(), state().save());
        let read = Checkpoint::load(&bytes).expect("it is whole");
        assert_eq!((read.revision(), read.objects()), (10, 3));
        assert!(before.differences(&read).is_empty());
        let all = |state: &Checkpoint| {
            let mut out = Vec::new();
            state.shards.values().for_each(|tree| tree.each(|version| out.push(Arc::clone(version))));
            out
        };
        for (one, two) in all(&before).into_iter().zip(all(&read)) {
            assert_eq!((one.json(), one.revision(), one.key()), (two.json(), two.revision(), two.key()));
            assert_eq!((one.labels(), one.fields(), one.given_text()), (two.labels(), two.fields(), two.given_text()));
        }
        assert_eq!(read.save(), bytes);
    }

    #[test]
    fn other_files_are_refused_in_words() {
        let refused = |bytes: &[u8]| Checkpoint::load(bytes).err().map(|e| e.to_string());
        assert_eq!(refused(b"{}").as_deref(), Some("it is no snapshot"));
        let mut older = state().save();
        older[MAGIC.len() + 16] = b'9';
        assert!(refused(&older).is_some_and(|why| why.starts_with("it was saved by version 9")));
        let bytes = state().save();
        assert_eq!(refused(&bytes[..bytes.len() - 1]).as_deref(), Some("it is damaged"));
    }

    proptest! {
        #[test]
        fn a_changed_byte_is_found(at in 0usize..4096, bit in 0u8..8) {
            let mut bytes = state().save();
            let at = at % bytes.len();
            bytes[at] ^= 1 << bit;
            prop_assert!(Checkpoint::load(&bytes).is_err());
        }

        #[test]
        fn arbitrary_bytes_are_refused(rest in prop::collection::vec(any::<u8>(), 0..512)) {
            let mut bytes = state().save();
            let keep = MAGIC.len() + 16 + env!("CARGO_PKG_VERSION").len();
            bytes.truncate(keep);
            bytes.extend(rest);
            let sum = crc32fast::hash(&bytes);
            bytes.extend(u64::from(sum).to_le_bytes());
            // Whatever the sum covers, nothing panics.
            let read = Checkpoint::load(&bytes);
            prop_assert!(matches!(read, Ok(_) | Err(SavedError::Damaged)));
        }
    }
}
