import { once } from 'node:events'
import type { Writable } from 'node:stream'
import * as z from 'zod'
import { authorizedPrincipal } from '../../shared/auth/authorizer.ts'
import { MAIN_TENANT, type Principal } from '../../shared/auth/principal.ts'
import { SCOPES } from '../../shared/auth/scopes.ts'
import { FUNCTIONS } from '../../shared/catalog.ts'
import { namedProxy } from '../../shared/egress/proxy.ts'
import { Fault, MachineSignal } from '../../shared/errors.ts'
import { type Settings, SettingsSchema } from '../../shared/settings/settings.ts'
import type { World } from '../../shared/world.ts'
import { useEgress } from '../egress/egress.ts'
import type { Handler } from '../handler.ts'
import {
  arnVariable,
  type Core,
  createIds,
  createLog,
  environment,
  type FunctionEnvironment,
  lambdaClock,
} from './core.ts'
import {
  isHttpEvent,
  type LambdaContext,
  openInvocation,
  proxyAnswer,
  type RouteAnswer,
  toLambdaError,
} from './invocation.ts'
import { assembleWorld, type WorldParts } from './world.ts'

/** What the end of an invocation waits for a collector at the most, and what is left of its time then. */
const FLUSH_MS = 1_000
const SPARE_MS = 300

export interface EntryParts extends WorldParts {
  readonly handler: Handler
}

export type LambdaHandler = (event: unknown, context: LambdaContext) => Promise<unknown>

/**
 * The handler Lambda calls, made of one of ours and its ports. A generated entry is
 * `export const handler = lambdaEntry({ name, handler: run, ports: { runs: openRunStore } })`; the World is opened
 * when the sandbox starts, so a missing value fails the start with its name.
 */
export function lambdaEntry({ handler, ...parts }: EntryParts, env?: NodeJS.ProcessEnv): LambdaHandler {
  const world = openWorld(parts, env)
  const principal = (event: unknown) =>
    isHttpEvent(event) ? readPrincipal(event, world.settings.iam_tenants, world.settings.iam_people) : undefined
  return async (event, context) => {
    const invocation = openInvocation(world, event, context, principal(event))
    try {
      const answer = await handler(invocation.event, invocation.context)
      // Routes are made by functions/http-handler.ts, which answers this shape.
      return isHttpEvent(event) ? proxyAnswer(answer as RouteAnswer) : answer
    } catch (error) {
      // The wrappers in functions/ have told that it failed; here is where, with its causes.
      if (!(error instanceof MachineSignal)) invocation.context.world.log.info('function left with', { error })
      throw toLambdaError(error)
    } finally {
      invocation.end()
      await world.telemetry?.flush(Math.min(FLUSH_MS, context.getRemainingTimeInMillis() - SPARE_MS))
    }
  }
}

/** What Lambda's Node runtime puts into the global scope for functions that stream. */
interface StreamRuntime {
  streamifyResponse(
    handler: (event: unknown, response: Writable, context: LambdaContext) => Promise<void>,
  ): (...given: never[]) => Promise<unknown>
  readonly HttpResponseStream: {
    from(
      response: Writable,
      head: { readonly statusCode: number; readonly headers: Readonly<Record<string, string>> },
    ): Writable
  }
}

/**
 * The entry of a route whose catalog line has `stream` (API Gateway response streaming, REST APIs): status and headers
 * first, then the body as it comes, pulled only as fast as the client reads. Ends quietly when the time is nearly over;
 * the client comes again with Last-Event-ID.
 */
export function streamEntry({ handler, ...parts }: EntryParts, env?: NodeJS.ProcessEnv) {
  const world = openWorld(parts, env)
  const runtime = requireRuntime()
  return runtime.streamifyResponse(async (event, response, context) => {
    const invocation = openInvocation(
      world,
      event,
      context,
      readPrincipal(event, world.settings.iam_tenants, world.settings.iam_people),
    )
    try {
      // Routes are made by functions/http-handler.ts, which answers this shape and never throws.
      const { statusCode, headers, body } = (await handler(invocation.event, invocation.context)) as RouteAnswer
      const out = runtime.HttpResponseStream.from(response, { statusCode, headers })
      await send(out, body, invocation.context.signal)
    } finally {
      invocation.end()
    }
  })
}

function requireRuntime(): StreamRuntime {
  const found = (globalThis as { readonly awslambda?: StreamRuntime }).awslambda
  if (found !== undefined) return found
  throw new Fault(
    'Bug',
    'bad_environment',
    'Cannot stream: this is not the Lambda runtime (there is no global awslambda).',
  )
}

async function send(out: Writable, body: RouteAnswer['body'], signal: AbortSignal): Promise<void> {
  try {
    // Also an empty body is written: the head goes out with the first write.
    if (typeof body === 'string' || body instanceof Uint8Array) out.write(body)
    else for await (const chunk of body) if (!out.write(chunk)) await once(out, 'drain', { signal })
  } catch (error) {
    if (!signal.aborted) throw error
  } finally {
    out.end()
  }
}

/**
 * Who calls, from what API Gateway's authorizer found (never from headers or body). Of IAM: an assumed role is `iam:<role
 * name>`, an IAM user `iam:user/<name>`, the account itself `iam:root`; callers of another account have its number in
 * front, so that a role of the same name there is somebody else. Undefined = nobody was authenticated. IAM policies
 * decide which routes a caller reaches, so every scope is given. `tenants`: which of these names are of which tenant; the
 * others are of the main one. `people`: roles whose sessions are named after persons (docs/tokens.md, "Persons").
 */
export function readPrincipal(
  event: unknown,
  tenants: Tenants = {},
  people: readonly string[] = [],
): Principal | undefined {
  return (
    authorizedPrincipal(AuthorizedSchema.safeParse(event).data?.requestContext.authorizer) ??
    signer(event, tenants, people)
  )
}

