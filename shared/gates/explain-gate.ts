import type { Json } from '../canonical.ts'
import type { GateDescription } from './describe-gates.ts'
import type { GateExample } from './gate.ts'

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
