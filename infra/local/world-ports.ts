import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { createIsolate } from '../../functions/isolate/isolate-pool.ts'
import { createProviders } from '../../functions/providers/registry.ts'
import { FUNCTIONS } from '../../shared/catalog.ts'
import type { Http, LimitedAnswer, Shell, ShellAnswer } from '../../shared/gates/gate-ports.ts'
import type { Clock, Ids, Log } from '../../shared/ports/host.ts'
import type { Modules } from '../../shared/ports/modules.ts'
import type { Provider } from '../../shared/providers/provider.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import type { Telemetry } from '../../shared/telemetry/telemetry-port.ts'
import { runsWithWebhookNudges, toldEndpoints } from '../../shared/webhooks/endpoint-deliveries.ts'
import type { Outbox, World } from '../../shared/world.ts'
import { createBuses } from './buses.ts'
import { createDocuments } from './documents.ts'
import { dropFolder, openDrops } from './drops.ts'
import { openInputs } from './folder-inputs.ts'
import { openObjects } from './folder-objects.ts'
import { openGraphStore } from './graph-store/graph-store.ts'
import { createLive } from './live.ts'
import { createMcp } from './mcp.ts'
import { createHookKeys, createServices, createWebhooks, providerPlace } from './ports-with-keys.ts'
import { openRunStore } from './run-store/run-store.ts'
import { openLocalIndex } from './search-index.ts'
import { PACKAGE_DAGS } from './settings.ts'
import { openSpending } from './spending.ts'
import { createSteps } from './steps.ts'
import { openStoredObjects } from './stored-objects.ts'
import { openTokens } from './tokens.ts'
import { openTriggers } from './triggers.ts'
import { openUploads } from './uploads.ts'
import { openWaits, type PlaceAddress } from './waits.ts'
import { createWaker } from './waker.ts'

/** What the World is made of besides the folders its settings name. */
interface Parts {
  readonly settings: Settings
  readonly db: DatabaseSync
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  readonly outbox: Outbox
  /** Calls a function of the catalog. */
  readonly invoke: (name: string, payload: unknown) => Promise<unknown>
  /** Further adapters by name; they win over configured ones. */
  readonly providers: Readonly<Record<string, Provider>>
  /** Keys of configured ones and of Slack, by the name of their environment variable. */
  readonly keys: ReadonlyMap<string, string>
  readonly telemetry?: Telemetry | undefined
  /** Known when the place listens. */
  readonly address: PlaceAddress
}

/** The ports of the local place, but for the machine, which calls back into the host, and Slack (assemble-world.ts ties them). */
export function createPorts(parts: Parts): {
  readonly ports: Omit<World, 'machine' | 'slack' | 'health' | 'steps'> & {
    readonly steps: ReturnType<typeof createSteps>
  }
  close(): Promise<void>
} {
  const { settings, db, clock, ids, log, outbox, telemetry } = parts
  const { close: closeStores, ...stores } = openStores({
    folder: settings.data_dir,
    durability: settings.durability,
    links: settings.graph.links,
    db,
    clock,
    address: parts.address,
  })
  const root = settings.project_dir ?? process.cwd()
  const modules = { root, folder: join(settings.data_dir, 'modules') }
  const configured = createProviders(settings, providerPlace(parts.keys, stores.objects, modules))
  const names = [...new Set([...configured.names(), ...Object.keys(parts.providers)])]
  const isolate = createIsolate()
  const steps = createSteps({ ...parts, objects: stores.objects })
  const mcp = createMcp(settings, parts.keys)
  const buses = createBuses(settings)
  const runs = telemetry?.watch(stores.runs) ?? stores.runs
  const ports = {
    ...stores,
    outbox,
    providers: { get: (name: string) => parts.providers[name] ?? configured.get(name), names: () => names },
    inputs: openInputs(settings.inputs_dir, settings.tenants),
    drops: openDrops(dropFolder(settings)),
    isolate,
    ...createGateFunctions(parts.invoke),
    runs: withFiles(runsWithWebhookNudges(runs, toldEndpoints(settings), outbox.nudge), buses, settings.data_dir),
    telemetry,
    webhooks: createWebhooks(settings, parts.keys),
    buses,
    services: createServices(settings, parts.keys),
    hookKeys: createHookKeys(settings, parts.keys),
    mcp,
    steps,
    modules: lazyModules(root),
    clock,
    ids,
    log,
    documents: createDocuments(settings.dags, PACKAGE_DAGS),
    settings,
  }
  const close = async () => {
    await steps.close()
    await mcp.close()
    await isolate.close()
    closeStores()
  }
  return { ports, close }
}