type Tenants = Readonly<Record<string, string>>

/** Of a deployment whose callers come with a bearer credential: the context its authorizer answered. */
const AuthorizedSchema = z.object({ requestContext: z.object({ authorizer: z.unknown() }) })

function signer(event: unknown, tenants: Tenants, people: readonly string[]): Principal | undefined {
  const parsed = CallerSchema.safeParse(event)
  if (!parsed.success) return undefined
  const { accountId, identity } = parsed.data.requestContext
  const [, account, rest] = /^arn:aws[a-z-]*:(?:iam|sts)::(\d{12}):(.+)$/.exec(identity.userArn) ?? []
  const name = rest === undefined ? undefined : nameOf(rest)
  if (name === undefined) return undefined
  const id = account === accountId ? name : `${account}/${name}`
  const tenant = Object.hasOwn(tenants, id) ? tenants[id] : undefined
  const session = /^assumed-role\/[^/]+\/(.+)$/.exec(rest ?? '')?.[1]
  const isPerson = session !== undefined && people.some((pattern) => matches(pattern, id))
  const person = isPerson ? { person: `user:${session}` } : {}
  return { kind: 'iam', id, tenant: tenant ?? MAIN_TENANT, scopes: SCOPES, via: 'iam', ...person }
}

const CallerSchema = z.object({
  requestContext: z.object({ accountId: z.string(), identity: z.object({ userArn: z.string() }) }),
})

/** A role by name, or by how its name begins: `AWSReservedSSO_*`. */
function matches(pattern: string, id: string): boolean {
  return pattern.endsWith('*') ? id.startsWith(pattern.slice(0, -1)) : id === pattern
}

/** The session's name is the caller's own choice, so it says nothing of the name, and of the person only where the settings vouch for the role; a user's path is no part of its name. */
function nameOf(rest: string): string | undefined {
  const parts = rest.split('/')
  const [kind] = parts
  if (kind === 'assumed-role') return parts[1]
  if (kind === 'user' || kind === 'federated-user') return `${kind}/${parts.at(-1)}`
  return rest === 'root' ? rest : undefined
}

/** The World of one function, its environment and settings checked. */
export function openWorld(parts: WorldParts, env?: NodeJS.ProcessEnv): World {
  return assembleWorld(openCore(parts, env), parts)
}

function openCore(
  { name, ports, settings = {}, deployed = {}, gates = {} }: WorldParts,
  env?: NodeJS.ProcessEnv,
): Core {
  const read = readEnvironment(env)
  const secrets = ports.secrets?.({ clock: lambdaClock })
  const checked = parsePolicy(settings)
  useEgress(checked.egress, namedProxy(checked.egress))
  return {
    env: read,
    deployed,
    gates,
    ...(secrets === undefined ? {} : { secrets }),
    settings: checked,
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

/**
 * What a function reads of its environment. A value that is there must be well-formed; whether one has to be
 * there depends on the function, so what a port needs is asked for by `required` and `functionArn`.
 * Fault Bug bad_environment names the value, never its content.
 */
export function readEnvironment(env: NodeJS.ProcessEnv = environment): FunctionEnvironment {
  const parsed = EnvSchema.safeParse(env)
  if (!parsed.success) throw badSetting(parsed.error.issues[0])
  const named = FUNCTIONS.flatMap(({ name }) => {
    const arn = env[arnVariable(name)]
    return arn === undefined ? [] : [[name, parseArn(arnVariable(name), arn)] as const]
  })
  return { ...parsed.data, functions: Object.fromEntries(named) }
}

const ArnSchema = z
  .string()
  .regex(/^arn:aws[a-z-]*:[a-z0-9-]+:[a-z0-9-]*:\d{12}:[\w/:.@+=,*-]+$/, 'an ARN with a 12-digit account')

const EnvSchema = z.object({
  /** Part of every name of the deployment: `sluice-<stage>-..`. */
  STAGE: z.string().regex(/^[a-z][a-z0-9-]{0,19}$/, '1 to 20 of a-z, 0-9 and dashes, a letter first'),
  /** Set by Lambda itself. */
  AWS_REGION: z.string().regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'a region such as eu-central-1'),
  TABLE: z.string().min(3).optional(),
  BUCKET: z.string().min(3).optional(),
  /** The bucket with Object Lock. */
  ANCHORS: z.string().min(3).optional(),
  DROPS: z.string().min(3).optional(),
  /** What inline machines run as. */
  STATE_MACHINE_ROLE_ARN: ArnSchema.optional(),
  /** Where inline machines log (level ALL, without execution data); its ARN ends in `:*`. */
  MACHINE_LOG_GROUP_ARN: ArnSchema.optional(),
  RELEASE: z
    .string()
    .regex(/^[0-9a-f]{12}$/, '12 hexadecimal digits')
    .optional(),
  DEPLOYED_RELEASE: z.string().startsWith('{', 'a JSON object').optional(),
  SLUICE_LOG: z.enum(['info', 'error']).default('info'),
})

function parseArn(name: string, arn: string): string {
  const parsed = ArnSchema.safeParse(arn)
  if (parsed.success) return parsed.data
  throw badSetting({ path: [name], message: parsed.error.issues[0]?.message ?? '' })
}

function badSetting(issue: { readonly path: readonly PropertyKey[]; readonly message: string } | undefined): Fault {
  const name = String(issue?.path[0] ?? 'environment')
  const message = `Cannot start this function: environment value ${name} must be ${issue?.message ?? 'well-formed'}. Deploy again; values are written by infra/aws.`
  return new Fault('Bug', 'bad_environment', message, { facts: { setting: name } })
}
