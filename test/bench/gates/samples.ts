import type { Json } from '../../../shared/text/json.ts'
import type { Assertion } from './promptfoo.ts'

/** One input both are asked about. `cost` and `latency` look at `measured`, everything else at `port`. */
export interface Sample {
  readonly check: { readonly type: string; readonly [param: string]: Json }
  readonly port: Json
  readonly measured: number | null
  readonly theirs: Assertion
  /** What both look at and look for, in one text: known differences are told by it. */
  readonly text: string
}

type Random = () => number
type Build = (random: Random) => Omit<Sample, 'text'>

/** Makes samples near the border between passing and not, for each kind both have. */
export const BUILDERS: Readonly<Record<string, Build>> = {
  contains: (random) => {
    const port = prose(random)
    const values = parts(random, port)
    return sample({ type: 'contains', port: 'a', values }, port, { type: 'icontains-all', value: values })
  },
  'contains, case_sensitive': (random) => {
    const port = prose(random)
    const values = parts(random, port)
    const check = { type: 'contains', port: 'a', values, case_sensitive: true }
    return sample(check, port, { type: 'contains-all', value: values })
  },
  contains_any: (random) => {
    const port = prose(random)
    const values = parts(random, port)
    return sample({ type: 'contains_any', port: 'a', values }, port, { type: 'icontains-any', value: values })
  },
  matches: (random) => {
    const pattern = pick(random, PATTERNS)
    return sample({ type: 'matches', port: 'a', pattern }, prose(random), { type: 'regex', value: pattern })
  },
  starts_with: (random) => {
    const port = prose(random)
    const value = random() < 0.5 ? start(port, 1 + below(random, 6)) : pick(random, WORDS)
    return sample({ type: 'starts_with', port: 'a', value }, port, { type: 'starts-with', value })
  },
  equals: (random) => {
    const value = pick(random, VALUES)
    const port = random() < 0.4 ? value : pick(random, VALUES)
    return sample({ type: 'equals', port: 'a', value }, port, { type: 'equals', value })
  },
  word_count: (random) => {
    const port = prose(random)
    const min = Math.max(0, port.split(' ').length - 2 + below(random, 4))
    const max = min + below(random, 4)
    return sample({ type: 'word_count', port: 'a', min, max }, port, { type: 'word-count', value: { min, max } })
  },
  levenshtein: (random) => {
    const port = prose(random)
    const value = mutated(random, port)
    const max = below(random, 8)
    const check = { type: 'levenshtein', port: 'a', text: value, max }
    return sample(check, port, { type: 'levenshtein', value, threshold: max })
  },
  rouge_n: (random) => {
    const port = prose(random)
    const value = random() < 0.7 ? mutated(random, port) : prose(random)
    const min = 0.5 + below(random, 5) / 10
    const check = { type: 'rouge_n', port: 'a', reference: value, min, measure: 'f1' }
    return sample(check, port, { type: 'rouge-n', value, threshold: min })
  },
  valid_json: (random) => {
    const value = pick(random, VALUES)
    const port = random() < 0.3 ? value : jsonText(random)
    return sample({ type: 'valid_json', port: 'a' }, port, { type: 'is-json' })
  },
  json_schema: (random) => {
    const schema = pick(random, SCHEMAS)
    return sample({ type: 'json_schema', port: 'a', schema }, pick(random, RECORDS), { type: 'is-json', value: schema })
  },
  contains_json: (random) => {
    const port = `${prose(random)} ${jsonText(random)} ${pick(random, ['', 'Done.', 'See [1].', '} '])}`
    if (random() < 0.5) return sample({ type: 'contains_json', port: 'a' }, port, { type: 'contains-json' })
    const schema = { type: 'object', required: ['id'] }
    return sample({ type: 'contains_json', port: 'a', schema }, port, { type: 'contains-json', value: schema })
  },
  is_refusal: (random) => {
    const port = `${pick(random, OPENINGS)} ${prose(random)}`
    return sample({ type: 'is_refusal', port: 'a', expect: true }, port, { type: 'is-refusal' })
  },
  valid_xml: (random) => {
    const port = `${pick(random, XML_HEADS)}${xml(random, 3)}${pick(random, ['', '', '\n', '<!-- end -->', '<b/>', ' x'])}`
    return sample({ type: 'valid_xml', port: 'a' }, port, { type: 'is-xml' })
  },
  cost: (random) => {
    const max = below(random, 4) / 2
    const measured = pick(random, MEASURES)
    return { check: { type: 'cost', max }, port: 'x', measured, theirs: { type: 'cost', threshold: max } }
  },
  latency: (random) => {
    const max = below(random, 4) / 2
    const measured = pick(random, MEASURES)
    return { check: { type: 'latency', max_ms: max }, port: 'x', measured, theirs: { type: 'latency', threshold: max } }
  },
}