/** What else of a run lies in the data folder goes with its rows: lines of buses, and the copies of its artifacts. */
function withFiles(runs: World['runs'], buses: ReturnType<typeof createBuses>, folder: string): World['runs'] {
  return {
    ...runs,
    async eraseItems(run) {
      await runs.eraseItems(run)
      await buses.forget(run)
      await rm(join(folder, 'artifacts', run.run_id), { recursive: true, force: true })
    },
  }
}

/** Random bytes, and the name of this boot: part of every lease's holder, so that a restart need not wait. */
export function createIds(): Ids {
  const boot = randomBytes(8).toString('hex')
  let pool = Buffer.alloc(0)
  const random = (bytes: number): Uint8Array => {
    // One call to the system's generator for many small asks: each costs as much as a thousand bytes.
    if (pool.length < bytes) pool = randomBytes(Math.max(bytes, RANDOM_POOL))
    const taken = pool.subarray(0, bytes)
    pool = pool.subarray(bytes)
    return taken
  }
  return { random, boot }
}

const RANDOM_POOL = 4_096

/** The bundler is loaded with the first document that names a module. */
function lazyModules(root: string): Modules {
  return {
    gate: async (path) => (await import('../modules/project-gates.ts')).folderModules(root).gate(path),
  }
}

interface StoreParts {
  /** Holds `objects/` and the search index; runs and graph are in `db`. */
  readonly folder: string
  readonly durability: Settings['durability']
  /** Names in texts become edges. */
  readonly links: boolean
  readonly db: DatabaseSync
  readonly clock: Clock
  readonly address: PlaceAddress
}

interface Stores
  extends Pick<
    World,
    | 'runs'
    | 'waker'
    | 'live'
    | 'objects'
    | 'uploads'
    | 'graph'
    | 'search'
    | 'indexing'
    | 'tokens'
    | 'waits'
    | 'spending'
    | 'triggers'
  > {
  /** `db` stays open. */
  close(): void
}

/** What the local place remembers. */
function openStores({ folder, durability, links, db, clock, address }: StoreParts): Stores {
  const objects = openStoredObjects(db, openObjects(join(folder, 'objects'), durability))
  const graph = openGraphStore(db, clock)
  const { index: search, indexing, close } = openLocalIndex(folder, { graph, objects, clock, links })
  return {
    ...createWaker(openRunStore(db), clock),
    live: createLive(),
    objects,
    uploads: openUploads(clock),
    tokens: openTokens(db, clock),
    waits: openWaits(db, clock, address),
    spending: openSpending(db, clock),
    triggers: openTriggers(db),
    graph,
    search,
    indexing,
    close,
  }
}

type Invoke = (name: string, payload: unknown) => Promise<unknown>

/** The ports that gates act through: the functions of the catalog that serve them, in this process, under the same limits. */
function createGateFunctions(invoke: Invoke): { readonly http: Http; readonly shell: Shell } {
  return {
    // Their handlers answer these types, and nothing comes between here.
    http: { request: (request) => invoke(nameOf('http'), request) as Promise<LimitedAnswer> },
    shell: { run: (command) => invoke(nameOf('shell'), command) as Promise<ShellAnswer> },
  }
}

function nameOf(port: 'http' | 'shell'): string {
  return FUNCTIONS.find(({ serves }) => serves === port)?.name ?? port
}
