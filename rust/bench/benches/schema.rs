//! Validation of new objects, and the publication of a definition.

use criterion::{Criterion, criterion_group, criterion_main};
use hydrofoil_bench::{Subject, catalog, definition};
use hydrofoil_custom::Definition;

fn schema(c: &mut Criterion) {
    let catalog = catalog();
    for subject in [Subject::config_map(&catalog), Subject::pod(&catalog), Subject::deployment(&catalog)] {
        assert!(subject.validate().is_empty());
        c.bench_function(&format!("validate {}", subject.kind.kind), |b| b.iter(|| subject.validate()));
    }
    let definition = definition(&catalog);
    assert!(Definition::compile(&definition).version("example.com/v1").is_some());
    c.bench_function("compile a definition", |b| b.iter(|| Definition::compile(&definition)));
}

criterion_group!(benches, schema);
criterion_main!(benches);
