import { existsSync, readFileSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { AWS_QUOTAS } from '../../shared/aws-quotas.ts'
import { Fault, type Issue } from '../../shared/errors.ts'
import { ResearchSettingsSchema } from '../../shared/research/settings.ts'
import { SafetySchema } from '../../shared/runs/safety-settings.ts'
import { parseSettings, providerReferenceIssues, tenantIssues } from '../../shared/settings/parse.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { schemaIssues } from '../../shared/text/schema-issues.ts'
import { mcpKeys } from '../../shared/tools/settings.ts'
import type { DeploySettings } from './deploy-settings.ts'
import { requireReachable } from './network-settings.ts'

/**
 * The settings of a stage, from one file: the one `sluice:settings` names, else `sluice.<stage>.yaml`, else
 * `sluice.yaml`, else all defaults. A key there must be a secret's ARN: a function's environment holds no secret. No gate
 * reaches the function it runs in. Fault InvalidInput bad_settings names file, place and fix.
 */
export function readStageSettings(
  root: string,
  { stage, settings: named }: Pick<DeploySettings, 'stage' | 'settings'>,
): Settings {
  const file = [named, `sluice.${stage}.yaml`, 'sluice.yaml'].find(
    (name) => name !== undefined && (name === named || existsSync(resolve(root, name))),
  )
  if (file === undefined) return parseSettings('', 'sluice.yaml')
  const path = resolve(root, file)
  const settings = parseSettings(readText(path, file), relative(root, path))
  const issues = [
    ...keysWithoutSecret(settings),
    ...providerIssues(settings),
    ...loopbackIssues(settings),
    ...webhookIssues(settings),
    ...serviceIssues(settings),
    ...mcpIssues(settings),
    ...egressProxyIssues(settings),
    ...auditIssues(settings),
    ...bodyIssues(settings),
  ]
  if (issues.length === 0) return settings
  const told = issues.map(({ path: place, message }) => `${file}: ${place}: ${message}`).join('; ')
  throw new Fault('InvalidInput', 'bad_settings', `Cannot deploy these settings. ${told}.`, { issues })
}

function readText(path: string, file: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const message = `Cannot read the settings "${file}": ${(cause as Error).message}. Give "sluice:settings" the path of a file below the repository.`
    throw new Fault('InvalidInput', 'bad_settings', message, { cause })
  }
}

function keysWithoutSecret({
  providers,
  services,
  mcp_servers,
  slack,
  webhooks,
  triggers,
  telemetry,
  steps,
  containers,
}: Settings): readonly Issue[] {
  const message = 'on AWS a key is read from Secrets Manager or Systems Manager; add secret: ARN'
  const ofProviders = Object.entries(providers).flatMap(([name, provider]) =>
    'key' in provider && provider.key !== undefined ? [{ path: `providers.${name}.key`, key: provider.key }] : [],
  )
  const ofServices = Object.entries(services).flatMap(([name, { key }]) =>
    key === undefined ? [] : [{ path: `services.${name}.key`, key }],
  )
  const ofServers = Object.entries(mcp_servers).flatMap(([name, server]) =>
    mcpKeys(server).map(({ path, key }) => ({ path: `mcp_servers.${name}.${path}`, key })),
  )
  const ofSlack = slack === undefined ? [] : slackKeys(slack)
  const ofWebhooks = webhooks.flatMap(({ key }, i) =>
    [key].flat().map((one) => ({ path: `webhooks.${i}.key`, key: one })),
  )
  const ofHooks = Object.entries(triggers.secrets).flatMap(([name, key]) =>
    [key].flat().map((one) => ({ path: `triggers.secrets.${name}`, key: one })),
  )
  const ofHeaders = Object.entries(telemetry?.otlp.headers ?? {}).map(([name, key]) => ({
    path: `telemetry.otlp.headers.${name}`,
    key,
  }))
  const equipped = [...named('steps', steps), ...named('containers', containers)]
  const ofSteps = equipped.flatMap(([path, { secrets }]) =>
    Object.entries(secrets).map(([as, key]) => ({ path: `${path}.secrets.${as}`, key })),
  )
  return [
    ...ofProviders,
    ...ofServices,
    ...ofServers,
    ...ofSlack,
    ...ofWebhooks,
    ...ofHooks,
    ...ofHeaders,
    ...ofSteps,
  ].flatMap(({ path, key }) => (key.secret === undefined ? [{ path, message }] : []))
}

function named<T>(key: string, all: Readonly<Record<string, T>>): readonly (readonly [string, T])[] {
  return Object.entries(all).map(([name, one]) => [`${key}.${name}`, one])
}

