import { openWaker as openCloudWaker } from '../../functions/aws/ports-without-sdk.ts'
import { FUNCTIONS } from '../../shared/catalog.ts'
import { Fault } from '../../shared/errors.ts'
import type { Clock } from '../../shared/ports/host.ts'
import type { Provider } from '../../shared/providers/provider.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { runsWithWebhookNudges, toldEndpoints } from '../../shared/webhooks/endpoint-deliveries.ts'
import type { World } from '../../shared/world.ts'
import {
  currentInvocation,
  type Invocation,
  ifAlive,
  type PointKinds,
  type Sandbox,
  throughPoints,
} from './invocation.ts'
import type { Sim } from './sim.ts'

/** The ports all sandboxes share, behind no fault; stores and waker are opened for each sandbox. */
export interface SharedPorts
  extends Omit<
    World,
    'clock' | 'ids' | 'log' | 'runs' | 'waker' | 'tokens' | 'waits' | 'spending' | 'triggers' | 'health'
  > {
  openRuns(clock: Clock): World['runs']
  openTokens(clock: Clock): World['tokens']
  openWaits(clock: Clock): World['waits']
  openSpending(clock: Clock): World['spending']
  openTriggers(clock: Clock): World['triggers']
  /** Its client waits for turns itself. */
  readonly storeTakesTurns: boolean
  /** Where processes can be woken; else the waker of a sandbox only waits. */
  readonly waker?: World['waker']
  /** A planted mistake's view of a function's World. */
  mutated(world: World, name: string): World
  /** Sees every call of a port before it is made. */
  watch(invocation: Invocation, port: string, method: string, args: readonly unknown[]): void
}

const DEATHS = ['crash', 'zombie'] as const
const CALMLY: PointKinds = { before: ['slow', ...DEATHS], after: DEATHS }
const RISKY: PointKinds = { before: ['slow', ...DEATHS, 'refused'], after: [...DEATHS, 'unanswered'] }

/** Ports whose own promise is that they never throw Unavailable stay calm, but for deaths and slowness. */
const KINDS: Readonly<Record<string, PointKinds>> = {
  runs: RISKY,
  tokens: RISKY,
  waits: RISKY,
  spending: RISKY,
  triggers: RISKY,
  hookKeys: CALMLY,
  drops: RISKY,
  objects: RISKY,
  uploads: RISKY,
  graph: RISKY,
  search: RISKY,
  indexing: RISKY,
  machine: RISKY,
  inputs: RISKY,
  providers: { before: [...DEATHS, 'refused'], after: [...DEATHS, 'unanswered'] },
  outbox: CALMLY,
  isolate: CALMLY,
  http: CALMLY,
  shell: CALMLY,
  waker: CALMLY,
  documents: CALMLY,
  slack: CALMLY,
  webhooks: CALMLY,
  buses: CALMLY,
  services: CALMLY,
  mcp: CALMLY,
  steps: RISKY,
  clock: CALMLY,
}
/** Answered at once, without a promise: no points. */
const SYNCHRONOUS = new Set(['holderGone', 'names', 'get', 'now', 'address'])

/** A World of its own for one sandbox of a function, with the ports its catalog line lists; asking for others is a Bug. */
export function openSandbox(sim: Sim, name: string, shared: SharedPorts, boot: string): Sandbox {
  const clock = skewedClock(sim)
  const random = (bytes: number) => Uint8Array.from({ length: bytes }, () => Math.floor(sim.random() * 256))
  const guard = (port: string, real: object) => guarded(sim, name, port, real, shared)
  const open: Readonly<Record<string, () => unknown>> = {
    runs: () => guard('runs', shared.openRuns(clock)),
    tokens: () => guard('tokens', shared.openTokens(clock)),
    waits: () => guard('waits', shared.openWaits(clock)),
    spending: () => guard('spending', shared.openSpending(clock)),
    triggers: () => guard('triggers', shared.openTriggers(clock)),
    providers: () =>
      guardedProviders(sim, name, shared.providers, (provider) => guard('providers', provider) as Provider),
    waker: () => guard('waker', shared.waker ?? openCloudWaker({ clock })),
  }
  const ports = FUNCTIONS.find((line) => line.name === name)?.ports ?? []
  const world = {
    clock: guard('clock', clock),
    ids: { random, boot },
    log: logOf(sim),
    settings: shared.settings,
  }
  for (const port of PORTS) {
    if (!ports.includes(port)) Object.defineProperty(world, port, { get: () => notListed(sim, name, port) })
    else if (open[port] !== undefined) Object.assign(world, { [port]: open[port]() })
    else {
      const real = Reflect.get(shared, port) as object | undefined
      if (real !== undefined) Object.assign(world, { [port]: guard(port, real) })
    }
  }
  return { world: shared.mutated(promptly(world as unknown as World, ports), name) }
}

