import type { Mutant } from '../mutant.ts'
import { withPorts } from './with-ports.ts'

export const tokenBeforeDecision: Mutant = {
  name: 'token-before-decision',
  what: 'the token of a question is answered before HEAD holds a decision',
  world(world, name) {
    if (name !== 'request-approval') return world
    const { machine, runs } = world
    const putApproval: typeof runs.putApproval = async (run, item, token) => {
      await runs.putApproval(run, item, token)
      await machine.answer(token, { ok: {} })
    }
    return withPorts(world, { runs: { ...runs, putApproval } })
  },
}
