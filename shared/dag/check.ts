import type { Json } from '../canonical.ts'
import { checkBounces } from './check-bounces.ts'
import { checkConditions } from './check-conditions.ts'
import { checkEnds } from './check-ends.ts'
import { checkGatePorts } from './check-gate-ports.ts'
import { checkShown } from './check-shown.ts'
import { checkTemplates } from './check-templates.ts'
import { connect } from './connect.ts'
import { findCycles } from './cycles.ts'
import type { Sound } from './normalise.ts'
import { reachOver } from './reach.ts'
import { readDocument } from './read-document.ts'
import type { PlacedProgram, Reading } from './reading.ts'
import type { Problem } from './report.ts'
import { settleTypes } from './settle-types.ts'
import type { DagWarning } from './warnings.ts'

interface Checked {
  readonly problems: readonly Problem[]
  readonly warnings: readonly DagWarning[]
  /** What may still be wrong: whether these compile. */
  readonly programs: readonly PlacedProgram[]
  readonly sound?: Sound
}

/**
 * Checks a whole document and answers everything that is wrong with it, never only the first (docs/dag.md), but
 * does not compile its programs. `sound` is there exactly when `problems` is empty.
 */
export function check(
  document: Json,
  options: Omit<Reading, 'problems' | 'warnings' | 'programs' | 'spent' | 'gate_uses'> & { readonly name: string },
): Checked {
  const reading: Reading = {
    ...options,
    problems: [],
    warnings: [],
    gate_uses: [],
    programs: [],
    spent: { compiled_parts: 0, program_characters: 0, schema_nodes: 0 },
  }
  const draft = readDocument(reading, document)
  if (draft === undefined) return reading
  const { inputs, blocks, byId } = draft
  const wires = connect(reading, blocks, byId, draft.edges)
  const types = settleTypes(reading, blocks, wires)
  checkGatePorts(reading, blocks, types)
  findCycles(reading, blocks, wires)
  const reach = reachOver(wires)
  checkShown(reading, blocks, byId, reach)
  checkBounces(reading, byId, wires, reach)
  checkEnds(reading, byId, draft, reach)
  const undeclared = new Set(blocks.flatMap((block) => [...checkTemplates(reading, block, types, inputs)]))
  for (const block of blocks) checkConditions(reading, block, types, inputs, undeclared)
  if (reading.problems.length > 0) return reading
  const whole = blocks.flatMap((block) => {
    const { id, work } = block
    // Both are there: without one there is a problem.
    return id === undefined || work === undefined ? [] : [{ ...block, id, work }]
  })
  const { name = options.name, version, budget, goal } = draft
  const told = { ...(version === undefined ? {} : { version }), ...(budget === undefined ? {} : { budget }) }
  return { ...reading, sound: { name, ...told, goal, inputs, undeclared, blocks: whole, wires, types } }
}
