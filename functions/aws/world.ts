import { Fault } from '../../shared/errors.ts'
import { type Settings, SettingsSchema } from '../../shared/settings.ts'
import type { Secrets, World } from '../../shared/world.ts'
import { lambdaClock } from './clock.ts'
import type { DeployedDocuments } from './documents.ts'
import { createIds } from './ids.ts'
import { createLog } from './log.ts'
import { type AwsSettings, readAwsSettings } from './settings.ts'

/** What every function has, and what a port is opened with. */
export interface Core extends Pick<World, 'clock' | 'ids' | 'log' | 'settings'> {
  readonly env: AwsSettings
  readonly deployed: DeployedDocuments
  /** Only in functions whose line lists the port. */
  readonly secrets?: Secrets
}

type Port = Exclude<keyof World, 'clock' | 'ids' | 'log' | 'settings'>

/** One opener a port of the function's catalog line: `{ objects: openObjects }`. What is not listed is not bundled. */
export type PortOpeners = { readonly [P in Port]?: (core: Core) => World[P] } & {
  readonly secrets?: (core: Pick<Core, 'clock'>) => Secrets
}

export interface WorldParts {
  /** The function's name in the catalog. */
  readonly name: string
  readonly ports: PortOpeners
  /** sluice.yaml as JSON, from a generated module; absent = all defaults. */
  readonly settings?: unknown
  /** Only start-run and the routes that list documents carry them. */
  readonly deployed?: DeployedDocuments
}

/**
 * The World of one function on AWS: the ports of its catalog line and the four that everything has. Asking for another
 * port is Fault Bug port_not_listed, so that a wrong catalog line shows in the first test, not as `undefined`.
 */
export function openWorld(parts: WorldParts, env?: NodeJS.ProcessEnv): World {
  const core = openCore(parts, env)
  const world = { clock: core.clock, ids: core.ids, log: core.log, settings: core.settings }
  for (const port of Object.keys(PORTS) as Port[]) {
    const open = parts.ports[port]
    if (open !== undefined) Object.assign(world, { [port]: open(core) })
    else Object.defineProperty(world, port, { get: () => refuse(parts.name, port) })
  }
  // Every port is there: opened, or as a getter that refuses.
  return world as World
}

/** The type holds the list complete. */
const PORTS: Readonly<Record<Port, true>> = {
  runs: true,
  objects: true,
  machine: true,
  outbox: true,
  providers: true,
  inputs: true,
  isolate: true,
  http: true,
  shell: true,
  waker: true,
  documents: true,
  slack: true,
}

function openCore({ name, ports, settings = {}, deployed = {} }: WorldParts, env?: NodeJS.ProcessEnv): Core {
  const read = readAwsSettings(env)
  const secrets = ports.secrets?.({ clock: lambdaClock })
  return {
    env: read,
    deployed,
    ...(secrets === undefined ? {} : { secrets }),
    settings: parsePolicy(settings),
    clock: lambdaClock,
    ids: createIds(),
    log: createLog({ level: read.SLUICE_LOG, facts: { stage: read.STAGE, function: name } }),
  }
}

/** Checked at synth already, by the same schema. */
function parsePolicy(settings: unknown): Settings {
  const parsed = SettingsSchema.safeParse(settings)
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  const message = `Cannot start this function: sluice.yaml in its bundle has "${issue?.path.join('.')}": ${issue?.message}. Mend it and deploy again.`
  throw new Fault('Bug', 'bad_settings', message)
}

function refuse(name: string, port: Port): never {
  const message = `Function "${name}" uses port "${port}", which its line in shared/catalog.ts does not list. Add it there and deploy.`
  throw new Fault('Bug', 'port_not_listed', message)
}
