//! The engine on a paused clock and without a database: a script of outcomes and moves goes in, facts come out.
//!
//! [`play`] runs one scene and [`facts`] writes down what the recorder would have been given, a line a fact, so that a
//! test is a table of scripts. Every scene has its own engine, clock and actor system, and fails when an actor outlives it.

mod absent;
mod blind;
mod capacity;
mod closing;
mod day;
mod definition;
mod detection;
mod elsewhere;
mod facts;
mod first_look;
mod gap;
mod haste;
mod hearing;
mod heartbeat;
mod memory;
mod panic;
mod play;
mod pressure;
mod schedule;
mod script;
mod supervision;
mod verdict;
mod wall_clock;
mod what_if;
mod world;
