import { expect, test } from 'vitest'
import { diffLines, judgeCase } from '../../../shared/cases/judge-case.ts'
import { missLines } from '../../../shared/cases/miss-lines.ts'
import type { PlayedCase } from '../../../shared/cases/played-case.ts'

const played: PlayedCase = {
  status: 'failed',
  code: 'post_gate_failed',
  reason: 'Block "write" failed: too short',
  blocks: { write: { state: 'failed', attempt: 2 }, keep: { state: 'skipped', attempt: 0 } },
  gates: {
    'write.long': [
      { status: 'failed', reason: 'is 3' },
      { status: 'passed', reason: 'is 9' },
    ],
  },
  outputs: { 'write.text': 'one\ntwo\nthree', 'write.n': 3 },
  artifacts: {},
  asked: ['keep', 'keep'],
  calls: [
    { kind: 'model', name: 'big', model: 'm' },
    { kind: 'model', name: 'big', model: 'n' },
    { kind: 'step', name: './steps/a.ts' },
  ],
  usd: 0.02,
  tokens: 100,
  waited_sec: 90,
  took_ms: 5,
  runs: [],
  problems: [],
}
const judge = async () => ({ status: 'failed', reason: 'no' }) as const

test('everything that is not as wanted is told, with what was seen', async () => {
  const misses = await judgeCase(
    {
      expect: {
        status: 'completed',
        code: 'x',
        reason: 'too long',
        blocks: { write: 'completed', keep: 'skipped' },
        gates: { 'write.long': ['failed'] },
        outputs: {
          'write.n': 4,
          'write.gone': 'x',
          'write.text': { contains: 'four', gates: [{ type: 'not_empty' }] },
        },
        asked: { keep: 1 },
        attempts: { write: { at_most: 1 } },
        calls: { models: { big: 2, 'big/m': 2 }, steps: { all: 1 } },
        cost: { usd: { at_most: 0.01 }, tokens: 100 },
        waited: 60,
      },
      must_not: { start: ['write'], ask: ['keep'], call: ['big'], output: ['two\nthree'] },
    },
    played,
    judge,
  )
  expect(misses.map(({ what }) => what)).toEqual([
    'expect.status',
    'expect.code',
    'expect.reason',
    'expect.blocks.write',
    'expect.gates.write.long',
    'expect.outputs.write.n',
    'expect.outputs.write.gone',
    'expect.outputs.write.text',
    'expect.outputs.write.text',
    'expect.asked.keep',
    'expect.attempts.write',
    'expect.calls.models.big/m',
    'expect.cost.usd',
    'expect.waited',
    'must_not.start',
    'must_not.ask',
    'must_not.call',
    'must_not.output',
  ])
  expect(misses[0]?.seen).toBe('failed (post_gate_failed: Block "write" failed: too short)')
  expect(misses[4]).toMatchObject({ expected: 'failed', seen: 'failed, passed (is 9)' })
})

test('the newest verdict counts where one is wanted, and all where a list is', async () => {
  const of = (wanted: 'passed' | readonly ('passed' | 'failed')[]) =>
    judgeCase({ expect: { gates: { 'write.long': typeof wanted === 'string' ? wanted : [...wanted] } } }, played, judge)
  expect(await of('passed')).toEqual([])
  expect(await of(['failed', 'passed'])).toEqual([])
})

test('long values are told line by line', async () => {
  const [miss] = await judgeCase({ expect: { outputs: { 'write.text': 'one\n2\nthree' } } }, played, judge)
  expect(miss?.diff).toEqual(['  one', '- 2', '+ two', '  three'])
  expect(miss && missLines(miss)).toEqual([
    '  expect.outputs.write.text: - expected, + seen',
    '      one',
    '    - 2',
    '    + two',
    '      three',
  ])
  expect(diffLines(['a'], ['b'])).toBeUndefined()
  const far = Array.from({ length: 30 }, (_, at) => `line ${at}`)
  expect(diffLines(far, [...far.slice(0, 20), 'new', ...far.slice(20)])).toEqual([
    '  line 18',
    '  line 19',
    '+ new',
    '  line 20',
    '  line 21',
    '  …',
  ])
})
