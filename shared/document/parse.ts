import type { Block, Dag, InputPort, OutputPort, RunInput } from '../dag/dag.ts'
import { STEP_PATH } from '../dag/handlers.ts'
import { callNameOf, isNativeHandler } from '../dag/native-call.ts'
import { topologicalOrder } from '../dag/order.ts'
import { Fault } from '../errors.ts'
import { type Program, programProblem, programProblems } from '../gates/compile-programs.ts'
import { gateKinds, type ProjectGates, readProjectGates } from '../gates/project-gates.ts'
import type { Isolate } from '../ports/isolate.ts'
import type { Modules } from '../ports/modules.ts'
import { inputNames, missingInputs } from '../runs/block-inputs.ts'
import type { Labels } from '../runs/labels.ts'
import type { ServicesSettings } from '../services/settings.ts'
import type { KnownSteps } from '../steps/described-step.ts'
import { type DagError, listErrors, type Problem } from '../text/document-problems.ts'
import { sha256 } from '../text/hash.ts'
import { canonicalJson, type Json } from '../text/json.ts'
import { pathText, type Source } from '../text/source-position.ts'
import { type ReadDocument, readObject, readYaml } from '../text/yaml.ts'
import type { Trigger } from '../triggers/trigger.ts'
import type { Routing } from './bind-agents.ts'
import type { BlockDraft } from './block.ts'
import { checkBounces } from './check-bounces.ts'
import { checkGatePorts, checkHandler } from './check-ports.ts'
import { checkConditions, checkEntrypointsAndTerminals, checkShownPorts, checkTemplates } from './check-references.ts'
import type { Work } from './mode-sections.ts'
import type { PortDraft, Ports } from './ports.ts'
import { readDocument } from './read-document.ts'
import type { LocatedProgram, Reading } from './sections.ts'
import { selfTriggerProblems, triggerInputProblems } from './trigger-section.ts'
import { addressWarnings, type DagWarning, dagWarnings, priceWarnings } from './warnings.ts'
import { checkCycles, type InputTypes, inferTypes, isOrder, reachability, readWires, type Wire } from './wires.ts'

export type ParseResult =
  | {
      readonly ok: true
      readonly dag: Dag
      /** Ids, each after what it waits for; ties in document order. */
      readonly order: readonly string[]
      /** Hex sha256 of the canonical JSON of `dag`: its identity. */
      readonly dag_hash: string
      /** What the document will suffer from when it runs; none of it keeps it from being started. */
      readonly warnings: readonly DagWarning[]
      /** What starts runs of it by itself: no part of what a run is pinned to. */
      readonly triggers: readonly Trigger[]
    }
  | { readonly ok: false; readonly errors: readonly DagError[] }

/**
 * Reads, checks and normalises a DAG given as YAML (or JSON) text or as an object. Never throws; every error is
 * answered at once, by position, 100 at most; but of patterns and schemas none where there are too many to compile. `name` is used when the document has none (default `dag`). `providers`
 * are the configured ones (`local` is always known); without them any provider is accepted and only the document is
 * judged; so it is with `services`. With `routing`, agents found by role, capability or name are judged too, and models that a
 * provider lists; and it is told which commands of gates this place does not run.
 */
export function parseDag(given: string | object, options: ParseOptions = {}): ParseResult {
  const { programs, finish } = begin(readGiven(given), options)
  return finish(programs.map(programProblem))
}

/**
 * The same, for a place where others wait: what is dear (compiling schemas and patterns) is done in the isolate. A program
 * that runs over its limit there is an error of the document. Fault Unavailable isolate_failed when it cannot compute.
 * With `modules`, gates of the project are read as they are now, and answered as `project`.
 */
