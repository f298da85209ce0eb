import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RunEvent } from '../../../shared/runs/event.ts'
import { type Head, nextCheck, shownState } from '../../../shared/runs/head.ts'
import { movedBy, pauseOrdinal, pausesSoFar, runClock, stoodSince } from '../../../shared/runs/pause.ts'

const iso = (ms: number) => new Date(ms).toISOString()
/** Pauses one after the other: how long it goes on before each, and how long it stands. */
const pauses = fc.array(fc.tuple(fc.nat(1_000), fc.nat(1_000)), { maxLength: 8 })

function eventsOf(spans: readonly (readonly [number, number])[]) {
  let now = 0
  const stands: (readonly [number, number])[] = []
  const events = spans.flatMap(([goes, stood]) => {
    const from = now + goes
    now = from + stood
    stands.push([from, now])
    const base = { seq: 1, id: 'pause/1010/0', run_id: 'run_a' }
    return [
      { ...base, at: iso(from), type: 'run:paused', data: { by: 'user:ana' } },
      { ...base, at: iso(now), type: 'run:resumed', data: { by: 'user:ana', since: iso(from), stood_ms: stood } },
    ] as RunEvent[]
  })
  return { events, stands, end: now }
}

describe('time a run stood paused', () => {
  test('never counts: a time that is moved by it comes after as much time of going on as before', () => {
    const law = fc.property(pauses, fc.nat(4_000), fc.nat(4_000), (spans, from, wanted) => {
      const { events, stands, end } = eventsOf(spans)
      const over = Date.parse(movedBy(iso(from + wanted), stoodSince(events, iso(from), end)))
      // Milliseconds from `from` on in which it went on, until it is over or the last pause is.
      const until = Math.max(over, end)
      const stood = stands.reduce((sum, [a, b]) => sum + Math.max(0, Math.min(b, until) - Math.max(a, from)), 0)
      expect(over - from - stood).toBe(wanted)
    })
    fc.assert(law)
  })

  test('counts up to now while it stands', () => {
    const { events } = eventsOf([[100, 50]])
    expect(stoodSince(events.slice(0, 1), iso(0), 400)).toBe(300)
    expect(stoodSince(events.slice(0, 1), iso(200), 400)).toBe(200)
  })
})

describe('a paused run', () => {
  const head: Head = {
    ...{ state: 'running', seq: 3, lanes: { pause: pauseOrdinal(2, 'begun') }, running: ['0'], approvals: {} },
    ...{ modules: {}, children: {}, deadline_at: iso(5_000), outbox: [], budget: {} as Head['budget'] },
    paused: { since: iso(1_000), by: 'user:ana' },
  }

  test('shows as paused, whatever is still at work, and is looked at for its deadline no more', () => {
    expect(shownState(head)).toBe('paused')
    expect(nextCheck(head, 10_000)).toBe(iso(310_000))
    expect(runClock(head, 9_000)).toBe(1_000)
    expect(pausesSoFar(head)).toBe(2)
    expect(pausesSoFar({ lanes: { pause: pauseOrdinal(1_234, 'over') } })).toBe(1_234)
  })
})
