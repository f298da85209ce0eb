import type { MakeNativeCall } from '../../infra/local/asl/execution-context.ts'
import { createLocalMachine, type LocalMachine } from '../../infra/local/asl/local-machine.ts'
import { openUploads } from '../../infra/local/uploads.ts'
import type { Principal } from '../../shared/auth/principal.ts'
import { SCOPES } from '../../shared/auth/scopes.ts'
import { FUNCTIONS } from '../../shared/catalog.ts'
import { objectFault } from '../../shared/ports/objects.ts'
import type { Head } from '../../shared/runs/head.ts'
import type { Append, RunKey, RunStore } from '../../shared/runs/run-store.ts'
import type { WaitStore } from '../../shared/runs/wait-store.ts'
import { openServices } from '../../shared/services/service-keys.ts'
import { SettingsSchema } from '../../shared/settings/settings.ts'
import type { SlackWork } from '../../shared/slack/slack-port.ts'
import type { SpendingLedgers } from '../../shared/spending/ledger.ts'
import type { StepReport } from '../../shared/steps/step-order.ts'
import type { Json } from '../../shared/text/json.ts'
import type { TriggerStore } from '../../shared/triggers/trigger-store.ts'
import type { Outbox } from '../../shared/world.ts'
import { watchAgents } from './agents/agent-watch.ts'
import { ACTOR } from './agents/plan-agents.ts'
import { createSimulatedServer, SERVER_SETTINGS } from './agents/simulated-server.ts'
import type { StoredText } from './emptied-store.ts'
import { DROPS, FOLLOWER, HOOK_KEYS, TICKER } from './fire-triggers.ts'
import { createFunctions, type Functions } from './functions.ts'
import type { Invocation } from './invocation.ts'
import { createMeaning } from './meaning.ts'
import { createMemoryGraph } from './memory-graph.ts'
import { createMemoryJournal } from './memory-journal.ts'
import { createMemoryObjects, type MemoryObjects } from './memory-objects.ts'
import type { Mutant } from './mutant.ts'
import { openSqlite, openTable, type Part } from './open-store.ts'
import { ASKER, CHILD } from './plan-runs.ts'
import { createProbe, type Probe } from './probe.ts'
import type { SharedPorts } from './sandbox.ts'
import type { Scenario } from './scenario.ts'
import type { Sim } from './sim.ts'
import { CALL_SETTINGS, createSimulatedCalls, watchOutputs } from './simulated-calls.ts'
import { simulatedGatePorts } from './simulated-gate-ports.ts'
import { createSimulatedSteps } from './simulated-steps.ts'
import { createSimulatedSlack, type SimulatedSlack } from './slack/simulated-slack.ts'
import { GROUPS, SLACK_SETTINGS } from './slack/workspace.ts'
import { slowExtractive } from './slow-extractive.ts'
import type { HeadChange } from './until-head.ts'
import { watchAnswers } from './watch-answers.ts'
import { BUSES, createSimulatedEndpoints, ENDPOINTS, type SimulatedEndpoints } from './webhooks/simulated-endpoints.ts'
import type { Wire } from './wire/open-wire.ts'

export type StoreKind = 'sqlite' | 'dynamodb'

/** One simulated place: functions, machine, stores and what watches them. */
export interface System {
  readonly sim: Sim
  readonly functions: Functions
  /** The store as it is, behind no fault. */
  readonly raw: RunStore
  /** The same of events and callbacks. */
  readonly waits: WaitStore
  readonly spending: SpendingLedgers
  readonly triggers: TriggerStore
  readonly machine: LocalMachine
  readonly objects: MemoryObjects
  readonly probe: Probe
  /** Absent = it is not configured. */
  readonly slack: SimulatedSlack | undefined
  /** Webhooks; absent = there are none. */
  readonly endpoints: SimulatedEndpoints | undefined
  /** Task tokens that functions were called with. */
  readonly tokens: ReadonlySet<string>
  /** Every run there is, its children and linked ones too. */
  readonly runs: ReadonlyMap<string, RunKey>
  /** HEAD of each run, as it was after the last step. */
  readonly heads: Map<string, Head>
  /** Told of each change of a HEAD, after the step that made it. */
  readonly lookers: Set<(change: HeadChange) => void>
  /** Runs of which that part was written since this was asked last; '' for what belongs to no run. */
  written(part: Part): readonly string[]
  /** Everything that is stored now, but objects. */
  texts(): readonly StoredText[]
  close(): void
}

/** Those that blocks and agents call. */
const DOCUMENTS = [CHILD, ASKER, ACTOR]

const NO_MODULES: SharedPorts['modules'] = {
  gate: async () => ({ ok: false, code: 'gate_module_missing', text: 'is no module of the simulation' }),
}

