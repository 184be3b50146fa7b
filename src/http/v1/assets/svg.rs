//! Sanitises an uploaded SVG (contract 4.16): removes everything that could run, load or link to other files.
//!
//! The file is parsed as XML and rewritten element by element, so every part that passes was checked. Prefixes, upper case,
//! character references and white space make no difference: names are compared without prefix and case, values after
//! references are resolved. Comments, processing instructions and the declaration are dropped.

mod part;

use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};

use part::{SvgPartError, SvgTag, is_forbidden_element, is_harmful_style, is_style_element, is_xml_text};

/// Deepest nesting of elements; the root is level 1.
const MAX_DEPTH: usize = 64;

/// Reason for refusing an SVG.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SvgError {
    /// The file is not well-formed XML.
    Unreadable,
    /// The file has a DOCTYPE, an entity, another root element, or too many levels.
    Refused,
}

/// Sanitises an SVG.
///
/// # Errors
///
/// When the file is not XML, or contains parts that only attacks use.
pub fn sanitise(bytes: &[u8]) -> Result<Vec<u8>, SvgError> {
    let text = std::str::from_utf8(bytes).map_err(|_| SvgError::Unreadable)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_comments = true;
    let mut cleaning = SvgSanitiser::default();
    loop {
        match reader.read_event().map_err(|_| SvgError::Unreadable)? {
            Event::Eof => return cleaning.finish(),
            event => cleaning.take(&event)?,
        }
    }
}

/// The output so far, and the position of the reader in the tree.
#[derive(Default)]
struct SvgSanitiser {
    out: String,
    depth: usize,
    has_root: bool,
    /// Depth of the element that is being removed; everything inside is removed as well.
    skipped_at: Option<usize>,
    /// The `<style>` element that is being read.
    style: Option<StyleBlock>,
}

/// A `<style>` element. It is checked as a whole, because its text may arrive in pieces.
struct StyleBlock {
    tag: SvgTag,
    depth: usize,
    text: String,
}

impl SvgSanitiser {
    fn take(&mut self, event: &Event<'_>) -> Result<(), SvgError> {
        match event {
            Event::Start(start) => self.open(start, false),
            Event::Empty(start) => self.open(start, true),
            Event::End(end) => self.close(end.name().0),
            Event::Text(text) => self.text(text),
            Event::CData(text) => self.text(text),
            Event::GeneralRef(reference) => self.reference(reference),
            Event::DocType(_) => Err(SvgError::Refused),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::Eof => Ok(()),
        }
    }

    fn open(&mut self, start: &BytesStart<'_>, is_empty: bool) -> Result<(), SvgError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(SvgError::Refused);
        }
        let tag = SvgTag::read(start)?;
        if self.depth == 1 {
            if self.has_root {
                return Err(SvgError::Unreadable);
            }
            if !tag.is_svg_root() {
                return Err(SvgError::Refused);
            }
            self.has_root = true;
        }
        let is_inside_style = self.style.is_some();
        if self.skipped_at.is_none() && !is_inside_style {
            if is_forbidden_element(&tag) {
                self.skipped_at = Some(self.depth);
            } else if is_style_element(&tag) {
                self.style = Some(StyleBlock { tag, depth: self.depth, text: String::new() });
            } else {
                tag.write(&mut self.out, is_empty);
            }
        }
        if is_empty { self.leave(None) } else { Ok(()) }
    }

    fn close(&mut self, name: &str) -> Result<(), SvgError> {
        self.leave(Some(name))
    }

    /// Ends an element. `name` is `None` for an empty element, whose end is already written.
    fn leave(&mut self, name: Option<&str>) -> Result<(), SvgError> {
        let depth = self.depth;
        self.depth = depth.checked_sub(1).ok_or(SvgError::Unreadable)?;
        if self.skipped_at.is_some() {
            self.skipped_at = self.skipped_at.filter(|skipped| *skipped != depth);
            return Ok(());
        }
        if let Some(style) = self.style.take_if(|style| style.depth == depth) {
            self.write_style(&style);
        } else if self.style.is_none()
            && let Some(name) = name
        {
            self.out.push_str("</");
            self.out.push_str(name);
            self.out.push('>');
        }
        Ok(())
    }

    fn write_style(&mut self, style: &StyleBlock) {
        if is_harmful_style(&style.text) {
            return;
        }
        style.tag.write(&mut self.out, false);
        self.out.push_str(&quick_xml::escape::escape(style.text.as_str()));
        self.out.push_str("</");
        self.out.push_str(&style.tag.name);
        self.out.push('>');
    }

    /// Takes over character data, with character references resolved.
    fn text(&mut self, text: &str) -> Result<(), SvgError> {
        if !is_xml_text(text) {
            return Err(SvgError::Unreadable);
        }
        if self.depth == 0 {
            return if text.trim().is_empty() { Ok(()) } else { Err(SvgError::Unreadable) };
        }
        if self.skipped_at.is_some() {
            return Ok(());
        }
        match &mut self.style {
            Some(style) if style.depth == self.depth => style.text.push_str(text),
            Some(_) => {}
            None => self.out.push_str(&quick_xml::escape::escape(text)),
        }
        Ok(())
    }

    /// Resolves a reference such as `&amp;` or `&#65;`. Any other entity would need a definition, and is refused.
    fn reference(&mut self, reference: &BytesRef<'_>) -> Result<(), SvgError> {
        let character = reference.resolve_char_ref().map_err(|_| SvgError::Unreadable)?;
        match character {
            Some(character) => self.text(character.encode_utf8(&mut [0; 4])),
            None => {
                let text = resolve_predefined_entity(reference).ok_or(SvgError::Refused)?;
                self.text(text)
            }
        }
    }

    fn finish(self) -> Result<Vec<u8>, SvgError> {
        if self.has_root && self.depth == 0 { Ok(self.out.into_bytes()) } else { Err(SvgError::Unreadable) }
    }
}

impl From<SvgPartError> for SvgError {
    fn from(refused: SvgPartError) -> Self {
        match refused {
            SvgPartError::Unreadable => Self::Unreadable,
            SvgPartError::Entity => Self::Refused,
        }
    }
}

#[cfg(test)]
mod tests;
