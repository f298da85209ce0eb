import { expect, test } from 'vitest'
import { Fault } from '../../shared/errors.ts'
import { openTestPlace, provider } from './test-place.ts'

test.each([0, 1])('an object store that is away after %i reads is no damage of the run: 503', async (reads) => {
  const log = { info: () => undefined, error: () => undefined }
  const place = await openTestPlace({ providers: { probe: provider(() => 'x') }, log })
  try {
    const agent = { provider: 'probe', model: 'm', prompt: 'p' }
    const id = await place.start({ blocks: [{ id: 'a', outputs: { text: 'string' }, agent }] })
    await place.ended(id)
    const { objects } = place.place.world
    const get = objects.get.bind(objects)
    let left = reads
    const away: typeof get = async (tenant, ref) => {
      left -= 1
      if (left < 0) throw new Fault('Unavailable', 'aws_unavailable', 'away')
      return get(tenant, ref)
    }
    Object.assign(objects, { get: away })
    expect((await place.call('verify-run', id)).status).toBe(503)
    Object.assign(objects, { get })
    expect((await place.call('verify-run', id)).json).toMatchObject({ ok: true })
  } finally {
    await place.close()
  }
})
