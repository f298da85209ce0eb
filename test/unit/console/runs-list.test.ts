import { describe, expect, test } from 'vitest'
import { agoWords, localTimes, momentWords, timeOfDayWords } from '../../../clients/console/parts/format.ts'
import { chooseRun, lineageOf, mergeRuns, type RunSummary } from '../../../clients/console/runs/run-list.ts'

const run = (n: number, more: Partial<RunSummary> = {}): RunSummary => ({
  run_id: `run_${n}`,
  dag_name: 'coding',
  dag_hash: 'a',
  role: 'root',
  state: 'running',
  starter: 'user:ana',
  created_at: new Date(n * 1_000).toISOString(),
  deadline_at: new Date(0).toISOString(),
  blocks: 3,
  last_seq: 1,
  pending_approvals: 0,
  tokens: 0,
  usd: 0,
  ended_at: null,
  links: {},
  ...more,
})
const ids = (runs: readonly RunSummary[]) => runs.map(({ run_id }) => Number(run_id.slice(4)))

describe('the list of runs, after its newest page came again', () => {
  const known = [run(5), run(4), run(3), run(2), run(1)]

  test('has new runs on top and keeps the older ones that were loaded', () => {
    expect(ids(mergeRuns(known, [run(7), run(6), run(5)], false))).toEqual([7, 6, 5, 4, 3, 2, 1])
  })

  test('keeps the object of a run that did not change, and takes that of one that did', () => {
    const merged = mergeRuns(known, [run(5), run(4, { last_seq: 2 }), run(3, { state: 'failed' })], false)
    expect(merged[0]).toBe(known[0])
    expect(merged[1]).toMatchObject({ last_seq: 2 })
    expect(merged[2]).toMatchObject({ state: 'failed' })
    expect(merged[3]).toBe(known[3])
  })

  test('drops a run that belongs into the page and no longer fits the filters', () => {
    expect(ids(mergeRuns(known, [run(5), run(3)], false))).toEqual([5, 3, 2, 1])
  })

  test('goes on behind the page by time where its last run was not known', () => {
    expect(ids(mergeRuns([run(2), run(1)], [run(9), run(8)], false))).toEqual([9, 8, 2, 1])
    expect(ids(mergeRuns([run(9), run(1)], [run(8), run(7)], false))).toEqual([8, 7, 1])
  })

  test('is the page where that has all there is', () => {
    expect(ids(mergeRuns(known, [run(6), run(2)], true))).toEqual([6, 2])
    expect(mergeRuns(known, [], true)).toEqual([])
  })
})

describe('where a run comes from', () => {
  test.each<[Partial<RunSummary>, string, string]>([
    [{ parent: { run_id: 'run_0', block_id: 'ask', epoch: 0, attempt: 1 } }, '↳', 'child of block ask of'],
    [{ retry_of: 'run_0' }, '↻', 'retry of'],
    [{ iterates: 'run_0' }, '⟲', 'iteration of'],
    [{ continues: 'run_0' }, '→', 'continues'],
    // A pivot also continues the run it tries again.
    [{ pivots: 'run_0', continues: 'run_0' }, '⤳', 'pivot of'],
  ])('%j is said by sign and words', (more, sign, words) => {
    expect(lineageOf(run(1, more))).toEqual({ sign, words, run_id: 'run_0' })
  })

  test('is nothing for a run somebody started', () => {
    expect(lineageOf(run(1))).toBeUndefined()
  })
})

test('two runs are chosen at most: a third takes the place of the first, and choosing again lets go', () => {
  expect(chooseRun([], 'a')).toEqual(['a'])
  expect(chooseRun(['a'], 'b')).toEqual(['a', 'b'])
  expect(chooseRun(['a', 'b'], 'c')).toEqual(['b', 'c'])
  expect(chooseRun(['a', 'b'], 'a')).toEqual(['b'])
})

describe('times in words', () => {
  test.each([
    [0, 'just now'],
    [999, 'just now'],
    [1_000, '1 s ago'],
    [59_999, '59 s ago'],
    [60_000, '1 min ago'],
    [3_600_000, '1 h ago'],
    [47 * 3_600_000, '47 h ago'],
    [72 * 3_600_000, '3 d ago'],
    [-90_000, 'in 1 min'],
  ])('%i ms are %s', (passed, words) => {
    expect(agoWords(1_000_000_000, 1_000_000_000 + passed)).toBe(words)
  })

  test('moments in a sentence are the reader’s, without the day where it is today', () => {
    const at = '2026-11-22T12:00:00.944Z'
    const sentence = `waiting for approval of build since ${at}`
    expect(localTimes(sentence, Date.parse(at))).toBe(`waiting for approval of build since ${timeOfDayWords(at)}`)
    expect(localTimes(sentence, Date.parse('2026-12-24T12:00:00Z'))).toContain(momentWords(at))
    expect(localTimes('no moment $& here', 0)).toBe('no moment $& here')
  })
})
