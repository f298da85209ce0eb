import type { Mutant } from '../mutant.ts'
import { withTools } from './other-tools.ts'

export const callGateSkipped: Mutant = {
  name: 'call-gate-skipped',
  what: 'no gate of the document judges the arguments of a call before it is made',
  world: (world, name) =>
    withTools(world, name, (tool) => ({ ...tool, gates: tool.gates.filter(({ after }) => after) })),
}