export async function parseDagInIsolate(
  given: string | object,
  { modules, ...options }: Omit<ParseOptions, 'project'> & { readonly modules?: Modules },
  isolate: Isolate,
): Promise<ParseResult & { readonly project?: ProjectGates }> {
  const read = readGiven(given)
  const asked = [read.source.value, options.routing?.gates ?? null]
  const project = modules === undefined ? undefined : await readProjectGates(asked, modules, isolate)
  const { programs, finish } = begin(read, { ...options, ...(project && { project }) })
  const result = finish(await programProblems(programs, isolate, unable))
  return project === undefined ? result : { ...result, project }
}

function readGiven(given: string | object): ReadDocument {
  return typeof given === 'string' ? readYaml(given) : readObject(given)
}

/**
 * The steps of the project that a document names as handlers, and what it has AWS call, each once: what a place has to know
 * before it parses it.
 * None of a text that cannot be read: parsing tells why.
 */
export function stepsNamed(given: string | object): readonly string[] {
  if (typeof given === 'string' && !/\.\/|\b(?:lambda|aws|container)\b/.test(given)) return []
  const read = typeof given === 'string' ? readYaml(given) : readObject(given)
  const blocks: unknown = read.ok && isMapping(read.source.value) ? read.source.value.blocks : undefined
  const named = (Array.isArray(blocks) ? blocks : []).flatMap((block: unknown) => {
    if (!isMapping(block)) return []
    return [...(isMapping(block.deterministic) ? [nameOfWork(block.deterministic)] : []), ...stepsOfAgent(block.agent)]
  })
  return [...new Set(named.filter((name) => name !== undefined))]
}

/** Those an agent may call. */
function stepsOfAgent(agent: unknown): readonly string[] {
  const tools = isMapping(agent) && Array.isArray(agent.tools) ? agent.tools : []
  const uses = tools.map((tool: unknown) => (isMapping(tool) ? tool.use : tool))
  return uses.filter((use): use is string => typeof use === 'string' && STEP_PATH.test(use))
}

function nameOfWork({ handler, config }: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof handler !== 'string') return undefined
  if (isNativeHandler(handler)) return isMapping(config) ? callNameOf(handler, config) : undefined
  return STEP_PATH.test(handler) ? handler : undefined
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

interface ParseOptions {
  readonly name?: string
  readonly providers?: readonly string[]
  readonly services?: ServicesSettings | undefined
  /** Steps of the project that the document names (`stepsNamed`); without them their ports are judged by nothing. */
  readonly steps?: KnownSteps | undefined
  readonly routing?: Routing
  /** Gates of the project; without them none of its modules is known. */
  readonly project?: ProjectGates
}

interface Begun {
  readonly programs: readonly Program[]
  /** `compiled`: what is wrong with each program, in the same order. */
  finish(compiled: readonly (string | undefined)[]): ParseResult
}

function begin(read: ReadDocument, options: ParseOptions): Begun {
  const fallback = options.name ?? 'dag'
  const { providers, routing, steps, services = routing?.services } = options
  const gates = gateKinds(options.project)
  const place = {
    ...(providers === undefined ? {} : { providers }),
    ...(services === undefined ? {} : { services }),
    ...(steps === undefined ? {} : { steps }),
    ...(routing === undefined ? {} : { routing }),
  }
  const known = { name: fallback, gates, ...place }
  const { problems, warnings, programs, sound } = judgeDocument(read, known)
  return {
    programs: programs.map(({ program }) => program),
    finish(compiled) {
      const refused = programs.flatMap(({ refuse }, at) => {
        const message = compiled[at]
        return message === undefined ? [] : [refuse(message)]
      })
      if (sound === undefined || refused.length > 0) {
        const all = [...problems, ...refused]
        return { ok: false, errors: listErrors(all, read.source, nameOf(read.source, fallback)) }
      }
      const dag = normalise(sound)
      const { triggers } = sound
      const ungiven = triggerInputProblems(triggers, {
        known: inputNames(dag),
        missing: (given) => missingInputs(dag, given),
      })
      const wrong = [...ungiven, ...selfTriggerProblems(triggers, [dag.name, fallback])]
      if (wrong.length > 0) return { ok: false, errors: listErrors(wrong, read.source, dag.name) }
      const prices = routing === undefined ? [] : [...priceWarnings(dag, routing), ...addressWarnings(dag, routing)]
      const told = [...warnings, ...dagWarnings(dag, routing), ...prices]
      return {
        ok: true,
        dag,
        order: topologicalOrder(dag),
        dag_hash: sha256(canonicalJson(dag)),
        warnings: told,
        triggers,
      }
    },
  }
}

