//! Results by the million without a network: what the store of the history is measured with.

pub mod generator;
