import { describe, expect, test } from 'vitest'
import { runTransformJob } from '../../../functions/isolate/transform-engine.ts'
import { expr } from '../../../shared/gates/kinds/expr.ts'
import { parseCheck } from '../../../shared/gates/parse-check.ts'
import { codesIn, readText, rowsBelow } from './markdown.ts'

const TEXT = readText('docs/expressions-and-transform.md')

/** The JSON in backticks after a word: what the table below it is about. */
const given = (word: string) => JSON.parse(new RegExp(`${word} \`([^\`]+)\``).exec(TEXT)?.[1] ?? '')

describe('docs/expressions-and-transform.md', () => {
  const rows = rowsBelow(TEXT, 'The expr gate').map(
    ([code = '', verdict]) => [codesIn(code)[0] ?? '', verdict] as const,
  )
  test.each(rows)('gate: %s is %s', async (expression, verdict) => {
    expect(parseCheck({ type: 'expr', expression })).toMatchObject({ ok: true })
    const facts = {
      inputs: given('with inputs'),
      outputs: given('and outputs'),
      measured: { cost_usd: null, latency_ms: null },
    }
    const isolate = { run: () => Promise.reject(new Error('not needed')) }
    const result = await expr.check({ expression }, facts, { isolate })
    expect(result.passed ? 'passed' : 'failed').toBe(verdict)
  })

  const traps = rowsBelow(TEXT, 'The transform handler').map(
    ([code = '', answer = '']) => [codesIn(code)[0] ?? '', codesIn(answer)[0] ?? answer] as const,
  )
  test.each(traps)('transform: %s answers %s', async (program, answer) => {
    const answered = await runTransformJob({
      kind: 'transform',
      program,
      input: { inputs: given('Traps, with inputs') },
    }).catch(() => 'nothing')
    expect(answered).toBe(answer)
  })

  test('has rows to be true', () => {
    expect([rows.length, traps.length].map((count) => count > 4)).toEqual([true, true])
  })
})
