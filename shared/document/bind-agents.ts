import type { AuthSettings } from '../auth/settings.ts'
import type { Agent, AgentRoute, Block, Dag } from '../dag/dag.ts'
import { callNameOf, isNativeHandler } from '../dag/native-call.ts'
import type { TaskGateSettings } from '../dag/task-gate-settings.ts'
import type { EgressSettings } from '../egress/settings.ts'
import type { Issue } from '../errors.ts'
import type { HttpGateSettings, ShellGateSettings } from '../gates/settings.ts'
import type { Pricing } from '../providers/model-prices.ts'
import { type AgentSettings, type ProviderSettings, providerIdentity } from '../providers/settings.ts'
import type { ResearchSettings } from '../research/settings.ts'
import type { People } from '../runs/people.ts'
import type { Safety } from '../runs/safety-settings.ts'
import { findService, type ServicesSettings, serviceBase } from '../services/settings.ts'
import type { KnownSteps } from '../steps/described-step.ts'
import type { StepsSettings } from '../steps/settings.ts'
import { sha256 } from '../text/hash.ts'
import { canonicalJson } from '../text/json.ts'
import { didYouMean, listed, quoted, suggest } from '../text/wording.ts'
import type { McpServersSettings } from '../tools/settings.ts'

/** What of a place's settings says who does the work of a document, what that costs, and who can be asked there. */
export interface Routing extends Pricing {
  readonly agents: Readonly<Record<string, AgentSettings>>
  readonly research?: ResearchSettings | undefined
  readonly shell_gates?: ShellGateSettings | undefined
  readonly http_gates?: HttpGateSettings | undefined
  /** By which way requests leave, and whom they may go to. */
  readonly egress?: EgressSettings | undefined
  readonly services?: ServicesSettings | undefined
  /** What steps of the project are given; of what they cost. */
  readonly steps?: StepsSettings['steps'] | undefined
  /** Gates of tasks: those of the project's modules are read with the document. */
  readonly gates?: readonly TaskGateSettings[] | undefined
  /** Whose tools agents may be given, and what the operator says of them. */
  readonly mcp_servers?: McpServersSettings | undefined
  readonly safety?: Safety | undefined
  readonly approvals?: Pick<People, 'groups' | 'default_group'> | undefined
  readonly people?: People['names']
  readonly slack?: { readonly users: People['aliases'] } | undefined
  readonly auth?: AuthSettings | undefined
  readonly iam_people?: readonly string[] | undefined
  readonly local_person?: string | undefined
  /** Where others reach the place. */
  readonly public_url?: string | undefined
}

/** What a block asks for: members of `agent` as its author wrote them, '' = not said. */
type WantedAgent = Pick<Agent, 'provider' | 'model' | 'route'>

type FoundAgent =
  | {
      readonly ok: true
      readonly provider: string
      readonly model: string
      /** Of the route: name in sluice.yaml, and its own system text. Absent where the block named provider and model. */
      readonly agent?: { readonly name: string; readonly system?: string }
    }
  | { readonly ok: false; readonly code: string; readonly text: string; readonly hint?: string | undefined }

/**
 * Who does the work: the first agent, in the order of the file, that fits everything the route says and is of the
 * provider the block names, if it names one. A model the block names stands before the agent's. Nobody fits, or the
 * provider's `models` does not list the model: a refusal with what there is, never another agent.
 */
export function findAgent(wanted: WantedAgent, { agents, providers }: Routing): FoundAgent {
  const { route } = wanted
  if (route === undefined) return listedModel(providers, { provider: wanted.provider, model: wanted.model })
  const found = Object.entries(agents).find(([name, agent]) => fits(name, agent, wanted))
  if (found === undefined) return refuseRoute(wanted, route, agents)
  const [name, { provider, model, system }] = found
  const agent = { name, ...(system === undefined ? {} : { system }) }
  return listedModel(providers, { provider, model: wanted.model === '' ? model : wanted.model, agent })
}

function fits(name: string, agent: AgentSettings, { provider, route }: WantedAgent): boolean {
  const { role, capability, specific } = route ?? {}
  return (
    (specific === undefined || specific === name) &&
    (role === undefined || role === agent.role) &&
    (capability === undefined || (agent.capabilities ?? []).includes(capability)) &&
    (provider === '' || provider === agent.provider)
  )
}

function listedModel(
  providers: Readonly<Record<string, ProviderSettings>>,
  found: Omit<Extract<FoundAgent, { ok: true }>, 'ok'>,
): FoundAgent {
  const { provider, model } = found
  const models = Object.hasOwn(providers, provider) ? providers[provider]?.models : undefined
  if (models === undefined || models.includes(model)) return { ok: true, ...found }
  const text = `asks provider ${quoted(provider)} for model ${quoted(model)}, which is not one of its models: ${listed(models)}`
  const hint = didYouMean(suggest(model, models)) ?? `Add it to providers.${provider}.models in sluice.yaml.`
  return { ok: false, code: 'unknown_model', text, hint }
}

const ADD_AGENT = 'Add it under agents in sluice.yaml.'

function refuseRoute(wanted: WantedAgent, route: AgentRoute, agents: Routing['agents']): FoundAgent {
  const names = Object.keys(agents)
  const { specific, capability } = route
  if (specific !== undefined && !names.includes(specific)) {
    const text = `names agent ${quoted(specific)}, which is not configured; configured are ${listed(names)}`
    return { ok: false, code: 'unknown_agent', text, hint: didYouMean(suggest(specific, names)) ?? ADD_AGENT }
  }
  const known = [...new Set(Object.values(agents).flatMap(({ capabilities = [] }) => capabilities))]
  const near = capability === undefined || known.includes(capability) ? undefined : suggest(capability, known)
  const text = `asks for an agent with ${routeWords(wanted, route)}, and none fits; configured are ${described(agents)}`
  return { ok: false, code: 'no_agent', text, hint: didYouMean(near) ?? ADD_AGENT }
}

