import * as z from 'zod'
import type { Agent, AgentRoute, ApprovalPolicy, ChildDag, Fallback, Research, Wait } from '../dag/dag.ts'
import { HANDLERS, HANDLERS_BEYOND_PORTS, isStepPath, STEP_PATH } from '../dag/handlers.ts'
import { isNativeHandler, NATIVE_HANDLERS } from '../dag/native-call.ts'
import { isName, isReservedKey, NAME_RULE } from '../limits.ts'
import { PROMPT_TEMPLATES, type TemplateName } from '../prompts/templates.ts'
import { ASKED_LIMITS, resolveBudgets } from '../research/payloads/intent.ts'
import type { Problem } from '../text/document-problems.ts'
import { canonicalJson, type Json } from '../text/json.ts'
import { type Path, pathText } from '../text/source-position.ts'
import { describeValue, didYouMean, listed, quoted, suggest } from '../text/wording.ts'
import { readActing } from './agent-tools.ts'
import { findAgent } from './bind-agents.ts'
import { readNativeCall } from './native-calls.ts'
import type { Ports } from './ports.ts'
import { checkProgram } from './programs.ts'
import { type Mapping, type Reading, readMapping, readMember, readSection, SECTIONS } from './sections.ts'
import { readWait } from './wait-section.ts'

/** Who does the work of an ai block; `undefined` when that is wrong or not said. */
function readAgent(
  reading: Reading,
  given: Json,
  path: Path,
): { readonly mode: 'ai'; readonly agent: Agent } | undefined {
  const section = readSection(reading, SECTIONS.agent, given, path)
  if (section === undefined) return undefined
  const { provider, model, model_params = {} } = section
  const isNamed = provider !== undefined && model !== undefined
  const route = readRoute(reading, section, path, isNamed)
  if (provider !== undefined) checkProvider(reading, provider, [...path, 'provider'])
  // What is not named is empty until the route is bound to an agent of sluice.yaml.
  const agent = { provider: provider ?? '', model: model ?? '', ...route, ...textsOf(section) }
  if (isNamed || route.route !== undefined) checkFound(reading, agent, path)
  else refuseNobody(reading, given, path)
  const asked = { ...agent, model_params: model_params as Mapping }
  const acting = readActing(reading, section, path)
  const acts = acting === undefined ? {} : { acting }
  return {
    mode: 'ai',
    agent: { ...asked, ...acts, ...readFallback(reading, section.fallback, asked, [...path, 'fallback']) },
  }
}

/** Who is asked after the agent's own provider; parameters that are not said are those of the agent. */
function readFallback(
  reading: Reading,
  list: readonly Json[] | undefined,
  agent: Fallback,
  path: Path,
): Pick<Agent, 'fallback'> {
  if (list === undefined) return {}
  const asked = [agent]
  const fallback = list.flatMap((one, index) => {
    const read = readOneFallback(reading, one, asked, [...path, index])
    if (read === undefined) return []
    asked.push(read)
    return read
  })
  return { fallback }
}

function readOneFallback(
  reading: Reading,
  given: Json,
  [agent, ...others]: readonly Fallback[],
  path: Path,
): Fallback | undefined {
  const section = readSection(reading, SECTIONS.fallback, given, path)
  if (section?.provider === undefined || section.model === undefined) return undefined
  const { provider, model, model_params = agent?.model_params ?? {} } = section
  checkProvider(reading, provider, [...path, 'provider'])
  const read = { provider, model, model_params: model_params as Mapping }
  checkFound(reading, read, path)
  if (![agent, ...others].some((other) => other !== undefined && isSame(other, read))) return read
  const text = `asks provider ${quoted(provider)} for model ${quoted(model)} twice with the same model_params`
  const hint = 'Leave it out, or name another model or provider: who could not be asked is not asked again.'
  reading.problems.push({ code: 'duplicate_fallback', path, say: ({ who }) => ({ text: `${who} ${text}`, hint }) })
  return undefined
}

