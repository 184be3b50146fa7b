//! The language of templates that people write: a part of Jinja that cannot compute without bound.
//!
//! There are interpolation, `if`, `for` over given lists, comparisons, arithmetic and a few filters; nothing can be stored, called
//! or repeated by a number. What filling costs is bounded by construction: length and nesting of the template, loops
//! inside each other, steps and bytes ([`WorkMeter`]). Reading a template takes time that is linear in its length. It knows
//! nothing of messages: facts are JSON, and are borrowed.

mod arithmetic;
mod cursor;
mod error;
mod evaluator;
mod expression;
mod filter;
mod lexer;
mod meter;
mod parser;
mod renderer;
mod tree;
mod value;

#[cfg(test)]
mod tests;

use serde_json::{Map, Value};

pub use error::{TemplateError, TemplateProblem};
pub use meter::{STEPS_MAX, WORK_BYTES_MAX, WorkMeter};

use error::TemplateFault;
use parser::TemplateParser;
use renderer::TemplateRenderer;
use tree::TemplatePart;

/// Most characters of a template.
pub const TEMPLATE_LENGTH: usize = 20_000;

/// A template that has been read. It borrows from its text.
#[derive(Debug)]
pub struct MessageTemplate<'t> {
    source: &'t str,
    parts: Vec<TemplatePart<'t>>,
}

impl<'t> MessageTemplate<'t> {
    /// Reads a template.
    ///
    /// # Errors
    /// When it is too long, nested too deep, or not of this language.
    pub fn parse(source: &'t str) -> Result<Self, TemplateError> {
        // A character has at least one byte, so most templates need not be counted.
        if source.len() > TEMPLATE_LENGTH && source.chars().count() > TEMPLATE_LENGTH {
            let problem = TemplateProblem::TooLong(TEMPLATE_LENGTH);
            return Err(TemplateFault { offset: 0, problem }.locate(source));
        }
        let parts = TemplateParser::parse(source).map_err(|fault| fault.locate(source))?;
        Ok(Self { source, parts })
    }

    /// Fills the template with facts. What it costs is taken from the meter.
    ///
    /// # Errors
    /// When it names what is not there, computes what cannot be computed, or takes more than the meter or the bound of the
    /// output allows.
    pub fn render(&self, facts: &Map<String, Value>, meter: &mut WorkMeter) -> Result<String, TemplateError> {
        let renderer = TemplateRenderer::new(facts, meter);
        renderer.render(&self.parts).map_err(|fault| fault.locate(self.source))
    }
}
