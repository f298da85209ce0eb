import { readFile } from 'node:fs/promises'
import type { Adapters, ProviderPlace } from '../../functions/providers/registry.ts'
import type { ReadKey } from '../../functions/providers/remote.ts'
import { callSlackOnce } from '../../functions/slack/client/call-once.ts'
import { openSlack } from '../../functions/slack/client/open-slack.ts'
import { Fault } from '../../shared/errors.ts'
import type { Clock, Ids, Log } from '../../shared/ports/host.ts'
import type { ObjectStore } from '../../shared/ports/objects.ts'
import { PROVIDER_FILES, type Provider } from '../../shared/providers/provider.ts'
import { openServices, type Services } from '../../shared/services/service-keys.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import type { Slack } from '../../shared/slack/slack-port.ts'
import type { Telemetry } from '../../shared/telemetry/telemetry-port.ts'
import { mcpKeys } from '../../shared/tools/settings.ts'
import { type HookKeys, openHookKeys } from '../../shared/triggers/hook-keys.ts'
import { openWebhooks, type Webhooks } from '../../shared/webhooks/signing.ts'

/**
 * Keys of providers as this place has them: by the name of an environment variable that sluice.yaml names. Fault
 * InvalidInput provider_key_missing says which variable of which provider.
 */
function providerKeys(held: ReadonlyMap<string, string>): ReadKey {
  return async (provider, { env }) => {
    const key = env === undefined ? undefined : held.get(env)
    if (key !== undefined && key.trim() !== '') return key
    const message = `Cannot ask provider "${provider}": ${whyMissing(env)}`
    throw new Fault('InvalidInput', 'provider_key_missing', message, { facts: { provider } })
  }
}

/** One sentence for each provider, service, MCP server, secret of Slack, webhook or header of spans, whose key is not there: a place starts without it. */
export function missingKeys(settings: Settings, held: ReadonlyMap<string, string>): readonly string[] {
  const ofProviders = Object.entries(settings.providers).flatMap(([name, provider]) => {
    if (!('key' in provider) || provider.key === undefined) return []
    const { env } = provider.key
    const isThere = env !== undefined && (held.get(env) ?? '').trim() !== ''
    return isThere ? [] : [`provider "${name}" cannot be asked: ${whyMissing(env)}`]
  })
  const ofOthers = [
    missingServiceKeys,
    missingMcpKeys,
    missingSlackKeys,
    missingWebhookKeys,
    missingHookKeys,
    missingTelemetryKeys,
  ].flatMap((of) => of(settings, held))
  return [...ofProviders, ...ofOthers]
}

function whyMissing(env: string | undefined, of = 'providers'): string {
  return env === undefined
    ? `its key is only where AWS keeps it. Add env: NAME to ${of}.*.key in sluice.yaml for this place.`
    : `environment variable ${env} is not set. Set it and start the place again.`
}

/**
 * What adapters need of this place: keys from named environment variables, recordings from files or its own objects, and the
 * adapters that need a package, whose files are loaded by the first dispatch to a provider of their type. Packages and modules
 * of the project are bundled as steps are, below `root`, into `folder`.
 */
export function providerPlace(
  keys: ReadonlyMap<string, string>,
  objects: Pick<ObjectStore, 'get'>,
  { root, folder }: { readonly root: string; readonly folder: string },
): Required<ProviderPlace> {
  return {
    readKey: providerKeys(keys),
    readRecord: (record) => readRecord(record, objects),
    loadPackage: async (_, from) => (await import('../modules/project-packages.ts')).loadPackage(root, from, folder),
    adapters: loadedAdapters(),
  }
}

async function readRecord(record: string, objects: Pick<ObjectStore, 'get'>): Promise<Uint8Array> {
  if (!record.startsWith('objstore://')) return readFile(record)
  const [tenant = ''] = record.slice('objstore://'.length).split('/')
  return objects.get(tenant, record)
}

/** One for each type of PROVIDER_FILES; its file is read when it is asked to open. */
function loadedAdapters(): Adapters {
  const openers = Object.entries(PROVIDER_FILES).map(([type, [file, opener]]) => {
    const open = async (...given: readonly unknown[]): Promise<Provider> => {
      const module: Readonly<Record<string, unknown>> = await import(
        new URL(`../../functions/${file}`, import.meta.url).href
      )
      const found = module[opener]
      if (typeof found === 'function') return found(...given)
      throw new Fault('Bug', 'no_handler', `Cannot ask a server of "${type}": functions/${file} exports no ${opener}.`)
    }
    return [type, open] as const
  })
  return Object.fromEntries(openers)
}

/** The Slack port of this place: keys by environment variable; the client is loaded by the first call that needs it. */
export function createSlack({ slack }: Settings, held: ReadonlyMap<string, string>): Slack | undefined {
  if (slack === undefined) return undefined
  return openSlack(
    slack,
    async ({ env }) => {
      const key = env === undefined ? '' : (held.get(env) ?? '')
      if (key.trim() !== '') return key
      throw new Fault('InvalidInput', 'slack_key_missing', `Cannot reach Slack: ${whySecretMissing(env)}`)
    },
    async (method, ...call) => {
      // Slack waits for this one: as on AWS it is tried once.
      if (method === 'views.open') return callSlackOnce(method, ...call)
      const { callWebApi } = await import('../../functions/slack/client/call-web-api.ts')
      return callWebApi(method, ...call)
    },
  )
}

