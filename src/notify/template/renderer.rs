//! Fills a template: walks its parts and writes their output, until the template ends or a limit for work or output is
//! exceeded.

use serde_json::{Map, Value};

use super::error::{TemplateFault, TemplateProblem};
use super::evaluator::{ExpressionEvaluator, LoopEntry};
use super::meter::WorkMeter;
use super::tree::{TemplateLoop, TemplatePart};
use super::value::{LoopState, TemplateValue};

/// Maximum size of a filled template in bytes.
pub(super) const OUTPUT_BYTES_MAX: usize = 256 * 1_024;

#[derive(Debug)]
pub(super) struct TemplateRenderer<'v, 'm> {
    evaluator: ExpressionEvaluator<'v, 'm>,
    output: String,
}

impl<'v, 'm> TemplateRenderer<'v, 'm> {
    /// Creates a renderer for these facts.
    pub(super) const fn new(facts: &'v Map<String, Value>, meter: &'m mut WorkMeter) -> Self {
        let evaluator = ExpressionEvaluator { facts, loops: Vec::new(), meter };
        Self { evaluator, output: String::new() }
    }

    pub(super) fn render(mut self, parts: &'v [TemplatePart<'v>]) -> Result<String, TemplateFault> {
        self.write_parts(parts)?;
        Ok(self.output)
    }

    fn write_parts(&mut self, parts: &'v [TemplatePart<'v>]) -> Result<(), TemplateFault> {
        for part in parts {
            match part {
                TemplatePart::Text { offset, text } => {
                    let fault = |problem| TemplateFault { offset: *offset, problem };
                    self.evaluator.meter.spend_step().map_err(fault)?;
                    self.write(text).map_err(fault)?;
                }
                TemplatePart::Output(expression) => {
                    let fault = |problem| TemplateFault { offset: expression.offset, problem };
                    let value = self.evaluator.evaluate(expression)?;
                    let text = value.into_text(self.evaluator.meter).map_err(fault)?;
                    self.write(&text).map_err(fault)?;
                }
                TemplatePart::Choice { branches, otherwise } => {
                    let mut chosen = otherwise;
                    for (condition, branch) in branches {
                        if self.evaluator.evaluate(condition)?.is_true() {
                            chosen = branch;
                            break;
                        }
                    }
                    self.write_parts(chosen)?;
                }
                TemplatePart::Loop(repeated) => self.write_loop(repeated)?,
            }
        }
        Ok(())
    }

    fn write_loop(&mut self, repeated: &'v TemplateLoop<'v>) -> Result<(), TemplateFault> {
        let TemplateLoop { name, list, body, otherwise } = repeated;
        let fault = |problem| TemplateFault { offset: list.offset, problem };
        let value = self.evaluator.evaluate(list)?;
        let TemplateValue::List(entries) = value else {
            let problem =
                TemplateProblem::WrongKind { operation: "for", wanted: "a list", found: value.kind() };
            return Err(fault(problem));
        };
        for (index, entry) in entries.iter().enumerate() {
            self.evaluator.meter.spend_step().map_err(fault)?;
            let state = LoopState { index, length: entries.len() };
            self.evaluator.loops.push(LoopEntry { name, entry, state });
            let written = self.write_parts(body);
            self.evaluator.loops.pop();
            written?;
        }
        if entries.is_empty() { self.write_parts(otherwise) } else { Ok(()) }
    }

    fn write(&mut self, text: &str) -> Result<(), TemplateProblem> {
        if self.output.len() + text.len() > OUTPUT_BYTES_MAX {
            return Err(TemplateProblem::OutputTooLong(OUTPUT_BYTES_MAX));
        }
        self.evaluator.meter.spend_bytes(text.len())?;
        self.output.push_str(text);
        Ok(())
    }
}
