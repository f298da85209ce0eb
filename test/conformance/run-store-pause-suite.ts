import { expect, test } from 'vitest'
import type { NewEvent } from '../../shared/runs/event.ts'
import type { Paused } from '../../shared/runs/head.ts'
import { PAUSE_LANE, pauseOrdinal, samePause } from '../../shared/runs/pause.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { at, begun, pending, type Store, step, time } from './run-store-fixture.ts'

const BY = { by: 'user:ana', reason: 'prices change' }
const PAUSED: Paused = { since: time(10), ...BY }
const paused: NewEvent = { type: 'run:paused', data: BY }
const resumed: NewEvent = { type: 'run:resumed', data: { ...BY, since: time(10), stood_ms: 20 } }

/** A run that is paused, and documents whose starts are held. */
export function pauseTests(store: Store): void {
  const pause = (run: RunKey, n = 1) =>
    step(run, PAUSE_LANE, pauseOrdinal(n, 'begun'), {
      guard: { is: n === 1 ? null : pauseOrdinal(n - 1, 'over') },
      events: [paused],
      pause: PAUSED,
    })
  const resume = (run: RunKey, more: object = {}) =>
    step(run, PAUSE_LANE, pauseOrdinal(1, 'over'), {
      guard: { is: pauseOrdinal(1, 'begun') },
      events: [resumed],
      pause: null,
      ...more,
    })
  const claim = (run: RunKey, while_: ReturnType<typeof samePause>) =>
    step(run, '1', at(1, 10), { start: { block: 1, limit: 0 }, while: [while_] })

  test('is paused in the append that says so, once, and says who did it until it goes on', async () => {
    const run = await begun(store)
    expect(await store().append(pause(run))).toMatchObject({ ok: true })
    expect(await store().append(pause(run))).toEqual({ ok: false, because: 'already' })
    expect((await store().head(run, []))?.paused).toEqual(PAUSED)
    expect(await store().append(resume(run))).toMatchObject({ ok: true })
    expect(await store().head(run, [])).not.toHaveProperty('paused')
    expect(await store().append(pause(run, 2))).toMatchObject({ ok: true })
    expect((await store().head(run, []))?.paused).toEqual(PAUSED)
  })

  test('refuses what begins by a HEAD of before it was paused, and what begins by one of before it goes on', async () => {
    const run = await begun(store)
    const before = samePause((await store().head(run)) ?? { lanes: {} })
    await store().append(pause(run))
    expect(await store().append(claim(run, before))).toEqual({ ok: false, because: 'already' })
    const during = samePause((await store().head(run)) ?? { lanes: {} })
    await store().append(resume(run))
    expect(await store().append(claim(run, during))).toEqual({ ok: false, because: 'already' })
    const now = samePause((await store().head(run)) ?? { lanes: {} })
    expect(await store().append(claim(run, now))).toMatchObject({ ok: true })
  })

  test('moves its deadline and its open questions in the update that lets it go on', async () => {
    const run = await begun(store)
    const was = pending(0)
    await store().append(step(run, 'a0', at(0, 10), { approval: { id: 'apr_1', was: null, set: was } }))
    await store().append(pause(run))
    const set = { ...was, expires_at: time(99_999) }
    const moved = { deadline_at: time(88_888), further_approvals: [{ id: 'apr_1', was, set }] }
    expect(await store().append(resume(run, moved))).toMatchObject({ ok: true })
    expect(await store().head(run, [])).toMatchObject({ deadline_at: time(88_888), approvals: { apr_1: set } })
  })

  test('holds the starts of one document beside those of all', async () => {
    const tenant = 'holds'
    const hold = { by: 'user:ana', at: time(1) }
    await store().holdStarts(tenant, hold, 'report')
    expect(await store().startHold(tenant, 'report')).toEqual(hold)
    expect(await store().startHold(tenant, 'other')).toBeUndefined()
    expect(await store().startHold(tenant)).toBeUndefined()
    expect(await store().releaseStarts(tenant)).toBe(false)
    expect(await store().releaseStarts(tenant, 'report')).toBe(true)
    expect(await store().releaseStarts(tenant, 'report')).toBe(false)
    expect(await store().startHold(tenant, 'report')).toBeUndefined()
  })
}
