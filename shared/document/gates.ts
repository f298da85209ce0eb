import type { Block, GateComposition, GateUse, ToolGate } from '../dag/dag.ts'
import { readComposedCheck } from '../gates/check-composition.ts'
import type { Program } from '../gates/compile-programs.ts'
import type { Gate } from '../gates/gate.ts'
import { schemaNodes } from '../gates/schema-limits.ts'
import { LIMITS } from '../limits.ts'
import type { Problem } from '../text/document-problems.ts'
import type { Json } from '../text/json.ts'
import { notAllowedProblem } from '../text/schema-issues.ts'
import type { Path } from '../text/source-position.ts'
import { describeValue, didYouMean, listed, quoted, suggest } from '../text/wording.ts'
import { TOOL_GATES } from '../tools/tool-gates.ts'
import { findAgent } from './bind-agents.ts'
import type { BlockPorts } from './ports.ts'
import {
  type LocatedGate,
  type Mapping,
  type Reading,
  readList,
  readMapping,
  readMember,
  readSection,
  SECTIONS,
} from './sections.ts'

export interface BlockGates {
  readonly gates: Pick<Block, 'pre_gates' | 'post_gates' | 'gate_composition'>
  /** Names of all that were written, right or wrong. */
  readonly names: ReadonlySet<string>
  readonly routing: readonly RoutingGate[]
}

/**
 * The gates of a block and how their verdicts become one. Pre-gates read inputs, post-gates inputs and outputs: a port
 * that is neither is a problem here, never at run time.
 */
export function readGates(
  reading: Reading,
  block: Readonly<Partial<Record<'pre_gates' | 'post_gates' | 'gate_composition', Json | undefined>>>,
  path: Path,
  { inputs, outputs }: BlockPorts,
): BlockGates {
  const taken = new Set<string>()
  const routing: RoutingGate[] = []
  const read = (phase: 'pre' | 'post', ports: ReadonlySet<string>): PhaseGates => {
    const names: string[] = []
    const at = [...path, `${phase}_gates`]
    const given = block[`${phase}_gates`]
    const list = given === undefined ? [] : (readList(reading, given, at) ?? [])
    const place = { reading, phase, names, taken, ports, routing }
    return { uses: list.flatMap((gate, index) => readGate(place, gate, [...at, index])), names, count: list.length }
  }
  const pre = read('pre', new Set(inputs.keys()))
  const post = read('post', new Set([...inputs.keys(), ...outputs.keys()]))
  checkCount(reading, pre.count + post.count, [...path, post.count > 0 ? 'post_gates' : 'pre_gates'])
  const at = [...path, 'gate_composition']
  const gate_composition = readComposition(reading, block.gate_composition, at, { pre, post })
  return { gates: { pre_gates: pre.uses, post_gates: post.uses, gate_composition }, names: taken, routing }
}

/** Gates outside the two phases: those of a foreach's items. Their names must differ from those of the block's gates. */
export function readItemGates(
  reading: Reading,
  given: Json | undefined,
  path: Path,
  ports: ReadonlySet<string>,
  others: ReadonlySet<string>,
): readonly GateUse[] {
  const list = given === undefined ? [] : (readList(reading, given, path) ?? [])
  checkCount(reading, list.length, path)
  const place = { reading, phase: 'item' as const, names: [], taken: new Set(others), ports, routing: [] }
  return list.flatMap((gate, index) => readGate(place, gate, [...path, index]))
}

/** Gates on a tool's calls: they read arguments, or with `after` also what came back; which there are, the tool says. */
export function readToolGates(reading: Reading, given: Json | undefined, path: Path): readonly ToolGate[] {
  const list = given === undefined ? [] : (readList(reading, given, path) ?? [])
  checkCount(reading, list.length, path)
  const place = { reading, phase: 'tool' as const, names: [], taken: new Set(TOOL_GATES), ports: ANY_PORT, routing: [] }
  return list.flatMap((one, index): readonly ToolGate[] => {
    const at = [...path, index]
    const mapping = readMapping(reading, one, at)
    if (mapping === undefined) return []
    const { after, ...gate } = mapping
    if (after !== undefined && typeof after !== 'boolean') {
      const say: Problem['say'] = ({ place }) => ({
        text: `${place} is ${describeValue(after)}; allowed are true and false`,
      })
      reading.problems.push({ code: 'wrong_type', path: [...at, 'after'], say })
    }
    return readGate(place, gate, at).map((use) => ({ ...use, after: after === true }))
  })
}

