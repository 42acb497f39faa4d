//! The hot native calls, to count their instructions (`bench/instructions.py` runs this under callgrind).
//!
//! Each is a function that is never inlined, so that its name is in the profile; each is called [`TIMES`] times.

use std::hint::black_box;
use std::sync::Arc;

use hydrofoil_bench::{Subject, catalog, definition, draft, fill_shard, key, publish_shard};
use hydrofoil_custom::Definition;
use hydrofoil_store::{Local, Page, Selector, Shard, Version};
use hydrofoil_types::Value;

/// The number of calls of each: enough to make one-time costs negligible.
const TIMES: usize = 10;

/// The number of objects in the shard.
const OBJECTS: usize = 2_000;

struct World {
    pod: Subject,
    deployment: Subject,
    config_map: Subject,
    definition: Value,
    log: Local,
    shard: Arc<Shard>,
    key: String,
    /// The objects of the owner of one, four and sixteen workers.
    published: [(Local, Arc<Shard>); 3],
}

#[allow(clippy::inline_always, reason = "it is no call of its own in the profile")]
#[inline(always)]
fn publish(world: &World, workers: usize, number: usize) -> Arc<Version> {
    let (log, shard) = &world.published[workers];
    log.create(shard, &key(OBJECTS + number), draft(&world.config_map)).expect("a new key")
}

/// Functions that are never inlined, each with the call to measure.
macro_rules! measured {
    ($($name:ident: $call:expr;)*) => {
        $(#[inline(never)]
        fn $name(world: &World) {
            for i in 0..TIMES {
                let call: fn(&World, usize) -> _ = $call;
                black_box(call(black_box(world), i));
            }
        })*

        #[inline(never)]
        fn run(world: &World) {
            $($name(world);)*
        }
    };
}

measured! {
    pod_decode_json: |w, _| w.pod.decode_json();
    pod_encode_json: |w, _| w.pod.encode_json();
    pod_decode_protobuf: |w, _| w.pod.decode_protobuf();
    pod_encode_protobuf: |w, _| w.pod.encode_protobuf();
    pod_validate: |w, _| w.pod.validate();
    deployment_decode_json: |w, _| w.deployment.decode_json();
    deployment_encode_json: |w, _| w.deployment.encode_json();
    deployment_validate: |w, _| w.deployment.validate();
    config_map_validate: |w, _| w.config_map.validate();
    definition_compile: |w, _| Definition::compile(&w.definition);
    store_get: |w, _| w.shard.get(&w.key);
    store_rank: |w, _| w.shard.snapshot().tree.rank(&w.key);
    store_create: |w, i| w.log.create(&w.shard, &key(OBJECTS + i), draft(&w.config_map)).expect("a new key");
    publish_to_one: |w, i| publish(w, 0, i);
    publish_to_four: |w, i| publish(w, 1, i);
    publish_to_sixteen: |w, i| publish(w, 2, i);
    store_walk: |w, _| {
        let mut bytes = 0;
        Page::new(w.shard.snapshot(), Selector::default(), "", 0).take(|version| {
            bytes += version.item().len();
            true
        });
        bytes
    };
}

fn main() {
    let catalog = catalog();
    let config_map = Subject::config_map(&catalog);
    let (log, shard) = fill_shard(&config_map, OBJECTS);
    let world = World {
        pod: Subject::pod(&catalog),
        deployment: Subject::deployment(&catalog),
        definition: definition(&catalog),
        log,
        shard,
        key: key(OBJECTS / 3),
        published: [1, 4, 16].map(|workers| publish_shard(&config_map, OBJECTS, workers)),
        config_map,
    };
    assert_eq!(world.shard.snapshot().tree.rank(&world.key), OBJECTS / 3);
    run(&world);
    assert_eq!(world.shard.snapshot().tree.len(), OBJECTS + TIMES);
}
