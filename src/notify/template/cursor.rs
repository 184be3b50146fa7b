//! Where a parser is: the token that comes next, and how deep it is inside blocks and expressions.

use super::error::{TemplateFault, TemplateProblem};
use super::lexer::{TemplateLexer, TemplateToken, TokenKind};

/// Most blocks and expressions inside each other; it bounds the stack of everything that walks the tree.
pub(super) const DEPTH_MAX: usize = 32;

/// The next token of a template.
#[derive(Debug)]
pub(super) struct TokenCursor<'t> {
    lexer: TemplateLexer<'t>,
    token: TemplateToken<'t>,
    depth: usize,
}

impl<'t> TokenCursor<'t> {
    /// The cursor before the first token.
    pub(super) fn new(source: &'t str) -> Result<Self, TemplateFault> {
        let mut lexer = TemplateLexer::new(source);
        let token = lexer.next_token()?;
        Ok(Self { lexer, token, depth: 0 })
    }

    /// The next token.
    pub(super) const fn kind(&self) -> &TokenKind<'t> {
        &self.token.kind
    }

    /// The byte at which the next token begins.
    pub(super) const fn offset(&self) -> usize {
        self.token.offset
    }

    /// Takes the next token, whatever it is.
    pub(super) fn take(&mut self) -> Result<TemplateToken<'t>, TemplateFault> {
        let next = self.lexer.next_token()?;
        Ok(std::mem::replace(&mut self.token, next))
    }

    /// Takes the next token if it is the one that is wanted. Returns whether it was.
    pub(super) fn take_if(&mut self, wanted: &TokenKind<'_>) -> Result<bool, TemplateFault> {
        let is_wanted = *self.kind() == *wanted;
        if is_wanted {
            self.take()?;
        }
        Ok(is_wanted)
    }

    /// Takes the token that has to come next.
    pub(super) fn expect(
        &mut self,
        wanted: &TokenKind<'_>,
        expected: &'static str,
    ) -> Result<(), TemplateFault> {
        if self.take_if(wanted)? { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    /// The fault that the next token is not what may stand here.
    pub(super) fn unexpected(&self, expected: &'static str) -> TemplateFault {
        let problem = TemplateProblem::Unexpected { found: self.kind().describe(), expected };
        TemplateFault { offset: self.offset(), problem }
    }

    /// Goes into a block or an expression, if it is not too deep.
    pub(super) fn enter(&mut self) -> Result<(), TemplateFault> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let problem = TemplateProblem::TooDeep(DEPTH_MAX);
            return Err(TemplateFault { offset: self.offset(), problem });
        }
        Ok(())
    }

    /// Leaves it.
    pub(super) const fn leave(&mut self) {
        self.depth -= 1;
    }
}
