import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { AWS_QUOTAS } from '../../../shared/aws-quotas.ts'
import { parseDag } from '../../../shared/document/parse.ts'
import { ENTITY_LIMITS } from '../../../shared/graph/entity.ts'
import { LIMITS } from '../../../shared/limits.ts'
import { PRICES } from '../../../shared/plan/aws-prices.ts'
import { planDag } from '../../../shared/plan/plan-dag.ts'
import { SafetySchema } from '../../../shared/runs/safety-settings.ts'
import { codesIn, readText, rowsBelow } from './markdown.ts'

/** docs/limits-and-costs.md against the constants its rows name, and against documents that break them. */
const PAGE = readText('docs/limits-and-costs.md')
const CODES = new Set([...readText('docs/errors.md').matchAll(/^### `([^`]+)`$/gm)].map(([, code = '']) => code))
const SECTIONS = [...PAGE.slice(PAGE.indexOf('## Limits nobody moves')).matchAll(/^### (.*)$/gm)].map(
  ([, title = '']) => title,
)
const rows = SECTIONS.flatMap((title) => rowsBelow(PAGE, title)).map(
  ([what = '', value = '', where = '', over = '']) => {
    const [file = '', constant = ''] = codesIn(where)
    return { what, value: codesIn(value)[0] ?? '', file, constant, over }
  },
)

describe('limits', () => {
  test.each(rows)('$what: $value', ({ value, file, constant }) => {
    expect(String(constantOf(readText(file), constant))).toBe(value)
  })

  test('name codes there are', () => {
    const named = [
      ...rows.map(({ over }) => over),
      ...rowsBelow(PAGE, 'Caps an operator sets').map((row) => row[3] ?? ''),
    ]
    const codes = named.flatMap(codesIn).filter((word) => /^[a-z]+(_[a-z]+)+$/.test(word))
    expect(codes.filter((code) => !CODES.has(code) && !code.startsWith('on_fail') && code !== 'self_approval')).toEqual(
      [],
    )
    expect(codes.length).toBeGreaterThan(40)
  })

  test('are all of a document, all of an entity and all of AWS', () => {
    const listed = new Set(rows.map(({ constant }) => constant))
    const all = [
      ...Object.keys(LIMITS).map((key) => `LIMITS.${key}`),
      ...Object.keys(ENTITY_LIMITS).map((key) => `ENTITY_LIMITS.${key}`),
      ...Object.keys(AWS_QUOTAS).map((key) => `AWS_QUOTAS.${key}`),
    ]
    expect(all.filter((name) => !listed.has(name))).toEqual([])
  })

  const block = { id: 'a', agent: { provider: 'local', model: 'm', prompt: 'x' }, outputs: { t: 'string' } }
  test.each<[string, object]>([
    ['blocks', { blocks: Array.from({ length: LIMITS.blocks + 1 }, (_, at) => ({ ...block, id: `b${at}` })) }],
    ['timeout_ms', { blocks: [{ ...block, timeout_ms: LIMITS.timeout_ms + 1 }] }],
    ['outputs', { blocks: [{ ...block, outputs: Object.fromEntries(many(LIMITS.outputs_per_block)) }] }],
    ['quorum', { blocks: [{ ...block, approval: { quorum: LIMITS.quorum + 1 } }] }],
    ['approval', { blocks: [{ ...block, approval: { timeout_sec: LIMITS.approval_timeout_sec + 1 } }] }],
    ['cache', { blocks: [{ ...block, cache: { max_age_sec: LIMITS.cache_age_sec + 1 } }] }],
    ['budget', { budget: { tokens: LIMITS.budget_tokens + 1 }, blocks: [block] }],
    ['retry', { blocks: [{ ...block, retry: { max_attempts: 2, delay_ms: LIMITS.retry_delay_ms + 1 } }] }],
    [
      'concurrency',
      { blocks: [{ ...block, foreach: { items: [1], max_concurrency: LIMITS.foreach_concurrency + 1 } }] },
    ],
  ])('of %s: one more is limit_exceeded', (_, document) => {
    const parsed = parseDag(JSON.stringify(document))
    expect(parsed.ok ? [] : parsed.errors.map(({ code }) => code)).toEqual(['limit_exceeded'])
  })
})

describe('caps an operator sets', () => {
  const listed = rowsBelow(PAGE, 'Caps an operator sets').map(([key = '', value = '']) => [
    codesIn(key)[0],
    codesIn(value)[0],
  ])

  test('are those of the safety policy, with their defaults', () => {
    const defaults: Readonly<Record<string, unknown>> = SafetySchema.parse({})
    expect(listed).toEqual(
      Object.keys(SafetySchema.shape).map((key) => [key, key in defaults ? String(defaults[key]) : undefined]),
    )
  })
})

describe('costs', () => {
  test('have the prices of the table', () => {
    const formula = PAGE.slice(PAGE.indexOf('usd = '), PAGE.indexOf('`sluice plan FILE` fills'))
    const prices = [...formula.matchAll(/x (0\.\d+)/g)].map(([, price]) => Number(price))
    const { transition, lambda_request, lambda_gb_second, write_unit, read_unit, s3_put, s3_get } = PRICES
    const all = [transition, lambda_request, lambda_gb_second, write_unit, read_unit, s3_put, s3_get]
    const expected = [...all, PRICES.api_request, PRICES.log_gb, PRICES.trace]
    expect(prices.map((price) => price.toPrecision(6))).toEqual(expected.map((price) => price.toPrecision(6)))
  })

  test('have a row for every shipped document, as `sluice plan` reckons it', () => {
    const table = PAGE.slice(PAGE.indexOf('| document'), PAGE.indexOf('`work` is the'))
    const found = table
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .map((line) => line.replace(/ +/g, ' '))
    const expected = readdirSync(join(import.meta.dirname, '../../../dags')).map((file) => {
      const name = file.replace('.yaml', '')
      const parsed = parseDag(readText(`dags/${file}`), { name })
      if (!parsed.ok) throw new Error(`${file} does not parse`)
      const plan = planDag(parsed.dag, { durations: {}, default_duration: 1, items: {}, max_parallel: 50 })
      const { orchestration_usd_per_1000_runs: run, work_usd_per_1000_runs: work } = plan.cost
      return `| \`${name}\` | ${plan.blocks} | ${plan.transitions} | $${run.toFixed(2)} | $${work.toFixed(2)} |`
    })
    expect(found).toEqual(expected)
  })
})

function many(most: number): readonly (readonly [string, string])[] {
  return Array.from({ length: most + 1 }, (_, at) => [`o${at}`, 'string'] as const)
}

/** The number a source gives a constant: `NAME = 1_000`, `NAME = 8 * 1_024`, or `member: 1_000` of `NAME = {`. */
function constantOf(source: string, name: string): number {
  const [constant = '', member] = name.split('.')
  const at = source.search(new RegExp(`const ${constant}\\b[^=]*= `))
  if (at < 0) throw new Error(`there is no constant ${constant}`)
  const rest = source.slice(at)
  const pattern = member === undefined ? /= ([\d_* ]+)/ : new RegExp(`\\b${member}: (?:quota\\()?([\\d_* ]+)`)
  const text = pattern.exec(rest)?.[1] ?? ''
  return text.split('*').reduce((product, part) => product * Number(part.replaceAll('_', '')), 1)
}
