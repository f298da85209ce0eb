import * as z from 'zod'
import type { Dag, GateUse } from '../dag/dag.ts'
import { Fault } from '../errors.ts'
import type { Isolate, Isolated } from '../ports/isolate.ts'
import type { FoundModule, Modules } from '../ports/modules.ts'
import { sha256 } from '../text/hash.ts'
import { canonicalJson, type Json } from '../text/json.ts'
import { safeOneLine } from '../text/redact.ts'
import { leafChecks } from './check-composition.ts'
import type { CheckResult, Gate, GateFacts } from './gate.ts'
import { GATE_LIMITS, isModulePath, modulePathProblem } from './gate-module.ts'
import type { GatePorts } from './gate-ports.ts'
import { findAnyGate, findGate, gateTypes } from './registry.ts'

type Check = GateUse['check']
type Params = Readonly<Record<string, Json>>

/** Beside the parameters of a parsed check: the module it was parsed with. A run keeps its document, and so this. */
export interface CheckModule {
  /** Hex sha256 of the script. */
  readonly version: string
  /** Ports it reads; absent = it is given all. */
  readonly reads?: readonly string[]
}

const ModuleSchema = z.strictObject({
  version: z.string().regex(/^[0-9a-f]{64}$/),
  reads: z.array(z.string()).optional(),
})

/** Gate types where a document is read: ours, and with a project those of its modules. */
export interface GateKinds {
  gateOf(type: string): Gate<unknown> | undefined
  gateTypes(): readonly string[]
  /** Why a type that is the path of a module is none here; undefined = it is no path. */
  refusal(type: string): Extract<FoundModule, { ok: false }> | undefined
}

export function gateKinds(project?: ProjectGates): GateKinds {
  return {
    gateOf: (type) =>
      findGate(type) ?? (project?.modules.get(type)?.ok === true ? moduleGate(type, project) : undefined),
    gateTypes,
    refusal(type) {
      if (!isModulePath(type)) return undefined
      const found = project?.modules.get(type)
      if (found?.ok === false) return found
      const wrong = modulePathProblem(type)
      if (wrong !== undefined) return { ok: false, code: 'bad_gate_module', ...wrong }
      const text =
        project === undefined ? NO_PROJECT : `is one module more than the ${GATE_LIMITS.modules} of one document`
      return { ok: false, code: 'gate_module_missing', text }
    },
  }
}

const NO_PROJECT = 'is a module of a project, and no project is at hand here'

/** The modules a document's gates are, as they are now, and what they say of each check. */
export interface ProjectGates {
  readonly modules: ReadonlyMap<string, FoundModule>
  readonly answers: ReadonlyMap<string, ParamsAnswer>
}

/** What a module makes of the parameters of one check. */
export type ParamsAnswer = z.infer<typeof ParamsAnswerSchema>

// Whoever wrote the module wrote this: it is looked at as closely as a request.
const json = z.custom<Json>(() => true)
const known = z.array(z.string()).max(200)
const IssueSchema = z.looseObject({
  code: z.string(),
  path: z.array(z.union([z.string(), z.number()])).max(20),
  message: z.string(),
  expected: z.string().optional().catch(undefined),
  keys: z.array(z.string()).optional().catch(undefined),
  values: z.array(z.string()).optional().catch(undefined),
})
const ParamsAnswerSchema = z.union([
  z.strictObject({ problem: z.string() }),
  z.strictObject({ known, issues: z.array(IssueSchema).min(1).max(GATE_LIMITS.issues) }),
  z.strictObject({
    known,
    params: z.record(z.string(), json),
    reads: z.array(z.string()).max(GATE_LIMITS.ports).optional(),
  }),
])

/** As they come over a process's border: what makes ProjectGates again. */
export const AskedGatesSchema = z.strictObject({
  modules: z.array(z.tuple([z.string(), z.custom<FoundModule>(() => true)])),
  answers: z.array(z.tuple([z.string(), ParamsAnswerSchema])),
})

/** One check by a module as a document writes it. */
interface WrittenCheck {
  readonly path: string
  readonly params: Json
}

/** The checks by modules anywhere in what people wrote, each once. Too many are left out, and refused where they stand. */
export function moduleChecksIn(given: unknown): readonly WrittenCheck[] {
  const found = new Map<string, WrittenCheck>()
  const paths = new Set<string>()
  const open: unknown[] = [given]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next !== 'object' || next === null) continue
    for (const member of Object.values(next)) open.push(member)
    const check = writtenCheck(next)
    if (check === undefined || (paths.size >= GATE_LIMITS.modules && !paths.has(check.path))) continue
    paths.add(check.path)
    if (found.size < GATE_LIMITS.checks) found.set(keyOf(check.path, check.params), check)
  }
  return [...found.values()]
}