interface SystemParts {
  readonly sim: Sim
  readonly scenario: Scenario
  readonly store: StoreKind
  readonly mutant: Mutant | undefined
  /** The table of the dynamodb store lies there, else in memory. */
  readonly wire: Wire | undefined
  /** Deployed besides. */
  readonly documents?: readonly { readonly name: string }[]
}

export function openSystem({ sim, scenario, store, mutant, wire, documents: more = [] }: SystemParts): System {
  const written = { head: new Set<string>(), projections: new Set<string>(), leases: new Set<string>() }
  const runs = new Map<string, RunKey>()
  const heads = new Map<string, Head>()
  const note = (part: Part, run_id: string) => void written[part].add(run_id)
  const opened = store === 'sqlite' ? openSqlite(sim, mutant, note) : openTable(sim, mutant, note, wire)
  const objects = createMemoryObjects(() => sim.scheduler.now())
  const extractive = slowExtractive(sim)
  const meaning = createMeaning(sim)
  const memory = createMemoryGraph(sim.scheduler, objects)
  const watch = watchAgents({ sim, raw: opened.raw, objects, runs, heads })
  const probe = createProbe(sim, scenario.probe, 'judge' in scenario.providers, watch.asked)
  const slack = scenario.slack ? createSimulatedSlack(sim) : undefined
  const gatePorts = simulatedGatePorts()
  const simulated = createSimulatedEndpoints(sim, gatePorts.http)
  const endpoints = scenario.webhooks ? simulated : undefined
  const tokens = new Set<string>()
  const call = (name: string, payload: Json, signal: AbortSignal | undefined) => {
    const { token } = payload as MachinePayload
    if (token !== undefined) tokens.add(token)
    calls.again(payload, () => callByMachine(functions, name, payload, undefined))
    return callByMachine(functions, name, payload, signal)
  }
  const calls = createSimulatedCalls({ sim, rates: scenario.calls, objects })
  const machine = openMachine(sim, store, call, {
    native: calls.native,
    ended: (name, status) => tellReconcile(sim, functions, name, status),
  })
  const { holderGone } = machine
  const { answer, asked } = watchAnswers({ sim, raw: opened.raw, runs, heads }, machine.answer)
  const documents = [...DOCUMENTS, ...(scenario.triggers ? [TICKER, FOLLOWER] : []), ...more]
  const shared: SharedPorts = {
    ...opened,
    ...gatePorts,
    http: simulated.http,
    webhooks: simulated.webhooks,
    buses: simulated.buses,
    services: openServices({}, async () => undefined),
    hookKeys: HOOK_KEYS,
    drops: DROPS,
    mcp: createSimulatedServer({ sim, rates: scenario.server, changes_at: scenario.tool_changes_at, watch }),
    modules: NO_MODULES,
    steps: createSimulatedSteps({
      sim,
      rates: scenario.steps,
      objects,
      report: (said, who) => reportStep(functions, said, who),
    }),
    objects: withMissing(sim, objects),
    uploads: openUploads(sim.scheduler),
    get graph() {
      return memory.graph
    },
    get search() {
      return memory.search
    },
    get indexing() {
      return memory.indexing
    },
    machine: { ...machine, answer, holderGone: store === 'sqlite' ? holderGone : () => false },
    outbox: outboxOf(sim, store, () => functions),
    providers: {
      get: (name) => ({ probe: probe.provider, spare: probe.provider, judge: probe.judge, extractive, meaning })[name],
      names: () => ['probe', 'spare', 'judge'],
    },
    documents: {
      names: () => documents.map(({ name }) => name),
      read: async (name) => {
        const found = documents.find((document) => document.name === name)
        return found === undefined ? undefined : JSON.stringify(found)
      },
    },
    settings: SettingsSchema.parse({
      auth: { mode: 'token' },
      tenants: ['main', 'other'],
      ...(scenario.triggers ? { told_ends: [TICKER.name] } : {}),
      safety: scenario.safety,
      providers: scenario.providers,
      ...(scenario.spending ? { spending: SPENDING } : {}),
      shell_gates: { allow: [['true']] },
      integrations: CALL_SETTINGS,
      mcp_servers: SERVER_SETTINGS,
      approvals: { groups: GROUPS },
      research: {
        ...{ classifier_tier_3: true, webhook: 'https://told.example/' },
        ...(scenario.meaning ? { embeddings: { provider: 'meaning', model: 'm' } } : {}),
      },
      ...(slack === undefined ? {} : { slack: SLACK_SETTINGS }),
      ...(endpoints === undefined ? {} : { webhooks: ENDPOINTS, buses: BUSES }),
    }),
    ...(slack === undefined ? {} : { slack: slack.slack }),
    mutated: (world, name) => mutant?.world?.(world, name) ?? world,
    watch(invocation, port, method, args) {
      if (port === 'runs' && method === 'create') noteRun(runs, args)
      if (port === 'runs' && method === 'append') watchOutputs({ sim, objects }, args[0] as Append)
      if (port === 'runs' && method === 'putApproval') asked(invocation, String(args[2]))
      if (port === 'machine' && method === 'start') noteStart(sim, args)
      watchTenant(sim, invocation, port, method, args)
    },
  }
  const functions = createFunctions({
    sim,
    shared,
    skew_ms: scenario.skew_ms,
    boot: store === 'sqlite' ? 'boot' : undefined,
  })
  const taken = (part: Part): readonly string[] => {
    if (written[part].size === 0) return NOTHING
    const all = [...written[part]]
    written[part].clear()
    return all
  }
  return {
    sim,
    functions,
    raw: opened.raw,
    waits: opened.rawWaits,
    spending: opened.rawSpending,
    triggers: opened.rawTriggers,
    machine,
    objects,
    probe,
    slack,
    endpoints,
    tokens,
    runs,
    heads,
    lookers: new Set(),
    written: taken,
    texts: opened.texts,
    close() {
      memory.close()
      opened.close()
    },
  }
}

