//! The state of the view after the place in etcd's history was lost.

use std::sync::Arc;
use std::time::Duration;

use hydrofoil_engine::stored::same_uid;
use tokio::time::sleep;

use crate::client::Failure;
use crate::feed::{AGAIN, Feed, Found};
use crate::health;
use crate::load::States;
use crate::place::State;
use crate::watch::Watch;

const PATIENCE: Duration = Duration::from_secs(30);

impl Feed {
    /// Read a collection whose load failed, from the present on.
    pub(crate) fn load_again(&mut self, at: usize) {
        let applied = self.applied;
        let Some(place) = self.places.get_mut(at) else { return };
        if let State::Loading { base, .. } = &mut place.state {
            *base = applied;
        }
        let prefix = Arc::clone(&place.prefix);
        let Some(place) = self.places.get(at) else { return };
        let (loader, decoder) = (self.loader.clone(), self.decoder(place));
        self.send(async move {
            sleep(AGAIN).await;
            Found::Read(at, applied, loader.read(decoder, prefix, applied).await)
        });
    }

    pub(crate) fn read(&mut self, at: usize, revision: u64, states: Result<States, Failure>) {
        let Ok(states) = states else {
            self.load_again(at);
            return;
        };
        let Some(place) = self.places.get(at) else { return };
        // A part of an earlier state may be there.
        place.followed.shard.replace_after(0, states, revision, same_uid);
        self.finish_load(at);
    }

    /// Read all collections: the events since the last one are no longer in etcd's history.
    pub(crate) fn resync(&mut self) {
        self.gap = u64::MAX;
        let current = |(at, place): (usize, &crate::place::Place)| {
            matches!(place.state, State::Current).then(|| (at, self.decoder(place), Arc::clone(&place.prefix)))
        };
        let places: Vec<_> = self.places.iter().enumerate().filter_map(current).collect();
        let (client, loader) = (Arc::clone(&self.client), self.loader.clone());
        self.send(async move {
            let work = async {
                let revision = health::ask(&client, PATIENCE).await?;
                let mut found = Vec::with_capacity(places.len());
                for (at, decoder, prefix) in places {
                    found.push((at, loader.read(decoder, prefix, revision).await?));
                }
                Ok((revision, found))
            };
            let found = work.await;
            if found.is_err() {
                sleep(AGAIN).await;
            }
            Found::Whole(found)
        });
    }

    /// Replace the state of all collections by that of one revision, and watch from there.
    pub(crate) fn whole(&mut self, states: Result<(u64, Vec<(usize, States)>), Failure>) {
        let Ok((revision, states)) = states else {
            self.resync();
            return;
        };
        let before = self.applied;
        for (at, states) in states {
            if let Some(place) = self.places.get(at) {
                place.followed.shard.replace_after(before, states, revision, same_uid);
            }
        }
        self.gap = revision;
        self.reach(revision);
        let names: Vec<_> = self.places.iter().map(|place| Arc::clone(&place.followed.name)).collect();
        for name in names {
            let done = self.writes.settle(&name, revision);
            self.finish(done);
        }
        self.watch = Some(Watch::begin(&self.client, revision.saturating_add(1)));
    }
}
