import { expect, test } from 'vitest'
import { objectFault } from '../../shared/ports/objects.ts'
import { openTestPlace, provider } from './test-place.ts'

test.each([
  ['for a moment is no damage of the run', 1_500, true],
  ['for good is', Number.POSITIVE_INFINITY, false],
])('objects that are not there %s; that is waited for once (simulated seed 404332)', async (_words, for_ms, ok) => {
  const place = await openTestPlace({ providers: { probe: provider(() => 'x') } })
  try {
    const agent = { provider: 'probe', model: 'm', prompt: 'p' }
    const id = await place.start({
      blocks: ['a', 'b', 'c'].map((name) => ({ id: name, outputs: { text: 'string' }, agent })),
    })
    await place.ended(id)
    const { objects, clock } = place.place.world
    const get = objects.get.bind(objects)
    const wait = clock.delay.bind(clock)
    let past = 0
    let waits = 0
    const delay: typeof wait = async (ms, signal) => {
      if (ms !== 2_000) return wait(ms, signal)
      waits += 1
      past += ms
    }
    Object.assign(clock, { delay })
    Object.assign(objects, {
      get: async (tenant: string, ref: string) => {
        if (past < for_ms) throw objectFault('missing', ref)
        return get(tenant, ref)
      },
    })
    expect((await place.call('verify-run', id)).json).toMatchObject({ ok })
    expect(waits).toBe(1)
  } finally {
    await place.close()
  }
})
