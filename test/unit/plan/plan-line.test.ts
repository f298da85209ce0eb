import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { planLine } from '../../../shared/plan/plan-line.ts'
import { randomDags } from '../../machines/random-dags.ts'

const plan = (line: unknown) => planLine(typeof line === 'string' ? line : JSON.stringify(line), 7, () => 0)

describe('planLine()', () => {
  test('says what a run of the machine does', () => {
    expect(plan({ id: 'n', n: 4, edges: [0, 2, 0, 3, 1, 3], dur: [1, 2, 3, 4] })).toEqual({
      id: 'n',
      critical_path: 6,
      makespan: 6,
      max_start_error: 0,
      // Four blocks, one Parallel, one join, _settle, _end, _done.
      transitions: 9,
      events: 2 + 4 * 5 + 4 + 6 + 5 + 2 + 2,
      bytes: expect.any(Number),
      joins: 1,
      parallels: 1,
      signals: 1,
      machines: 1,
      // Each block has a wait for retries; _failed and _decide_completion are there and not entered.
      states: 4 * 2 + 1 + 1 + 5,
      compile_ms: 0,
    })
  })

  test('takes 1 s a block where nothing is said, and edges that are there twice as one', () => {
    const once = plan({ id: 1, n: 3, edges: [0, 1, 1, 2] })
    expect(once).toMatchObject({ critical_path: 3, makespan: 3 })
    expect(plan({ id: 1, n: 3, edges: [0, 1, 1, 2, 0, 1, 0, 2, 1, 2] })).toEqual(once)
  })

  test.each<[string, unknown, string, RegExp]>([
    ['no JSON', '{"id":1', 'malformed_line', /line 7.*one JSON object/],
    ['a list', '[]', 'malformed_line', /one JSON object/],
    ['null', 'null', 'malformed_line', /one JSON object/],
    ['no id', { n: 1 }, 'malformed_line', /"id": string or number/],
    ['no n', { id: 1 }, 'malformed_line', /"n" must be a whole number/],
    ['n = 0', { id: 1, n: 0 }, 'malformed_line', /"n" must be a whole number from 1/],
    ['n = 1.5', { id: 1, n: 1.5 }, 'malformed_line', /"n" must be/],
    ['n < 0', { id: 1, n: -3 }, 'malformed_line', /"n" must be/],
    ['n as text', { id: 1, n: '3' }, 'malformed_line', /"n" must be/],
    ['n = 1e308', '{"id":1,"n":1e308}', 'limit_exceeded', /at most 10000 blocks/],
    ['10,001 blocks', { id: 1, n: 10_001 }, 'limit_exceeded', /"n" is 10001/],
    ['edges as a mapping', { id: 1, n: 2, edges: {} }, 'malformed_line', /"edges" must be a list/],
    ['half an edge', { id: 1, n: 2, edges: [0] }, 'malformed_line', /has 1 numbers, an even count/],
    [
      'pairs',
      {
        id: 1,
        n: 2,
        edges: [
          [0, 1],
          [1, 0],
        ],
      },
      'unknown_block',
      /edges\[0\] is \[0,1\]/,
    ],
    ['an index too high', { id: 1, n: 2, edges: [0, 2] }, 'unknown_block', /edges\[1\] is 2.*0 to 1/],
    ['an index below 0', { id: 1, n: 2, edges: [-1, 1] }, 'unknown_block', /edges\[0\] is -1/],
    ['half an index', { id: 1, n: 2, edges: [0, 0.5] }, 'unknown_block', /edges\[1\] is 0.5/],
    ['null as an index', { id: 1, n: 2, edges: [0, null] }, 'unknown_block', /edges\[1\] is null/],
    ['an edge to itself', { id: 1, n: 2, edges: [1, 1] }, 'cycle', /1 -> 1\.$/],
    ['a ring', { id: 1, n: 3, edges: [0, 1, 1, 2, 2, 0] }, 'cycle', /-> .* -> /],
    ['too few durations', { id: 1, n: 2, dur: [1] }, 'malformed_line', /"dur" has 1 numbers.*2 blocks/],
    ['durations as text', { id: 1, n: 2, dur: '11' }, 'malformed_line', /"dur" is no list/],
    ['a negative duration', { id: 1, n: 2, dur: [1, -1] }, 'malformed_line', /dur\[1\] is -1/],
    ['a duration as text', { id: 1, n: 1, dur: ['1'] }, 'malformed_line', /dur\[0\] is "1"/],
    ['no number', { id: 1, n: 1, dur: [null] }, 'malformed_line', /dur\[0\] is null/],
    ['an endless duration', '{"id":1,"n":1,"dur":[1e999]}', 'malformed_line', /dur\[0\]/],
  ])('refuses %s', (_, line, code, words) => {
    const answer = plan(line)
    expect(answer).toEqual({
      ...(typeof line === 'object' && line !== null && 'id' in line ? { id: 1 } : {}),
      ...(typeof line === 'string' && line.startsWith('{"id":1,') ? { id: 1 } : {}),
      error: { code, message: expect.stringMatching(words) },
    })
  })

  test('a ring of a thousand is named in one line', () => {
    const edges = Array.from({ length: 1_000 }, (_, v) => [v, (v + 1) % 1_000]).flat()
    const answer = plan({ id: 1, n: 1_000, edges })
    expect('error' in answer && answer.error.message.length).toBeLessThan(200)
  })

  test('answers any JSON at all with a plan or an error of a known code', () => {
    const codes = ['malformed_line', 'limit_exceeded', 'unknown_block', 'cycle']
    const lines = fc.oneof(
      fc.json(),
      fc
        .record({
          id: fc.oneof(fc.string(), fc.integer()),
          n: fc.integer({ min: -1, max: 6 }),
          edges: fc.array(fc.integer({ min: -1, max: 6 })),
        })
        .map((line) => JSON.stringify(line)),
    )
    fc.assert(
      fc.property(lines, (line) => {
        const answer = plan(line)
        if ('error' in answer) expect(codes).toContain(answer.error.code)
        else expect(answer.max_start_error).toBe(0)
      }),
    )
  })

  test('is deterministic, and exact for durations that do not add up exactly', () => {
    for (const [seed, { upstream }] of randomDags('data pipeline').entries()) {
      const edges = upstream.flatMap((sources, v) => sources.flatMap((u) => [u, v]))
      const line = { id: seed, n: upstream.length, edges, dur: upstream.map((_, v) => 0.1 * (v % 7)) }
      const answer = plan(line)
      expect(plan(line)).toEqual(answer)
      if ('error' in answer) throw new Error(answer.error.message)
      expect(answer.max_start_error).toBe(0)
      expect(answer.makespan).toBe(answer.critical_path)
    }
  })
})
