import type { Json } from '../canonical.ts'
import type { Gate } from '../gates/gate.ts'
import type { GateUse } from './dag.ts'
import { LIMITS } from './limits.ts'
import {
  type Mapping,
  type Reading,
  readList,
  readMapping,
  readMember,
  readSection,
  refuseLater,
} from './read-section.ts'
import type { Problem } from './report.ts'
import { SECTIONS } from './sections.ts'
import type { Path } from './source.ts'
import { suggest } from './suggest.ts'
import { listed, quoted, shown } from './wording.ts'

type Phase = 'pre' | 'post'

/** The gates of one phase: those that are right, and the names and number of all that were written. */
export interface PhaseGates {
  readonly uses: readonly GateUse[]
  readonly names: readonly string[]
  readonly count: number
}

/**
 * The gates of a block, parameters parsed by their kinds. Pre-gates read inputs, post-gates inputs and outputs: a port
 * that is neither is a problem here, never at run time (spec gates).
 */
export function readGates(
  reading: Reading,
  block: { readonly pre_gates?: Json | undefined; readonly post_gates?: Json | undefined },
  path: Path,
  ports: Readonly<Record<Phase, ReadonlySet<string>>>,
): Readonly<Record<Phase, PhaseGates>> {
  const taken = new Set<string>()
  const read = (phase: Phase, given: Json | undefined): PhaseGates => {
    const names: string[] = []
    const at = [...path, `${phase}_gates`]
    const list = given === undefined ? [] : (readList(reading, given, at) ?? [])
    const place = { reading, phase, names, taken, ports: ports[phase] }
    return { uses: list.flatMap((gate, index) => readGate(place, gate, [...at, index])), names, count: list.length }
  }
  const gates = { pre: read('pre', block.pre_gates), post: read('post', block.post_gates) }
  const count = gates.pre.count + gates.post.count
  if (count > LIMITS.gates_per_block) {
    const text = `has ${count} gates; the limit is ${LIMITS.gates_per_block}`
    const key = gates.post.count > 0 ? 'post_gates' : 'pre_gates'
    const say: Problem['say'] = ({ who }) => ({ text: `${who} ${text}` })
    reading.problems.push({ code: 'limit_exceeded', path: [...path, key], on: 'key', say })
  }
  return gates
}

interface Place {
  readonly reading: Reading
  readonly phase: Phase
  readonly names: string[]
  /** Names of both phases so far: a verdict is known by its gate's name. */
  readonly taken: Set<string>
  readonly ports: ReadonlySet<string>
}

function readGate(place: Place, given: Json, path: Path): readonly GateUse[] {
  const { reading, phase, names, taken } = place
  const section = readSection(reading, SECTIONS.gate, given, path, 'gate')
  if (section === undefined) return []
  const { name, error } = section
  if (name !== undefined && taken.has(name)) {
    const say: Problem['say'] = ({ who }) => ({
      text: `${who} has two gates named ${quoted(name)}`,
      hint: 'Rename one.',
    })
    reading.problems.push({ code: 'duplicate_gate', path: [...path, 'name'], say })
  }
  if (name !== undefined) {
    names.push(name)
    taken.add(name)
  }
  const check = readCheck(place, section.check, [...path, 'check'])
  if (name === undefined || check === undefined) return []
  const on_fail = section.on_fail ?? (phase === 'pre' ? 'fail' : 'retry')
  return [{ name, check, ...(error === undefined ? {} : { error }), on_fail }]
}

function readCheck(place: Place, given: Json | undefined, path: Path): GateUse['check'] | undefined {
  const { reading } = place
  if (given === undefined) {
    const say: Problem['say'] = ({ place }) => ({ text: `${place} is missing`, hint: 'Add check: { type: .. }.' })
    reading.problems.push({ code: 'missing_key', path, say })
    return undefined
  }
  const mapping = readMapping(reading, given, path)
  if (mapping === undefined) return undefined
  if (refuseLater(reading, mapping, 'check', path).size > 0) return undefined
  const { type, not: _harmless, ...params } = mapping
  const gate = typeof type === 'string' ? reading.gates.gateOf(type) : undefined
  if (gate === undefined) {
    refuseType(reading, type, path)
    return undefined
  }
  const parsed = readMember(reading, gate.params, params, path)
  if (parsed === undefined) return undefined
  for (const port of gate.reads(parsed)) if (!place.ports.has(port)) refusePort(place, mapping, port, path)
  return normalCheck(gate, parsed)
}

function normalCheck(gate: Gate<unknown>, parsed: unknown): GateUse['check'] {
  // Parameters are a strict schema's answer over JSON; members that are absent are left out, as in JSON.
  const params = Object.entries(parsed as Mapping).filter(([, value]) => value !== undefined)
  return { ...Object.fromEntries(params), type: gate.type }
}

function refuseType({ problems, gates }: Reading, type: Json | undefined, path: Path): void {
  const say: Problem['say'] = ({ place }) => {
    if (type === undefined)
      return { text: `${place} has no "type"`, hint: `Known types are ${listed(gates.gateTypes())}.` }
    const near = typeof type === 'string' ? suggest(type, gates.gateTypes()) : undefined
    const text = `${place} has the unknown gate type ${shown(type)}; known are ${gates.gateTypes().join(', ')}`
    return { text, hint: near === undefined ? undefined : `Did you mean "${near}"?` }
  }
  const code = type === undefined ? 'missing_key' : 'unknown_gate'
  problems.push({ code, path: [...path, 'type'], say })
}

function refusePort({ reading, phase, ports }: Place, check: Mapping, port: string, path: Path): void {
  const key = Object.keys(check).find((name) => name !== 'type' && check[name] === port)
  const say: Problem['say'] = ({ who }) => {
    const where = phase === 'pre' ? 'inputs' : 'inputs and outputs'
    const near = suggest(port, ports)
    const text = `${who} has a ${phase}-gate that reads port ${quoted(port)}, but its ${where} are ${listed(ports)}`
    return { text, hint: near === undefined ? undefined : `Did you mean "${near}"?` }
  }
  reading.problems.push({ code: 'unknown_gate_port', path: key === undefined ? path : [...path, key], say })
}