const ANY_PORT = { has: () => true, [Symbol.iterator]: () => [].values() }

function checkCount({ problems }: Reading, count: number, path: Path): void {
  if (count <= LIMITS.gates_per_block) return
  const text = `has ${count} gates; the limit is ${LIMITS.gates_per_block}`
  const say: Problem['say'] = ({ who }) => ({ text: `${who} ${text}` })
  problems.push({ code: 'limit_exceeded', path, on: 'key', say })
}

/** Where a gate stands: its phase, what it may read, and the names its block has used. */
interface GatePosition {
  readonly reading: Reading
  readonly phase: LocatedGate['phase']
  readonly names: string[]
  /** Names of both phases so far: a verdict is known by its gate's name. */
  readonly taken: Set<string>
  readonly ports: Pick<ReadonlySet<string>, 'has'> & Iterable<string>
  /** Gates with `on_fail: route`. */
  readonly routing: RoutingGate[]
}

interface RoutingGate {
  readonly name: string
  readonly path: Path
}

/** One gate, its parameters parsed by its kind; none when something is wrong with it. */
function readGate(place: GatePosition, given: Json, path: Path): readonly GateUse[] {
  const { reading, phase } = place
  const section = readSection(reading, SECTIONS.gate, given, path)
  if (section === undefined) return []
  const { name, error } = section
  if (name !== undefined) takeName(place, name, section.on_fail, path)
  if (phase === 'item' || phase === 'tool') refuseForItems(reading, phase, section.on_fail, [...path, 'on_fail'])
  const check = readCheck(place, section.check, [...path, 'check'])
  if (name === undefined || check === undefined) return []
  const on_fail = section.on_fail ?? (phase === 'pre' || phase === 'tool' ? 'fail' : 'retry')
  const use: GateUse = { name, check, ...(error === undefined ? {} : { error }), on_fail }
  if (phase !== 'tool') reading.gate_uses.push({ use, phase, path: [...path, 'check'] })
  return [use]
}

type Refused = Readonly<Partial<Record<GateUse['on_fail'], readonly [why: string, hint: string]>>>

function takeName(
  { reading, names, taken, routing }: GatePosition,
  name: string,
  onFail: GateUse['on_fail'] | undefined,
  path: Path,
): void {
  if (taken.has(name)) {
    const say: Problem['say'] = ({ who }) => ({
      text: `${who} has two gates named ${quoted(name)}`,
      hint: 'Rename one.',
    })
    reading.problems.push({ code: 'duplicate_gate', path: [...path, 'name'], say })
  }
  names.push(name)
  taken.add(name)
  if (onFail === 'route') routing.push({ name, path: [...path, 'on_fail'] })
}

const REFUSED: Readonly<Record<'item' | 'tool', { readonly refused: Refused; readonly allowed: string }>> = {
  item: {
    refused: {
      route: ['an item goes nowhere by itself', 'Route from a post-gate, which sees the items of all.'],
      ask: ['nobody is asked item by item', 'Ask from a post-gate, which sees the items of all.'],
    },
    allowed: '"retry", "fail" and "warn"',
  },
  tool: {
    refused: {
      route: ['a call goes nowhere by itself', 'Route from a post-gate of the block.'],
      retry: [
        'the model makes the call again, or another, as it is told why',
        'Remove it: a refusal is told to the model.',
      ],
    },
    allowed: '"fail", "ask" and "warn"',
  },
}

function refuseForItems(
  { problems }: Reading,
  phase: 'item' | 'tool',
  onFail: GateUse['on_fail'] | undefined,
  path: Path,
): void {
  const { refused, allowed } = REFUSED[phase]
  const found = onFail === undefined ? undefined : refused[onFail]
  if (found === undefined) return
  const [why, hint] = found
  const text = `is "${onFail}", but ${why}; allowed are ${allowed}`
  problems.push({ code: 'invalid_value', path, say: ({ place }) => ({ text: `${place} ${text}`, hint }) })
}

