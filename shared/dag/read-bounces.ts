import * as z from 'zod'
import type { Json } from '../canonical.ts'
import type { Bounce } from './dag.ts'
import { LIMITS } from './limits.ts'
import type { BlockGates } from './read-gates.ts'
import { readSection } from './read-section.ts'
import { type Mapping, type Reading, readList, readMember } from './reading.ts'
import type { Problem } from './report.ts'
import { SECTIONS } from './sections.ts'
import type { Path } from './source.ts'

/** The rules of `on_gate_fail`. The blocks and gates they name are looked at when all blocks are read (check-bounces.ts). */
export function readBounces(
  reading: Reading,
  given: Json | undefined,
  path: Path,
  { routing }: Pick<BlockGates, 'routing'>,
): readonly Bounce[] | undefined {
  const rules = readRules(reading, given, path)
  const routed = new Set(Array.isArray(given) ? given.map(whenGate) : [])
  for (const { name, path: at } of routing) if (!routed.has(name)) refuseRoute(reading, name, at)
  return rules
}

function whenGate(rule: Json): Json | undefined {
  return typeof rule === 'object' && rule !== null ? (rule as Mapping).when_gate : undefined
}

function readRules(reading: Reading, given: Json | undefined, path: Path): readonly Bounce[] | undefined {
  const list = given === undefined ? undefined : readList(reading, given, path)
  if (list === undefined || list.length === 0) return undefined
  if (list.length > LIMITS.gates_per_block) {
    const text = `has ${list.length} rules in "on_gate_fail"; the limit is ${LIMITS.gates_per_block}`
    reading.problems.push({ code: 'limit_exceeded', path, on: 'key', say: ({ who }) => ({ text: `${who} ${text}` }) })
    return undefined
  }
  return list.flatMap((rule, index) => readBounce(reading, rule, [...path, index]) ?? [])
}

function readBounce(reading: Reading, given: Json, path: Path): Bounce | undefined {
  const section = readSection(reading, SECTIONS.bounce, given, path)
  if (section === undefined) return undefined
  const { when_gate, max_bounces = 1, reason, feedback_from = 'gate_verdicts' } = section
  const route_to = readMember(reading, z.string(), section.route_to, [...path, 'route_to'])
  const reset = section.reset_blocks ?? []
  const reset_blocks = readMember(reading, z.array(z.string()).max(LIMITS.hull_blocks), reset, [
    ...path,
    'reset_blocks',
  ])
  if (when_gate === undefined || route_to === undefined || reset_blocks === undefined) return undefined
  const told = reason === undefined ? {} : { reason }
  return { when_gate, route_to, reset_blocks, max_bounces, ...told, feedback_from }
}

function refuseRoute({ problems }: Reading, gate: string, path: Path): void {
  const say: Problem['say'] = ({ place, who }) => ({
    text: `${place} is "route", but no rule of "on_gate_fail" of ${who} says where to`,
    hint: `Add on_gate_fail: [{ when_gate: ${gate.slice(0, 80)}, route_to: BLOCK }].`,
  })
  problems.push({ code: 'route_without_rule', path, say })
}
