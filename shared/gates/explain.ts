import * as z from 'zod'
import type { Json } from '../text/json.ts'
import { atLeast, COMPOSITIONS, negateOutcome, type Outcome, PART_LIMITS } from './check-composition.ts'
import type { GateExample } from './gate.ts'
import { findGate, gateFamilies } from './registry.ts'

export interface GateDescription {
  readonly type: string
  readonly family: string
  readonly summary: string
  /** JSON Schema (draft 2020-12) of the parameters as a document writes them, without `type`. */
  readonly params: Readonly<Record<string, unknown>>
  readonly examples: readonly GateExample[]
}

/** What GET /api/gates, `sluice gates list` and editors show: generated from the registry, nothing written twice. */
export function describeGates(): readonly GateDescription[] {
  return gateFamilies().flatMap(({ family, types }) =>
    types.flatMap((type) => {
      const gate = findGate(type)
      if (gate === undefined) return []
      const { summary, params, examples } = gate
      return [{ type, family, summary, params: z.toJSONSchema(params, { io: 'input' }), examples }]
    }),
  )
}

/** One gate kind as Markdown: what it decides, its parameters, its examples. `sluice gates explain` and docs/gates.md. */
export function explainGate({ type, summary, params, examples }: GateDescription): string {
  const shown = examples.map((example) => `- ${exampleLine(type, example)}`)
  return [`### ${type}`, '', summary, '', ...parameterTable(params), '', ...shown].join('\n')
}

function parameterTable({ properties, required }: GateDescription['params']): readonly string[] {
  const needed = new Set(Array.isArray(required) ? required : [])
  const rows = Object.entries((properties ?? {}) as Record<string, Schema>).map(
    ([name, schema]) => `| \`${name}\` | ${needed.has(name) ? 'yes' : 'no'} | ${schemaWords(schema)} |`,
  )
  return ['| parameter | required | value |', '| --- | --- | --- |', ...rows]
}

type Schema = Readonly<Record<string, Json>> & { readonly anyOf?: readonly Schema[]; readonly items?: Schema }

/** A parameter's schema in words; `default` last. */
function schemaWords(schema: Schema): string {
  const { anyOf, enum: words, type, items, default: fallback } = schema
  const what = Array.isArray(words)
    ? words.map((word) => `\`${String(word)}\``).join(', ')
    : anyOf === undefined
      ? `${typeWords(type, items)}${bounds(schema)}`
      : [...new Set(anyOf.map(schemaWords))].join(' or ')
  return fallback === undefined ? what : `${what}; default \`${JSON.stringify(fallback)}\``
}

function typeWords(type: Json | undefined, items: Schema | undefined): string {
  if (type === 'array') return items === undefined ? 'a list' : `a list of ${schemaWords(items)}`
  return (typeof type === 'string' ? TYPE_WORDS[type] : undefined) ?? 'any value'
}

const TYPE_WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'a mapping',
  null: 'null',
}

function bounds(schema: Schema): string {
  const { minimum, exclusiveMinimum, maximum, maxLength, minItems, maxItems } = schema
  const limits = [
    minimum === undefined ? '' : `at least ${String(minimum)}`,
    exclusiveMinimum === undefined ? '' : `above ${String(exclusiveMinimum)}`,
    // Every whole number has this bound.
    maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? '' : `at most ${String(maximum)}`,
    maxLength === undefined ? '' : `at most ${String(maxLength)} characters`,
    minItems === undefined ? '' : `at least ${String(minItems)}`,
    maxItems === undefined ? '' : `at most ${String(maxItems)}`,
  ].filter((limit) => limit !== '' && !limit.includes(String(Number.MIN_SAFE_INTEGER)))
  return limits.length === 0 ? '' : `, ${limits.join(', ')}`
}

function exampleLine(type: string, { check, passes, needs, ...facts }: GateExample): string {
  const seen = Object.entries(facts).map(([key, value]) => `${key} \`${JSON.stringify(value)}\``)
  const where = needs === undefined ? '' : ' (where the place offers it)'
  const on = seen.length === 0 ? '' : ` on ${seen.join(', ')}`
  return `${passes ? 'passes' : 'does not pass'}${where}: \`${JSON.stringify({ type, ...check })}\`${on}`
}

/** What `sluice gates explain` knows besides the types. */
export const COMPOSITION_NAMES: readonly string[] = ['not', ...Object.keys(COMPOSITIONS)]

/** How checks are negated and put together, as Markdown; the table is what the rules answer. */
export function explainCompositions(): string {
  return [
    '## not, any_of, all_of, at_least',
    '',
    'Wherever a check stands, it may be negated, or composed of others:',
    '',
    '```yaml',
    ...EXAMPLES,
    '```',
    '',
    ...Object.entries(COMPOSITIONS).map(([key, { words }]) => `- \`${key}\`: ${words}`),
    '- `not: true`: turns what was judged round, of a type or of a composition.',
    '',
    `They nest, ${PART_LIMITS.depth} levels deep, with at most ${PART_LIMITS.leaves} checks of types in one gate. All of them are judged, and the reason names those that decided. A check comes to one of four:`,
    '',
    '- pass, fail: it was judged.',
    '- unfit: there was nothing to judge: a port that is missing, null or NaN, a type the check does not read, a cost or a time nobody knows, more than the check reads. The verdict is `failed`, and so is the negated one: nothing passes on nothing.',
    '- error: it could not be carried out. The verdict is `error`, negated too.',
    '',
    '| a     | b     | not a | any_of | all_of |',
    '| ----- | ----- | ----- | ------ | ------ |',
    ...PAIRS.map(([a, b]) => `| ${row([a, b, negateOutcome(a), atLeast(1, [a, b]), atLeast(2, [a, b])])} |`),
    '',
    '`at_least: k` passes as soon as `k` pass and fails as soon as too many fail, whatever the others are; `any_of` is `at_least: 1`, `all_of` wants all. De Morgan holds: not any_of(a, b) is all_of(not a, not b).',
  ].join('\n')
}

/** A document of its own, so that it is read by a test like every other one. */
const EXAMPLES = [
  'blocks:',
  '  - id: plan',
  '    outputs: { plan: string, notes: { type: string, required: false } }',
  '    agent: { provider: local, model: outline }',
  '    post_gates:',
  '      - { name: sure, check: { type: contains, port: plan, values: [maybe], not: true } }',
  '      - { name: some, check: { any_of: [{ type: not_empty, port: plan }, { type: not_empty, port: notes }] } }',
  '      - name: two-of-three',
  '        check:',
  '          at_least: 2',
  '          of:',
  '            - { type: min_length, port: plan, min: 200 }',
  '            - { type: cost, max: 0.05 }',
  '            - { all_of: [{ type: word_count, port: plan, max: 500 }, { type: is_refusal, port: plan }] }',
]

const OUTCOMES: readonly Outcome[] = ['pass', 'fail', 'unfit', 'error']
const PAIRS = OUTCOMES.flatMap((a, at) => OUTCOMES.slice(at).map((b) => [a, b] as const))

/** Padded like the head of the table. */
function row([a, b, not, any, all]: readonly [Outcome, Outcome, Outcome, Outcome, Outcome]): string {
  return [a.padEnd(5), b.padEnd(5), not.padEnd(5), any.padEnd(6), all.padEnd(6)].join(' | ')
}
