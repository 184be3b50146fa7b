//! WIP
use indicatif::ProgressBar;
use crate::bench::history::plan::Plan;
use crate::bench::history::reads::{Question, Seen};
use crate::config::Config;
pub(super) struct Stand { pub(super) results: u64 }
impl Stand {
    pub(super) async fn build(_plan: &Plan, _config: &Config, _bar: &ProgressBar) -> anyhow::Result<Self> { anyhow::bail!("not yet") }
    pub(super) async fn ask(&self, _question: Question) -> anyhow::Result<Seen> { Seen::nothing() }
    pub(super) async fn written(&self) -> anyhow::Result<f64> { Ok(0.0) }
}