/** More than a simulation ever uses. */
export const SPENDING = [{ name: 'all', per: 'month', tokens: 1_000_000_000_000 }] as const

const NOTHING: readonly string[] = []
const MISSING_FOR_MS = 2_000

/** S3 may say that what was just put is not there. */
function withMissing(sim: Sim, objects: MemoryObjects): SharedPorts['objects'] {
  const isMissing = (tenant: string, ref: string): boolean => {
    const at = objects.putAt(tenant, ref)
    const isNew = at !== undefined && sim.scheduler.now() - at < MISSING_FOR_MS
    return isNew && sim.faults.strike('objects/read', ref.slice(-12), ['missing']) !== undefined
  }
  return {
    put: objects.put,
    async get(tenant, ref) {
      if (isMissing(tenant, ref)) throw objectFault('missing', ref)
      return objects.get(tenant, ref)
    },
    has: async (tenant, ref) => !isMissing(tenant, ref) && objects.has(tenant, ref),
    erase: objects.erase,
  }
}

function openMachine(
  sim: Sim,
  store: StoreKind,
  invoke: (name: string, payload: Json, signal: AbortSignal | undefined) => Promise<unknown>,
  { native, ended }: { readonly native: MakeNativeCall; ended(name: string, status: string): void },
): LocalMachine {
  const random = (bytes: number) => Uint8Array.from({ length: bytes }, () => Math.floor(sim.random() * 256))
  return createLocalMachine({
    invoke: (name, payload, signal) => invoke(name, payload, store === 'sqlite' ? signal : undefined) as Promise<Json>,
    native,
    clock: sim.scheduler,
    ids: { random, boot: 'boot' },
    journal: createMemoryJournal(),
    bind: (text) => text.replace(/\$\{(\w+)\}/g, (_all, name: string) => NAMES.get(name) ?? ''),
    onEnd: (name, { status }) => ended(name, status),
  })
}

const NAMES = new Map(FUNCTIONS.map(({ placeholder, name }) => [placeholder, name]))

interface MachinePayload {
  readonly token?: string
  readonly in?: { readonly tenant: string; readonly run_id: string }
  readonly block?: string
  readonly item?: number
  readonly phase?: string
  readonly join?: string
  readonly e?: number
}

function callByMachine(functions: Functions, name: string, payload: Json, signal: AbortSignal | undefined) {
  const { in: input, block, item, phase, join, e } = payload as MachinePayload
  const parts = [block ?? join, item, phase, e].filter((part) => part !== undefined)
  const who = `${name}(${[input?.run_id.slice(-6), ...parts].join(' ')})`
  const tenant = input === undefined ? {} : { tenant: input.tenant }
  return functions.invoke(name, payload, {
    from: 'machine',
    who,
    ...tenant,
    ...(signal === undefined ? {} : { signal }),
  })
}

/** Whoever does the work of a step calls it as a machine does: the call may come twice, or go astray. */
async function reportStep(functions: Functions, said: StepReport, who: string): Promise<{ readonly go_on: boolean }> {
  const { tenant } = said.place
  const answer = await functions.invoke('report-step', said, { from: 'machine', who: `report-step(${who})`, tenant })
  return answer as { readonly go_on: boolean }
}

