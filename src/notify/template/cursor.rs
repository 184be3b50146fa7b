//! The position of a parser: the next token, and the nesting depth of blocks and expressions.

use super::error::{TemplateFault, TemplateProblem};
use super::lexer::{TemplateLexer, TemplateToken, TokenKind};

/// Maximum nesting of blocks and expressions, which bounds the stack of all code that walks the tree.
pub(super) const DEPTH_MAX: usize = 32;

/// The next token of a template.
#[derive(Debug)]
pub(super) struct TokenCursor<'t> {
    lexer: TemplateLexer<'t>,
    token: TemplateToken<'t>,
    depth: usize,
}

impl<'t> TokenCursor<'t> {
    /// Creates a cursor before the first token.
    pub(super) fn new(source: &'t str) -> Result<Self, TemplateFault> {
        let mut lexer = TemplateLexer::new(source);
        let token = lexer.next_token()?;
        Ok(Self { lexer, token, depth: 0 })
    }

    pub(super) const fn kind(&self) -> &TokenKind<'t> {
        &self.token.kind
    }

    /// The byte offset of the next token.
    pub(super) const fn offset(&self) -> usize {
        self.token.offset
    }

    /// Takes the next token of any kind.
    pub(super) fn take(&mut self) -> Result<TemplateToken<'t>, TemplateFault> {
        let next = self.lexer.next_token()?;
        Ok(std::mem::replace(&mut self.token, next))
    }

    /// Takes the next token if it equals `wanted`; returns true if it does.
    pub(super) fn take_if(&mut self, wanted: &TokenKind<'_>) -> Result<bool, TemplateFault> {
        let is_wanted = *self.kind() == *wanted;
        if is_wanted {
            self.take()?;
        }
        Ok(is_wanted)
    }

    /// Takes the next token, which must equal `wanted`; `expected` describes it in the error.
    pub(super) fn expect(
        &mut self,
        wanted: &TokenKind<'_>,
        expected: &'static str,
    ) -> Result<(), TemplateFault> {
        if self.take_if(wanted)? { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    /// Returns the error that the next token is not allowed here.
    pub(super) fn unexpected(&self, expected: &'static str) -> TemplateFault {
        let problem = TemplateProblem::Unexpected { found: self.kind().describe(), expected };
        TemplateFault { offset: self.offset(), problem }
    }

    /// Enters a block or an expression, unless the nesting is too deep.
    pub(super) fn enter(&mut self) -> Result<(), TemplateFault> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let problem = TemplateProblem::TooDeep(DEPTH_MAX);
            return Err(TemplateFault { offset: self.offset(), problem });
        }
        Ok(())
    }

    /// Leaves a block or an expression.
    pub(super) const fn leave(&mut self) {
        self.depth -= 1;
    }
}