function unable(message: string): Fault {
  const text = `Cannot check the document: the isolate that compiles its schemas and patterns failed (${message}). Try again.`
  return new Fault('Unavailable', 'isolate_failed', text)
}

function nameOf({ value }: Partial<Source>, fallback: string): string {
  const name = typeof value === 'object' && value !== null && 'name' in value ? value.name : undefined
  return typeof name === 'string' && name !== '' ? name : fallback
}

type Known = Parameters<typeof checkDocument>[1]

/** Everything that is wrong with a document, whether or not all of it could be read. */
function judgeDocument(read: ReadDocument, known: Known): ReturnType<typeof checkDocument> {
  if (read.ok) return checkDocument(read.source.value, known)
  return { problems: [...read.problems, ...problemsBesides(read, known)], warnings: [], programs: [] }
}

/**
 * What is wrong besides values JSON does not have: null stands in their place, and what is said of that place, or below
 * a limit or of a text nobody could read, is left out.
 */
function problemsBesides({ source, problems }: Extract<ReadDocument, { ok: false }>, known: Known): readonly Problem[] {
  if (source.value === undefined || problems.some(({ code }) => code !== 'not_json')) return []
  const told = new Set(problems.map(({ path }) => pathText(path)))
  return checkDocument(source.value, known).problems.filter(({ path }) => !told.has(pathText(path)))
}

interface Checked {
  readonly problems: readonly Problem[]
  readonly warnings: readonly DagWarning[]
  /** What may still be wrong: whether these compile. */
  readonly programs: readonly LocatedProgram[]
  readonly sound?: SoundDocument
}

/**
 * Checks a whole document and answers everything that is wrong with it, never only the first (docs/dag.md), but
 * does not compile its programs. `sound` is there exactly when `problems` is empty.
 */
function checkDocument(
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
  const wires = readWires(reading, blocks, byId, draft.edges)
  const order = wires.filter(isOrder)
  const types = inferTypes(reading, blocks, wires)
  checkGatePorts(reading, blocks, types)
  for (const block of blocks) checkHandler(reading, block, types)
  checkCycles(reading, blocks, order)
  const reach = reachability(order)
  checkShownPorts(reading, blocks, byId, reach)
  checkBounces(reading, byId, order, reach)
  checkEntrypointsAndTerminals(reading, byId, draft, reach)
  const undeclared = new Set(blocks.flatMap((block) => [...checkTemplates(reading, block, types, inputs)]))
  for (const block of blocks) checkConditions(reading, block, types, inputs, undeclared)
  if (reading.problems.length > 0) return reading
  const whole = blocks.flatMap((block) => {
    const { id, work } = block
    // Both are there: without one there is a problem.
    return id === undefined || work === undefined ? [] : [{ ...block, id, work }]
  })
  const { name = options.name, version, budget, concurrency, labels, subjects, goal, triggers } = draft
  const told = {
    ...(version === undefined ? {} : { version }),
    ...(budget === undefined ? {} : { budget }),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(labels === undefined || Object.keys(labels).length === 0 ? {} : { labels }),
    ...(subjects === undefined ? {} : { subjects }),
  }
  return { ...reading, sound: { name, ...told, goal, inputs, undeclared, blocks: whole, wires, types, triggers } }
}