/** Calls of functions that nobody waits for: some are missed or doubled; those that fail are tried again. */
function sendEvent(sim: Sim, functions: Functions, name: string, payload: object, run_id: string) {
  const fault = sim.faults.strike(`${name}/event`, run_id.slice(-6), ['missed', 'doubled'])
  if (fault !== undefined) sim.trace(`fault ${fault}: ${name} of ${run_id.slice(-6)}`)
  if (fault === 'missed') return
  const { tenant, run } = payload as { readonly tenant?: string; readonly run?: RunKey }
  const owner = tenant ?? run?.tenant
  const call = {
    from: 'event' as const,
    who: `${name}(${run_id.slice(-6)})`,
    ...(owner === undefined ? {} : { tenant: owner }),
  }
  const attempt = (left: number): void => {
    functions.invoke(name, payload, call).catch(() => {
      // Lambda tries an asynchronous call again after a minute, and after two more.
      if (left > 0) sim.scheduler.after((3 - left) * 60_000, () => attempt(left - 1))
    })
  }
  attempt(2)
  if (fault === 'doubled') attempt(0)
}

function tellReconcile(sim: Sim, functions: Functions, name: string, status: string): void {
  sim.trace(`execution ${name.slice(-6)} ended ${status}`)
  if (status === 'SUCCEEDED') return
  const tenant = sim.tenants.get(name) ?? 'main'
  const input = JSON.stringify({ v: 1, tenant, run_id: name })
  sendEvent(sim, functions, 'reconcile', { detail: { name, status, input } }, name)
}

function slackWorkName(work: SlackWork): string {
  if ('run' in work) return work.run.run_id
  return 'click' in work ? work.click.approval_id : work.erased.ts
}

/** As on AWS: asynchronous calls. Locally a start is awaited, since nothing else would repeat it. */
function outboxOf(sim: Sim, store: StoreKind, functions: () => Functions): Outbox {
  return {
    async nudge({ tenant, run_id }) {
      sendEvent(sim, functions(), 'send-outbox', { tenant, run_id }, run_id)
    },
    async startRun({ tenant, run_id }) {
      const payload = { tenant, run_id }
      if (store === 'dynamodb') return sendEvent(sim, functions(), 'start-run', payload, run_id)
      await functions().invoke('start-run', payload, { from: 'route', who: `start-run(${run_id.slice(-6)})`, tenant })
    },
    async webhookWork(work) {
      sendEvent(sim, functions(), 'send-webhooks', work, `${work.endpoint} ${work.run.run_id}`)
    },
    async busWork(work) {
      sendEvent(sim, functions(), 'send-bus-events', work, `${work.endpoint} ${work.run.run_id}`)
    },
    runBulk: async ({ tenant, bulk_id }) => sendEvent(sim, functions(), 'run-bulk', { tenant, bulk_id }, bulk_id),
    keepOrErase: async ({ tenant, run_id }) => sendEvent(sim, functions(), 'keep-or-erase', { tenant, run_id }, run_id),
    async fireTriggers(ended) {
      const payload = ended === undefined ? {} : { ended }
      sendEvent(sim, functions(), 'fire-triggers', payload, ended?.run_id ?? 'triggers')
    },
    graphWork: async (work) => sendEvent(sim, functions(), 'index-graph', work, work.tenant),
    async slackWork(work) {
      sendEvent(sim, functions(), 'slack-work', work, slackWorkName(work))
    },
    async writeAnchor({ run_id }) {
      throw new Error(`run ${run_id} is to be anchored, and no settings here ask for it`)
    },
  }
}

function noteRun(runs: Map<string, RunKey>, [order]: readonly unknown[]): void {
  const { tenant, run_id } = (order as { readonly meta: RunKey }).meta
  runs.set(run_id, { tenant, run_id })
}

function noteStart(sim: Sim, [order]: readonly unknown[]): void {
  const { name, input } = order as { readonly name: string; readonly input: { readonly tenant: string } }
  sim.tenants.set(name, input.tenant)
}

/** 27: whoever works for one tenant names no other. */
function watchTenant(
  sim: Sim,
  { tenant, name }: Invocation,
  port: string,
  method: string,
  args: readonly unknown[],
): void {
  if (tenant === undefined || (port !== 'runs' && port !== 'objects') || WATCHED.has(method)) return
  const [first] = args as readonly [TenantNamed]
  const named = typeof first === 'string' ? first : (first?.tenant ?? first?.run?.tenant ?? first?.meta?.tenant)
  if (named !== undefined && named !== tenant)
    sim.violate(27, `${name} of ${tenant} calls ${port}.${method} for ${named}`)
}

/** The dispatches of a sandbox are looked after in common, whosever turn it is. */
const WATCHED = new Set(['stopped', 'renewLease'])

type TenantNamed =
  | string
  | {
      readonly tenant?: string
      readonly run?: { readonly tenant: string }
      readonly meta?: { readonly tenant: string }
    }
  | undefined

export function principalOf(tenant: string, id = 'ana'): Principal {
  return { kind: 'user', id, tenant, scopes: SCOPES }
}