function readCheck(place: GatePosition, check: Json | undefined, path: Path): GateUse['check'] | undefined {
  const { reading } = place
  if (check === undefined) {
    const say: Problem['say'] = ({ place }) => ({ text: `${place} is missing`, hint: 'Add check: { type: .. }.' })
    reading.problems.push({ code: 'missing_key', path, say })
    return undefined
  }
  return readComposedCheck(
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

function readLeaf(place: GatePosition, check: Json, path: Path): GateUse['check'] | undefined {
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

/** Told once, where it is too much; such a document is refused, so nothing of it is compiled. */
function affordable({ problems, programs, spent }: Reading, params: Mapping, path: Path): boolean {
  const before = spent.compiled_parts
  spent.compiled_parts += compiledParts(params)
  const limit = LIMITS.compiled_parts
  if (spent.compiled_parts <= limit) return true
  programs.length = 0
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
    programs.push({ program, refuse: (message) => notAllowedProblem(at, seen, message) })
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
  const refusal = typeof type === 'string' ? gates.refusal(type) : undefined
  if (refusal !== undefined) {
    const { code, text, hint } = refusal
    const say: Problem['say'] = ({ place }) => ({ text: `${place} ${describeValue(type)} ${text}`, hint })
    problems.push({ code, path: [...path, 'type'], say })
    return
  }
  const say: Problem['say'] = ({ place }) => {
    if (type === undefined)
      return { text: `${place} has no "type"`, hint: `Known types are ${listed(gates.gateTypes())}.` }
    const near = typeof type === 'string' ? suggest(type, gates.gateTypes()) : undefined
    const text = `${place} has the unknown gate type ${describeValue(type)}; known are ${gates.gateTypes().join(', ')}`
    return { text, hint: didYouMean(near) }
  }
  const code = type === undefined ? 'missing_key' : 'unknown_gate'
  problems.push({ code, path: [...path, 'type'], say })
}

const WHERE: Readonly<Record<GatePosition['phase'], string>> = {
  pre: 'inputs',
  post: 'inputs and outputs',
  item: 'inputs (the item is one), and outputs',
  tool: 'arguments',
}

function refusePort({ reading, phase, ports }: GatePosition, check: Mapping, port: string, path: Path): void {
  const key = Object.keys(check).find((name) => name !== 'type' && check[name] === port)
  const say: Problem['say'] = ({ who }) => {
    const where = WHERE[phase]
    const near = suggest(port, ports)
    const text = `${who} has ${phase === 'item' ? 'an' : 'a'} ${phase}-gate that reads port ${quoted(port)}, but its ${where} are ${listed(ports)}`
    return { text, hint: didYouMean(near) }
  }
  reading.problems.push({ code: 'unknown_gate_port', path: key === undefined ? path : [...path, key], say })
}

/** The gates of one phase: those that are right, and the names and number of all that were written. */
interface PhaseGates {
  readonly uses: readonly GateUse[]
  readonly names: readonly string[]
  readonly count: number
}

/** How verdicts become one (docs/dag.md, "gate_composition"). What its gates can never reach is a problem here. */
function readComposition(
  reading: Reading,
  given: Json | undefined,
  path: Path,
  gates: Readonly<Record<'pre' | 'post', PhaseGates>>,
): { readonly pre: GateComposition; readonly post: GateComposition } {
  const section = given === undefined ? {} : readSection(reading, SECTIONS.gate_composition, given, path)
  const read = (phase: 'pre' | 'post') => readPhase(reading, section?.[phase], [...path, phase], gates[phase])
  return { pre: read('pre'), post: read('post') }
}

function readPhase(reading: Reading, given: Json | undefined, path: Path, gates: PhaseGates): GateComposition {
  if (given === undefined || given === 'all') return 'all'
  if (given === 'any') return 'any'
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    const text = 'allowed are all, any, { at_least: k } and { weights: { gate: w }, threshold: t }'
    refuseComposition(reading, path, 'invalid_value', ({ place }) => ({
      text: `${place} is ${describeValue(given)}; ${text}`,
    }))
    return 'all'
  }
  return Object.hasOwn(given, 'at_least')
    ? readCount(reading, given, path, gates)
    : readWeights(reading, given, path, gates)
}

function readCount(reading: Reading, given: Json, path: Path, gates: PhaseGates): GateComposition {
  const k = readSection(reading, SECTIONS.at_least, given, path)?.at_least
  if (k === undefined) return 'all'
  const counted = gates.count - warningsOf(gates).size
  if (k > counted) {
    const say: Problem['say'] = ({ place }) => ({
      text: `${place} is ${k}, but the phase has ${gates.count} gates${counted < gates.count ? `, of which ${counted} count` : ''}`,
    })
    refuseComposition(reading, [...path, 'at_least'], 'invalid_value', say)
  }
  return { at_least: k }
}

function readWeights(reading: Reading, given: Json, path: Path, gates: PhaseGates): GateComposition {
  const section = readSection(reading, SECTIONS.weights, given, path)
  if (section?.weights === undefined || section.threshold === undefined) return 'all'
  const { weights, threshold } = section
  const { names } = gates
  for (const name of Object.keys(weights)) {
    if (names.includes(name)) continue
    refuseComposition(reading, [...path, 'weights', name], 'unknown_gate_name', ({ who }) => {
      const near = suggest(name, names)
      const text = `${who} weighs gate ${quoted(name)}, but its gates of that phase are ${listed(names)}`
      return { text, hint: didYouMean(near) }
    })
  }
  const warnings = warningsOf(gates)
  const sum = Object.entries(weights).reduce((total, [name, weight]) => total + (warnings.has(name) ? 0 : weight), 0)
  // A little less, since 0.1 + 0.2 is not 0.3 either.
  if (sum < threshold - 1e-9) {
    const say: Problem['say'] = ({ place }) => ({
      text: `${place} is ${threshold}, but all weights together are ${sum}`,
    })
    refuseComposition(reading, [...path, 'threshold'], 'invalid_value', say)
  }
  return { weights, threshold }
}

/** Gates that count for nothing, whatever their verdict. */
function warningsOf({ uses }: PhaseGates): ReadonlySet<string> {
  return new Set(uses.flatMap(({ name, on_fail }) => (on_fail === 'warn' ? [name] : [])))
}

function refuseComposition({ problems }: Reading, path: Path, code: string, say: Problem['say']): void {
  problems.push({ code, path, say })
}

/** The model a gate asks is one of the place, when its providers are known; `local` is none wherever it is not rebound. */
function checkJudge(
  { problems, providers, routing }: Reading,
  { provider, model }: { readonly provider: string; readonly model: string },
  path: Path,
): void {
  const refuse = (code: string, key: string, say: Problem['say']) => problems.push({ code, path: [...path, key], say })
  const settings = routing?.providers ?? {}
  const type = Object.hasOwn(settings, provider) ? settings[provider]?.type : undefined
  if (type === 'local' || (provider === 'local' && type === undefined)) {
    refuse('invalid_value', 'provider', ({ place }) => ({
      text: `${place} is ${quoted(provider)}, a set of text tools, not a model that can judge`,
      hint: 'Name a provider of sluice.yaml that has a model.',
    }))
    return
  }
  if (providers !== undefined && !providers.includes(provider)) {
    refuse('unknown_provider', 'provider', ({ place }) => ({
      text: `${place} is ${quoted(provider)}, which is not configured; configured are ${listed(providers)}`,
      hint: didYouMean(suggest(provider, providers)) ?? 'Add it to sluice.yaml.',
    }))
    return
  }
  const found = routing === undefined ? undefined : findAgent({ provider, model }, routing)
  if (found === undefined || found.ok) return
  const { code, text, hint } = found
  refuse(code, 'model', ({ who }) => ({ text: `${who} has a gate that ${text}`, hint }))
}

/** How many things in a gate's parameters are compiled to be checked: patterns, and references of JSON Schemas. */
function compiledParts(params: Json): number {
  const open: Json[] = [params]
  let parts = 0
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue
    for (const member of Object.values(next)) open.push(member)
    for (const [key, member] of Object.entries(next)) parts += partsOf(key, member)
  }
  return parts
}

function partsOf(key: string, member: Json): number {
  if (key === 'patternProperties') return Object.keys(member ?? {}).length
  return typeof member === 'string' && (key === 'pattern' || key === '$ref') ? 1 : 0
}
