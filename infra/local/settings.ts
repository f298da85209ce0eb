import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import * as z from 'zod'
import { proxyVariableNames } from '../../shared/egress/proxy.ts'
import { Fault } from '../../shared/errors.ts'
import type { ProviderSettings } from '../../shared/providers/settings.ts'
import { parseSettings } from '../../shared/settings/parse.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { mcpVariableNames } from './mcp.ts'
import { hookKeyNames, serviceKeyNames, slackKeyNames, telemetryKeyNames, webhookKeyNames } from './ports-with-keys.ts'
import { stepSecretNames } from './steps.ts'

/** What a place is opened with. All folders are absolute. */
interface PlaceSettings {
  readonly settings: Settings
  /** Info lines on standard error, besides errors. */
  readonly verbose: boolean
  /** Callers need what the start makes (--login). */
  readonly login: boolean
  /** Its data folder is only looked at (--reads). */
  readonly reads: boolean
  /** It is for one command (--inside). */
  readonly inside: boolean
  /** Values of the environment variables that `providers.*.key.env` and `slack` name, and of no others. */
  readonly keys: ReadonlyMap<string, string>
}

/**
 * The only reader of the environment of this place: arguments win over `sluice.yaml` of the working folder, which
 * wins over the defaults. With `--example` documents and `sluice.yaml` are the package's own.
 * Fault InvalidInput bad_settings or bad_argument names what was seen and what is allowed.
 */
export function readSettings(argv: readonly string[], env: NodeJS.ProcessEnv, cwd: string): PlaceSettings {
  const args = readArgs(argv)
  const file = parseSettings(readFile(resolve(args.example === true ? PACKAGE : cwd, FILE)), FILE)
  refuseAnchor(file)
  refuseEvents(file)
  const settings = {
    ...file,
    port: args.port ?? file.port,
    data_dir: resolve(cwd, args['data-dir'] ?? file.data_dir),
    dags: args.example === true ? [PACKAGE_DAGS] : file.dags.map((dir) => resolve(cwd, dir)),
    project_dir: args.example === true ? PACKAGE : cwd,
    inputs_dir: resolve(cwd, args['inputs-dir'] ?? file.inputs_dir),
    providers: Object.fromEntries(
      Object.entries(file.providers).map(([name, provider]) => [name, withRecord(provider, cwd)]),
    ),
  }
  const { SLUICE_LOG, ...keys } = readEnv(env, keyNames(settings))
  const held = Object.entries(keys).filter((entry): entry is [string, string] => entry[1] !== undefined)
  const { login = false, reads = false, inside = false } = args
  return { settings, verbose: SLUICE_LOG === 'info', login, reads, inside, keys: new Map(held) }
}

/** Nothing here is out of reach of whoever runs this place: an anchor would claim what it cannot hold (docs/adr/0067). */
function refuseAnchor({ audit }: Settings): void {
  if (audit.anchor === 'none') return
  const message = `is "${audit.anchor}", which only a stage on AWS has: whoever runs this place can rewrite every folder of it; allowed here: none`
  const hint = `leave it out, or keep it in the file of a stage, sluice.<stage>.yaml`
  const issues = [{ path: 'audit.anchor', message, hint, file: FILE }]
  const told = `Cannot use the settings. ${FILE}: audit.anchor ${message} (${hint}).`
  throw new Fault('InvalidInput', 'bad_settings', told, { issues })
}

/** EventBridge reaches no machine of one person. */
function refuseEvents({ events }: Settings): void {
  if (events === undefined) return
  const message = 'asks for events of EventBridge, which only a stage on AWS is sent'
  const hint = 'send them with POST /api/events here, and keep it in the file of a stage, sluice.<stage>.yaml'
  const issues = [{ path: 'events', message, hint, file: FILE }]
  throw new Fault('InvalidInput', 'bad_settings', `Cannot use the settings. ${FILE}: events ${message} (${hint}).`, {
    issues,
  })
}

