import type { World } from '../../../shared/world.ts'
import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const taintForgotten: Mutant = {
  name: 'taint-forgotten',
  what: 'an agent forgets that it has read what others wrote',
  world(world, name) {
    if (name !== 'run-block') return world
    const { objects } = world
    const put: World['objects']['put'] = (tenant, body) => objects.put(tenant, untainted(body))
    return withPorts(world, { objects: { ...objects, put } })
  },
}

/** Of the record of a turn. */
function untainted(body: Uint8Array): Uint8Array {
  const text = Buffer.from(body).toString('utf8')
  return text.includes('"tainted":true') ? Buffer.from(text.replace('"tainted":true', '"tainted":false')) : body
}
