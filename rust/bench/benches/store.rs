//! The store with 100,000 objects of 1 KB.

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use hydrofoil_bench::{Subject, catalog, draft, fill_shard, key};
use hydrofoil_store::{Page, Selector};

const OBJECTS: usize = 100_000;

fn store(c: &mut Criterion) {
    let subject = Subject::config_map(&catalog());
    let (log, shard) = fill_shard(&subject, OBJECTS);
    let middle = key(OBJECTS / 2);
    assert_eq!(shard.get(&middle).expect("a stored key").key().as_ref(), middle);
    c.bench_function("get", |b| b.iter(|| shard.get(&middle)));

    let tree = shard.snapshot().tree;
    assert_eq!(tree.rank(&middle), OBJECTS / 2);
    c.bench_function("rank", |b| b.iter(|| tree.rank(&middle)));

    let walk = || {
        let mut count = 0;
        Page::new(shard.snapshot(), Selector::default(), "", 0).take(|_| {
            count += 1;
            true
        });
        count
    };
    assert_eq!(walk(), OBJECTS);
    c.bench_function("walk a list of 100,000", |b| b.iter(walk));

    // New keys only, so that the reads above do not change.
    let mut next = OBJECTS;
    c.bench_function("insert", |b| {
        b.iter_batched(
            || {
                next += 1;
                (key(next), draft(&subject))
            },
            |(key, draft)| log.create(&shard, &key, draft).expect("a new key"),
            BatchSize::SmallInput,
        );
    });
    assert_eq!(shard.snapshot().tree.len(), next);
}

criterion_group!(benches, store);
criterion_main!(benches);
