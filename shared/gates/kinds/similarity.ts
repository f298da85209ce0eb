import * as z from 'zod'
import { MAX_WORD_BYTES, splitWords } from '../../text/prose.ts'
import { quotedList } from '../../text/redact.ts'
import type { CheckResult, Gate, GateFacts } from '../gate.ts'
import { PortNameSchema, readPort, wrongTypeResult } from '../read-facts.ts'

/** Code points of each side: with the widest band some 40 ms at worst (measured). */
const MAX_CHARACTERS = 5_000

const LevenshteinSchema = z
  .strictObject({
    port: PortNameSchema,
    text: z.string().max(MAX_CHARACTERS).optional(),
    other: PortNameSchema.optional(),
    max: z.int().min(0).max(500),
  })
  .refine(({ text, other }) => (text === undefined) !== (other === undefined), 'needs either text or other (a port)')
type Levenshtein = z.infer<typeof LevenshteinSchema>

/** Levenshtein's distance (1966) over code points. */
export const levenshtein: Gate<Levenshtein> = {
  type: 'levenshtein',
  summary: 'Passes when at most `max` characters must be changed, added or taken out to make the port the wanted text.',
  params: LevenshteinSchema,
  reads: ({ port, other }) => (other === undefined ? [port] : [port, other]),
  judges: () => ['text'],
  examples: [
    { check: { port: 'name', text: 'Reykjavik', max: 1 }, outputs: { name: 'Reykjavík' }, passes: true },
    {
      check: { port: 'name', other: 'wanted', max: 1 },
      inputs: { wanted: 'Oslo' },
      outputs: { name: 'Bergen' },
      passes: false,
    },
  ],
  check: checkDistance,
}

function checkDistance({ port, text, other, max }: Levenshtein, facts: GateFacts): CheckResult {
  const seen = readPort(facts, port)
  if (typeof seen !== 'string') return wrongTypeResult(port, 'text', seen)
  const wanted = text ?? readPort(facts, other ?? '')
  if (typeof wanted !== 'string') return wrongTypeResult(other ?? '', 'text', wanted)
  if (seen.length > 2 * MAX_CHARACTERS || wanted.length > 2 * MAX_CHARACTERS) return tooLong(port, seen)
  const [a, b] = [[...seen], [...wanted]]
  if (a.length > MAX_CHARACTERS || b.length > MAX_CHARACTERS) return tooLong(port, seen)
  const distance = editDistance(a, b, max)
  if (distance !== undefined) {
    return {
      passed: true,
      reason: `is ${distance} changes away, at most ${max} wanted`,
      facts: { port, distance, max },
    }
  }
  const reason = `must be at most ${max} changes away from ${quotedList([wanted])}, is more`
  return { passed: false, reason, facts: { port, max } }
}

function tooLong(port: string, seen: string): CheckResult {
  const reason = `texts of at most ${MAX_CHARACTERS} characters are compared, port ${port} has ${seen.length}`
  return { passed: false, unfit: true, reason, facts: { port, length: seen.length } }
}

/**
 * How many single changes (one character changed, added or taken out) turn `a` into `b`; undefined when more than
 * `max`. Only the band around the diagonal that `max` allows is filled (Ukkonen 1985): O(max * length).
 */
export function editDistance(a: readonly string[], b: readonly string[], max: number): number | undefined {
  if (Math.abs(a.length - b.length) > max) return undefined
  let above = Uint32Array.from({ length: b.length + 1 }, (_, j) => Math.min(j, max + 1))
  let row = new Uint32Array(b.length + 1)
  for (const [i, letter] of a.entries()) {
    if (fill(row, above, i + 1, b, letter, max) > max) return undefined
    ;[above, row] = [row, above]
  }
  const distance = above[b.length] ?? 0
  return distance <= max ? distance : undefined
}

/**
 * Row i of the table from the one above it; the cells just outside the band are more than `max` away, those further
 * out are never read. Answers the row's least cell.
 */
