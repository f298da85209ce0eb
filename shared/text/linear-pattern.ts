import { RE2JS } from 're2js'
import { memoizeLast } from './memoize-last.ts'

/** Characters of one pattern (docs/limits-and-costs.md). */
const MAX_CHARACTERS = 1_000
/** Steps of the compiled program: `(?:x{1000}){..}` says little and expands to a lot. */
const MAX_STEPS = 5_000

/** A pattern of the RE2 family: searching takes time proportional to `steps` times the length of the text, never more. */
export interface LinearPattern {
  /** The pattern with its flags in front, as JSON Schema's `pattern` could carry it. */
  readonly source: string
  readonly steps: number
  /** Whether it occurs anywhere in the text. */
  test(text: string): boolean
}

/**
 * Compiles a pattern on a linear-time engine. JavaScript's spelling is understood (`\u00e9`, `\/`, `(?<name>..)`);
 * look-aheads at the very start are searches of their own; other look-around and back-references do
 * not exist there and are refused with the engine's reason. Flags: i, m, s
 * (u is allowed and means nothing: patterns always see code points).
 */
export function linearPattern(
  pattern: string,
  flags = '',
): { readonly ok: true; readonly pattern: LinearPattern } | { readonly ok: false; readonly message: string } {
  // Flags in front do not count: a `source` of ours can be compiled again.
  const characters = pattern.replace(/^\(\?[ims]{1,3}\)/, '').length
  if (characters > MAX_CHARACTERS) {
    return { ok: false, message: `the pattern has ${characters} characters, at most ${MAX_CHARACTERS} are allowed` }
  }
  if (!/^[imsu]*$/.test(flags)) return { ok: false, message: `flags may be i, m, s and u, saw "${flags.slice(0, 20)}"` }
  const inline = [...new Set(flags.replaceAll('u', ''))].join('')
  const source = inline === '' ? pattern : `(?${inline})${pattern}`
  return compiled(source)
}

/**
 * About what compiling a pattern costs, in nodes of a JSON Schema (compile-programs.ts): its length as often as its repetitions may
 * multiply it. Never too little by much, since what a repetition repeats is copied so often.
 */
export function patternWeight(pattern: string): number {
  const times = [...pattern.matchAll(/\{(\d*),?(\d*)\}/g)].map(([, least, most]) =>
    Math.max(1, Number(least), Number(most)),
  )
  return Math.ceil((pattern.length * times.reduce((product, factor) => product * factor, 1)) / 20)
}

type Compiled = ReturnType<typeof linearPattern>

const compiled = memoizeLast(64, compile)

function compile(source: string): Compiled {
  const looks = leadingLooks(source)
  if (looks === undefined) return compileOne(source)
  const parts: { readonly pattern: LinearPattern; readonly wanted: boolean }[] = []
  for (const part of [...looks.refused, ...looks.wanted]) {
    const read = compileOne(part)
    if (!read.ok) return read
    parts.push({ pattern: read.pattern, wanted: parts.length >= looks.refused.length })
  }
  const steps = parts.reduce((sum, { pattern }) => sum + pattern.steps, 0)
  const test = (text: string) => parts.every(({ pattern, wanted }) => pattern.test(text) === wanted)
  return { ok: true, pattern: { source, steps, test } }
}

function compileOne(source: string): Compiled {
  try {
    const program = RE2JS.compile(RE2JS.translateRegExp(source))
    const steps = program.programSize()
    if (steps > MAX_STEPS) {
      return {
        ok: false,
        message: `the pattern's repetitions expand to ${steps} steps, at most ${MAX_STEPS} are allowed`,
      }
    }
    return { ok: true, pattern: { source, steps, test: (text) => program.test(text) } }
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.replace(/^error parsing regexp: /, '') : 'it cannot be read'
    return { ok: false, message: `the pattern is not supported (RE2 syntax): ${why}` }
  }
}

/** A pattern `^(?!a)(?=b)rest`: what must not and what must match at the start of the text, besides the rest. */
interface LeadingLooks {
  readonly refused: readonly string[]
  readonly wanted: readonly string[]
}

/**
 * Takes look-aheads at the very start of a pattern apart (the usual way to say "does not contain"): each is a search
 * of its own from the start, so a linear engine can do them. undefined = the pattern has none there, or an `|` outside
 * of them would make them one choice of several. Flags stand before it, as `(?i)`; with `m` a start is every line's.
 */
function leadingLooks(source: string): LeadingLooks | undefined {
  const flags = /^\(\?[is]{1,2}\)/.exec(source)?.[0] ?? ''
  let rest = source.slice(flags.length)
  if (!/^\^\(\?[!=]/.test(rest)) return undefined
  rest = rest.slice(1)
  const refused: string[] = []
  const wanted: string[] = []
  while (/^\(\?[!=]/.test(rest)) {
    const end = groupEnd(rest)
    if (end === undefined) return undefined
    const list = rest[2] === '!' ? refused : wanted
    list.push(`${flags}^(?:${rest.slice(3, end)})`)
    rest = rest.slice(end + 1)
  }
  if (hasChoice(rest)) return undefined
  return { refused, wanted: [...wanted, `${flags}^(?:${rest})`] }
}

/** Where the group that begins the text ends: escapes and classes are passed over. */
function groupEnd(text: string): number | undefined {
  for (const { at, depth, sign } of groups(text)) if (sign === ')' && depth === 0) return at
  return undefined
}

function hasChoice(text: string): boolean {
  for (const { depth, sign } of groups(text)) if (sign === '|' && depth === 0) return true
  return false
}

/** Brackets and choices of a pattern with the depth after them. */
function* groups(text: string) {
  let depth = 0
  for (const { 0: sign, index: at } of text.matchAll(/\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[()|]/gs)) {
    if (sign === '(') depth += 1
    if (sign === ')') depth -= 1
    yield { at, depth, sign }
  }
}
