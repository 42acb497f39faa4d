//! JSON and protobuf of a pod and a deployment, both ways. The subjects check their round trips when created.

use criterion::{Criterion, criterion_group, criterion_main};
use hydrofoil_bench::{Subject, catalog};

fn codec(c: &mut Criterion) {
    let catalog = catalog();
    for subject in [Subject::pod(&catalog), Subject::deployment(&catalog)] {
        let mut group = c.benchmark_group(subject.kind.kind.as_str());
        group.bench_function("decode json", |b| b.iter(|| subject.decode_json()));
        group.bench_function("encode json", |b| b.iter(|| subject.encode_json()));
        group.bench_function("decode protobuf", |b| b.iter(|| subject.decode_protobuf()));
        group.bench_function("encode protobuf", |b| b.iter(|| subject.encode_protobuf()));
        group.finish();
    }
}

criterion_group!(benches, codec);
criterion_main!(benches);
