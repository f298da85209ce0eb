import { ordinal, PHASE, readOrdinal } from '../../../shared/runs/lane.ts'
import { StepOutcomeSchema } from '../../../shared/steps/step-order.ts'
import type { World } from '../../../shared/world.ts'
import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const outcomeOfAnother: Mutant = {
  name: 'outcome-of-another',
  what: 'what one attempt of a step came to is taken for the attempt that took its place',
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

/** An outcome with the key of the attempt that its lane is at. */
function asNow(body: Uint8Array, lanes: Readonly<Record<string, number>>): Uint8Array {
  const read = StepOutcomeSchema.safeParse(jsonOf(body))
  if (!read.success) return body
  const [run, lane = '', epoch, attempt] = read.data.key.split('/')
  const now = readOrdinal(lanes[lane] ?? ordinal({ epoch: 0, attempt: 0, phase: PHASE.claimed }))
  if (now.attempt <= Number(attempt)) return body
  return Buffer.from(JSON.stringify({ ...read.data, key: `${run}/${lane}/${epoch}/${now.attempt}/0` }))
}

function jsonOf(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString('utf8'))
  } catch {
    return undefined
  }
}
