import { Fault } from '../../shared/errors.ts'
import type { Live } from '../../shared/ports/live.ts'
import type { Secrets } from '../../shared/ports/secrets.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { Telemetry } from '../../shared/telemetry/telemetry-port.ts'
import { runsWithWebhookNudges, toldEndpoints } from '../../shared/webhooks/endpoint-deliveries.ts'
import type { World } from '../../shared/world.ts'
import type { Core, DeployedDocuments, DeployedGates } from './core.ts'

type Port = Exclude<keyof World, 'clock' | 'ids' | 'log' | 'settings' | 'telemetry' | 'live'>

/** One opener a port of the function's catalog line: `{ objects: openObjects }`. What is not listed is not bundled. */
export type PortOpeners = { readonly [P in Port]?: (core: Core) => World[P] } & {
  readonly secrets?: (core: Pick<Core, 'clock'>) => Secrets
  /** Only where the settings name a collector. */
  readonly telemetry?: (core: Core) => Telemetry
  /** Only where the settings ask for it. */
  readonly live?: (core: Core) => Live
}

export interface WorldParts {
  /** The function's name in the catalog. */
  readonly name: string
  readonly ports: PortOpeners
  /** sluice.yaml as JSON, from a generated module; absent = all defaults. */
  readonly settings?: unknown
  /** Only start-run and the routes that list documents carry them. */
  readonly deployed?: DeployedDocuments
  /** Only who checks documents carries them. */
  readonly gates?: DeployedGates
}

/**
 * The World of one function on AWS: the ports of its catalog line and the four that everything has. Asking for another
 * port is Fault Bug port_not_listed, so that a wrong catalog line shows in the first test, not as `undefined`.
 */
export function assembleWorld(core: Core, parts: Pick<WorldParts, 'name' | 'ports'>): World {
  const base = { clock: core.clock, ids: core.ids, log: core.log, settings: core.settings }
  // No plain object: a copy of it would have the getters below as ports that are not there.
  const world: object = Object.assign(Object.create(null), base)
  for (const port of Object.keys(PORTS) as Port[]) {
    const open = parts.ports[port]
    if (open !== undefined) Object.assign(world, { [port]: open(core) })
    else Object.defineProperty(world, port, { get: () => refuse(parts.name, port) })
  }
  // Every port is there: opened, or as a getter that refuses.
  const { live } = parts.ports
  const heard = live === undefined ? world : Object.assign(world, { live: live(core) })
  return withWebhookNudges(withSpans(heard as World, core, parts), parts)
}

/** Whoever writes to the log of runs tells of what it ended there. */
function withSpans(world: World, core: Core, { ports }: Pick<WorldParts, 'ports'>): World {
  const telemetry = ports.telemetry?.(core)
  if (telemetry === undefined) return world
  return Object.assign(world, { telemetry }, ports.runs === undefined ? {} : { runs: telemetry.watch(world.runs) })
}

/** Who may not nudge leaves what webhooks and buses are owed to the sweep. */
function withWebhookNudges(world: World, { ports }: Pick<WorldParts, 'ports'>): World {
  const endpoints = toldEndpoints(world.settings)
  if (ports.runs === undefined || endpoints.length === 0) return world
  const nudge = async (run: RunKey) => (ports.outbox === undefined ? undefined : world.outbox.nudge(run))
  return Object.assign(world, { runs: runsWithWebhookNudges(world.runs, endpoints, nudge) })
}

/** The type holds the list complete. */
const PORTS: Readonly<Record<Port, true>> = {
  runs: true,
  objects: true,
  uploads: true,
  graph: true,
  search: true,
  indexing: true,
  machine: true,
  outbox: true,
  providers: true,
  inputs: true,
  isolate: true,
  http: true,
  shell: true,
  waker: true,
  documents: true,
  modules: true,
  slack: true,
  webhooks: true,
  buses: true,
  services: true,
  mcp: true,
  steps: true,
  tokens: true,
  waits: true,
  spending: true,
  triggers: true,
  drops: true,
  hookKeys: true,
  health: true,
  anchors: true,
}

function refuse(name: string, port: Port): never {
  const message = `Function "${name}" uses port "${port}", which its line in shared/catalog.ts does not list. Add it there and deploy.`
  throw new Fault('Bug', 'port_not_listed', message)
}