function slackKeys({ token, signing_secret }: NonNullable<Settings['slack']>) {
  return [
    { path: 'slack.token', key: token },
    ...[signing_secret].flat().map((key) => ({ path: 'slack.signing_secret', key })),
  ]
}

/** What is a file, or the operator's own rights, locally must be named exactly here. */
function providerIssues({ providers }: Settings): readonly Issue[] {
  return Object.entries(providers).flatMap(([name, provider]) => {
    if (provider.type === 'replay' && !provider.record.startsWith('objstore://')) {
      const message = 'on AWS a recording is an object; give the objstore:// ref that sluice run record prints'
      return [{ path: `providers.${name}.record`, message }]
    }
    if (provider.type !== 'bedrock' || provider.models !== undefined) return []
    const message = 'is missing: on AWS the right to ask is granted on exactly the models it lists'
    return [{ path: `providers.${name}.models`, message }]
  })
}

/** Functions have no environment of a shell, and net-gate no right to read a secret. */
function egressProxyIssues({ egress }: Settings): readonly Issue[] {
  const own = 'environment is for the local place; write the address of the proxy'
  const granted =
    'is for the local place: on AWS functions go to the proxy without, and its security group says who may. Take it out, or keep a sluice.<stage>.yaml for this stage'
  return [
    ...(egress.proxy === 'environment' ? [{ path: 'egress.proxy', message: own }] : []),
    ...(egress.credentials === undefined ? [] : [{ path: 'egress.credentials', message: granted }]),
  ]
}

/** There Lambda's own runtime listens. */
function loopbackIssues({ http_gates }: Settings): readonly Issue[] {
  const message = 'loopback is for the local place; leave it out, or keep a sluice.<stage>.yaml for this stage'
  return http_gates.loopback ? [{ path: 'http_gates.loopback', message }] : []
}

function webhookIssues({ webhooks }: Settings): readonly Issue[] {
  const message = 'on AWS a webhook is asked over https; http is for this machine, in the local place'
  return webhooks.flatMap(({ url }, i) => (url.startsWith('https:') ? [] : [{ path: `webhooks.${i}.url`, message }]))
}

/** Whatever network net-gate is in: a document must not lead it to what is private there, and on its own machine is Lambda's runtime. */
function serviceIssues({ services }: Settings): readonly Issue[] {
  const message =
    'private is for the local place: on AWS net-gate asks public addresses alone. Give the service a public https URL, or keep a sluice.<stage>.yaml for this stage'
  return Object.entries(services).flatMap(([name, service]) =>
    service.private ? [{ path: `services.${name}.private`, message }] : [],
  )
}

/** A function starts no command of yours, and asks public addresses alone. */
function mcpIssues({ mcp_servers }: Settings): readonly Issue[] {
  const keep = 'or keep a sluice.<stage>.yaml for this stage'
  const started = `a command is started by the local place alone: on AWS nothing stays between two calls. Give the server a url (streamable HTTP), ${keep}`
  const own = `private is for the local place: on AWS only public addresses are asked. Give the server a public https URL, ${keep}`
  return Object.entries(mcp_servers).flatMap(([name, server]) => [
    ...(server.command === undefined ? [] : [{ path: `mcp_servers.${name}.command`, message: started }]),
    ...(server.private ? [{ path: `mcp_servers.${name}.private`, message: own }] : []),
  ])
}

/** A record whose anchor may be taken away while it is kept is no better than one without. Records are kept 91 days at least. */
function auditIssues({ audit, safety }: Settings): readonly Issue[] {
  const kept = Math.max(91, safety.retention_days)
  if (audit.anchor === 'none' || audit.retention_days >= kept) return []
  const message = `is ${audit.retention_days}, and records of runs are kept ${kept} days (safety.retention_days); allowed: ${kept} to 3650`
  return [{ path: 'audit.retention_days', message }]
}

/** API Gateway hands a body over in base64, beside headers and what it knows of the caller. */
const MOST_BODY_BYTES = ((AWS_QUOTAS.function_payload_bytes.most - 32_768) / 4) * 3

/** Larger ones never reach their function: larger bodies of the graph go past it (POST /api/objects/upload). */
function bodyIssues({ safety }: Pick<Settings, 'safety'>): readonly Issue[] {
  if (safety.max_body_bytes <= MOST_BODY_BYTES) return []
  const message = `is ${safety.max_body_bytes}, and a request on AWS has room for ${MOST_BODY_BYTES} (Lambda takes 6 MB, bodies in base64); allowed: 1024 to ${MOST_BODY_BYTES}`
  return [{ path: 'safety.max_body_bytes', message }]
}