function isSame(a: Fallback, b: Fallback): boolean {
  return (
    a.provider === b.provider && a.model === b.model && canonicalJson(a.model_params) === canonicalJson(b.model_params)
  )
}

type Texts = Pick<Agent, 'prompt' | 'system'>

/** The words of a template are put in here, so that a run is pinned to them and not to a name. */
function textsOf({ prompt, prompt_template: name, system }: Loose<Texts & { prompt_template: TemplateName }>): Texts {
  const parts = [name === undefined ? undefined : PROMPT_TEMPLATES[name], system].filter((part) => part !== undefined)
  return { ...(prompt === undefined ? {} : { prompt }), ...(parts.length === 0 ? {} : { system: parts.join('\n\n') }) }
}

/** As a section answers it: what is absent is undefined. */
type Loose<T> = { readonly [K in keyof T]?: T[K] | undefined }

/** How its agent is found; beside both names that has no effect. */
function readRoute(
  { warnings }: Reading,
  { role, capability, specific }: Loose<AgentRoute>,
  path: Path,
  isNamed: boolean,
): Pick<Agent, 'route'> {
  const route = {
    ...(role === undefined ? {} : { role }),
    ...(capability === undefined ? {} : { capability }),
    ...(specific === undefined ? {} : { specific }),
  }
  if (Object.keys(route).length === 0) return {}
  if (!isNamed) return { route }
  const at = pathText(path)
  const message = `"role", "capability" and "specific" of ${at} have no effect, since it names provider and model.`
  warnings.push({ code: 'route_without_effect', path: at, message })
  return {}
}

/** Neither named nor described. A key that is there but wrong is a problem already. */
function refuseNobody({ problems }: Reading, agent: Json, path: Path): void {
  const given = (key: string) => typeof agent === 'object' && agent !== null && Object.hasOwn(agent, key)
  if (['role', 'capability', 'specific'].some(given)) return
  for (const key of ['provider', 'model'].filter((key) => !given(key))) {
    const hint = `Add "${key}", or let an agent of sluice.yaml be found by "role", "capability" or "specific".`
    problems.push({
      code: 'missing_key',
      path: [...path, key],
      say: ({ place }) => ({ text: `${place} is missing`, hint }),
    })
  }
}

/** Somebody does the work, and with a model its provider has: judged when the agents of the place are known. */
function checkFound({ problems, routing }: Reading, agent: Pick<Agent, 'provider' | 'model' | 'route'>, path: Path) {
  const found = routing === undefined ? undefined : findAgent(agent, routing)
  if (found === undefined || found.ok) return
  const { code, text, hint } = found
  problems.push({ code, path, say: ({ who }) => ({ text: `${who} ${text}`, hint }) })
}

function checkProvider({ problems, providers }: Reading, provider: string, path: Path): void {
  if (providers === undefined || provider === 'local' || providers.includes(provider)) return
  const known = [...new Set([...providers, 'local'])]
  const say: Problem['say'] = ({ who }) => {
    const near = suggest(provider, known)
    const text = `${who} uses provider ${quoted(provider)}, which is not configured; configured are ${listed(known)}`
    return { text, hint: didYouMean(near) ?? 'Add it to sluice.yaml.' }
  }
  problems.push({ code: 'unknown_provider', path, say })
}

/** The handler of a deterministic block and its config, as the handler's own schema has it. */
function readHandler(reading: Reading, given: Json, path: Path): Deterministic | undefined {
  const section = readSection(reading, SECTIONS.deterministic, given, path)
  if (section?.handler === undefined) return undefined
  if (isNativeHandler(section.handler)) return readCall(reading, section.handler, section.config, path)
  const known = Object.entries(HANDLERS).find(([name]) => name === section.handler)
  if (known === undefined) return readStep(reading, section.handler, section.config, path)
  const [handler, schema] = known
  // The schemas of handlers accept JSON only.
  const config = readSection(reading, schema, section.config ?? {}, [...path, 'config']) as Mapping | undefined
  if (config === undefined) return undefined
  checkPrograms(reading, config, path)
  return { mode: 'deterministic', handler, config }
}

