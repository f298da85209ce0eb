import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mergeCloseMoments, momentBeside, replayMoments } from '../../../clients/console/run/controls/replay-moments.ts'
import { createFoldCache } from '../../../clients/console/run/session/fold-cache.ts'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { foldRun } from '../../../shared/runs/fold-run.ts'

describe('openFolds()', () => {
  test('is the fold of the events before, wherever one jumps and however many came meanwhile', () => {
    const events = someRun(700)
    const jump = fc.record({ known: fc.nat(events.length), upTo: fc.nat(events.length) })
    fc.assert(
      fc.property(fc.array(jump, { maxLength: 12 }), (jumps) => {
        const foldAt = createFoldCache(50)
        for (const { known, upTo } of jumps.toSorted((a, b) => a.known - b.known)) {
          const seen = events.slice(0, known)
          expect(foldAt(seen, upTo)).toEqual(foldRun(seen.slice(0, upTo)))
        }
      }),
      { numRuns: 30 },
    )
  })

  test('takes fewer than 100 events for a step of a run of 10,000: it fits into a frame', () => {
    const { events, taken } = countingRun(10_000)
    const foldAt = createFoldCache()
    expect(taken(() => foldAt(events))).toBe(10_000)
    const steps = Array.from({ length: 200 }, (_, n) => taken(() => foldAt(events, (n * 7_919) % 10_000)))
    expect(Math.max(...steps)).toBeLessThan(100)
  })
})

describe('replayMoments()', () => {
  const events = someRun(40)
  const moments = replayMoments(events)

  test('are the start and what failed, in words', () => {
    expect(moments[0]).toEqual({ seq: 1, words: 'run of big started by user:ada', tone: 'busy' })
    expect(moments.slice(1).every(({ tone, words }) => tone === 'bad' && words.includes(': failed: '))).toBe(true)
    expect(moments.length).toBeGreaterThan(2)
  })

  test('the ones beside a seq', () => {
    const [first, second] = moments
    expect(momentBeside(moments, 1, 1)).toBe(second)
    expect(momentBeside(moments, second?.seq ?? 0, -1)).toBe(first)
    expect(momentBeside(moments, 1, -1)).toBeUndefined()
  })

  test('those that fall together are one mark, the worst', () => {
    const many = replayMoments(someRun(10_000))
    const marks = mergeCloseMoments(many, 10_000, 50)
    expect(marks.length).toBeLessThanOrEqual(51)
    const warned = { seq: 3, words: 'w', tone: 'warn' } as const
    const failed = { seq: 4, words: 'f', tone: 'bad' } as const
    expect(mergeCloseMoments([warned, failed], 10_000)).toEqual([failed])
  })
})

/** A run that counts how many of its events are taken out of it. */
function countingRun(count: number) {
  let reads = 0
  const events = new Proxy(someRun(count), {
    get: (all, key) => {
      if (typeof key === 'string' && /^\d+$/.test(key)) reads += 1
      return Reflect.get(all, key)
    },
  })
  const taken = (run: () => void) => {
    reads = 0
    run()
    return reads
  }
  return { events, taken }
}

/** 50 blocks after each other, started and then completed; each seventh attempt fails. */
function someRun(count: number): readonly RunEvent[] {
  const at = '2026-11-22T19:00:00.000Z'
  const base = { run_id: 'run_x', at }
  const caps = { dag_name: 'big', dag_hash: 'h', inputs_hash: 'h', starter: 'user:ada', deadline_at: at, caps: {} }
  const first = { ...base, seq: 1, id: 'run/run/0/0', type: 'run:started', data: caps } as const
  const rest = Array.from({ length: count - 1 }, (_, n): RunEvent => {
    const attempt = Math.floor(n / 100) + 1
    const place = { ...base, seq: n + 2, id: `run/b/${n}/0`, block_id: `b${Math.floor(n / 2) % 50}`, attempt }
    if (n % 2 === 0) {
      const data = { inputs_hash: 'h', context_version: 0, holder: 'w', lease_until: at }
      return { ...place, type: 'block:started', data }
    }
    if (n % 14 === 13) return { ...place, type: 'block:failed', data: { code: 'x', reason: 'it broke' } }
    return { ...place, type: 'block:completed', data: {} }
  })
  return [first, ...rest]
}
