import type { Json } from '../canonical.ts'
import type { Gate } from '../gates/gate.ts'
import type { Program } from '../gates/programs.ts'
import { readParts } from '../gates/read-parts.ts'
import { schemaNodes } from '../gates/schema-budget.ts'
import { compiledParts } from './check-cost.ts'
import { checkJudge } from './check-judge.ts'
import type { GateUse } from './dag.ts'
import { notAllowed } from './issue-problems.ts'
import { LIMITS } from './limits.ts'
import { readSection } from './read-section.ts'
import { type Mapping, type PlacedGate, type Reading, readMapping, readMember } from './reading.ts'
import type { Problem } from './report.ts'
import { SECTIONS } from './sections.ts'
import type { Path } from './source.ts'
import { didYouMean, suggest } from './suggest.ts'
import { listed, quoted, shown } from './wording.ts'

/** Where a gate stands: its phase, what it may read, and the names its block has used. */
export interface GatePlace {
  readonly reading: Reading
  readonly phase: PlacedGate['phase']
  readonly names: string[]
  /** Names of both phases so far: a verdict is known by its gate's name. */
  readonly taken: Set<string>
  readonly ports: ReadonlySet<string>
  /** Gates with `on_fail: route`. */
  readonly routing: RoutingGate[]
}

export interface RoutingGate {
  readonly name: string
  readonly path: Path
}

/** One gate, its parameters parsed by its kind; none when something is wrong with it. */
export function readGate(place: GatePlace, given: Json, path: Path): readonly GateUse[] {
  const { reading, phase, names, taken } = place
  const section = readSection(reading, SECTIONS.gate, given, path)
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
  if (name !== undefined && section.on_fail === 'route') place.routing.push({ name, path: [...path, 'on_fail'] })
  if (phase === 'item') refuseForItems(reading, section.on_fail, [...path, 'on_fail'])
  const check = readCheck(place, section.check, [...path, 'check'])
  if (name === undefined || check === undefined) return []
  const on_fail = section.on_fail ?? (phase === 'pre' ? 'fail' : 'retry')
  const use: GateUse = { name, check, ...(error === undefined ? {} : { error }), on_fail }
  reading.gate_uses.push({ use, phase, path: [...path, 'check'] })
  return [use]
}

const NOT_OF_ITEMS: Readonly<Partial<Record<GateUse['on_fail'], readonly [why: string, hint: string]>>> = {
  route: ['an item goes nowhere by itself', 'Route from a post-gate, which sees the items of all.'],
  ask: ['nobody is asked item by item', 'Ask from a post-gate, which sees the items of all.'],
}

function refuseForItems({ problems }: Reading, onFail: GateUse['on_fail'] | undefined, path: Path): void {
  const refused = onFail === undefined ? undefined : NOT_OF_ITEMS[onFail]
  if (refused === undefined) return
  const [why, hint] = refused
  const text = `is "${onFail}", but ${why}; allowed are "retry", "fail" and "warn"`
  problems.push({ code: 'invalid_value', path, say: ({ place }) => ({ text: `${place} ${text}`, hint }) })
}

function readCheck(place: GatePlace, check: Json | undefined, path: Path): GateUse['check'] | undefined {
  const { reading } = place
  if (check === undefined) {
    const say: Problem['say'] = ({ place }) => ({ text: `${place} is missing`, hint: 'Add check: { type: .. }.' })
    reading.problems.push({ code: 'missing_key', path, say })
    return undefined
  }
  return readParts(
    check,
    {
      leaf: (given, at) => readLeaf(place, given as Json, at),
      refuse: ({ code, path: at, on, text }) => {
        const say: Problem['say'] = ({ place }) => ({ text: `${place} ${text}` })
        reading.problems.push({ code, path: at, ...(on === undefined ? {} : { on }), say })
      },
    },
    path,
  )
}

function readLeaf(place: GatePlace, check: Json, path: Path): GateUse['check'] | undefined {
  const { reading } = place
  const mapping = readMapping(reading, check, path)
  if (mapping === undefined) return undefined
  const { type, ...params } = mapping
  const gate = typeof type === 'string' ? reading.gates.gateOf(type) : undefined
  if (gate === undefined) {
    refuseType(reading, type, path)
    return undefined
  }
  if (!affordable(reading, params, path)) return undefined
  const parsed = readMember(reading, gate.params, params, path)
  if (parsed === undefined) return undefined
  for (const port of gate.reads(parsed)) if (!place.ports.has(port)) refusePort(place, mapping, port, path)
  const judge = gate.asks?.(parsed)
  if (judge !== undefined) checkJudge(reading, judge, path)
  for (const program of gate.programs?.(parsed) ?? []) keepProgram(reading, program, mapping, path)
  return normalCheck(gate, parsed)
}

/** Told once, where it is too much; what follows is not compiled. */
function affordable({ problems, spent }: Reading, params: Mapping, path: Path): boolean {
  const before = spent.compiled_parts
  spent.compiled_parts += compiledParts(params)
  const limit = LIMITS.compiled_parts
  if (spent.compiled_parts <= limit) return true
  const text = `the gates of the document have more than ${limit} patterns and schema references together`
  if (before <= limit) problems.push({ code: 'limit_exceeded', path, say: () => ({ text }) })
  return false
}

/** To be compiled, unless the document's schemas are too much together: that is told once, where it is. */
function keepProgram({ problems, programs, spent }: Reading, program: Program, check: Mapping, path: Path): void {
  const at = [...path, program.path]
  const before = spent.schema_nodes
  if ('schema' in program) spent.schema_nodes += schemaNodes(program.schema)
  const limit = LIMITS.schema_nodes
  if (spent.schema_nodes <= limit) {
    const seen = check[program.path] ?? null
    programs.push({ program, refuse: (message) => notAllowed(at, seen, message) })
  } else if (before <= limit) {
    const text = `the JSON Schemas of the document have more than ${limit} nodes together`
    problems.push({ code: 'limit_exceeded', path: at, say: () => ({ text }) })
  }
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
    return { text, hint: didYouMean(near) }
  }
  const code = type === undefined ? 'missing_key' : 'unknown_gate'
  problems.push({ code, path: [...path, 'type'], say })
}

const WHERE: Readonly<Record<GatePlace['phase'], string>> = {
  pre: 'inputs',
  post: 'inputs and outputs',
  item: 'inputs (the item is one), and outputs',
}

function refusePort({ reading, phase, ports }: GatePlace, check: Mapping, port: string, path: Path): void {
  const key = Object.keys(check).find((name) => name !== 'type' && check[name] === port)
  const say: Problem['say'] = ({ who }) => {
    const where = WHERE[phase]
    const near = suggest(port, ports)
    const text = `${who} has ${phase === 'item' ? 'an' : 'a'} ${phase}-gate that reads port ${quoted(port)}, but its ${where} are ${listed(ports)}`
    return { text, hint: didYouMean(near) }
  }
  reading.problems.push({ code: 'unknown_gate_port', path: key === undefined ? path : [...path, key], say })
}
