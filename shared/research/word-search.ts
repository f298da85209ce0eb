/**
 * Where `wanted` first stands in `words` as a whole, and the longest start of it found anywhere: Knuth, Morris and
 * Pratt's search (1977), so every word of the body is looked at at most twice whatever the quote.
 */
export function searchWords(
  words: Int32Array,
  wanted: Int32Array,
): { readonly at: number | undefined; readonly longest: number; readonly longestAt: number } {
  const back = fallbacks(wanted)
  let matched = 0
  let longest = 0
  let longestAt = 0
  for (let i = 0; i < words.length; i += 1) {
    while (matched > 0 && words[i] !== wanted[matched]) matched = back[matched - 1] ?? 0
    if (words[i] === wanted[matched]) matched += 1
    if (matched > longest) [longest, longestAt] = [matched, i + 1 - matched]
    if (matched === wanted.length) return { at: longestAt, longest, longestAt }
  }
  return { at: undefined, longest, longestAt }
}

/** Of each start of `wanted`, the length of the longest shorter start that also ends it. */
function fallbacks(wanted: Int32Array): Int32Array {
  const back = new Int32Array(wanted.length)
  let matched = 0
  for (let i = 1; i < wanted.length; i += 1) {
    while (matched > 0 && wanted[i] !== wanted[matched]) matched = back[matched - 1] ?? 0
    if (wanted[i] === wanted[matched]) matched += 1
    back[i] = matched
  }
  return back
}