/** Whatever of a config is JSONata. */
function checkPrograms(reading: Reading, config: Mapping, path: Path): void {
  for (const key of ['expression', 'body_expression', 'payload_expression', 'parameters_expression']) {
    const program = config[key]
    if (typeof program === 'string') checkProgram(reading, program, [...path, 'config', key])
  }
}

/** A call that AWS makes for the machine. */
function readCall(reading: Reading, handler: string, given: Json | undefined, path: Path): Deterministic | undefined {
  if (!isNativeHandler(handler)) return undefined
  const config = readNativeCall(reading, handler, given, path)
  if (config === undefined) return undefined
  checkPrograms(reading, config, path)
  return { mode: 'deterministic', handler, config }
}

/** A handler that is none of ours is a step of the project: a module by its path, or a program of the settings. */
function readStep(reading: Reading, handler: string, given: Json | undefined, path: Path): Deterministic | undefined {
  const at = [...path, 'handler']
  if (isStepPath(handler) && !STEP_PATH.test(handler)) {
    refuseStep(
      reading,
      handler,
      at,
      'which is no path of a step; allowed are ./ and a path below the folder of sluice.yaml, of letters, digits, "_", "." and "-", no name of which begins with "." or "-"',
    )
    return undefined
  }
  const { steps } = reading
  const step = steps !== undefined && Object.hasOwn(steps, handler) ? steps[handler] : undefined
  if (!isStepPath(handler) || (step === undefined && steps !== undefined)) {
    refuseHandler(reading, handler, at)
    return undefined
  }
  if (step !== undefined && 'problem' in step) {
    refuseStep(reading, handler, at, `which cannot be taken: ${step.problem.replace(/\.$/, '')}`, step.hint)
    return undefined
  }
  const config = readMapping(reading, given ?? {}, [...path, 'config'])
  if (config === undefined) return undefined
  if (step?.config !== undefined) checkStepConfig(reading, step.config, config, [...path, 'config'])
  return { mode: 'deterministic', handler, config }
}

function refuseStep({ problems }: Reading, handler: string, path: Path, why: string, hint?: string): void {
  const say: Problem['say'] = ({ who }) => ({ text: `${who} names ${quoted(handler)}, ${why}`, hint })
  problems.push({ code: 'unknown_step', path, say })
}

/** By the schema its module made of it: what has a default may be left out. */
function checkStepConfig(reading: Reading, schema: Json, config: Mapping, path: Path): void {
  // A JSON Schema that zod made, read back by it.
  const read = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0])
  readMember(reading, read, config, path)
}

function refuseHandler({ problems, steps = {} }: Reading, handler: string, path: Path): void {
  const say: Problem['say'] = ({ who }) => {
    const names = [...Object.keys(HANDLERS), ...Object.keys(NATIVE_HANDLERS), ...Object.keys(steps).filter(isStepPath)]
    const near = suggest(handler, names)
    const text = `${who} uses the unknown handler ${quoted(handler)}; known are ${listed(names)}`
    const ours = Object.hasOwn(ELSEWHERE, handler) ? ELSEWHERE[handler] : undefined
    // Who leaves out the beginning means a step.
    const step = near === undefined && handler.includes('/') && STEP_PATH.test(`./${handler}`) ? `./${handler}` : near
    return { text, hint: ours ?? didYouMean(step) }
  }
  problems.push({ code: 'unknown_handler', path, say })
}