/** The settings of a deployment: those of its file, under what the CDK context says instead. Fault InvalidInput bad_settings. */
export function withCdkContext(file: Settings, deploy: DeploySettings): Settings {
  const safe = withCdkContextSafety(file, deploy.safety)
  const told = withOwnDomain(withCdkContextTenants(withCdkContextResearch(safe, deploy.research), deploy), deploy)
  requireReachable(told, deploy)
  const body_days = Math.max(deploy.retention_days, told.safety.retention_days) + 30
  return { ...withContextAuth(told, deploy.auth), body_days, tags: deploy.tags }
}

/**
 * The settings with the safety values of the CDK context (`sluice:safety`) over those of the file; it is noted which
 * they are, for GET /api/dag/safety. Fault InvalidInput bad_settings names each wrong one and what is allowed.
 */
export function withCdkContextSafety(
  settings: Settings,
  given: Readonly<Record<string, unknown>> | undefined,
): Settings {
  if (given === undefined) return settings
  const parsed = SafetySchema.safeParse({ ...settings.safety, ...given })
  const issues = parsed.success
    ? bodyIssues({ safety: parsed.data }).map((issue) => ({ ...issue, path: 'max_body_bytes' }))
    : schemaIssues(parsed.error, SafetySchema, given)
  if (parsed.success && issues.length === 0) {
    return { ...settings, safety: parsed.data, safety_context: Object.keys(given) }
  }
  const told = issues.map(({ path, message, hint }) => {
    return `"sluice:safety" ${path}: ${message}${hint === undefined ? '' : ` (${hint})`}`
  })
  const message = `cdk.json: context ${told.join('; ')}. Set it under "context" in cdk.json, or pass -c sluice:safety=JSON.`
  throw new Fault('InvalidInput', 'bad_settings', message, { issues })
}

/**
 * The settings with the CDK context's model of the research chain (`sluice:research`) over the file's; its provider is one
 * of the file's. Fault InvalidInput bad_settings names each wrong value and what is allowed.
 */
export function withCdkContextResearch(
  settings: Settings,
  given: Readonly<Record<string, unknown>> | undefined,
): Settings {
  if (given === undefined) return settings
  const asked = { ...settings.research, ...given }
  const parsed = ResearchSettingsSchema.safeParse(asked)
  const shape = parsed.success ? [] : schemaIssues(parsed.error, ResearchSettingsSchema, asked)
  const issues = [
    ...shape,
    ...providerReferenceIssues({ providers: settings.providers, research: asked }).map((issue) => {
      return { ...issue, path: issue.path.replace('research.', '') }
    }),
  ]
  if (parsed.success && issues.length === 0) return { ...settings, research: parsed.data }
  const told = issues.map(({ path, message, hint }) => {
    return `"sluice:research" ${path}: ${message}${hint === undefined ? '' : ` (${hint})`}`
  })
  const message = `cdk.json: context ${told.join('; ')}. Set it under "context" in cdk.json, or pass -c sluice:research=JSON.`
  throw new Fault('InvalidInput', 'bad_settings', message, { issues })
}

/**
 * The settings with the tenants of the CDK context (`sluice:tenants`) over those of the file, and with the tenants that
 * `sluice:auth` gives to IAM principals. Fault InvalidInput bad_settings names each that is not in the list.
 */
export function withCdkContextTenants(settings: Settings, { tenants, auth }: Pick<DeploySettings, 'tenants' | 'auth'>) {
  const roles = auth.mode === 'iam' ? auth.tenants : undefined
  const told: Settings = {
    ...settings,
    ...(tenants === undefined ? {} : { tenants: [...tenants] }),
    ...(roles === undefined ? {} : { iam_tenants: roles }),
  }
  const issues = tenantIssues(told)
  if (issues.length === 0) return told
  const lines = issues.map(({ path, message, hint }) => `${path}: ${message}${hint === undefined ? '' : ` (${hint})`}`)
  const message = `cdk.json: context "sluice:tenants" does not fit the settings. ${lines.join('; ')}. Pass -c sluice:tenants=NAME,NAME.`
  throw new Fault('InvalidInput', 'bad_settings', message, { issues })
}

/** No gate reaches the API of its own stage by the name of its domain either. */
function withOwnDomain(settings: Settings, { domain }: Pick<DeploySettings, 'domain'>): Settings {
  if (domain === undefined) return settings
  const { http_gates } = settings
  return { ...settings, http_gates: { ...http_gates, deny_hosts: [...http_gates.deny_hosts, domain.name] } }
}

/** The settings of a deployment: `sluice:auth` says how its callers prove who they are, `auth` of the file is the local place's. */
function withContextAuth({ auth: _local, ...settings }: Settings, auth: DeploySettings['auth']): Settings {
  return auth.mode === 'iam' ? { ...settings, iam_people: [...(auth.people ?? [])] } : { ...settings, auth }
}
