import { Fault } from '../../shared/errors.ts'
import type { Settings } from '../../shared/settings.ts'
import type { Telemetry } from '../../shared/telemetry/telemetry-port.ts'
import type { Clock, Ids, Log } from '../../shared/world.ts'

interface Parts {
  readonly settings: Settings
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Log
  /** Values of headers, by the name of their environment variable. */
  readonly keys: ReadonlyMap<string, string>
}

/** How long spans wait for others to go with. */
const EVERY_MS = 1_000

/** The Telemetry port of this place; its code is loaded where the settings name a collector. */
export async function createTelemetry({ settings, clock, ids, log, keys }: Parts): Promise<Telemetry | undefined> {
  const { telemetry, providers } = settings
  if (telemetry === undefined) return undefined
  const { openTelemetry } = await import('../../functions/telemetry/open-telemetry.ts')
  return openTelemetry({
    telemetry,
    providers,
    clock,
    ids,
    resource: { 'deployment.environment.name': 'local', 'service.instance.id': ids.boot },
    readKey: async ({ env }) => (env === undefined ? undefined : keys.get(env)) ?? missing(),
    // Whoever runs a place sees errors alone, unless he asked for more.
    tell: log.error,
    every_ms: EVERY_MS,
  })
}

/** The environment variables that hold values of headers. */
export function telemetryKeyNames({ telemetry }: Settings): readonly string[] {
  return Object.values(telemetry?.otlp.headers ?? {}).flatMap(({ env }) => env ?? [])
}

/** One sentence for each header whose value is not there. */
export function missingTelemetryKeys({ telemetry }: Settings, held: ReadonlyMap<string, string>): readonly string[] {
  return Object.entries(telemetry?.otlp.headers ?? {}).flatMap(([name, { env }]) => {
    if (env === undefined) return [`no span is sent: header "${name}" is only where AWS keeps it. Add env: NAME.`]
    if ((held.get(env) ?? '').trim() !== '') return []
    return [`no span is sent: environment variable ${env}, header "${name}", is not set. Set it and start again.`]
  })
}

function missing(): never {
  const message =
    'Cannot send spans: the value of a header is not in the environment. Set it and start the place again.'
  throw new Fault('InvalidInput', 'telemetry_key_missing', message)
}
