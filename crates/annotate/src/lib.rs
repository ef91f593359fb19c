//! A function with counts becomes its instructions and source lines, as text, JSON or Markdown.