function writtenCheck(value: object): WrittenCheck | undefined {
  const path = 'type' in value ? value.type : undefined
  if (!isModulePath(path) || modulePathProblem(path) !== undefined) return undefined
  // What documents hold is JSON; anything else is refused by their reader.
  return { path, params: paramsWritten(value as Params) }
}

function paramsWritten({ not: _, module: __, type: ___, ...params }: Params): Params {
  return params
}

function keyOf(path: string, params: Json): string {
  try {
    return `${path} ${sha256(canonicalJson(params))}`
  } catch {
    // What is no JSON is refused by the reader of the document.
    return `${path} -`
  }
}

/** Reads the modules that `given` names and asks each, in the isolate, about its checks. */
export async function readProjectGates(given: unknown, modules: Modules, isolate: Isolate): Promise<ProjectGates> {
  const checks = moduleChecksIn(given)
  const paths = [...new Set(checks.map(({ path }) => path))]
  const found = new Map(await Promise.all(paths.map(async (path) => [path, await modules.gate(path)] as const)))
  const asked = checks.map(async ({ path, params }) => {
    const module = found.get(path)
    return module?.ok === true ? [[keyOf(path, params), await askParams(module.text, params, isolate)] as const] : []
  })
  return { modules: found, answers: new Map((await Promise.all(asked)).flat()) }
}

async function askParams(text: string, params: Json, isolate: Isolate): Promise<ParamsAnswer> {
  const answer = await isolate.run('gate_params', { program: text, input: params }, GATE_LIMITS)
  if (!answer.ok) {
    if (answer.because !== 'stopped') return { problem: answer.message }
    throw new Fault('Unavailable', 'isolate_failed', 'Cannot check the document: it was stopped. Try again.')
  }
  const read = ParamsAnswerSchema.safeParse(answer.value)
  return read.success ? read.data : { problem: 'its answer about its parameters cannot be read' }
}

/** The scripts by their hash, for a run to keep. */
export function scriptsOf({ modules }: ProjectGates): ReadonlyMap<string, string> {
  return new Map([...modules.values()].flatMap((found) => (found.ok ? [[found.hash, found.text] as const] : [])))
}

/** A gate type of the project, as the reader of a document knows it. */
function moduleGate(path: string, project: ProjectGates): Gate<unknown> {
  const module = project.modules.get(path)
  const version = module?.ok === true ? module.hash : ''
  return { ...PARSED, type: path, params: paramsSchema(path, version, project) }
}

/** The keys a module knows stand in the shape, where messages look for them. */
function paramsSchema(path: string, version: string, { answers }: ProjectGates): z.ZodType<unknown> {
  const keys = [...answers].flatMap(([key, answer]) =>
    key.startsWith(`${path} `) && 'known' in answer ? answer.known : [],
  )
  const shape = Object.fromEntries(keys.map((key) => [key, z.unknown().optional()]))
  return z.looseObject(shape).transform((given, context) => {
    const found = readParams(given as Params, path, version, answers)
    if ('params' in found) return found.params
    for (const issue of found.issues) context.issues.push({ ...issue, input: given })
    return z.NEVER
  })
}

type ParamsIssue =
  | { readonly code: 'custom'; readonly path: (string | number)[]; readonly message: string }
  | { readonly code: 'unrecognized_keys'; readonly path: (string | number)[]; readonly keys: string[] }

function readParams(
  given: Params,
  path: string,
  version: string,
  answers: ProjectGates['answers'],
): { readonly params: Params } | { readonly issues: readonly ParamsIssue[] } {
  const refused = (text: string, at: string[] = []) => ({ issues: [customIssue(text, at)] })
  if (given.module !== undefined && pinnedVersion(given.module) !== version) {
    return refused(`the module is of version ${version} now; leave "module" out to take it as it is`, ['module'])
  }
  const answer = answers.get(keyOf(path, paramsWritten(given)))
  if (answer === undefined) return refused(`a document has at most ${GATE_LIMITS.checks} different checks by modules`)
  if ('problem' in answer) return refused(`${path} cannot be used: ${answer.problem}`)
  if ('issues' in answer) return { issues: answer.issues.map(asIssue) }
  const module = { version, ...(answer.reads && { reads: answer.reads }) }
  return { params: { ...answer.params, module } }
}

