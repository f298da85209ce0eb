import type { Json } from '../../../shared/text/json.ts'
import type { Answered, Assertion } from './promptfoo.ts'
import type { Texts } from './texts.ts'

/** One gate on one port, and the assertion that asks the same of the same text where promptfoo has one. */
export interface Compared {
  readonly check: { readonly type: string; readonly [param: string]: Json }
  readonly port: Json
  readonly theirs?: Assertion
  /** What they are shown where it is not the port itself. */
  readonly output?: Json
}

export const MEASURED = { cost_usd: 0.012, latency_ms: 840 }

/** Levenshtein is defined on short texts: 4,000 characters of the brief. */
const EXCERPT = 4_000

/** Twenty deterministic gates, all of which pass: a pass has to look at everything. */
export function twenty({ brief, json, csv, rows }: Texts): readonly Compared[] {
  const excerpt = brief.slice(0, EXCERPT)
  const edited = excerpt.replaceAll('land borders', 'frontiers').slice(0, EXCERPT)
  const wanted = ['Oceania', 'Risks', 'has an area of']
  const sections = ['Africa', 'Europe', 'Risks']
  return [
    { check: { type: 'contains', port: 'a', values: wanted }, port: brief, theirs: asks('icontains-all', wanted) },
    {
      check: { type: 'contains', port: 'a', values: wanted, case_sensitive: true },
      port: brief,
      theirs: asks('contains-all', wanted),
    },
    {
      check: { type: 'contains_any', port: 'a', values: ['Atlantis', 'Borders change'] },
      port: brief,
      theirs: asks('icontains-any', ['Atlantis', 'Borders change']),
    },
    { check: { type: 'matches', port: 'a', pattern: PATTERN }, port: brief, theirs: asks('regex', PATTERN) },
    {
      check: { type: 'starts_with', port: 'a', value: '# The countries' },
      port: brief,
      theirs: asks('starts-with', '# The countries'),
    },
    { check: { type: 'ends_with', port: 'a', value: '```\n' }, port: brief },
    { check: { type: 'equals', port: 'a', value: brief }, port: brief, theirs: asks('equals', brief) },
    { check: { type: 'not_empty', port: 'a' }, port: brief },
    { check: { type: 'min_length', port: 'a', min: 50_000 }, port: brief },
    { check: { type: 'max_length', port: 'a', max: 200_000 }, port: brief },
    {
      check: { type: 'word_count', port: 'a', min: 5_000, max: 50_000 },
      port: brief,
      theirs: asks('word-count', { min: 5_000, max: 50_000 }),
    },
    {
      check: { type: 'levenshtein', port: 'a', text: edited, max: 500 },
      port: excerpt,
      theirs: { ...asks('levenshtein', edited), threshold: 500 },
    },
    {
      check: { type: 'rouge_n', port: 'a', reference: excerpt, min: 0.01, measure: 'f1' },
      port: brief,
      theirs: { ...asks('rouge-n', excerpt), threshold: 0.01 },
    },
    { check: { type: 'markdown_sections', port: 'a', sections }, port: brief },
    { check: { type: 'csv_columns', port: 'a', columns: ['name', 'area'], min_rows: 100 }, port: csv },
    { check: { type: 'valid_json', port: 'a' }, port: json, theirs: { type: 'is-json' } },
    {
      check: { type: 'json_schema', port: 'a', schema: SCHEMA },
      port: rows,
      theirs: asks('is-json', SCHEMA),
      output: json,
    },
    { check: { type: 'contains_json', port: 'a' }, port: brief, theirs: { type: 'contains-json' } },
    { check: { type: 'cost', max: 0.05 }, port: brief, theirs: { type: 'cost', threshold: 0.05 } },
    { check: { type: 'latency', max_ms: 2_000 }, port: brief, theirs: { type: 'latency', threshold: 2_000 } },
  ]
}

/** Found near the end of the text only, with a repetition in front. */
const PATTERN = '"countries":\\s*\\d+'

const SCHEMA = {
  type: 'array',
  minItems: 100,
  items: {
    type: 'object',
    required: ['name', 'code', 'area'],
    properties: {
      name: { type: 'string', minLength: 1 },
      code: { type: 'string', pattern: '^[A-Z]{3}-[0-9]$' },
      area: { type: 'number' },
    },
  },
}

function asks(type: string, value: Json): Assertion {
  return { type, value }
}

export function shown({ port, output = port }: Compared): Answered {
  return { output, cost: MEASURED.cost_usd, latencyMs: MEASURED.latency_ms }
}
