import { type Citation, citationsIn } from '../gates/citations.ts'

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

/** Who cites in a text: a citation inside a quotation is that of whom is quoted. */
export function ownCitations(text: string): readonly Citation[] {
  return citationsIn(outsideQuotations(text))
}

/**
 * The words of a quotation that is given alone, without what it is set in: marks of any kind around it, Markdown's `>`
 * before its lines. Before a number `>` is a sign, and stays.
 */
export function bareQuotation(text: string): string {
  const lines = text.trim().split('\n')
  const isMarked = lines.every((line) => /^\s{0,20}>(?:\s|$)(?!\s{0,20}[\p{N}\p{Sc}])/u.test(line))
  const plain = isMarked
    ? lines
        .map((line) => line.replace(/^\s{0,20}>/, ''))
        .join('\n')
        .trim()
    : text
  const [whole, another] = quotationsIn(plain)
  const isWhole = another === undefined && whole?.at === 0 && whole.end === plain.length
  return isWhole ? whole.quote : plain
}

const QUOTED =
  /“([^“”\n]*)”|„([^„“”\n]*)[“”]|«([^«»\n]*)»|"([^"\n]*)"|‹([^‹›\n]*)›|「([^「」\n]*)」|『([^『』\n]*)』|＂([^＂\n]*)＂|&quot;((?:(?!&quot;)[^\n])*)&quot;|&ldquo;((?:(?!&[lr]dquo;)[^\n])*)&rdquo;|`([^`\n]*)`|(?<![\p{L}\p{N}])[‘']([^‘'’\n]*(?:(?<=\p{L})['’](?=\p{L})[^‘'’\n]*)*)['’](?![\p{L}\p{N}])/gu
