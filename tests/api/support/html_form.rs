//! The fields of a form in a document, as a browser without scripts would send them.

/// A field of a form: its name and its value.
pub(crate) type FormField = (String, String);

/// Returns the fields of the form that is sent to a path below `/console`, as they are filled in the document.
pub(crate) fn fields_of(document: &str, path: &str) -> Vec<FormField> {
    let start = format!("<form method=\"post\" action=\"/console{path}\"");
    let form = document.split_once(&start).unwrap_or_else(|| panic!("no form for {path}")).1;
    let form = form.split_once("</form>").unwrap().0;
    let mut fields = Vec::new();
    for tag in form.split('<').skip(1) {
        let (tag, text) = tag.split_once('>').unwrap_or((tag, ""));
        let name = || attribute(tag, "name");
        match tag.split_whitespace().next().unwrap_or_default() {
            "input" if tag.contains("type=\"checkbox\"") && !tag.ends_with(" checked") => {}
            "input" => fields.extend(name().map(|name| (name, attribute(tag, "value").unwrap_or_default()))),
            // A line end at the start of a text area does not count.
            "textarea" => {
                let text = plain(text.strip_prefix('\n').unwrap_or(text));
                fields.extend(name().map(|name| (name, text)));
            }
            // The first option is sent unless another one is selected.
            "select" => fields.extend(name().map(|name| (name, String::from("\0")))),
            "option" => {
                let select = fields.last_mut().expect("an option is in a select");
                if select.1 == "\0" || tag.ends_with(" selected") {
                    select.1 = attribute(tag, "value").unwrap_or_default();
                }
            }
            _ => {}
        }
    }
    fields.into_iter().filter(|(_, value)| value != "\0").collect()
}

/// Sets a field of a form, which it may not have yet.
pub(crate) fn set(fields: &mut Vec<FormField>, name: &str, value: &str) {
    fields.retain(|(other, _)| other != name);
    fields.push((name.to_owned(), value.to_owned()));
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let start = format!(" {name}=\"");
    Some(plain(tag.split_once(&start)?.1.split('"').next()?))
}

fn plain(text: &str) -> String {
    let named = text.replace("&#34;", "\"").replace("&#39;", "'").replace("&#60;", "<").replace("&#62;", ">");
    named
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#38;", "&")
        .replace("&amp;", "&")
}
