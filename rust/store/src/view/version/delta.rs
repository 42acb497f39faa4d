//! A text as the difference to another one: what it copies from there, and what is new in it.

#![allow(clippy::arithmetic_side_effects, reason = "places and lengths are bounded by the texts")]
#![allow(clippy::indexing_slicing, reason = "places were compared with the lengths of the texts")]

/// The bytes by which equal places are found.
const WORD: usize = 8;

/// The distance of the places of the other text that are looked at.
const STEP: usize = 4;

const SLOTS: usize = 1 << 11;

/// The length up to which texts are compared: places have two bytes.
const MOST: usize = u16::MAX as usize;

/// Return the difference of `text` to `base`; `None` if it saves little, or texts are large.
pub(crate) fn pack(text: &[u8], base: &[u8]) -> Option<Box<[u8]>> {
    if text.len() > MOST || base.len() > MOST {
        return None;
    }
    let mut places = [u16::MAX; SLOTS];
    for at in (0..base.len().saturating_sub(WORD)).step_by(STEP) {
        places[slot(&base[at..])] = at as u16;
    }
    let (mut out, mut at, mut new, mut expected) = (Vec::with_capacity(text.len() / 8), 0, 0, 0);
    while at + WORD <= text.len() {
        let word = &text[at..at + WORD];
        // Most of it goes on where the last copy has ended.
        let place =
            if base.get(expected..expected + WORD) == Some(word) { expected } else { usize::from(places[slot(word)]) };
        if base.get(place..place + WORD) != Some(word) {
            at += 1;
            continue;
        }
        let (mut place, mut begin) = (place, at);
        while begin > new && place > 0 && text[begin - 1] == base[place - 1] {
            (place, begin) = (place - 1, begin - 1);
        }
        let length = text[begin..].iter().zip(&base[place..]).take_while(|(one, other)| one == other).count();
        put(&mut out, &text[new..begin]);
        number(&mut out, place);
        number(&mut out, length);
        (at, expected) = (begin + length, place + length);
        new = at;
        if out.len() * 2 > text.len() {
            return None;
        }
    }
    put(&mut out, &text[new..]);
    (out.len() * 2 <= text.len()).then(|| out.into_boxed_slice())
}

/// Return the text of a difference.
pub(crate) fn unpack(difference: &[u8], base: &[u8], length: usize) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::with_capacity(length), difference);
    loop {
        let many = take(&mut rest);
        out.extend_from_slice(&rest[..many]);
        rest = &rest[many..];
        if rest.is_empty() {
            return out;
        }
        let (place, length) = (take(&mut rest), take(&mut rest));
        out.extend_from_slice(&base[place..place + length]);
    }
}

fn slot(word: &[u8]) -> usize {
    let bytes = word.first_chunk().map_or(0, |bytes: &[u8; WORD]| u64::from_le_bytes(*bytes));
    (bytes.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 53) as usize
}

fn put(out: &mut Vec<u8>, text: &[u8]) {
    number(out, text.len());
    out.extend_from_slice(text);
}

/// Write a number, seven bits a byte.
fn number(out: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn take(rest: &mut &[u8]) -> usize {
    let (mut found, mut shift) = (0, 0);
    while let Some((byte, more)) = rest.split_first() {
        *rest = more;
        found |= usize::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
        shift += 7;
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{pack, unpack};

    fn same(text: &[u8], base: &[u8]) -> Option<usize> {
        let packed = pack(text, base)?;
        assert_eq!(unpack(&packed, base, text.len()), text);
        Some(packed.len())
    }

    #[test]
    fn what_is_alike_is_small() {
        let base = (0..200).fold(String::new(), |text, at| text + &format!(r#""member-{at}":{at},"#));
        let text = base.replace(r#""member-17":17,"#, "").replace("member-90", "another");
        assert!(same(text.as_bytes(), base.as_bytes()).is_some_and(|length| length < 40));
        assert!(same(base.as_bytes(), base.as_bytes()).is_some_and(|length| length < 10));
        assert_eq!(same(text.as_bytes(), b"something else"), None);
        assert_eq!(same(b"", b""), None);
    }

    proptest! {
        #[test]
        fn any_text_comes_back(parts in prop::collection::vec((any::<bool>(), 0usize..300, 0usize..40), 0..20)) {
            let base: Vec<u8> = (0..300u32).flat_map(|at| (at * 7919 % 251).to_string().into_bytes()).collect();
            let mut text = Vec::new();
            for (copies, place, length) in parts {
                if copies {
                    text.extend_from_slice(&base[place..place + length]);
                } else {
                    text.extend(std::iter::repeat_n(b'x', length));
                }
            }
            same(&text, &base);
            same(&base, &text);
        }
    }
}