/** As on AWS: who may not nudge leaves what webhooks are owed to the sweep. */
function promptly(world: World, ports: readonly string[]): World {
  if (!ports.includes('runs')) return world
  const nudge = async (run: RunKey) => (ports.includes('outbox') ? world.outbox.nudge(run) : undefined)
  return Object.assign(world, { runs: runsWithWebhookNudges(world.runs, toldEndpoints(world.settings), nudge) })
}

const PORTS = [
  'runs',
  'objects',
  'uploads',
  'graph',
  'search',
  'indexing',
  'machine',
  'outbox',
  'providers',
  'inputs',
  'isolate',
  'http',
  'shell',
  'waker',
  'documents',
  'slack',
  'webhooks',
  'buses',
  'tokens',
  'waits',
  'spending',
  'triggers',
  'hookKeys',
  'drops',
  'steps',
  'mcp',
] as const

function guarded(sim: Sim, name: string, port: string, real: object, shared: SharedPorts): object {
  const kinds = KINDS[port] ?? CALMLY
  const turn = !(isStore(port) && shared.storeTakesTurns) && port !== 'clock'
  const methods = Object.entries(real).map(([method, work]) => {
    if (typeof work !== 'function') return [method, work]
    if (SYNCHRONOUS.has(method) && !(port === 'objects' && method === 'get')) {
      return [method, counted(sim, `${name}/${port}.${method}`, work.bind(real))]
    }
    const point = `${name}/${port}.${method}`
    const points = { point, before: `${point}/before`, after: `${point}/after` }
    const call = { port, ...points, kinds: kindsOf(port, method, kinds, shared), turn }
    return [
      method,
      (...args: readonly unknown[]) => {
        shared.watch(currentInvocation(), port, method, args)
        return throughPoints(sim, call, () => Reflect.apply(work, real, args) as Promise<unknown>)
      },
    ]
  })
  return Object.fromEntries(methods)
}

function kindsOf(port: string, method: string, kinds: PointKinds, shared: SharedPorts): PointKinds {
  if (port === 'outbox' && method !== 'nudge' && method !== 'graphWork') return RISKY
  // Requests to the table have faults of their own, below the adapter.
  return isStore(port) && shared.storeTakesTurns ? CALMLY : kinds
}

function isStore(port: string): boolean {
  return port === 'runs' || port === 'tokens'
}

function guardedProviders(
  sim: Sim,
  name: string,
  providers: World['providers'],
  guard: (provider: Provider) => Provider,
): World['providers'] {
  const get = counted(sim, `${name}/providers.get`, providers.get.bind(providers))
  return {
    names: counted(sim, `${name}/providers.names`, providers.names.bind(providers)),
    get(wanted) {
      const provider = get(wanted)
      return provider && guard(provider)
    },
  }
}

/** A call that is answered at once: nothing comes in between, it is only seen. */
function counted<A extends readonly unknown[], T>(sim: Sim, point: string, work: (...args: A) => T) {
  return (...args: A): T => {
    sim.faults.seen(point)
    return work(...args)
  }
}

function skewedClock(sim: Sim): Clock {
  return {
    now: () => sim.scheduler.now() + currentInvocation().skew,
    async delay(ms, signal) {
      const invocation = currentInvocation()
      await sim.scheduler.delay(ms, signal)
      await ifAlive(invocation)
    },
  }
}

/** Errors that no handler foresaw stand in the log: invariant 38. */
function logOf(sim: Sim): World['log'] {
  const own = (error: unknown) =>
    /^(InvalidInput|NotFound|Conflict|LimitExceeded|Unavailable|GateFailed|Rejected)\b/.test(String(error))
  return {
    info: () => undefined,
    error(message, facts) {
      const { who, name, dead } = currentInvocation()
      if (sim.verbose) sim.trace(`log of ${who}: ${message} ${JSON.stringify(facts)}`)
      const isFailure = message === 'function failed' || message === 'route failed'
      if (isFailure && !dead && !own(facts?.error)) {
        sim.violate(38, `${name}: ${String(facts?.error).slice(0, 300)}`)
      }
    },
  }
}

function notListed(sim: Sim, name: string, port: string): never {
  sim.violate(38, `function ${name} uses port ${port}, which its catalog line does not list`)
  throw new Fault('Bug', 'port_not_listed', `${name} uses ${port}`)
}