function routeWords({ provider }: WantedAgent, { role, capability, specific }: AgentRoute): string {
  const asked = { name: specific, role, capability, provider: provider === '' ? undefined : provider }
  return Object.entries(asked)
    .flatMap(([key, value]) => (value === undefined ? [] : [`${key} ${quoted(value)}`]))
    .join(', ')
}

/** A dozen at most: `coder (worker; coding, tests; local)`. */
function described(agents: Routing['agents']): string {
  const all = Object.entries(agents).map(([name, { role, provider, capabilities = [] }]) => {
    const can = capabilities.length === 0 ? '' : ` ${capabilities.join(', ')};`
    return `${name} (${role};${can} ${provider})`
  })
  if (all.length === 0) return 'none'
  return all.length > 12 ? `${all.slice(0, 12).join(', ')} and ${all.length - 12} more` : all.join(', ')
}

type BoundDag = { readonly ok: true; readonly dag: Dag } | { readonly ok: false; readonly issues: readonly Issue[] }

/**
 * The document a run is pinned to: every ai block has its provider and model, found by its route where it has one, and
 * a hash that also stands for what answers it, so that a kept result of another model or server is not taken for its
 * own. The same holds for the service that a block of the handler `http` asks, and for the code of a step. The identity of the DAG stays that of the
 * document as written.
 */
export function bindAgents(dag: Dag, routing: Routing, steps: KnownSteps = {}): BoundDag {
  const issues: Issue[] = []
  const blocks = dag.blocks.map((block) => {
    if (block.mode === 'deterministic') return boundToStep(boundToService(block, routing), steps)
    if (block.mode !== 'ai') return block
    const found = findAgent(block.agent, routing)
    if (!found.ok) issues.push(issueOf(block, found))
    issues.push(...fallbackIssues(block, routing))
    return found.ok ? boundBlock(block, found, routing) : block
  })
  return issues.length === 0 ? { ok: true, dag: { ...dag, blocks } } : { ok: false, issues }
}

type AiBlock = Extract<Block, { mode: 'ai' }>

function boundBlock(block: AiBlock, found: Extract<FoundAgent, { ok: true }>, { providers }: Routing): Block {
  const { provider, model } = found
  const own = block.agent.system ?? found.agent?.system
  const name = found.agent === undefined ? {} : { agent: found.agent.name }
  const agent: Agent = { ...block.agent, provider, model, ...name, ...(own === undefined ? {} : { system: own }) }
  const answers = whoAnswers(providers, provider)
  const others = agent.fallback?.map((one) => whoAnswers(providers, one.provider))
  const made = { block: block.hash, provider, model, system: own ?? '', answers, ...(others && { fallback: others }) }
  return { ...block, agent, hash: sha256(canonicalJson(made)) }
}

function whoAnswers(providers: Routing['providers'], name: string): { readonly type: string; readonly url: string } {
  const settings = Object.hasOwn(providers, name) ? providers[name] : undefined
  return { type: settings?.type ?? name, url: settings === undefined ? '' : providerIdentity(settings) }
}

type DeterministicBlock = Extract<Block, { mode: 'deterministic' }>

function boundToService(block: DeterministicBlock, { services = {} }: Routing): DeterministicBlock {
  const service = block.handler === 'http' ? findService(services, String(block.config.service)) : undefined
  if (service === undefined) return block
  return { ...block, hash: sha256(canonicalJson({ block: block.hash, service: serviceBase(service) })) }
}

/** The steps and calls that a run's document is bound to, by block. */
export function stepsBound({ blocks }: Pick<Dag, 'blocks'>): ReadonlyMap<string, string> {
  const bound = blocks.flatMap((block) =>
    block.mode === 'deterministic' && block.step !== undefined ? [[block.id, stepName(block)] as const] : [],
  )
  return new Map(bound)
}

/** The document of a run, bound to the code that its steps have now. What is not known stays as it was. */
export function bindStepsAgain(dag: Dag, steps: KnownSteps): Dag {
  const blocks = dag.blocks.map((block) => {
    if (block.mode !== 'deterministic' || block.step === undefined) return block
    const known = steps[stepName(block)]
    const isSame = known === undefined || 'problem' in known || known.hash === block.step.hash
    return isSame ? block : boundToStep(block, steps)
  })
  return { ...dag, blocks }
}

function stepName({ handler, config }: DeterministicBlock): string {
  return isNativeHandler(handler) ? callNameOf(handler, config) : handler
}

/** Other code is another block: no kept result of the one is the other's. */
function boundToStep(block: DeterministicBlock, steps: KnownSteps): Block {
  const name = stepName(block)
  const known = Object.hasOwn(steps, name) ? steps[name] : undefined
  if (known === undefined || 'problem' in known) return block
  const { kind, hash, effect, stand_in } = known
  const step = { kind, hash, effect, ...(stand_in === undefined ? {} : { stand_in }) }
  return { ...block, step, hash: sha256(canonicalJson({ block: block.hash, step: hash })) }
}

function fallbackIssues(block: AiBlock, routing: Routing): readonly Issue[] {
  const found = (block.agent.fallback ?? []).map((one) => findAgent(one, routing))
  return found.flatMap((one, place) => (one.ok ? [] : [issueOf(block, one, `.fallback[${place}]`)]))
}

function issueOf({ id, index }: Block, { code, text, hint }: Extract<FoundAgent, { ok: false }>, at = ''): Issue {
  const message = `Block "${id}" ${text}.`
  return { code, path: `blocks[${index}].agent${at}`, message, ...(hint === undefined ? {} : { hint }) }
}
