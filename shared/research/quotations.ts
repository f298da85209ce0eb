/** One quotation of a text: what stands between the marks, and where it stands with them (UTF-16 units). */
export interface Quotation {
  readonly quote: string
  readonly at: number
  readonly end: number
}

/**
 * What stands between a pair of quotation marks of whatever kind, on one line, without marks inside. A single mark between
 * letters is an apostrophe.
 */
export function quotationsIn(text: string): readonly Quotation[] {
  return [...text.matchAll(QUOTED)].map((match) => {
    const [whole, ...inner] = match
    return { quote: inner.find((part) => part !== undefined) ?? '', at: match.index, end: match.index + whole.length }
  })
}

/** What stands outside of them: a citation inside belongs to whom is quoted. */
export function outsideQuotations(text: string): string {
  return text.replace(QUOTED, ' ')
}

const QUOTED =
  /“([^“”\n]*)”|„([^„“”\n]*)[“”]|«([^«»\n]*)»|"([^"\n]*)"|‹([^‹›\n]*)›|「([^「」\n]*)」|『([^『』\n]*)』|＂([^＂\n]*)＂|&quot;((?:(?!&quot;)[^\n])*)&quot;|&ldquo;((?:(?!&[lr]dquo;)[^\n])*)&rdquo;|`([^`\n]*)`|(?<![\p{L}\p{N}])[‘']([^‘'’\n]*(?:(?<=\p{L})['’](?=\p{L})[^‘'’\n]*)*)['’](?![\p{L}\p{N}])/gu
