//! The agents of each part of a run.

mod caller;
mod informer;
mod pager;
mod reader;
mod remover;
mod seeder;
mod starter;
mod watcher;
mod writer;

use crate::agent::Agent;
use crate::ledger::Object;
use crate::plan::{Owned, Part};
use crate::world::{Beside, World};
use watcher::{Watcher, Way};

/// Make the agents of all parts.
pub(crate) fn all(world: &mut World) -> Vec<Box<dyn Agent>> {
    let mut made: Vec<Box<dyn Agent>> = Vec::new();
    let plan = world.plan.clone();
    let text = crate::body::filler(plan.size);
    for (part, what) in plan.parts.iter().enumerate() {
        match what {
            Part::Seed { connections } => {
                for _ in 0..*connections {
                    made.push(Box::new(seeder::Seeder::new(part, &text)));
                }
            }
            Part::Remove { connections, .. } => {
                for _ in 0..*connections {
                    made.push(Box::new(remover::Remover::new(part)));
                }
            }
            Part::List { readers, query, old, stride } => {
                for _ in 0..*readers {
                    made.push(Box::new(reader::Reader::new(part, world, query, (*old, *stride))));
                }
            }
            Part::Pages { readers, limit } => {
                for _ in 0..*readers {
                    made.push(Box::new(pager::Pager::new(part, world, *limit)));
                }
            }
            Part::Manager { paths } => {
                world.round.members = paths.len();
                for path in paths {
                    made.push(Box::new(starter::Starter::new(part, world, path)));
                }
            }
            Part::Informers { count } => {
                for _ in 0..*count {
                    made.push(Box::new(informer::Informer::new(part, world)));
                }
            }
            Part::Watch { count, from } => {
                for number in 0..*count {
                    made.push(Box::new(Watcher::new(part, world, Way::Live, Some(number), *from)));
                }
            }
            Part::Fanout { count, from } => {
                for _ in 0..*count {
                    made.push(Box::new(Watcher::new(part, world, Way::Live, None, *from)));
                }
            }
            Part::Replay { from } => made.push(Box::new(Watcher::new(part, world, Way::Again, None, *from))),
            Part::Writes { connections, steps, objects, pods, .. } => {
                if world.ledger.objects.is_empty() {
                    world.ledger.objects.resize_with(*objects as usize, Object::default);
                }
                let beside = |pod: &Owned| Beside { name: pod.name.clone(), version: None, unsure: false };
                world.beside = pods.iter().map(beside).collect();
                for id in 0..*connections {
                    let pod = pods.get(id as usize).cloned();
                    made.push(Box::new(writer::Writer::new(part, id, (*connections, *objects), steps, &text, pod)));
                }
            }
            Part::Call { .. } => made.push(Box::new(caller::Caller::new(part))),
        }
    }
    made
}