/** One sentence for each secret of Slack that is not there. */
function missingSlackKeys({ slack }: Settings, held: ReadonlyMap<string, string>): readonly string[] {
  return slackKeyNames(slack).flatMap(({ env, of }) => {
    const isThere = env !== undefined && (held.get(env) ?? '').trim() !== ''
    return isThere ? [] : [`Slack is not told of approvals: slack.${of}: ${whySecretMissing(env)}`]
  })
}

/** The environment variables that hold Slack's secrets. */
export function slackKeyNames(slack: Settings['slack']) {
  if (slack === undefined) return []
  const signing = [slack.signing_secret].flat()
  return [
    { of: 'token', env: slack.token.env },
    ...signing.map(({ env }, i) => ({ of: signing.length > 1 ? `signing_secret.${i}` : 'signing_secret', env })),
  ]
}

function whySecretMissing(env: string | undefined): string {
  return env === undefined
    ? 'its secret is only where AWS keeps it. Add env: NAME in sluice.yaml for this place.'
    : `environment variable ${env} is not set. Set it and start the place again.`
}

/** The Webhooks port of this place: keys by environment variable. */
export function createWebhooks({ webhooks }: Settings, held: ReadonlyMap<string, string>): Webhooks {
  return openWebhooks(webhooks, async ({ env }) => (env === undefined ? undefined : held.get(env)))
}

/** The Services port of this place: keys by environment variable. */
export function createServices({ services }: Settings, held: ReadonlyMap<string, string>): Services {
  return openServices(services, async ({ env }) => (env === undefined ? undefined : held.get(env)))
}

/** The HookKeys port of this place: secrets by environment variable. */
export function createHookKeys({ triggers }: Settings, held: ReadonlyMap<string, string>): HookKeys {
  return openHookKeys(triggers, async ({ env }) => (env === undefined ? undefined : held.get(env)))
}

/** The environment variables that hold secrets of webhooks. */
export function hookKeyNames({ triggers }: Settings): readonly string[] {
  return Object.values(triggers.secrets).flatMap((key) => [key].flat().flatMap(({ env }) => env ?? []))
}

/** One sentence for each secret of a webhook that is not there. */
function missingHookKeys({ triggers }: Settings, held: ReadonlyMap<string, string>): readonly string[] {
  return Object.entries(triggers.secrets).flatMap(([name, key]) =>
    [key].flat().flatMap(({ env }) => {
      if ((held.get(env ?? '') ?? '').trim() !== '') return []
      return [`messages signed by "${name}" cannot be judged: ${whyMissing(env, 'triggers.secrets')}`]
    }),
  )
}

/** The environment variables that hold their keys. */
export function serviceKeyNames({ services }: Settings): readonly string[] {
  return Object.values(services).flatMap(({ key }) => key?.env ?? [])
}

/** One sentence for each service with a key that is not there. */
function missingServiceKeys({ services }: Settings, held: ReadonlyMap<string, string>): readonly string[] {
  return Object.entries(services).flatMap(([name, { key }]) => {
    if (key === undefined || (held.get(key.env ?? '') ?? '').trim() !== '') return []
    return [`service "${name}" cannot be asked: ${whyMissing(key.env, 'services')}`]
  })
}

/** One sentence for each key of an MCP server, and each variable it is to be given, that is not there. */
function missingMcpKeys({ mcp_servers }: Settings, held: ReadonlyMap<string, string>): readonly string[] {
  return Object.entries(mcp_servers).flatMap(([name, server]) => {
    const ofKeys = mcpKeys(server).map(({ key }) => key.env)
    const missing = [...ofKeys, ...server.env].filter((env) => (held.get(env ?? '') ?? '').trim() === '')
    return missing.map((env) => `MCP server "${name}" cannot be asked: ${whyMissing(env, 'mcp_servers')}`)
  })
}

/** The environment variables that hold their keys. */
export function webhookKeyNames({ webhooks }: Settings): readonly string[] {
  return webhooks.flatMap(({ key }) => [key].flat().flatMap(({ env }) => env ?? []))
}

/** One sentence for each webhook with a key that is not there. */
function missingWebhookKeys({ webhooks }: Settings, held: ReadonlyMap<string, string>): readonly string[] {
  return webhooks.flatMap(({ name, key }) =>
    [key].flat().flatMap(({ env }) => {
      if (env === undefined)
        return [`webhook "${name}" is not told: its key is only where AWS keeps it. Add env: NAME.`]
      if ((held.get(env) ?? '').trim() !== '') return []
      return [
        `webhook "${name}" is not told: environment variable ${env} is not set. Set it and start the place again.`,
      ]
    }),
  )
}

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
    readKey: async ({ env }) => (env === undefined ? undefined : keys.get(env)) ?? headerMissing(),
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
function missingTelemetryKeys({ telemetry }: Settings, held: ReadonlyMap<string, string>): readonly string[] {
  return Object.entries(telemetry?.otlp.headers ?? {}).flatMap(([name, { env }]) => {
    if (env === undefined) return [`no span is sent: header "${name}" is only where AWS keeps it. Add env: NAME.`]
    if ((held.get(env) ?? '').trim() !== '') return []
    return [`no span is sent: environment variable ${env}, header "${name}", is not set. Set it and start again.`]
  })
}

function headerMissing(): never {
  const message =
    'Cannot send spans: the value of a header is not in the environment. Set it and start the place again.'
  throw new Fault('InvalidInput', 'telemetry_key_missing', message)
}
