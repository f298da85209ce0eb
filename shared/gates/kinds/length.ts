import * as z from 'zod'
import type { Json } from '../../text/json.ts'
import { countCodePoints, isVisible, MAX_WORD_BYTES, splitWords } from '../../text/prose.ts'
import type { CheckResult, Gate, GateFacts } from '../gate.ts'
import { PortNameSchema, readPort, unusableReason, withPortText, wrongTypeResult } from '../read-facts.ts'

const NotEmptySchema = z.strictObject({ port: PortNameSchema })
type NotEmpty = z.infer<typeof NotEmptySchema>

export const notEmpty: Gate<NotEmpty> = {
  type: 'not_empty',
  summary:
    'Passes when the port holds something: text that can be seen, a list or object with members, any number or boolean.',
  params: NotEmptySchema,
  reads: ({ port }) => [port],
  examples: [
    { check: { port: 'plan' }, outputs: { plan: 'a plan' }, passes: true },
    { check: { port: 'plan' }, outputs: { plan: ' \n' }, passes: false },
  ],
  check: checkNotEmpty,
}

function checkNotEmpty({ port }: NotEmpty, facts: GateFacts): CheckResult {
  const value = readPort(facts, port)
  if (value === undefined || unusableReason(port, value) !== undefined) return wrongTypeResult(port, 'a value', value)
  const empty = emptyWords(value)
  if (empty === undefined) return { passed: true, reason: `port ${port} is not empty`, facts: { port } }
  return { passed: false, reason: `port ${port} must not be empty, is ${empty}`, facts: { port } }
}

function emptyWords(value: Json): string | undefined {
  if (typeof value === 'string') return isVisible(value) ? undefined : 'blank text'
  if (typeof value !== 'object' || value === null || Object.keys(value).length > 0) return undefined
  return Array.isArray(value) ? 'an empty list' : 'an empty object'
}

/** The name existing DAG files use for not_empty. */
export const portNotEmpty: typeof notEmpty = {
  ...notEmpty,
  type: 'port_not_empty',
}

const MinLengthSchema = z.strictObject({ port: PortNameSchema, min: z.int().min(0) })
type MinLength = z.infer<typeof MinLengthSchema>

export const minLength: Gate<MinLength> = {
  type: 'min_length',
  summary: 'Passes when a text has at least `min` characters (code points), or a list at least `min` items.',
  params: MinLengthSchema,
  reads: ({ port }) => [port],
  judges: () => ['text'],
  examples: [
    { check: { port: 'plan', min: 5 }, outputs: { plan: 'a plan' }, passes: true },
    { check: { port: 'steps', min: 2 }, outputs: { steps: ['only one'] }, passes: false },
  ],
  check: checkMinLength,
}

function checkMinLength({ port, min }: MinLength, facts: GateFacts): CheckResult {
  const value = readPort(facts, port)
  const isText = typeof value === 'string'
  if (!isText && !Array.isArray(value)) return wrongTypeResult(port, 'text or a list', value)
  const length = isText ? countCodePoints(value) : value.length
  const unit = isText ? 'characters' : 'items'
  const passed = length >= min
  const reason = passed
    ? `has ${length} ${unit}, at least ${min} wanted`
    : `must be at least ${min} ${unit}, has ${length}`
  return { passed, reason, facts: { port, length, min } }
}

const { judges: _, ...length } = minLength

/**
 * The name existing DAG files use for min_length. There everything is measured as text: what is none (a list too, whose
 * items `min_length` counts) as its canonical JSON text. An empty list or object has none.
 */
export const portMinLength: typeof minLength = {
  ...length,
  type: 'port_min_length',
  summary:
    'Passes when the text of the port has at least `min` characters (code points); what is no text is measured as its canonical JSON text, an empty list or object as none.',
  examples: [
    { check: { port: 'plan', min: 5 }, outputs: { plan: 'a plan' }, passes: true },
    { check: { port: 'plan', min: 20 }, outputs: { plan: { steps: ['dig', 'sow', 'water'] } }, passes: true },
    { check: { port: 'steps', min: 1 }, outputs: { steps: [] }, passes: false },
  ],
  check: (params, facts, ports) => minLength.check(params, withPortText(facts, params.port, ''), ports),
}

const MaxLengthSchema = z.strictObject({ port: PortNameSchema, max: z.int().min(0) })
type MaxLength = z.infer<typeof MaxLengthSchema>

export const maxLength: Gate<MaxLength> = {
  type: 'max_length',
  summary: 'Passes when a text has at most `max` characters (code points), or a list at most `max` items.',
  params: MaxLengthSchema,
  reads: ({ port }) => [port],
  judges: () => ['text'],
  examples: [
    { check: { port: 'title', max: 60 }, outputs: { title: 'Release notes' }, passes: true },
    { check: { port: 'steps', max: 1 }, outputs: { steps: ['one', 'two'] }, passes: false },
  ],
  check: checkMaxLength,
}

function checkMaxLength({ port, max }: MaxLength, facts: GateFacts): CheckResult {
  const value = readPort(facts, port)
  const isText = typeof value === 'string'
  if (!isText && !Array.isArray(value)) return wrongTypeResult(port, 'text or a list', value)
  const length = isText ? countCodePoints(value) : value.length
  const unit = isText ? 'characters' : 'items'
  const passed = length <= max
  const reason = passed
    ? `has ${length} ${unit}, at most ${max} wanted`
    : `must be at most ${max} ${unit}, has ${length}`
  return { passed, reason, facts: { port, length, max } }
}

const WordCountSchema = z
  .strictObject({ port: PortNameSchema, min: z.int().min(0).optional(), max: z.int().min(0).optional() })
  .superRefine(({ min, max }, context) => {
    if (min === undefined && max === undefined) context.addIssue({ code: 'custom', message: 'needs min, max or both' })
    if (min !== undefined && max !== undefined && min > max) {
      context.addIssue({
        code: 'custom',
        path: ['min'],
        message: `min ${min} is above max ${max}: it could never pass`,
      })
    }
  })
type WordCount = z.infer<typeof WordCountSchema>

export const wordCount: Gate<WordCount> = {
  type: 'word_count',
  summary: 'Passes when the text of the port has at least `min` and at most `max` words (runs of letters and digits).',
  params: WordCountSchema,
  reads: ({ port }) => [port],
  judges: () => ['text'],
  examples: [
    { check: { port: 'summary', min: 2, max: 50 }, outputs: { summary: 'Short and good' }, passes: true },
    { check: { port: 'summary', max: 2 }, outputs: { summary: 'Far too long' }, passes: false },
  ],
  check: checkWordCount,
}

function checkWordCount({ port, min = 0, max = Number.MAX_SAFE_INTEGER }: WordCount, facts: GateFacts): CheckResult {
  const text = readPort(facts, port)
  if (typeof text !== 'string') return wrongTypeResult(port, 'text', text)
  const bytes = Buffer.byteLength(text)
  if (bytes > MAX_WORD_BYTES) {
    const reason = `port ${port} has ${bytes} bytes of text, the words of at most ${MAX_WORD_BYTES} are counted`
    return { passed: false, unfit: true, reason, facts: { port, bytes } }
  }
  const words = splitWords(text).length
  if (words < min)
    return { passed: false, reason: `must be at least ${min} words, has ${words}`, facts: { port, words } }
  if (words > max)
    return { passed: false, reason: `must be at most ${max} words, has ${words}`, facts: { port, words } }
  return { passed: true, reason: `has ${words} words`, facts: { port, words } }
}
