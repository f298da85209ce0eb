import { expect, test } from 'vitest'
import { objectFault } from '../../shared/ports/objects.ts'
import { openTestPlace, provider } from './test-place.ts'

test.each(['settle', 'decide-completion'])(
  '%s asks again for a document that is not there for a moment (simulated seed 1003749)',
  async (name) => {
    const place = await openTestPlace({ providers: { probe: provider(() => 'x') } })
    try {
      const agent = { provider: 'probe', model: 'm', prompt: 'p' }
      const id = await place.start({ blocks: [{ id: 'a', outputs: { text: 'string' }, agent }] })
      await place.ended(id)
      const { world } = place.place
      const get = world.objects.get.bind(world.objects)
      const missing: typeof get = async (_tenant, ref) => {
        throw objectFault('missing', ref)
      }
      // A process that has not read it yet.
      Object.assign(world, { runs: { ...world.runs } })
      Object.assign(world.objects, { get: missing })
      const call = { in: { v: 1, tenant: 'main', run_id: id } }
      await expect(place.place.invoke(name, call)).rejects.toMatchObject({ name: 'Unavailable' })
      Object.assign(world.objects, { get })
      await place.place.invoke(name, call)
    } finally {
      await place.close()
    }
  },
)
