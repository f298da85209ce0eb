import { ordinal, PHASE, readOrdinal } from '../../../shared/runs/lane.ts'
import type { World } from '../../../shared/world.ts'

/** The same World but for these ports; what it refuses to give, it still refuses. */
export function withPorts(world: World, ports: Partial<World>): World {
  return Object.assign(Object.create(world), ports)
}

/** What is kept of an attempt is read with the key of the attempt its lane is at now. `rekeyed` answers nothing for other bodies. */
export function readAsNow(
  world: World,
  keyIn: (body: unknown) => string | undefined,
  rekeyed: (body: unknown, key: string) => unknown,
): World {
  const { runs, objects } = world
  const lanes: Record<string, number> = {}
  const head: World['runs']['head'] = async (...asked) => {
    const real = await runs.head(...asked)
    Object.assign(lanes, real?.lanes)
    return real
  }
  const get: World['objects']['get'] = async (...asked) => {
    const bytes = await objects.get(...asked)
    const body = jsonOf(bytes)
    const [run, lane = '', epoch, attempt] = keyIn(body)?.split('/') ?? []
    const now = readOrdinal(lanes[lane] ?? ordinal({ epoch: 0, attempt: 0, phase: PHASE.claimed }))
    if (run === undefined || now.attempt <= Number(attempt)) return bytes
    return Buffer.from(JSON.stringify(rekeyed(body, `${run}/${lane}/${epoch}/${now.attempt}/0`)))
  }
  return withPorts(world, { runs: { ...runs, head }, objects: { ...objects, get } })
}

export function jsonOf(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'))
  } catch {
    return undefined
  }
}