function fill(row: Uint32Array, above: Uint32Array, i: number, b: readonly string[], letter: string, max: number) {
  const first = Math.max(1, i - max)
  const last = Math.min(b.length, i + max)
  let left = first === 1 ? i : max + 1
  let least = left
  row[first - 1] = left
  for (let j = first; j <= last; j += 1) {
    const change = (above[j - 1] ?? 0) + (letter === b[j - 1] ? 0 : 1)
    left = Math.min(change, (above[j] ?? 0) + 1, left + 1)
    if (left < least) least = left
    row[j] = left
  }
  if (last < b.length) row[last + 1] = max + 1
  return least
}

const RougeSchema = z
  .strictObject({
    port: PortNameSchema,
    reference: z.string().min(1).max(100_000).optional(),
    reference_port: PortNameSchema.optional(),
    n: z.int().min(1).max(4).default(1),
    min: z.number().gt(0).max(1),
    measure: z.enum(['recall', 'precision', 'f1']).default('recall'),
  })
  .refine(({ reference, reference_port }) => (reference === undefined) !== (reference_port === undefined), {
    message: 'needs either reference (a text) or reference_port',
  })
type Rouge = z.infer<typeof RougeSchema>

/** ROUGE-N (Lin 2004), words without their case, clipped counts. */
export const rougeN: Gate<Rouge> = {
  type: 'rouge_n',
  summary: 'Passes when the share of word n-grams the port has in common with a reference text is at least `min`.',
  params: RougeSchema,
  reads: ({ port, reference_port }) => (reference_port === undefined ? [port] : [port, reference_port]),
  judges: () => ['text'],
  examples: [
    {
      check: { port: 'summary', reference: 'the cat was under the bed', min: 0.8 },
      outputs: { summary: 'the cat was found under the bed' },
      passes: true,
    },
    {
      check: { port: 'summary', reference: 'the cat sat', n: 2, min: 0.5 },
      outputs: { summary: 'a dog ran' },
      passes: false,
    },
  ],
  check: checkRouge,
}

function checkRouge({ port, reference, reference_port = '', n, min, measure }: Rouge, facts: GateFacts): CheckResult {
  const text = readPort(facts, port)
  if (typeof text !== 'string') return wrongTypeResult(port, 'text', text)
  const wanted = reference ?? readPort(facts, reference_port)
  if (typeof wanted !== 'string') return wrongTypeResult(reference_port, 'text', wanted)
  if (Math.max(Buffer.byteLength(text), Buffer.byteLength(wanted)) > MAX_WORD_BYTES) {
    const reason = `texts of at most ${MAX_WORD_BYTES} bytes are compared`
    return { passed: false, unfit: true, reason, facts: { port } }
  }
  const score = scoreOf(grams(text, n), grams(wanted, n), measure)
  const said = Math.floor(score * 1_000) / 1_000
  const told = { port, n, measure, score: said, min }
  if (score >= min)
    return { passed: true, reason: `ROUGE-${n} ${measure} is ${said}, at least ${min} wanted`, facts: told }
  return { passed: false, reason: `ROUGE-${n} ${measure} must be at least ${min}, is ${said}`, facts: told }
}

interface Grams {
  readonly counts: ReadonlyMap<string, number>
  readonly total: number
}

function grams(text: string, n: number): Grams {
  const words = splitWords(text.toUpperCase())
  const counts = new Map<string, number>()
  for (let i = 0; i + n <= words.length; i += 1) {
    const gram = words.slice(i, i + n).join(' ')
    counts.set(gram, (counts.get(gram) ?? 0) + 1)
  }
  return { counts, total: Math.max(0, words.length - n + 1) }
}

/** 0 where one side has no n-gram: nothing in common is never a pass. */
function scoreOf(seen: Grams, wanted: Grams, measure: Rouge['measure']): number {
  let common = 0
  for (const [gram, count] of wanted.counts) common += Math.min(count, seen.counts.get(gram) ?? 0)
  if (common === 0) return 0
  const f1 = (2 * common) / (wanted.total + seen.total)
  return { recall: common / wanted.total, precision: common / seen.total, f1 }[measure]
}
