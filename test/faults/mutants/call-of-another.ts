import { ordinal, PHASE, readOrdinal } from '../../../shared/runs/lane.ts'
import { CallOrderSchema } from '../../../shared/steps/native-order.ts'
import type { World } from '../../../shared/world.ts'
import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const callOfAnother: Mutant = {
  name: 'call-of-another',
  what: 'what AWS answered to one attempt is taken for the attempt that took its place',
  world(world, name) {
    if (name !== 'run-block') return world
    const { runs, objects } = world
    const lanes: Record<string, number> = {}
    const head: World['runs']['head'] = async (...asked) => {
      const real = await runs.head(...asked)
      Object.assign(lanes, real?.lanes)
      return real
    }
    const get: World['objects']['get'] = async (...asked) => asNow(await objects.get(...asked), lanes)
    return withPorts(world, { runs: { ...runs, head }, objects: { ...objects, get } })
  },
}

/** An order with the key of the attempt that its lane is at. */
function asNow(body: Uint8Array, lanes: Readonly<Record<string, number>>): Uint8Array {
  const read = CallOrderSchema.safeParse(jsonOf(body))
  if (!read.success) return body
  const { step } = read.data
  const [run, lane = '', epoch, attempt] = step.key.split('/')
  const now = readOrdinal(lanes[lane] ?? ordinal({ epoch: 0, attempt: 0, phase: PHASE.claimed }))
  if (now.attempt <= Number(attempt)) return body
  const key = `${run}/${lane}/${epoch}/${now.attempt}/0`
  return Buffer.from(JSON.stringify({ ...read.data, step: { ...step, key } }))
}

function jsonOf(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'))
  } catch {
    return undefined
  }
}
