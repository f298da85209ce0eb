import { expect, test } from 'vitest'
import { objectFault } from '../../shared/object-ref.ts'
import { openTestPlace, provider } from './test-place.ts'

test('a document that is not there right after its run was started is waited for (simulated seed 1003749)', async () => {
  const place = await openTestPlace({ providers: { probe: provider(() => 'x') } })
  try {
    const { objects } = place.place.world
    const get = objects.get.bind(objects)
    const missed: string[] = []
    Object.assign(objects, {
      get: async (tenant: string, ref: string) => {
        if (!missed.includes(ref)) {
          missed.push(ref)
          throw objectFault('missing', ref)
        }
        return get(tenant, ref)
      },
    })
    const agent = { provider: 'probe', model: 'm', prompt: 'p' }
    const id = await place.start({ blocks: [{ id: 'a', outputs: { text: 'string' }, agent }] })
    expect((await place.ended(id)).at(-1)?.type).toBe('run:completed')
    expect(missed).not.toEqual([])
  } finally {
    await place.close()
  }
})
