import { refusals } from './refusals.ts'

/** Reads an expression from left to right; words that are not names of ours are told apart by the caller. */
export interface Reader {
  /** The next word without taking it; '' at the end. */
  peek(): string
  next(): string
  /** Takes the next word if it is this one; keywords in any case. */
  took(word: string): boolean
  /** Takes this word, or throws. */
  need(word: string): void
  /** Names and values used so far, each once. */
  readonly names: ReadonlySet<string>
  readonly values: ReadonlySet<string>
  fail(): never
}

export function readerOf(text: string): Reader {
  const words = wordsOf(text)
  const names = new Set<string>()
  const values = new Set<string>()
  let at = 0
  const peek = () => words[at] ?? ''
  const fail = (): never => {
    const where = `${words.slice(0, at).join(' ')} >>${words.slice(at).join(' ')}`
    throw refusals.unsupported(`this syntax (at >>): ${where}`)
  }
  const next = () => {
    const word = peek()
    if (word === '') fail()
    if (word.startsWith('#')) names.add(word)
    if (word.startsWith(':')) values.add(word)
    at += 1
    return word
  }
  const took = (word: string) => {
    const does = peek() === word || (/^[A-Z]+$/.test(word) && peek().toUpperCase() === word)
    if (does) at += 1
    return does
  }
  const need = (word: string) => {
    if (!took(word)) fail()
  }
  return { peek, next, took, need, names, values, fail }
}

function wordsOf(text: string): readonly string[] {
  const words: string[] = []
  WORD.lastIndex = 0
  for (let match = WORD.exec(text); match !== null; match = WORD.exec(text)) {
    const [, word = ''] = match
    words.push(word)
    if (WORD.lastIndex === text.length) return words
  }
  if (text.trim() === '' || words.length === 0) throw refusals.unsupported(`the expression "${text}"`)
  throw refusals.unsupported(`what follows "${words.join(' ')}" in the expression "${text}"`)
}

const WORD = /\s*([#:][A-Za-z0-9_]+|[A-Za-z_][A-Za-z0-9_]*|\d+|<=|>=|<>|[=<>(),.[\]+-])\s*/y
