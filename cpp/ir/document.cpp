// ir/document.cpp - layout of documents.
#include "ir/document.h"

namespace shardax {

Document Document::line(std::string flat) {
  Document d(std::move(flat));
  d.kind_ = Kind::line;
  return d;
}
Document Document::group(std::vector<Document> parts) {
  Document d = chain(std::move(parts));
  d.kind_ = Kind::group;
  return d;
}
Document Document::nest(int indent, std::vector<Document> parts) {
  Document d = chain(std::move(parts));
  d.kind_ = Kind::nest;
  d.indent_ = indent;
  return d;
}
Document Document::chain(std::vector<Document> parts) {
  Document d;
  d.kind_ = Kind::chain;
  d.parts_ = std::move(parts);
  return d;
}

int Document::flat_width() const {
  int width = static_cast<int>(text_.size());
  for (const Document& part : parts_) width += part.flat_width();
  return width;
}

std::string Document::layout(int width) const {
  std::string out;
  int column = 0;
  print(out, column, 0, false, width, 0);
  return out;
}

// `trailing` is the width of what follows this document up to the next possible break.
void Document::print(std::string& out, int& column, int indent, bool flat, int width,
                     int trailing) const {
  switch (kind_) {
    case Kind::text:
      out += text_;
      column += static_cast<int>(text_.size());
      return;
    case Kind::line:
      if (flat) {
        out += text_;
        column += static_cast<int>(text_.size());
      } else {
        out += '\n' + std::string(static_cast<std::size_t>(indent), ' ');
        column = indent;
      }
      return;
    case Kind::group: flat = flat || column + flat_width() + trailing <= width; break;
    case Kind::nest: indent += indent_; break;
    case Kind::chain: break;
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    int after = trailing;
    for (std::size_t k = i + 1; k < parts_.size(); ++k) {
      if (parts_[k].kind_ != Kind::text) {
        after = 0;
        break;
      }
      after = static_cast<int>(parts_[k].text_.size()) + (k + 1 == parts_.size() ? trailing : 0);
    }
    parts_[i].print(out, column, indent, flat, width, after);
  }
}

}  // namespace shardax
