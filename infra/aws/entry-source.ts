import type { FunctionLine } from '../../shared/catalog.ts'
import { Fault } from '../../shared/errors.ts'
import { PROVIDER_FILES } from '../../shared/providers/provider.ts'
import type { RouteLine } from '../../shared/routes.ts'
import { functionRights, type Right } from './grants.ts'

/** Import paths of the generated modules a bundle may hold. */
export const GENERATED = {
  deployed: 'sluice:deployed',
  gates: 'sluice:gates',
  settings: 'sluice:settings',
  packages: 'sluice:packages',
} as const

/**
 * The source of a function's entry: its handler by path, the AWS ports of exactly its catalog
 * line, and the wrapper that joins them. Paths are relative to the repository. Fault Bug unknown_port.
 */
export function entrySource(line: FunctionLine, routes: readonly RouteLine[], named: NamedClients = {}): string {
  const { name, file, ports } = line
  const route = routes.find((one) => one.name === name)
  const entry = ENTRIES[route?.stream === true ? 'stream' : route?.signed_by === 'slack' ? 'slack' : 'usual']
  const isDoor = route?.signed_by === 'slack'
  const openers = openedPorts(line, named).map(
    (port) => [port, openerOf(line, port, named, isDoor) ?? unknownPort(name, port)] as const,
  )
  const adapters = asksProviders(line) ? (named.adapters ?? []) : []
  // Only who lists or reads documents carries them, and who looks after their machines.
  const carried = [
    ...(ports.includes('documents') || functionRights(line).includes('machine.clear') ? (['deployed'] as const) : []),
    ...(ports.includes('modules') ? (['gates'] as const) : []),
  ]
  return [
    `import { handler as run } from './functions/${file}'`,
    `import { ${entry[1]} } from './functions/aws/${entry[0]}.ts'`,
    ...openers.map(([, [from, opener]]) => `import { ${opener} } from './functions/aws/${from}.ts'`),
    imported('settings'),
    ...carried.map(imported),
    ...adapters.map(adapterImport),
    ...(adapters.includes('ai-sdk') ? [imported('packages')] : []),
    `const ports = { ${openers.map(([port, [, opener]]) => `${port}: ${opener}${port === 'providers' ? given(adapters) : ''}`).join(', ')} }`,
    `export const handler = ${entry[1]}({ name: '${name}', handler: run, ports, settings${carried.map((module) => `, ${module}`).join('')} })`,
    '',
  ].join('\n')
}

/** A type of providers that PROVIDER_FILES has a file for. */
export type AdapterType = keyof typeof PROVIDER_FILES

/** Clients that only some stages need: their settings name a provider, or a key, that is reached by it. */
export interface NamedClients {
  /** Types of providers whose adapters need a package of others. */
  readonly adapters?: readonly AdapterType[]
  readonly ssm?: boolean
  readonly secretsmanager?: boolean
  /** Spans are sent somewhere; `with_key`: with headers that are secrets. */
  readonly spans?: 'with_key' | 'plain'
  /** Somebody is told of events. */
  readonly webhooks?: boolean
  /** There are buses of EventBridge. */
  readonly buses?: boolean
  /** What models say is told while they say it. */
  readonly live?: boolean
  /** There are MCP servers; `with_key`: with keys. */
  readonly mcp?: 'with_key' | 'plain'
}

/**
 * Where spans go nowhere, nobody carries the way there; else whoever tells of them reads the secrets of its headers. Who
 * nudges for webhooks alone carries nothing for it where there are none.
 */
function openedPorts(
  line: FunctionLine,
  { spans, webhooks = false, live = false, mcp }: NamedClients,
): readonly string[] {
  const isIdle = !webhooks && functionRights(line).includes('webhooks.nudge')
  const listed = line.ports.filter((port) => !(isIdle && port === 'outbox') && (live || port !== 'live'))
  // Before the ports that read keys by it.
  const ports = mcp === 'with_key' && listed.includes('mcp') ? [...new Set(['secrets', ...listed])] : listed
  if (!ports.includes('telemetry')) return ports
  const others = ports.filter((port) => port !== 'telemetry')
  if (spans === undefined) return others
  return [...new Set([...others, ...(spans === 'with_key' ? ['secrets'] : []), 'telemetry'])]
}

/**
 * Who asks providers has a way to their keys; the others only name them, and carry no adapter; so it is with steps. Who answers Slack
 * has no time for the whole of a client.
 */
function openerOf(line: FunctionLine, port: string, named: NamedClients, isDoor: boolean): Opener | undefined {
  if (port === 'secrets') return secretsOpener(named)
  if (isDoor && port in DOOR) return DOOR[port]
  if (port === 'mcp' && named.mcp === undefined) return NO_MCP
  if (port === 'buses' && named.buses !== true) return NO_BUSES
  if (port === 'steps') return stepsOpener(functionRights(line))
  if (port !== 'providers') return OPENERS[port]
  if (!asksProviders(line)) return PROVIDER_NAMES
  return (named.adapters ?? []).length > 0 ? WITH_ADAPTERS : OPENERS[port]
}

