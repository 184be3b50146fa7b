//! The language of custom templates: a part of Jinja without unbounded computation.
//!
//! The language has interpolation, `if`, `for` over given lists, comparisons, arithmetic and a few filters; it has no
//! variables, functions or loops over numbers. The cost of filling is bounded by construction: length and nesting of the
//! template, nested loops, steps and bytes ([`WorkMeter`]). Parsing a template takes time linear in its length. The facts
//! of a message are passed as borrowed JSON.

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

/// Maximum length of a template in characters.
pub const TEMPLATE_LENGTH: usize = 20_000;

/// A parsed template. It borrows from its text.
#[derive(Debug)]
pub struct MessageTemplate<'t> {
    source: &'t str,
    parts: Vec<TemplatePart<'t>>,
}

impl<'t> MessageTemplate<'t> {
    /// Parses a template.
    ///
    /// # Errors
    /// When the template is too long, nested too deeply, or invalid.
    pub fn parse(source: &'t str) -> Result<Self, TemplateError> {
        // A character has at least one byte, so most templates need not be counted.
        if source.len() > TEMPLATE_LENGTH && source.chars().count() > TEMPLATE_LENGTH {
            let problem = TemplateProblem::TooLong(TEMPLATE_LENGTH);
            return Err(TemplateFault { offset: 0, problem }.locate(source));
        }
        let parts = TemplateParser::parse(source).map_err(|fault| fault.locate(source))?;
        Ok(Self { source, parts })
    }

    /// Fills the template with facts. The cost is subtracted from the meter.
    ///
    /// # Errors
    ///
    /// When a value is missing, an operation fails, or the meter or the limit of the output is exceeded.
    pub fn render(&self, facts: &Map<String, Value>, meter: &mut WorkMeter) -> Result<String, TemplateError> {
        let renderer = TemplateRenderer::new(facts, meter);
        renderer.render(&self.parts).map_err(|fault| fault.locate(self.source))
    }
}
