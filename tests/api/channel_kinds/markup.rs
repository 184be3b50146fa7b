//! Texts as services read them: whatever would be a mention, a link or a form of letters there, although nobody of ours wrote it so.

/// Slack's `mrkdwn`: a bare `<` begins a mention or a link, and `&` an entity.
pub(super) fn mrkdwn(text: &str) -> Result<(), String> {
    if text.contains(['<', '>']) {
        return Err("a bare < or >".into());
    }
    entities(text, &["amp;", "lt;", "gt;"])
}

/// Discord's Markdown: characters with a meaning are escaped by a backslash.
pub(super) fn markdown(text: &str) -> Result<(), String> {
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        if c == '\\' {
            characters.next();
        } else if "*_~`|<>[#".contains(c) {
            return Err(format!("a bare {c}"));
        }
    }
    Ok(())
}

/// The HTML of a message of Telegram or Matrix: bold, and in rooms of Matrix a line break.
pub(super) fn html(text: &str) -> Result<(), String> {
    let (mut rest, mut open) = (text, 0);
    while let Some((before, tag)) = rest.split_once('<') {
        entities(before, &["amp;", "lt;", "gt;", "quot;"])?;
        let (name, after) = tag.split_once('>').ok_or("a tag without an end")?;
        open += match name {
            "b" => 1,
            "/b" => -1,
            "br" => 0,
            _ => return Err(format!("the tag {name}")),
        };
        if !(0..=1).contains(&open) {
            return Err("tags that do not fit".into());
        }
        rest = after;
    }
    entities(rest, &["amp;", "lt;", "gt;", "quot;"])?;
    if open == 0 && !rest.contains('>') { Ok(()) } else { Err("a tag that stays open".into()) }
}

fn entities(text: &str, known: &[&str]) -> Result<(), String> {
    let mut named = text.split('&').skip(1);
    let unknown = named.find(|rest| known.iter().all(|name| !rest.starts_with(name)));
    unknown.map_or(Ok(()), |rest| Err(format!("&{}", rest.chars().take(8).collect::<String>())))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("&lt;!channel&gt; &amp; *b*", true)]
    #[case("<!channel>", false)]
    #[case("a & b", false)]
    fn mentions_of_slack_are_found(#[case] text: &str, #[case] is_clean: bool) {
        assert_eq!(mrkdwn(text).is_ok(), is_clean);
    }

    #[rstest]
    #[case("\\*b\\* \\[a](x) \\\\", true)]
    #[case("\\\\*b*", false)]
    #[case("[a](x)", false)]
    fn markdown_of_discord_is_found(#[case] text: &str, #[case] is_clean: bool) {
        assert_eq!(markdown(text).is_ok(), is_clean);
    }

    #[rstest]
    #[case("<b>a &lt;i&gt;</b><br>b", true)]
    #[case("<b>a", false)]
    #[case("a</b>", false)]
    #[case("<i>a</i>", false)]
    #[case("a & b", false)]
    #[case("<b", false)]
    fn tags_of_others_are_found(#[case] text: &str, #[case] is_clean: bool) {
        assert_eq!(html(text).is_ok(), is_clean);
    }
}
