import * as z from 'zod'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { PortNameSchema } from './port-name.ts'
import { readPort, wrongType } from './read-port.ts'
import { MAX_WORD_BYTES, wordsOf } from './words.ts'

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
  check,
}

function check({ port, reference, reference_port = '', n, min, measure }: Rouge, facts: GateFacts): CheckResult {
  const text = readPort(facts, port)
  if (typeof text !== 'string') return wrongType(port, 'text', text)
  const wanted = reference ?? readPort(facts, reference_port)
  if (typeof wanted !== 'string') return wrongType(reference_port, 'text', wanted)
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
  const words = wordsOf(text.toUpperCase())
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