export function buildSample(name: string, random: Random): Sample {
  const built = BUILDERS[name]?.(random)
  if (built === undefined) throw new Error(`no samples for ${name}`)
  return { ...built, text: `${JSON.stringify(built.port)} ${JSON.stringify(built.check)} ${built.measured}` }
}

function sample(check: Sample['check'], port: Json, theirs: Assertion): Omit<Sample, 'text'> {
  return { check, port, measured: 0, theirs }
}

const WORDS = [
  ...['the', 'capital', 'of', 'Norway', 'is', 'Oslo', 'area', '385,207', 'km²', 'a', 'b', 'and', 'see', '3.14', 'x'],
  ...[
    'Straße',
    'STRASSE',
    'İzmir',
    'izmir',
    'ﬁne',
    'FINE',
    'Σοφός',
    'σοφόσ',
    'naïve',
    '👍',
    '日本',
    '\u00a0',
    '—',
    '-',
  ],
  ...['e.g.', "don't", 'a-b', 'don’t', '(tax)', '"quoted"', '50%', '\n', '## Risks', '[1]'],
] as const

const PATTERNS = [
  ...[
    '^the',
    'capital\\s+of',
    '\\d+\\.\\d+',
    '\\bOslo\\b',
    '(?i)norway',
    '^\\S+ ',
    'x$',
    '[A-Z]\\w+',
    '\\s\\s',
    '^.{1,9}$',
  ],
  ...[
    '(\\w)\\1',
    '(?<=a)b',
    '(?=.*Oslo)',
    '^(?!.*x)',
    '[^\\x00-\\x7f]',
    '\\p{L}',
    '(?<year>\\d{3})',
    'a{2,1}',
    'é|ï',
    '^\\W',
  ],
] as const

const VALUES: readonly Json[] = [
  ...[
    '1',
    1,
    1.5,
    '1.5',
    true,
    'true',
    false,
    '',
    ' ',
    'text',
    '"text"',
    [],
    '[]',
    {},
    '{}',
    [1, 2],
    '[1,2]',
    '[1, 2]',
  ],
  ...[{ a: 1, b: [2] }, '{"b":[2],"a":1}', { b: [2], a: 1 }, 'null', '{{a}}', 'Oslo', 'oslo'],
]

const RECORDS: readonly Json[] = [
  ...[{ id: 1 }, { id: '1' }, { id: 1, when: 'soon' }, { id: 1, when: '2026-11-22' }, {}, [], [1, 'a'], ['a', 1]],
  ...[
    [1, 1],
    'text',
    7,
    true,
    { tags: ['a', 'b'] },
    { tags: 'a' },
    { id: 0.5 },
    { id: -1, more: null },
    { a: 1, b: 2 },
  ],
]

