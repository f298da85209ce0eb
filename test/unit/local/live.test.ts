import { describe, expect, test } from 'vitest'
import { createLive } from '../../../infra/local/live.ts'
import { LIVE_KEPT } from '../../../shared/ports/live.ts'
import { createVirtualClock } from '../../conformance/virtual-clock.ts'

describe('the live text of a place', () => {
  const run = { tenant: 'main', run_id: 'run_1' }
  const speaker = { lane: '0', block_id: 'write', epoch: 0, attempt: 1, question: 0 }
  const never = new AbortController().signal

  test('wakes who listens when something is said, whatever the time', async () => {
    const live = createLive(createVirtualClock())
    const woken = live.said(run, 1_000_000, never)
    live.speak(run, speaker).add('Hello')
    await woken
    expect(await live.heard(run)).toEqual([{ ...speaker, from: 0, text: 'Hello' }])
  })

  test('keeps the last of a long answer, and of a lane only what is said now', async () => {
    const live = createLive(createVirtualClock())
    const first = live.speak(run, speaker)
    first.add('a'.repeat(LIVE_KEPT))
    first.add('bcd')
    const [said] = await live.heard(run)
    expect(said).toMatchObject({ from: 3 })
    expect(said?.text).toHaveLength(LIVE_KEPT)
    expect(said?.text.endsWith('abcd')).toBe(true)
    const second = live.speak(run, { ...speaker, question: 1 })
    first.add('late')
    first.end()
    second.add('again')
    expect(await live.heard(run)).toMatchObject([{ question: 1, from: 0, text: 'again' }])
    second.end()
    expect(await live.heard(run)).toEqual([])
  })
})