/** Handlers of other systems that work on paths and URLs of their own choice, and what does their work here. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'builtin:read-file': 'Use read-input: it reads below the inputs folder.',
  'builtin:transform': 'Use transform with a JSONata expression, or pass.',
  'builtin:http-request': 'Use http: it asks a service that the operator named under services in sluice.yaml.',
}

/** The section `dag`: which deployed document runs as a child, what it is given and what comes back. */
function readChild(
  reading: Reading,
  given: Json,
  path: Path,
  outputs: Ports,
): { readonly mode: 'dag'; readonly dag: ChildDag } | undefined {
  const section = readSection(reading, SECTIONS.child, given, path)
  if (section?.name === undefined) return undefined
  const inputs = readNamed(reading, section.inputs, [...path, 'inputs'])
  const taken = readNamed(reading, section.outputs, [...path, 'outputs'])
  for (const [port, source] of Object.entries(taken)) {
    const at = [...path, 'outputs', port]
    if (!outputs.has(port)) refusePort(reading, port, at, outputs)
    if (!isReference(source)) refuseReference(reading, source, at)
  }
  // Every other value was refused above.
  return { mode: 'dag', dag: { name: section.name, inputs, outputs: taken as Readonly<Record<string, string>> } }
}

/** A mapping whose keys are names. */
function readNamed(reading: Reading, given: Json | undefined, path: Path): Mapping {
  const mapping = given === undefined ? {} : (readMapping(reading, given, path) ?? {})
  for (const key of Object.keys(mapping)) {
    if (isName(key)) continue
    const say: Problem['say'] = ({ place }) => ({
      text: `the name of ${place} is not allowed; allowed are ${NAME_RULE}`,
    })
    reading.problems.push({ code: 'illegal_name', path: [...path, key], on: 'key', say })
  }
  return mapping
}

function isReference(source: Json): boolean {
  const [block = '', output = '', ...more] = typeof source === 'string' ? source.split('.') : []
  return more.length === 0 && isName(block) && isName(output)
}

function refusePort({ problems }: Reading, port: string, path: Path, outputs: Ports): void {
  const say: Problem['say'] = ({ who }) => ({
    text: `${who} fills ${quoted(port)} from its child, but its outputs are ${listed(outputs.keys())}`,
    hint: didYouMean(suggest(port, outputs.keys())),
  })
  problems.push({ code: 'unknown_output', path, on: 'key', say })
}

function refuseReference({ problems }: Reading, source: Json, path: Path): void {
  const say: Problem['say'] = ({ place }) => ({
    text: `${place} is ${describeValue(source)}; allowed is BLOCK.OUTPUT of the child`,
  })
  problems.push({ code: 'malformed_from', path, say })
}

/** The section `research`: what is asked, and within which bounds (docs/dag.md, "Research"). */
function readResearch(
  reading: Reading,
  given: Json,
  path: Path,
): { readonly mode: 'research'; readonly research: Research } | undefined {
  const section = readSection(reading, SECTIONS.research, given, path)
  if (section?.topic === undefined) return undefined
  const { topic, hints, keep_unsupported, ...bounds } = section
  const read = readHints(reading, hints, [...path, 'hints'])
  const kept = keep_unsupported === true ? { keep_unsupported } : {}
  return { mode: 'research', research: { topic, hints: read, ...resolveBudgets(bounds), ...kept } }
}

function readHints(reading: Reading, given: Json | undefined, path: Path): Readonly<Record<string, string>> {
  const mapping = given === undefined ? {} : (readMapping(reading, given, path) ?? {})
  const entries = Object.entries(mapping)
  const { hints: most } = ASKED_LIMITS
  if (entries.length > most) {
    refuseHint(reading, path, 'limit_exceeded', `has ${entries.length} hints; the limit is ${most}`)
  }
  const hints: Record<string, string> = {}
  for (const [key, value] of entries) {
    const wrong = wrongKey(key) ?? wrongValue(value)
    if (wrong !== undefined) refuseHint(reading, [...path, key], ...wrong)
    else if (typeof value === 'string') hints[key] = value
  }
  return hints
}

