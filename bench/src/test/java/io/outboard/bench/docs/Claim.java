package io.outboard.bench.docs;

import java.util.List;

/**
 * A claim is what a page says, and where the figures are from.
 *
 * @param line of the file of claims, for messages
 * @param page its name
 * @param says a part of the page, white space as single blanks, with {@code {}} for each figure
 * @param figures an expression for each
 * @param conditions comparisons that the words stand for, such as {@code pool p50 < driver p50}
 */
record Claim(int line, String page, String says, List<String> figures, List<String> conditions) {}
