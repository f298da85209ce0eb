import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { RESEARCH_DAG } from '../../../shared/compile/research-machine.ts'
import { foldRun } from '../../../shared/runs/fold-run.ts'
import { runRole } from '../../../shared/runs/run-store.ts'
import { findStall } from '../../../shared/runs/stall.ts'
import { waitingWords } from '../../../shared/runs/waiting.ts'
import { canonicalJson } from '../../../shared/text/json.ts'
import { logOf, runStarted, second } from './event-log.ts'
import { queuedStart, requestedResearch, someChain, staged } from './research-log.ts'
import { secondFold } from './second-fold.ts'

const wordsOf = (steps: Parameters<typeof logOf>[0], now: string) => {
  const waiting = { now: Date.parse(now), max_parallel: 5, max_attempts: 5, kind: 'research' as const }
  return waitingWords(RESEARCH_DAG, foldRun(logOf(steps)), waiting)
}

describe('a research run, folded', () => {
  test('is the same twice, written apart, on every chain and every prefix of it', () => {
    fc.assert(
      fc.property(someChain, fc.nat(), (log, cut) => {
        for (const part of [log, log.slice(0, cut % (log.length + 1))]) {
          expect(canonicalJson(secondFold(part))).toBe(canonicalJson(foldRun(part)))
        }
      }),
      { numRuns: 200 },
    )
  })

  test('goes on from an earlier fold to the same', () => {
    fc.assert(
      fc.property(someChain, fc.nat(), (log, cut) => {
        const at = cut % (log.length + 1)
        expect(foldRun(log, foldRun(log.slice(0, at)))).toEqual(foldRun(log))
      }),
      { numRuns: 100 },
    )
  })

  test('has used what its stages told, at the price of those whose price is known', () => {
    const log = logOf([runStarted, requestedResearch, staged('classified', 0, 10), staged('routed', 1, 32, 5)])
    expect(foldRun(log)).toMatchObject({ tokens: 42, usd_micros: 5, blocks: {}, steps: [] })
    expect(foldRun(log.slice(0, 3))).toMatchObject({ tokens: 10 })
    expect(foldRun(log.slice(0, 3))).not.toHaveProperty('usd_micros')
  })

  test('is at the stage recorded last, and out of the queue with its first event', () => {
    const log = logOf([queuedStart, requestedResearch, staged('classified', 0), staged('routed', 1)])
    expect(foldRun(log.slice(0, 1))).toMatchObject({ queued: true })
    expect(foldRun(log.slice(0, 2))).not.toHaveProperty('queued')
    expect(foldRun(log)).toMatchObject({
      stage: { stage: 'route_search', n: 1, at: second(4), ref: 'objstore://main/1' },
    })
  })
})

describe('a research run, in words', () => {
  test('says which stage is done, and how long the next has been at work', () => {
    expect(wordsOf([runStarted], second(3))).toBe(`research: about to begin, since ${second(1)}`)
    const routed = [runStarted, requestedResearch, staged('classified', 0), staged('routed', 1)]
    expect(wordsOf(routed, second(9))).toBe('research: route_search done (step 2), next stage running for 5 s')
    const answered = [...routed, staged('synthesized', 2)]
    expect(wordsOf(answered, second(9))).toBe('research: synthesize_answer done (step 3), about to end')
  })

  test('has the role of a question, whoever asks it', () => {
    const parent = { run_id: 'r', block_id: 'b', epoch: 0, attempt: 1 }
    expect([runRole({ kind: 'research' }), runRole({ kind: 'research', parent })]).toEqual([
      'research_pipeline',
      'research_pipeline',
    ])
    expect([runRole({}), runRole({ parent })]).toEqual(['root', 'child'])
  })
})

describe('a research run that stands still', () => {
  test('is stalled when a stage cannot be under way any more', () => {
    const log = logOf([runStarted, requestedResearch, staged('classified', 0)])
    const since = Date.parse(second(3))
    const stall = (stall_sec: number) =>
      findStall(RESEARCH_DAG, log, since, { stall_ms: stall_sec * 1_000, max_block_ms: 1, max_call_ms: 1 })
    expect(stall(300)).toEqual({ at: since + 930_000, blocks: [] })
    expect(stall(3_600)).toEqual({ at: since + 3_600_000, blocks: [] })
  })
})
