import { describe, expect, test } from 'vitest'
import {
  pairResults,
  type ResultLine,
  type RoundLine,
  readRound,
  verdictChanges,
  verdictsOf,
} from '../../../shared/evals/round-file.ts'
import { HEAD, resultLine } from './result-line.ts'

const text = (...lines: readonly RoundLine[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join('')

describe('readRound()', () => {
  test('reads what was written, and takes half a line for none', () => {
    const whole = text(HEAD, { type: 'started', item: 'i1', variant: 'a', run_id: 'run_1' }, resultLine())
    for (let cut = 1; cut < 60; cut += 1) {
      const round = readRound(whole.slice(0, -cut))
      expect([round?.results.length, round?.started.size]).toEqual([0, 1])
    }
    expect(readRound(whole)?.results).toEqual([resultLine()])
  })

  test('goes on behind half a line that was ended, and takes the first result of a pair', () => {
    const half = text(resultLine()).slice(0, 40)
    const round = readRound(`${text(HEAD)}${half}\n${text(resultLine(), resultLine({ run_id: 'run_2' }))}`)
    expect(round?.results.map(({ run_id }) => run_id)).toEqual(['run_1'])
  })

  test('an end counts only as the last line', () => {
    const end: RoundLine = { type: 'end', at: 't', why: 'budget' }
    expect(readRound(text(HEAD, end))?.end).toEqual(end)
    expect(readRound(text(HEAD, end, resultLine()))?.end).toBeUndefined()
  })

  test.each([[''], ['{}\n'], ['{"type":"round"}\n'], ['no JSON\n'], [text(resultLine())]])(
    '%j is no round',
    (given) => {
      expect(readRound(given)).toBeUndefined()
    },
  )
})

const gate = (last: string) => ({ gate: 'b/g', type: 't', first: 'failed', last, reason: 'why' })

describe('verdictsOf()', () => {
  const passed = (result: ResultLine, asserted: readonly string[] = []) =>
    verdictsOf(result, asserted).find(({ what }) => what === 'passed')?.passed

  test.each<[string, ResultLine, readonly string[], boolean]>([
    ['a run that completed', resultLine(), [], true],
    ['one that failed', resultLine({ state: 'failed' }), [], false],
    ['a goal that was missed', resultLine({ goal: { status: 'PARTIAL', met: 1, total: 2 } }), [], false],
    ['a gate of the document that warned', resultLine({ gates: [gate('failed')] }), [], true],
    ['a gate of the evaluation that warned', resultLine({ gates: [gate('failed')] }), ['b/g'], false],
    ['a gate of the evaluation that judged nothing', resultLine(), ['b/g'], false],
    ['a gate of the evaluation that passed', resultLine({ gates: [gate('passed')] }), ['b/g'], true],
    ['an expectation that broke off', resultLine({ expect: [{ name: 'x', status: 'error', reason: '' }] }), [], false],
  ])('%s', (_, result, asserted, is) => {
    expect(passed(result, asserted)).toBe(is)
  })
})

describe('verdictChanges()', () => {
  test('are those of items that both sides have, and of what both were asked', () => {
    const a = [resultLine({ gates: [gate('passed')] }), resultLine({ item: 'only a' })]
    const b = [resultLine({ gates: [gate('failed')], expect: [{ name: 'new', status: 'failed', reason: '' }] })]
    const changes = verdictChanges(pairResults(a, b), [[], []])
    expect(changes.map(({ item, what, change, words }) => [item, what, change, words])).toEqual([
      ['i1', 'passed', 'worse', ''],
      ['i1', 'gate b/g', 'worse', 'why'],
    ])
  })
})
