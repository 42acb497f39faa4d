//! Copies of a folder that are cut or damaged at any place: they load as a state that was acknowledged, or not at all.

use std::fs;

use hydrofoil_log::{backup, check};

use crate::common::{Objects, Temporary, active, files, open};

mod common;

/// The length of a header of a group.
const HEADER: usize = 40;
const MAGIC: &[u8] = b"HFlg";

/// Return a folder that a process left without an end, and the objects after each write.
fn left() -> (Temporary, Vec<Objects>) {
    let place = Temporary::new();
    let log = open(&place.0).expect("a new folder");
    let mut states = vec![log.objects()];
    for (key, text) in [("a/one", "1"), ("a/two", "2"), ("a/one", "3"), ("a/three", "4")] {
        log.put(key, text).expect("it is written");
        states.push(log.objects());
    }
    log.delete("a/two").expect("it is deleted");
    states.push(log.objects());
    let copy = place.copy();
    log.log.close();
    (copy, states)
}

/// Return where groups begin, and where the last one ends.
fn groups(bytes: &[u8]) -> Vec<usize> {
    let mut found = vec![24];
    while bytes[found[found.len() - 1]..].starts_with(MAGIC) {
        let at = found[found.len() - 1];
        let length: [u8; 4] = bytes[at + 8..at + 12].try_into().expect("four bytes");
        found.push(at + HEADER + u32::from_le_bytes(length) as usize);
    }
    found
}

#[test]
fn a_folder_that_was_cut_has_the_state_of_an_earlier_moment() {
    let (place, states) = left();
    let path = active(&place.0);
    let bytes = fs::read(&path).expect("a segment");
    let places = groups(&bytes);
    // Each write, and the mark that it is durable.
    assert_eq!(places.len(), 2 * (states.len() - 1) + 1);
    let end = places[places.len() - 1];
    let near = places.iter().flat_map(|place| place - 1..=place + 1);
    for at in (24..=end).step_by(31).chain(near) {
        let mut cut = bytes.clone();
        cut[at..].fill(0);
        // Some groups end with zeros.
        let whole = places.iter().filter(|place| cut[..**place] == bytes[..**place]).count();
        let copy = place.copy();
        fs::write(active(&copy.0), cut).expect("it is cut");
        let log = open(&copy.0).unwrap_or_else(|e| panic!("cut at {at}: {e}"));
        assert_eq!(log.objects(), states[whole / 2], "cut at {at}");
        log.log.close();
    }
}

#[test]
fn a_flipped_bit_is_found_before_anything_is_changed() {
    let (place, states) = left();
    let path = active(&place.0);
    let bytes = fs::read(&path).expect("a segment");
    let places = groups(&bytes);
    let [.., mark, end] = places[..] else { panic!("there are groups") };
    for at in (0..end).step_by(3).chain([mark - 1]) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        fs::write(&path, damaged).expect("it is damaged");
        let before = files(&place.0);
        let checked = check(&place.0, &None);
        if at >= mark {
            // It only marks that the group before it is durable.
            assert_eq!(checked.expect("nothing is lost").objects, states[states.len() - 1].len(), "byte {at}");
            continue;
        }
        let error = checked.expect_err("it is found").to_string();
        assert!(error.starts_with(&path.display().to_string()) && !error.contains('\n'), "byte {at}: {error}");
        assert!(open(&place.0).is_err(), "byte {at}");
        assert_eq!(files(&place.0), before, "byte {at}");
    }
}

#[test]
fn a_file_that_is_shorter_or_absent_is_found() {
    let (place, _) = left();
    // A lock has no content, and that of a version may end without a line break.
    for (name, bytes) in files(&place.0).into_iter().filter(|(name, _)| name != "LOCK" && name != "VERSION") {
        let path = place.0.join(&name);
        fs::write(&path, &bytes[..bytes.len() - 1]).expect("it is cut");
        let error = open(&place.0).err().map(|e| e.to_string());
        let named = |error: &String| error.starts_with(&place.0.display().to_string());
        assert!(error.as_ref().is_some_and(named), "{name}: {error:?}");
        fs::remove_file(&path).expect("it is removed");
        let error = open(&place.0).err().map(|e| e.to_string());
        assert!(error.as_ref().is_some_and(named), "{name}: {error:?}");
        fs::write(&path, &bytes).expect("it is whole again");
    }
    assert_eq!(check(&place.0, &None).expect("it is whole").objects, 2);
}

#[test]
fn a_damaged_state_is_found_by_a_check_and_a_backup() {
    let place = Temporary::new();
    let log = open(&place.0).expect("a new folder");
    log.put("a/one", "the only one").expect("it is written");
    log.log.close();
    hydrofoil_log::compact(&place.0, &None).expect("it is compacted");
    let (name, bytes) =
        files(&place.0).into_iter().find(|(name, _)| name.starts_with("state-")).expect("there is a state");
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1;
        fs::write(place.0.join(&name), damaged).expect("it is damaged");
        assert!(check(&place.0, &None).is_err(), "byte {at}");
    }
    assert!(backup(&place.0, &place.0.with_extension("backup"), &None).is_err());
}
