//! Jobs and cron jobs.

mod cron;
mod job;
mod job_update;
mod policy;
mod status;

pub(crate) use cron::{create as cron_create, update as cron_update};
pub(crate) use job::{create, domain_path};
pub(crate) use job_update::update;