function asIssue({ code, path, message, keys }: z.infer<typeof IssueSchema>): ParamsIssue {
  return code === 'unrecognized_keys' && keys !== undefined ? { code, path, keys } : customIssue(message, path)
}

function customIssue(message: string, path: (string | number)[]): ParamsIssue {
  return { code: 'custom', path, message: safeOneLine(message, 240) }
}

function pinnedVersion(module: unknown): string | undefined {
  const read = ModuleSchema.safeParse(module)
  return read.success ? read.data.version : undefined
}

/** The gate of a check that was parsed with a module: the module is in the check, by its hash. */
export function gateOfCheck(check: Check): Gate<unknown> | undefined {
  return findAnyGate(check.type) ?? (isModulePath(check.type) ? { ...PARSED, type: check.type } : undefined)
}

/** What a module's gate is once its parameters are read. Those that were not throw, and the check is an error. */
const PARSED: Omit<Gate<unknown>, 'type'> = {
  summary: 'A gate of this project.',
  examples: [],
  params: z.unknown(),
  reads: (params) => moduleOf(params).reads ?? [],
  sees: (params, facts) =>
    moduleOf(params).reads === undefined ? { inputs: facts.inputs, outputs: facts.outputs } : null,
  check: judgeByModule,
}

function moduleOf(params: unknown): CheckModule {
  const read = z.looseObject({ module: ModuleSchema }).parse(params).module
  return { version: read.version, ...(read.reads && { reads: read.reads }) }
}

async function judgeByModule(given: unknown, facts: GateFacts, ports: GatePorts): Promise<CheckResult> {
  const { version, reads } = moduleOf(given)
  const { module: _, ...params } = given as Params
  const text = await ports.script?.(version)
  if (text === undefined) return broken(`its module of version ${version.slice(0, 12)} is not at hand here`)
  const seen = (values: Params) => (reads === undefined ? values : pick(values, reads))
  const input = { params, inputs: seen(facts.inputs), outputs: seen(facts.outputs) }
  return readVerdict(await ports.isolate.run('gate', { program: text, input }, GATE_LIMITS))
}

function pick(values: Params, names: readonly string[]): Params {
  return Object.fromEntries(
    names.flatMap((name) => (Object.hasOwn(values, name) ? [[name, values[name] ?? null]] : [])),
  )
}

const VerdictSchema = z.strictObject({ passed: z.boolean(), reason: z.string().min(1), evidence: json.optional() })

/** A module that fails, runs over or answers nonsense has judged nothing. */
function readVerdict(answer: Isolated): CheckResult {
  if (!answer.ok) return broken(`the gate broke off: ${answer.message}`)
  const read = VerdictSchema.safeParse(answer.value)
  if (!read.success) return broken('the gate broke off: its answer is no { passed, reason }')
  const { passed, reason, evidence } = read.data
  return { passed, reason, ...(evidence === undefined ? {} : { facts: factsOf(evidence) }) }
}

function factsOf(evidence: Json): Params {
  const isMapping = typeof evidence === 'object' && evidence !== null && !Array.isArray(evidence)
  // TypeScript does not take readonly lists out of Json by Array.isArray.
  return isMapping ? (evidence as Params) : { evidence }
}

function broken(reason: string): CheckResult {
  return { passed: false, error: true, reason }
}

/** The versions of the modules in a check, in its order, each once. */
export function versionsIn(check: Check): readonly string[] {
  const versions = leafChecks(check).flatMap(({ type, module }) => {
    return isModulePath(type) && findGate(type) === undefined ? (pinnedVersion(module) ?? []) : []
  })
  return [...new Set(versions)]
}

/** What a verdict says of the code that judged: the module's hash; of several in one check, the hash of their hashes. */
export function versionOfCheck(check: Check): string | undefined {
  const versions = versionsIn(check)
  return versions.length > 1 ? sha256(versions.join(' ')) : versions[0]
}

/** Everything that the gates of a document run by, whichever side they stand on. */
export function versionsOfDag({ blocks, task_gates = [] }: Pick<Dag, 'blocks' | 'task_gates'>): readonly string[] {
  const uses = blocks.flatMap((block) => [
    ...block.pre_gates,
    ...block.post_gates,
    ...(block.foreach?.item_gates ?? []),
  ])
  return [...new Set([...uses, ...task_gates].flatMap(({ check }) => versionsIn(check)))]
}

/** Where a run keeps a script: its version is its object's hash. */
export function scriptRef(tenant: string, version: string): string {
  return `objstore://${tenant}/${version}`
}
