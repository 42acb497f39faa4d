//! Answers of HTTP and events of watches: pieces show the same as the whole, and no bytes break a reader.
#![no_main]

use hydrofoil_client::event::{Format, Splitter};
use hydrofoil_client::http::{Part, Reader};
use hydrofoil_client::marks::{Mark, Scanner, all};
use libfuzzer_sys::fuzz_target;

fn read(pieces: [&[u8]; 2]) -> (Vec<u8>, Option<usize>, bool) {
    let (mut reader, mut body, mut heads, mut ended) = (Reader::default(), Vec::new(), 0, false);
    for piece in pieces {
        let mut rest = piece;
        loop {
            let Ok((taken, part)) = reader.next(rest) else { return (body, None, ended) };
            rest = &rest[taken..];
            match part {
                None => break,
                Some(Part::Head(_)) => heads += 1,
                Some(Part::Body(bytes)) => body.extend_from_slice(bytes),
                Some(Part::End) => ended = true,
            }
        }
        assert!(rest.is_empty());
    }
    (body, Some(heads), ended)
}

fuzz_target!(|data: &[u8]| {
    let Some((&at, data)) = data.split_first() else { return };
    let (one, two) = data.split_at(usize::from(at).min(data.len()));
    let whole = read([data, &[]]);
    assert_eq!(read([one, two]), whole);
    let marks: Vec<Mark> = all(data).map(|(mark, _)| mark).collect();
    let (mut scanner, mut found) = (Scanner::default(), Vec::new());
    for piece in [one, two] {
        let _ = scanner.scan(piece, |mark| {
            found.push(mark);
            Ok::<(), ()>(())
        });
    }
    assert_eq!(found, marks);
    for format in [Format::Json, Format::Protobuf, Format::Cbor] {
        let events = |pieces: [&[u8]; 2]| {
            let (mut splitter, mut seen) = (Splitter::new(format), Vec::new());
            for piece in pieces {
                let take = splitter.feed(piece, |event| {
                    seen.push((event.kind, event.version, event.mark));
                    Ok(())
                });
                if take.is_err() {
                    break;
                }
            }
            seen
        };
        assert_eq!(events([one, two]), events([data, &[]]));
    }
});