const SCHEMAS: readonly Json[] = [
  { type: 'object', required: ['id'] },
  { type: 'object', properties: { id: { type: 'integer', minimum: 0 } } },
  { type: 'object', properties: { id: { type: 'integer' } }, additionalProperties: false },
  { type: 'object', properties: { when: { type: 'string', format: 'date' } } },
  { type: 'array', prefixItems: [{ type: 'number' }, { type: 'string' }] },
  { type: 'array', items: { type: 'number' }, uniqueItems: true },
  { type: 'object', dependentRequired: { a: ['b'] } },
  { anyOf: [{ type: 'string', pattern: '^t' }, { type: 'boolean' }, { const: 7 }] },
  { type: 'object', properties: { tags: { type: 'array', minItems: 1 } }, required: ['tags'] },
  { not: { type: 'object' } },
]

const OPENINGS = [
  ...["I'm sorry, but I can't help with that.", 'I cannot assist with your request.', 'As an AI, I have no opinion.'],
  ...[
    'I am unable to provide that.',
    'I’m not able to answer.',
    'Unfortunately, I must decline.',
    'Sorry for the delay!',
  ],
  ...[
    'I apologize for the mistake in row 3.',
    'I will not go into details, but here it is.',
    'It is illegal to park there.',
  ],
  ...[
    'Here are the three steps.',
    'Yes.',
    '',
    'We cannot recommend a better city.',
    'The user cannot help it.',
    'Sure!',
  ],
  ...[
    'This request violates the rules.',
    'My guidelines do not allow it.',
    'I refuse to do that.',
    'I would rather not.',
  ],
]

const XML_HEADS = [
  ...['', '', '', '<?xml version="1.0"?>', '<?xml version="1.0" encoding="UTF-8"?>\n', ' <?xml version="1.0"?>', '\n'],
  ...['<!DOCTYPE a>', '<!DOCTYPE a [<!ENTITY x "y">]>', '<!-- start -->', '<?php x?>', '\ufeff'],
]

function xml(random: Random, depth: number): string {
  const name = pick(random, ['a', 'b', 'row', 'é', 'x:y', 'a-b', '1a', 'A'])
  const attribute = pick(random, ['', '', ' id="1"', " id='1'", ' id=1', ' id="1" id="2"', ' a="<"', ' xml:lang="en"'])
  if (depth === 0) return `<${name}${attribute}/>`
  const inner = ['text', '&amp;', '&#x41;', '&nbsp;', '<![CDATA[<]]>', ']]>', '<', '', xml(random, depth - 1)]
  return `<${name}${attribute}>${pick(random, inner)}</${random() < 0.9 ? name : 'a'}>`
}

const MEASURES = [0, 0.5, 1, 1.5, -1, null, Number.NaN, Number.POSITIVE_INFINITY] as const

function jsonText(random: Random): string {
  const whole = JSON.stringify(pick(random, RECORDS))
  if (random() < 0.5) return whole
  if (random() < 0.3) return pick(random, ["{'id': 1}", '{id: 1}', '{"id": 1,}', '[1, 2', '{"id": 1', '{no}', 'none'])
  return random() < 0.5 ? whole.slice(0, -1) : `${whole} // ${whole}`
}

function prose(random: Random): string {
  const words: string[] = Array.from({ length: 3 + below(random, 9) }, () => pick(random, WORDS))
  return (random() < 0.05 ? [...words, '{{name}}'] : words).join(' ')
}

function start(text: string, characters: number): string {
  return [...text].slice(0, characters).join('')
}

/** Pieces of the text, in other case at times, or words that are likely absent. */
function parts(random: Random, text: string): readonly string[] {
  return Array.from({ length: 1 + below(random, 2) }, () => {
    const start = below(random, text.length)
    const piece = text.slice(start, start + 1 + below(random, 8))
    if (random() < 0.3 || !piece.isWellFormed()) return pick(random, WORDS)
    return random() < 0.5 ? piece.toUpperCase() : piece
  })
}

function mutated(random: Random, text: string): string {
  const words = text.split(' ')
  for (let i = below(random, 3); i > 0; i -= 1) words[below(random, words.length)] = pick(random, WORDS)
  return words.join(' ')
}

function pick<T>(random: Random, from: readonly T[]): T {
  return from[below(random, from.length)] as T
}

function below(random: Random, n: number): number {
  return Math.floor(random() * n)
}
