import type { BlockDraft } from './read-block.ts'
import type { Reading } from './reading.ts'
import { REJECTION_GATE } from './rejection-gate.ts'
import type { Problem } from './report.ts'

/** `on_reject: route` needs a rule that says where to, and the name it goes by for itself. */
export function checkRejections({ problems }: Reading, blocks: Iterable<BlockDraft>): void {
  for (const { path, settled, gates } of blocks) {
    if (settled.approval?.on_reject !== 'route') continue
    const at = [...path, 'approval', 'on_reject']
    const isRouted = settled.on_gate_fail?.some(({ when_gate }) => when_gate === REJECTION_GATE) === true
    if (!isRouted) problems.push({ code: 'route_without_rule', path: at, say: sayUnrouted })
    if (gates.has(REJECTION_GATE)) problems.push({ code: 'duplicate_gate', path: at, say: sayTaken })
  }
}

const sayUnrouted: Problem['say'] = ({ place, who }) => ({
  text: `${place} is "route", but no rule of "on_gate_fail" of ${who} says where to`,
  hint: `Add on_gate_fail: [{ when_gate: ${REJECTION_GATE}, route_to: BLOCK }].`,
})

const sayTaken: Problem['say'] = ({ place, who }) => ({
  text: `${place} is "route", and ${who} has a gate named "${REJECTION_GATE}", which is how rules of "on_gate_fail" call the rejection`,
  hint: 'Rename the gate.',
})
