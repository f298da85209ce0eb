import type { ReadKey } from '../../functions/providers/remote.ts'
import { Fault } from '../../shared/errors.ts'
import type { Settings } from '../../shared/settings.ts'
import { missingSlackKeys } from './slack.ts'
import { missingTelemetryKeys } from './telemetry.ts'
import { missingWebhookKeys } from './webhooks.ts'

/**
 * Keys of providers as this place has them: by the name of an environment variable that sluice.yaml names. Fault
 * InvalidInput provider_key_missing says which variable of which provider.
 */
export function keysFrom(held: ReadonlyMap<string, string>): ReadKey {
  return async (provider, { env }) => {
    const key = env === undefined ? undefined : held.get(env)
    if (key !== undefined && key.trim() !== '') return key
    const message = `Cannot ask provider "${provider}": ${whyMissing(env)}`
    throw new Fault('InvalidInput', 'provider_key_missing', message, { facts: { provider } })
  }
}

/** One sentence for each provider, secret of Slack, webhook or header of spans, whose key is not there: a place starts without it. */
export function missingKeys(settings: Settings, held: ReadonlyMap<string, string>): readonly string[] {
  const ofProviders = Object.entries(settings.providers).flatMap(([name, provider]) => {
    if (!('key' in provider) || provider.key === undefined) return []
    const { env } = provider.key
    const isThere = env !== undefined && (held.get(env) ?? '').trim() !== ''
    return isThere ? [] : [`provider "${name}" cannot be asked: ${whyMissing(env)}`]
  })
  const ofOthers = [missingSlackKeys, missingWebhookKeys, missingTelemetryKeys].flatMap((of) => of(settings, held))
  return [...ofProviders, ...ofOthers]
}

function whyMissing(env: string | undefined): string {
  return env === undefined
    ? `its key is only where AWS keeps it. Add env: NAME to providers.*.key in sluice.yaml for this place.`
    : `environment variable ${env} is not set. Set it and start the place again.`
}