function asksProviders({ ports }: FunctionLine): boolean {
  return ports.includes('providers') && ports.includes('secrets')
}

function adapterImport(type: AdapterType): string {
  const [file, opener] = PROVIDER_FILES[type]
  return `import { ${opener} } from './functions/${file}'`
}

/** What WITH_ADAPTERS is called with: the adapters, and where one of them needs it what the project's packages export. */
function given(adapters: readonly AdapterType[]): string {
  if (adapters.length === 0) return ''
  const byType = adapters.map((type) => `'${type}': ${PROVIDER_FILES[type][1]}`).join(', ')
  return `({ ${byType} }${adapters.includes('ai-sdk') ? ', packages' : ''})`
}

function secretsOpener({ ssm = false, secretsmanager = false }: NamedClients): Opener {
  if (ssm && secretsmanager) return ['secrets', 'openSecrets']
  if (ssm) return ['secrets', 'openSsmSecrets']
  return secretsmanager ? ['secrets', 'openManagerSecrets'] : ['secrets', 'openNoSecrets']
}

/** Who checks documents starts no step, and run-block runs containers alone. */
function stepsOpener(rights: readonly Right[]): Opener | undefined {
  if (rights.includes('steps.start')) return OPENERS.steps
  return rights.includes('steps.collect') ? ['native-calls', 'openCalls'] : STEP_NAMES
}

/** Entries by what the route is. */
const ENTRIES = {
  usual: ['entry', 'lambdaEntry'],
  stream: ['entry', 'streamEntry'],
  slack: ['slack-entry', 'slackEntry'],
} as const

type Opener = readonly [file: string, opener: string]

const STEP_NAMES: Opener = ['ports-without-sdk', 'openDescribedSteps']
const NO_MCP: Opener = ['ports-without-sdk', 'openNoMcp']
const NO_BUSES: Opener = ['ports-without-sdk', 'openNoBuses']
const PROVIDER_NAMES: Opener = ['ports-without-sdk', 'openProviderNames']
/** What the function that answers Slack is opened with: it has no time for more. */
const DOOR: Readonly<Record<string, Opener>> = {
  slack: ['ports-for-clicks', 'openSlackForClicks'],
  runs: ['ports-for-clicks', 'openNotedRequests'],
}
const WITH_ADAPTERS: Opener = ['providers', 'openProvidersWith']

/** Port -> file below functions/aws and the opener it exports. */
const OPENERS: Readonly<Record<string, Opener>> = {
  runs: ['run-store/run-store', 'openRunStore'],
  objects: ['objects', 'openObjects'],
  uploads: ['uploads', 'openUploads'],
  graph: ['graph-store/graph-store', 'openGraphStore'],
  search: ['search-index', 'openSearchIndex'],
  indexing: ['search-index', 'openIndexing'],
  machine: ['machine', 'openMachine'],
  outbox: ['function-calls', 'openOutbox'],
  providers: ['providers', 'openProviders'],
  inputs: ['ports-without-sdk', 'openInputs'],
  isolate: ['isolate', 'openIsolate'],
  http: ['function-calls', 'openHttp'],
  shell: ['function-calls', 'openShell'],
  waker: ['ports-without-sdk', 'openWaker'],
  documents: ['documents', 'openDocuments'],
  modules: ['documents', 'openModules'],
  slack: ['slack', 'openSlackClient'],
  webhooks: ['ports-without-sdk', 'openWebhookKeys'],
  buses: ['buses', 'openBuses'],
  services: ['ports-without-sdk', 'openServiceKeys'],
  mcp: ['mcp', 'openMcp'],
  steps: ['steps', 'openSteps'],
  tokens: ['tokens', 'openTokens'],
  waits: ['waits', 'openWaits'],
  spending: ['spending', 'openSpending'],
  triggers: ['triggers', 'openTriggers'],
  drops: ['drops', 'openDrops'],
  hookKeys: ['ports-without-sdk', 'openHookSecrets'],
  health: ['health', 'openHealth'],
  anchors: ['anchors', 'openAnchors'],
  telemetry: ['telemetry', 'openAwsTelemetry'],
  live: ['live', 'openLive'],
}

function imported(module: keyof typeof GENERATED): string {
  return `import ${module} from '${GENERATED[module]}'`
}

function unknownPort(name: string, port: string): never {
  const message = `Cannot bundle function "${name}": no file of functions/aws opens port "${port}". Add it to infra/aws/entry-source.ts.`
  throw new Fault('Bug', 'unknown_port', message)
}
