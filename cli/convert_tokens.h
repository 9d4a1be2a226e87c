#pragma once

#include "cli/options.h"

namespace thalweg::cli {

/// Makes CTF of lines of tokens, as CNTK's txt2ctf does: columns between tabs are streams S0, S1,
/// ... or of the names given, tokens between blanks their samples, each the number of its line in
/// the column's dictionary; a line is a sequence. Throws Error{io} with line and column for a token
/// that is not in the dictionary, and for lines that do not have as many columns.
void convert_tokens(const ConvertOptions& options);

}  // namespace thalweg::cli
