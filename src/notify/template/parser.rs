//! From tokens to the parts of a template: text, `{{ … }}`, `{% if … %}` and `{% for … %}`. Each token is read once.

use super::cursor::TokenCursor;
use super::error::{TemplateFault, TemplateProblem};
use super::expression::{is_reserved, parse_expression};
use super::lexer::TokenKind;
use super::tree::{TemplateExpression, TemplateLoop, TemplatePart};

/// Maximum nesting of loops.
const LOOP_DEPTH_MAX: usize = 3;
const OUTPUT_END: &str = "`}}`, a filter or an operator";
const TAG_END: &str = "`%}`, a filter or an operator";

/// The tags that end a part of a block.
#[derive(Clone, Copy, Debug)]
struct BlockEnd {
    /// The tag that opens the block, for errors.
    opening: &'static str,
    /// The tag that closes the block, for errors.
    closing: &'static str,
    /// Tags that end this part of the block.
    tags: &'static [&'static str],
    /// All tags that are allowed here, for errors.
    expected: &'static str,
}

const NO_BLOCK: BlockEnd =
    BlockEnd { opening: "", closing: "", tags: &[], expected: "one of the tags if, for" };
const BRANCH: BlockEnd = BlockEnd {
    opening: "this `if`",
    closing: "`{% endif %}`",
    tags: &["elif", "else", "endif"],
    expected: "one of the tags if, for, elif, else, endif",
};
const LAST_BRANCH: BlockEnd =
    BlockEnd { tags: &["endif"], expected: "one of the tags if, for, endif", ..BRANCH };
const LOOP_BODY: BlockEnd = BlockEnd {
    opening: "this `for`",
    closing: "`{% endfor %}`",
    tags: &["else", "endfor"],
    expected: "one of the tags if, for, else, endfor",
};
const LOOP_ELSE: BlockEnd =
    BlockEnd { tags: &["endfor"], expected: "one of the tags if, for, endfor", ..LOOP_BODY };

#[derive(Debug)]
pub(super) struct TemplateParser<'t> {
    cursor: TokenCursor<'t>,
    loop_depth: usize,
}

type BlockParts<'t> = (Vec<TemplatePart<'t>>, &'static str);

impl<'t> TemplateParser<'t> {
    /// Parses the parts of a template.
    pub(super) fn parse(source: &'t str) -> Result<Vec<TemplatePart<'t>>, TemplateFault> {
        let mut parser = Self { cursor: TokenCursor::new(source)?, loop_depth: 0 };
        Ok(parser.parse_parts(NO_BLOCK, 0)?.0)
    }

    /// Parses parts up to a tag that ends them. Also returns the name of that tag, which has been taken from the cursor.
    fn parse_parts(&mut self, end: BlockEnd, opened_at: usize) -> Result<BlockParts<'t>, TemplateFault> {
        let mut parts = Vec::new();
        loop {
            let offset = self.cursor.offset();
            match *self.cursor.kind() {
                TokenKind::End if end.tags.is_empty() => return Ok((parts, "")),
                TokenKind::End => {
                    let BlockEnd { opening, closing, .. } = end;
                    let problem = TemplateProblem::Unclosed { opening, closing };
                    return Err(TemplateFault { offset: opened_at, problem });
                }
                TokenKind::Text(text) => {
                    self.cursor.take()?;
                    parts.push(TemplatePart::Text { offset, text });
                }
                TokenKind::OutputStart => {
                    self.cursor.take()?;
                    let expression = parse_expression(&mut self.cursor)?;
                    self.cursor.expect(&TokenKind::OutputEnd, OUTPUT_END)?;
                    parts.push(TemplatePart::Output(expression));
                }
                _ => {
                    self.cursor.expect(&TokenKind::TagStart, "text or a tag")?;
                    let TokenKind::Name(name) = *self.cursor.kind() else {
                        return Err(self.cursor.unexpected(end.expected));
                    };
                    if let Some(tag) = end.tags.iter().find(|tag| **tag == name) {
                        self.cursor.take()?;
                        return Ok((parts, *tag));
                    }
                    parts.push(match name {
                        "if" => self.parse_choice(offset)?,
                        "for" => self.parse_loop(offset)?,
                        _ => return Err(self.cursor.unexpected(end.expected)),
                    });
                }
            }
        }
    }

    fn parse_choice(&mut self, opened_at: usize) -> Result<TemplatePart<'t>, TemplateFault> {
        self.cursor.enter()?;
        self.cursor.take()?;
        let mut branches = Vec::new();
        let mut otherwise = Vec::new();
        loop {
            let condition = self.parse_head()?;
            let (parts, mut tag) = self.parse_parts(BRANCH, opened_at)?;
            branches.push((condition, parts));
            if tag == "else" {
                self.cursor.expect(&TokenKind::TagEnd, "`%}`")?;
                (otherwise, tag) = self.parse_parts(LAST_BRANCH, opened_at)?;
            }
            if tag == "endif" {
                break;
            }
        }
        self.cursor.expect(&TokenKind::TagEnd, "`%}`")?;
        self.cursor.leave();
        Ok(TemplatePart::Choice { branches, otherwise })
    }

    fn parse_loop(&mut self, opened_at: usize) -> Result<TemplatePart<'t>, TemplateFault> {
        if self.loop_depth == LOOP_DEPTH_MAX {
            let problem = TemplateProblem::LoopsTooDeep(LOOP_DEPTH_MAX);
            return Err(TemplateFault { offset: opened_at, problem });
        }
        self.cursor.enter()?;
        self.loop_depth += 1;
        self.cursor.take()?;
        let name = match *self.cursor.kind() {
            TokenKind::Name(name) if !is_reserved(name) && name != "loop" => name,
            _ => return Err(self.cursor.unexpected("a name for each entry of the list")),
        };
        self.cursor.take()?;
        self.cursor.expect(&TokenKind::Name("in"), "`in` and a list")?;
        let list = self.parse_head()?;
        let (body, mut tag) = self.parse_parts(LOOP_BODY, opened_at)?;
        let mut otherwise = Vec::new();
        if tag == "else" {
            self.cursor.expect(&TokenKind::TagEnd, "`%}`")?;
            (otherwise, tag) = self.parse_parts(LOOP_ELSE, opened_at)?;
        }
        debug_assert_eq!(tag, "endfor");
        self.cursor.expect(&TokenKind::TagEnd, "`%}`")?;
        self.loop_depth -= 1;
        self.cursor.leave();
        Ok(TemplatePart::Loop(Box::new(TemplateLoop { name, list, body, otherwise })))
    }

    /// Parses the expression of a tag, up to the end of the tag.
    fn parse_head(&mut self) -> Result<TemplateExpression<'t>, TemplateFault> {
        let expression = parse_expression(&mut self.cursor)?;
        self.cursor.expect(&TokenKind::TagEnd, TAG_END)?;
        Ok(expression)
    }
}
