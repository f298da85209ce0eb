import { ordinal, PHASE, readOrdinal } from '../../../shared/runs/lane.ts'
import type { World } from '../../../shared/world.ts'
import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const stepBegunTwice: Mutant = {
  name: 'step-begun-twice',
  what: 'of two who were handed the same work of a step, who comes second may begin it too',
  world(world, name) {
    if (name !== 'report-step') return world
    const { runs } = world
    const head: World['runs']['head'] = async (...asked) => {
      const real = await runs.head(...asked)
      if (real === undefined) return real
      const lanes = Object.entries(real.lanes).map(([lane, at]) => [lane, unbegun(at)])
      return { ...real, lanes: Object.fromEntries(lanes) }
    }
    const append: World['runs']['append'] = async (given) => {
      const done = await runs.append(given)
      const isBegin = given.events.some(({ type }) => type === 'step:started')
      return !done.ok && done.because === 'already' && isBegin ? { ok: true, seq: 0 } : done
    }
    return withPorts(world, { runs: { ...runs, head, append } })
  },
}

function unbegun(at: number): number {
  const { phase, ...place } = readOrdinal(at)
  return phase >= PHASE.begun && phase < PHASE.gates ? ordinal({ ...place, phase: PHASE.claimed }) : at
}
