import { Fault } from '../../shared/errors.ts'
import { type Settings, SettingsSchema } from '../../shared/settings.ts'
import type { Telemetry } from '../../shared/telemetry/telemetry-port.ts'
import type { Secrets, World } from '../../shared/world.ts'
import { assembleWorld } from './assemble-world.ts'
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

export type Port = Exclude<keyof World, 'clock' | 'ids' | 'log' | 'settings' | 'telemetry'>

/** One opener a port of the function's catalog line: `{ objects: openObjects }`. What is not listed is not bundled. */
export type PortOpeners = { readonly [P in Port]?: (core: Core) => World[P] } & {
  readonly secrets?: (core: Pick<Core, 'clock'>) => Secrets
  /** Only where the settings name a collector. */
  readonly telemetry?: (core: Core) => Telemetry
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

/** The World of one function, its environment and settings checked. */
export function openWorld(parts: WorldParts, env?: NodeJS.ProcessEnv): World {
  return assembleWorld(openCore(parts, env), parts)
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
