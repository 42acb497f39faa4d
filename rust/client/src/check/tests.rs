//! Lists that are right, and each way in which one can be wrong.

use std::io::Write as _;

use super::*;
use crate::body::Body;
use crate::plan::plan;
use crate::target::Target;

const OBJECTS: u32 = 4;

fn world(encoding: &str) -> World {
    let text = format!(
        r#"{{"parts":[],"resource":"configmaps","namespace":"n","run":"r","objects":{OBJECTS},"size":9,"seconds":1,"rate":0,"encoding":"{encoding}","gzip":false,"patience":1}}"#
    );
    World::new(Target::new(Vec::new(), String::new(), None, None), plan(text.as_bytes()).unwrap())
}

fn object(world: &World, number: u32) -> String {
    let text = crate::body::filler(9);
    let made = Body { plan: &world.plan, number, write: None, version: Some(10 + u64::from(number)), text: &text };
    made.object().replace(r#""namespace":"#, &format!(r#""uid":"u-{number}","namespace":"#))
}

fn items(world: &World, numbers: &[u32]) -> Vec<String> {
    numbers.iter().map(|&number| object(world, number)).collect()
}

fn body(items: &[String]) -> Vec<u8> {
    let items = items.join(",");
    let head = r#""kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"20"}"#;
    format!("{{{head},\"items\":[{items}]}}\n").into_bytes()
}

fn compress(body: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn check_piece(world: &mut World, list: &mut Unpacked, bytes: &[u8], gzip: bool, at: usize) -> Result<bool, Wrong> {
    list.begin(gzip, 0);
    list.feed(world, &bytes[..at])?;
    list.feed(world, &bytes[at..])?;
    let same = list.finish(world, false)?;
    list.version(world, 20)?;
    Ok(same)
}

fn list() -> Unpacked {
    Unpacked::new(Listed::new(Encoding::Json), true)
}

#[test]
fn a_right_list_passes_wherever_it_is_split() {
    let mut world = world("json");
    let plain = body(&items(&world, &[0, 1, 2, 3]));
    let spaced = String::from_utf8(plain.clone())
        .unwrap()
        .replace("\":", "\" : ")
        .replace(",\"", " ,\n\"")
        .replace("},{", "} , {");
    let reordered = String::from_utf8(body(&[]))
        .unwrap()
        .replace("\"items\":[]}", "\"more\":[{}]}")
        .replace(r#""kind""#, &format!(r#""items":[{}],"kind""#, items(&world, &[0, 1, 2, 3]).join(",")));
    for (bytes, gzip) in
        [(compress(&plain), true), (plain, false), (spaced.into_bytes(), false), (reordered.into_bytes(), false)]
    {
        for at in 0..=bytes.len() {
            let mut list = list();
            assert_eq!(check_piece(&mut world, &mut list, &bytes, gzip, at), Ok(false), "{at}");
            assert_eq!(check_piece(&mut world, &mut list, &bytes, gzip, at), Ok(gzip), "the same again");
        }
    }
}

#[test]
fn a_wrong_list_is_named_by_its_object_also_after_right_ones() {
    for (numbers, named) in [
        (&[0, 2, 3][..], "bench-00000001"),
        (&[0, 1, 1, 2, 3], "bench-00000001"),
        (&[0, 2, 1, 3], "bench-00000001"),
        (&[0, 1, 2], "bench-00000003"),
        (&[0, 1, 2, 3, 4], "bench-00000004"),
        (&[], "bench-00000000"),
    ] {
        for gzip in [false, true] {
            let mut world = world("json");
            let (right, wrong) = (body(&items(&world, &[0, 1, 2, 3])), body(&items(&world, numbers)));
            let bytes = |body: &[u8]| if gzip { compress(body) } else { body.to_vec() };
            let mut list = list();
            check_piece(&mut world, &mut list, &bytes(&right), gzip, 9).unwrap();
            let Wrong(why) = check_piece(&mut world, &mut list, &bytes(&wrong), gzip, 9).unwrap_err();
            assert!(why.contains(named), "{why}");
            check_piece(&mut world, &mut list, &bytes(&right), gzip, 9).unwrap();
        }
    }
}

#[test]
fn each_change_of_an_object_is_found_in_the_first_list_and_in_later_ones() {
    for (from, to) in [
        ("bench-00000002", "bench-00000009"),
        ("bench-00000002", "other-00000002"),
        ("~m00000002", "~m00000001"),
        ("~d00000002", "~d00000001"),
        ("~m", "*m"),
        ("The quick", "The quack"),
        (r#""resourceVersion":"12""#, r#""resourceVersion":"13""#),
        (r#""namespace":"n""#, r#""namespace":"m""#),
        ("u-2", "u-3"),
        (r#":"r""#, r#":"s""#),
        (r#""data":{"#, r#""data":{"more":"","#),
    ] {
        for right in 0..3 {
            let mut world = world("json");
            let mut objects = items(&world, &[0, 1, 2, 3]);
            for (number, object) in objects.iter().enumerate() {
                world.known.note_creation(number as u32, object.as_bytes());
            }
            let mut list = list();
            for _ in 0..right {
                check_piece(&mut world, &mut list, &body(&objects), false, 0).unwrap();
            }
            let wrong = objects[2].replace(from, to);
            assert_ne!(wrong, objects[2]);
            objects[2] = wrong;
            let Wrong(why) = check_piece(&mut world, &mut list, &body(&objects), false, 0).unwrap_err();
            assert!(why.contains("00000002"), "{from}: {why}");
        }
    }
}

#[test]
fn a_list_that_is_cut_off_or_broken_is_wrong() {
    let mut world = world("json");
    let plain = body(&items(&world, &[0, 1, 2, 3]));
    let gzip = compress(&plain);
    for (bytes, gzip) in [(&plain[..plain.len() - 2], false), (&gzip[..gzip.len() - 3], true), (&gzip[..9], true)] {
        let Wrong(why) = check_piece(&mut world, &mut list(), bytes, gzip, 0).unwrap_err();
        assert!(why.contains("bench-0"), "{why}");
    }
    let mut broken = gzip.clone();
    let at = broken.len() - 6;
    broken[at] ^= 1;
    let mut list = list();
    assert!(check_piece(&mut world, &mut list, &gzip, true, 3).is_ok());
    assert!(check_piece(&mut world, &mut list, &broken, true, 3).is_err(), "a checksum");
    assert!(check_piece(&mut world, &mut list, &gzip[..gzip.len() - 1], true, 3).is_err(), "a part of a known body");
}

#[test]
fn kind_and_version_of_a_list_are_checked() {
    let mut world = world("json");
    let text = String::from_utf8(body(&items(&world, &[0, 1, 2, 3]))).unwrap();
    for (from, to) in [("ConfigMapList", "PodList"), (r#"n":"20""#, r#"n":"19""#), (r#"n":"20""#, r#"n":"""#)] {
        let wrong = text.replacen(from, to, 1);
        assert!(check_piece(&mut world, &mut list(), wrong.as_bytes(), false, 0).is_err(), "{to}");
    }
}

#[test]
fn objects_of_others_are_passed_over() {
    let mut world = world("json");
    let mut objects = items(&world, &[0, 1, 2, 3]);
    objects.push(r#"{"metadata":{"name":"kube-root-ca.crt","resourceVersion":"3"}}"#.to_owned());
    assert!(check_piece(&mut world, &mut list(), &body(&objects), false, 0).is_ok());
}

#[test]
fn a_selected_list_has_every_second_object_and_no_other() {
    let mut world = world("json");
    for (numbers, right) in
        [(&[0, 2][..], true), (&[0], false), (&[0, 1, 2, 3], false), (&[2], false), (&[0, 3], false)]
    {
        let bytes = body(&items(&world, numbers));
        let mut list = Unpacked::new(Listed::new(Encoding::Json).every(2), true);
        assert_eq!(check_piece(&mut world, &mut list, &bytes, false, 7).is_ok(), right, "{numbers:?}");
    }
}

#[test]
fn objects_of_several_namespaces_are_each_in_theirs() {
    let mut world = world("json");
    world.plan.spread = 2;
    let right = items(&world, &[0, 1, 2, 3]);
    assert!(right[1].contains(r#""namespace":"n-0000""#) && right[2].contains(r#""namespace":"n-0001""#));
    let other = right[0].replace(r#""hydrofoil.dev/bench":"r""#, r#""hydrofoil.dev/bench":"x""#);
    let moved = right[2].replace("n-0001", "n-0000");
    let [zero, one, two, three] = &right[..] else { unreachable!() };
    for (listed, passes) in [
        (vec![zero, one, two, three], true),
        (vec![&other, zero, one, two, three], true),
        (vec![&other, one, two, three], false),
        (vec![zero, one, &moved, three], false),
        (vec![zero, one, two], false),
    ] {
        let bytes = body(&listed.into_iter().cloned().collect::<Vec<_>>());
        assert_eq!(check_piece(&mut world, &mut list(), &bytes, false, 7).is_ok(), passes);
    }
}