/** A document without problems, as the checks leave it. */
interface SoundDocument {
  readonly name: string
  readonly version?: string
  readonly budget?: Dag['budget']
  readonly concurrency?: Dag['concurrency']
  readonly labels?: Labels
  readonly subjects?: readonly string[]
  readonly goal: Pick<Dag, 'completion' | 'goal_contract'>
  readonly inputs: Ports
  readonly undeclared: Iterable<string>
  readonly blocks: readonly (BlockDraft & { readonly id: string; readonly work: Work })[]
  readonly wires: readonly Wire[]
  readonly types: InputTypes
  readonly triggers: readonly Trigger[]
}

/**
 * One canonical document: `from` and `edges` become one graph, defaults are filled in, every block has its hash
 * (sha256 of its own canonical JSON without place and hash). Two documents that mean the same are the same JSON.
 */
function normalise(sound: SoundDocument): Dag {
  const inputs: Record<string, RunInput> = {}
  for (const [name, port] of sound.inputs) inputs[name] = { ...runInput(port), declared: true }
  for (const name of sound.undeclared) inputs[name] = { required: true, declared: false }
  const into: Wire[][] = sound.blocks.map(() => [])
  for (const wire of sound.wires) into[wire.to.index]?.push(wire)
  const blocks = sound.blocks.map((block) => normalBlock(block, into[block.index] ?? [], sound.types))
  const { name, version, budget, concurrency, labels, subjects, goal } = sound
  const searched = searchedParts(sound)
  const told = {
    ...(version === undefined ? {} : { version }),
    ...(budget === undefined ? {} : { budget }),
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(labels === undefined ? {} : { labels }),
    ...(subjects === undefined ? {} : { subjects }),
    ...(searched === undefined ? {} : { searched }),
  }
  return { name, ...told, ...goal, inputs, blocks }
}

/** Beside the ports: what is searched changes no block, and so no result that is taken over. */
function searchedParts({ inputs, blocks }: SoundDocument): Dag['searched'] {
  const named = [...inputs].flatMap(([name, { search }]) => (search === true ? [name] : []))
  const outputs = blocks.flatMap(({ id, outputs: ports }) =>
    [...ports].flatMap(([name, { search }]) => (search === true ? [`${id}.${name}`] : [])),
  )
  return named.length + outputs.length === 0 ? undefined : { inputs: named, outputs }
}

function runInput(port: PortDraft): Omit<RunInput, 'declared'> {
  const { type } = port
  return { ...(type === undefined ? {} : { type }), ...portCommon(port) }
}

/** A port is required unless it says otherwise or has a default. */
function portCommon({ required, default: value, description }: PortDraft) {
  return {
    required: required ?? value === undefined,
    ...(value === undefined ? {} : { default: value }),
    ...(description === undefined ? {} : { description }),
  }
}

function normalBlock(block: SoundDocument['blocks'][number], wires: readonly Wire[], types: InputTypes): Block {
  const { id, index, settled, work } = block
  const sources = new Map(wires.map((wire) => [wire.input, wire]))
  const inputs: Record<string, InputPort> = {}
  for (const [name, port] of block.inputs) {
    const { from, output, transform } = sources.get(name) ?? {}
    const told = transform === undefined ? {} : { transform }
    const wired = from?.id === undefined || output === undefined ? {} : { from: { block: from.id, output, ...told } }
    // Settled for every input of a document without problems.
    inputs[name] = { type: types.get(port) ?? 'json', ...portCommon(port), ...wired }
  }
  const outputs: Record<string, OutputPort> = {}
  for (const [name, port] of block.outputs) outputs[name] = { type: port.type ?? 'json', ...portCommon(port) }
  const upstream = [...new Set(wires.filter(isOrder).map(({ from }) => from))]
    .sort((a, b) => a.index - b.index)
    .flatMap(({ id }) => id ?? [])
  const defined = { id, ...settled, inputs, outputs, upstream, ...work }
  const { budget } = block
  return { ...defined, ...(budget === undefined ? {} : { budget }), index, hash: sha256(canonicalJson(defined)) }
}
