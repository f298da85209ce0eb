import { RE2JS } from 're2js'
import { keepLast } from './keep-last.ts'
import { leadingLooks } from './leading-looks.ts'

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
 * look-aheads at the very start are searches of their own (leading-looks.ts); other look-around and back-references do
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
 * About what compiling a pattern costs, in nodes of a JSON Schema (programs.ts): its length as often as its repetitions may
 * multiply it. Never too little by much, since what a repetition repeats is copied so often.
 */
export function patternWeight(pattern: string): number {
  const times = [...pattern.matchAll(/\{(\d*),?(\d*)\}/g)].map(([, least, most]) =>
    Math.max(1, Number(least), Number(most)),
  )
  return Math.ceil((pattern.length * times.reduce((product, factor) => product * factor, 1)) / 20)
}

type Compiled = ReturnType<typeof linearPattern>

const compiled = keepLast(64, compile)

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