/** Code and words of what is wrong. */
type WrongHint = readonly [code: string, words: string]

function wrongKey(key: string): WrongHint | undefined {
  const { hint_key_characters: most } = ASKED_LIMITS
  if (key.trim() === '' || isReservedKey(key)) return ['illegal_name', 'is no name of a hint']
  return key.length > most ? ['limit_exceeded', `has ${key.length} characters; the limit is ${most}`] : undefined
}

function wrongValue(value: Json): WrongHint | undefined {
  const { hint_value_characters: most } = ASKED_LIMITS
  if (typeof value !== 'string') return ['wrong_type', `must be a text, got ${describeValue(value)}`]
  if (value.trim() === '') return ['invalid_value', 'is blank; leave it out, or say something']
  const long = `is a text of ${value.length} characters; the limit is ${most}`
  return value.length > most ? ['limit_exceeded', long] : undefined
}

function refuseHint({ problems }: Reading, path: Path, ...[code, words]: WrongHint): void {
  const say: Problem['say'] = ({ place }) => ({ text: `${place} ${words}` })
  problems.push({ code, path, on: 'key', say })
}

interface Deterministic {
  readonly mode: 'deterministic'
  readonly handler: string
  readonly config: Mapping
}

/** What a block does: the part of it that depends on its mode. */
export type Work =
  | { readonly mode: 'ai'; readonly agent: Agent }
  | Deterministic
  | { readonly mode: 'approval'; readonly approval: ApprovalPolicy }
  | { readonly mode: 'dag'; readonly dag: ChildDag }
  | { readonly mode: 'research'; readonly research: Research }
  | { readonly mode: 'wait'; readonly wait: Wait }

/** Modes with a section of their own, and who reads it. */
const READERS = {
  ai: { section: 'agent', read: readAgent },
  deterministic: { section: 'deterministic', read: readHandler },
  dag: { section: 'dag', read: readChild },
  research: { section: 'research', read: readResearch },
  wait: { section: 'wait', read: readWait },
} as const
const MODES = [...Object.keys(READERS), 'approval']

/** Reads the section its mode asks for; `undefined` when that is wrong or missing. */
export function readWork(
  reading: Reading,
  block: Mapping,
  path: Path,
  { approval, outputs }: { readonly approval: ApprovalPolicy | undefined; readonly outputs: Ports },
): Work | undefined {
  const { mode = 'ai' } = block
  for (const section of SECTIONS_OF_MODES) if (mode !== section) refuseSection(reading, block, path, section)
  if (mode === 'approval') {
    if (approval !== undefined) return { mode, approval }
    // A section that is there but wrong is a problem already.
    if (isNobody(block.approval)) missingSection(reading, path, mode, 'approval')
    return undefined
  }
  if (!isMode(mode)) {
    refuseMode(reading, mode, [...path, 'mode'])
    return undefined
  }
  const { section, read } = READERS[mode]
  const given = block[section]
  if (given !== undefined) {
    const work = read(reading, given, [...path, section], outputs)
    checkBeside(reading, block, path, work)
    return work
  }
  missingSection(reading, path, mode, section)
  return undefined
}

const SECTIONS_OF_MODES = ['deterministic', 'dag', 'research', 'wait'] as const

function isMode(mode: Json): mode is keyof typeof READERS {
  return typeof mode === 'string' && Object.hasOwn(READERS, mode)
}

/** A section that would be passed over in silence: its author meant the mode. */
function refuseSection({ problems }: Reading, block: Mapping, path: Path, section: string): void {
  if (block[section] === undefined) return
  const { mode = 'ai' } = block
  const say: Problem['say'] = ({ who }) => ({
    text: `${who} has a section "${section}", but its mode is ${describeValue(mode)}`,
    hint: `Add mode: ${section}, or remove the section.`,
  })
  problems.push({ code: 'mode_mismatch', path: [...path, section], on: 'key', say })
}

