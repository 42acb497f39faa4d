//! Counts: for metrics, and of seats.

use hydrofoil_types as types;
use parking_lot::Mutex;
use pyo3::prelude::*;

/// Numbers of values by bucket, and their sum.
#[pyclass(frozen, subclass, module = "hydrofoil._native")]
pub(crate) struct Histogram(Mutex<types::Histogram>);

#[pymethods]
impl Histogram {
    #[new]
    fn new(buckets: Vec<f64>) -> Self {
        Self(Mutex::new(types::Histogram::new(buckets)))
    }

    #[getter]
    fn buckets(&self) -> Vec<f64> {
        self.0.lock().bounds().to_vec()
    }

    #[getter]
    fn counts(&self) -> Vec<u64> {
        self.0.lock().counts().to_vec()
    }

    #[getter]
    fn sum(&self) -> f64 {
        self.0.lock().sum()
    }

    #[pyo3(signature = (value, times=1))]
    fn observe(&self, value: f64, times: u64) {
        self.0.lock().observe(value, times);
    }

    fn add(&self, other: &Self) {
        // The locks of two are never held together.
        let other = other.0.lock().clone();
        self.0.lock().add(&other);
    }
}

/// The seats of a priority level.
#[pyclass(frozen, module = "hydrofoil._native")]
pub(crate) struct Seats(Mutex<types::Seats>);

#[pymethods]
impl Seats {
    #[new]
    fn new(now: f64) -> Self {
        Self(Mutex::new(types::Seats::new(now)))
    }

    #[getter]
    fn executing(&self) -> u64 {
        self.0.lock().executing
    }

    #[getter]
    fn dispatched(&self) -> u64 {
        self.0.lock().dispatched
    }

    #[getter]
    fn used(&self) -> u64 {
        self.0.lock().used
    }

    #[getter]
    fn wanted(&self) -> u64 {
        self.0.lock().wanted
    }

    #[getter]
    fn most(&self) -> u64 {
        self.0.lock().most
    }

    #[getter]
    fn high(&self) -> u64 {
        self.0.lock().high
    }

    #[getter]
    fn average(&self) -> f64 {
        self.0.lock().average
    }

    #[getter]
    fn deviation(&self) -> f64 {
        self.0.lock().deviation
    }

    #[getter]
    fn smoothed(&self) -> f64 {
        self.0.lock().smoothed
    }

    fn enter(&self) {
        self.0.lock().enter();
    }

    fn leave(&self) {
        self.0.lock().leave();
    }

    fn run(&self, seats: u64, now: f64) {
        self.0.lock().run(seats, now);
    }

    fn release(&self, seats: u64, now: f64) {
        self.0.lock().release(seats, now);
    }

    fn want(&self, seats: i64, now: f64) {
        self.0.lock().want(seats, now);
    }

    fn lasted(&self, now: f64) -> Vec<(u64, f64)> {
        self.0.lock().lasted(now)
    }

    fn look(&self, now: f64) {
        self.0.lock().look(now);
    }
}