/** The recording of a `replay` is a file of the working folder, unless it is an object. */
function withRecord(provider: ProviderSettings, cwd: string): ProviderSettings {
  if (provider.type !== 'replay' || provider.record.startsWith('objstore://')) return provider
  return { ...provider, record: resolve(cwd, provider.record) }
}

/** Where the package keeps its own documents: `--example NAME` reads them in every place. */
export const PACKAGE_DAGS: string = resolve(import.meta.dirname, '../../dags')

/** Of the settings its examples need. */
const PACKAGE = resolve(import.meta.dirname, '../..')

const FILE = 'sluice.yaml'

const ArgsSchema = z.strictObject({
  port: z
    .string()
    .regex(/^\d{1,5}$/, 'a port is 0 to 65535')
    .transform(Number)
    .refine((port) => port <= 65_535, 'a port is 0 to 65535')
    .optional(),
  'data-dir': z.string().min(1, 'a folder').optional(),
  'inputs-dir': z.string().min(1, 'a folder').optional(),
  example: z.boolean().optional(),
  login: z.boolean().optional(),
  reads: z.boolean().optional(),
  inside: z.boolean().optional(),
})

function readArgs(argv: readonly string[]): z.output<typeof ArgsSchema> {
  const parsed = ArgsSchema.safeParse(splitArgs(argv))
  if (parsed.success) return parsed.data
  const issue = parsed.error.issues[0]
  throw badArgument(`--${issue?.path.join('.')}: ${issue?.message}`)
}

function splitArgs(argv: readonly string[]): unknown {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean' } as const
  const options = {
    port: text,
    'data-dir': text,
    'inputs-dir': text,
    example: flag,
    login: flag,
    reads: flag,
    inside: flag,
  } as const
  try {
    return { ...parseArgs({ args: [...argv], options, strict: true }).values }
  } catch (cause) {
    throw badArgument(cause instanceof Error ? cause.message : String(cause), cause)
  }
}

function badArgument(seen: string, cause?: unknown): Fault {
  const message = `Cannot start the place: ${seen}. Allowed: --port N, --data-dir DIR, --inputs-dir DIR, --example, --login, --reads, --inside.`
  return new Fault('InvalidInput', 'bad_argument', message, { cause })
}

/** No file is the same as an empty one. */
function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw new Fault('InvalidInput', 'bad_settings', `Cannot read settings "${path}": ${String(cause)}.`, { cause })
  }
}

const EnvSchema = z.object({ SLUICE_LOG: z.enum(['info', 'error', '']).optional() })

/** The environment variables that hold keys of providers, services, MCP servers and webhooks, secrets of Slack, headers of spans, and what a proxy takes. */
function keyNames(settings: Settings): readonly string[] {
  const { providers, slack } = settings
  const ofProviders = Object.values(providers).flatMap((provider) =>
    'key' in provider ? (provider.key?.env ?? []) : [],
  )
  const ofSlack = slackKeyNames(slack).flatMap(({ env }) => env ?? [])
  return [
    ...ofProviders,
    ...serviceKeyNames(settings),
    ...hookKeyNames(settings),
    ...mcpVariableNames(settings),
    ...ofSlack,
    ...webhookKeyNames(settings),
    ...telemetryKeyNames(settings),
    ...stepSecretNames(settings),
    ...proxyVariableNames(settings),
  ]
}

/** An object schema strips what it does not name: nothing else of the environment gets any further. */
function readEnv(env: NodeJS.ProcessEnv, names: readonly string[]): Readonly<Record<string, string | undefined>> {
  const keys = Object.fromEntries(names.map((name) => [name, z.string().optional()]))
  const parsed = z.object({ ...keys, ...EnvSchema.shape }).safeParse(env)
  if (parsed.success) return parsed.data
  const message = `Cannot use SLUICE_LOG="${env.SLUICE_LOG}": allowed are info and error.`
  throw new Fault('InvalidInput', 'bad_settings', message)
}