/** Of a handler that looks at its run, or changes its context or a service, the inputs do not say what it would do. */
function refuseCache({ problems }: Reading, block: Mapping, path: Path, { handler, config }: Deterministic): void {
  const isChange = (handler === 'http' && config.method !== 'GET') || handler === 'aws'
  if (block.cache === undefined || (HANDLERS_BEYOND_PORTS[handler] !== 'run' && !isChange)) return
  const isRequest = isChange && handler === 'http'
  const what = isRequest ? `a ${String(config.method)} of the handler "http"` : `the handler "${handler}"`
  const say: Problem['say'] = ({ who }) => ({
    text: `${who} has "cache", which does not go with ${what}`,
    hint: isChange
      ? 'Remove it: a kept answer would stand for a request nobody made.'
      : 'Remove it: what that handler does is more than its inputs say.',
  })
  problems.push({ code: 'mode_mismatch', path: [...path, 'cache'], on: 'key', say })
}

/** Keys of the block that do not go with what it does. */
function checkBeside(reading: Reading, block: Mapping, path: Path, work: Work | undefined): void {
  if (work?.mode === 'deterministic') refuseCache(reading, block, path, work)
  if (work?.mode === 'wait') refuseItems(reading, block, path, work.wait)
  if (work?.mode === 'ai' && work.agent.acting !== undefined) refuseListOfAgents(reading, block, path)
}

/** Turns and calls are items of their block: it has no room for those of a list. */
function refuseListOfAgents({ problems }: Reading, block: Mapping, path: Path): void {
  if (block.foreach === undefined) return
  const say: Problem['say'] = ({ who }) => ({
    text: `${who} has "foreach", which does not go with "agent.tools"`,
    hint: 'Put the agent into a document of its own, and let each item be a run of that: a tool dag.NAME, or a step that starts it.',
  })
  problems.push({ code: 'mode_mismatch', path: [...path, 'foreach'], on: 'key', say })
}

/** Each item would have an address of its own, and the list it comes from is not known before the run. */
function refuseItems({ problems }: Reading, block: Mapping, path: Path, { kind }: Wait): void {
  if (kind !== 'callback' || block.foreach === undefined) return
  const say: Problem['say'] = ({ who }) => ({
    text: `${who} has "foreach", which does not go with a wait for a callback`,
    hint: 'Wait for an event whose key is of the item, or let a child run of one callback do it for each item.',
  })
  problems.push({ code: 'mode_mismatch', path: [...path, 'foreach'], on: 'key', say })
}

function missingSection({ problems }: Reading, path: Path, mode: string, section: string): void {
  const say: Problem['say'] = ({ who }) => ({
    text: `${who} is of mode "${mode}", but has no section "${section}"`,
    hint: SECTION_HINTS[section],
  })
  problems.push({ code: 'missing_section', path, say })
}

const SECTION_HINTS: Readonly<Record<string, string>> = {
  agent: 'Add agent: { provider: .., model: .. }.',
  deterministic: 'Add deterministic: { handler: .. }.',
  approval: 'Add approval: { prompt: .. }, or approval: true.',
  dag: 'Add dag: { name: .. }.',
  research: 'Add research: { topic: .. }.',
  wait: 'Add wait: { for: 2h }, or until, event or callback.',
}

function refuseMode({ problems }: Reading, mode: Json, path: Path): void {
  const say: Problem['say'] = ({ who }) => {
    const near = typeof mode === 'string' ? suggest(mode, MODES) : undefined
    const text = `${who} has the unknown mode ${describeValue(mode)}; allowed are ${listed(MODES)}`
    return { text, hint: didYouMean(near) }
  }
  problems.push({ code: 'unknown_mode', path, say })
}

function isNobody(approval: Json | undefined): boolean {
  if (approval === undefined || approval === false) return true
  return typeof approval === 'object' && approval !== null && (approval as Mapping).required === false
}
