import { taskSettingsIssues } from '../document/task-gates.ts'
import { egressProblem } from '../egress/hosts.ts'
import { Fault, type Issue } from '../errors.ts'
import type { ProjectGates } from '../gates/project-gates.ts'
import { priceIssues } from '../providers/model-prices.ts'
import { PLACE_PROVIDERS } from '../providers/provider.ts'
import { EMBEDDING_TYPES } from '../providers/settings.ts'
import { schemaIssues } from '../text/schema-issues.ts'
import { lineFinder, locate, type Source } from '../text/source-position.ts'
import { didYouMean, listed, suggest } from '../text/wording.ts'
import { readYaml } from '../text/yaml.ts'
import { MOST_ENDPOINTS } from '../webhooks/settings.ts'
import { FileSettingsSchema, type Settings, SettingsSchema } from './settings.ts'

/**
 * The settings a `sluice.yaml` holds, with the defaults filled in; a blank text is all defaults. Fault InvalidInput
 * bad_settings lists what is wrong, each with file, line, column, what was seen and what is allowed. Gates of tasks that are
 * modules of the project are looked at where it is given.
 */
export function parseSettings(text: string, file: string, project?: ProjectGates): Settings {
  if (isBlank(text)) return SettingsSchema.parse({})
  const source = readSource(text, file)
  const parsed = FileSettingsSchema.safeParse(source.value)
  const shape = parsed.success ? [] : schemaIssues(parsed.error, FileSettingsSchema, source.value)
  const whole = parsed.success
    ? [
        ...taskSettingsIssues(parsed.data, project),
        ...tenantIssues(parsed.data),
        ...priceIssues(parsed.data),
        ...endpointIssues(parsed.data),
        ...egressIssues(parsed.data),
      ]
    : []
  const issues = [...shape, ...providerReferenceIssues(source.value), ...whole]
  if (parsed.success && issues.length === 0) return parsed.data
  throw badSettings(
    file,
    issues.map((issue) => placed(issue, source, text, file)),
  )
}

function isBlank(text: string): boolean {
  return text.split(/\r\n|\n|\r/).every((line) => /^\s*(?:#.*)?$/.test(line.replace('\uFEFF', '')))
}

function readSource(text: string, file: string): Source {
  const read = readYaml(text)
  if (read.ok) return read.source
  const place = lineFinder(text)
  const issues = read.problems.map((problem): Issue => {
    const { text: message, hint } = problem.say({ who: 'the file', place: problem.path.join('.') || 'the file' })
    const path = problem.path.join('.')
    return { path, message, file, ...place(problem.at ?? 0), ...(hint === undefined ? {} : { hint }) }
  })
  throw badSettings(file, issues)
}

function placed(issue: Issue, source: Source, text: string, file: string): Issue {
  const path = issue.path === '' ? [] : issue.path.split('.').map((part) => (/^\d+$/.test(part) ? Number(part) : part))
  const seen = path.reduce<unknown>(
    (value, part) => (value as Record<string, unknown> | undefined)?.[part],
    source.value,
  )
  const shown = mayShow(issue.path) ? JSON.stringify(seen)?.slice(0, 100) : undefined
  const message = shown === undefined ? issue.message : `${issue.message} (seen: ${shown})`
  return { ...issue, message, file, ...lineFinder(text)(locate(source.spot, path, 'key')) }
}

/** A key that was pasted where its name belongs, or into a URL, must not be told again. */
function mayShow(path: string): boolean {
  if (/(key|token|secret|password)[^.]*$/i.test(path)) return false
  if (path.startsWith('webhooks.')) return /\.(name|tenant|events|dags|timeout_ms|give_up_sec)\b/.test(path)
  if (path.startsWith('services.')) return /\.(timeout_ms|private)$/.test(path)
  if (path.startsWith('mcp_servers.')) return /\.(timeout_ms|private|trust|tools|effects|idempotent)\b/.test(path)
  if (path.startsWith('telemetry')) return path === 'telemetry.otlp.capture_content'
  if (path.startsWith('slack.')) return /^slack\.(team_id|app_id|channel|tenant|users)\b/.test(path)
  return (
    !path.startsWith('providers.') ||
    /^providers\.[^.]+\.(type|timeout_ms|idle_ms|max_concurrency|breaker|models|region|package|export)\b/.test(path)
  )
}

function badSettings(file: string, issues: readonly Issue[]): Fault {
  const lines = issues.map(({ path, message, line, column, hint }) => {
    const at = line === undefined ? '' : `:${line}:${column}`
    return `${file}${at}: ${path === '' ? '' : `${path}: `}${message}${hint === undefined ? '' : ` (${hint})`}`
  })
  return new Fault('InvalidInput', 'bad_settings', `Cannot use the settings. ${lines.join('; ')}.`, { issues })
}

/**
 * What is wrong between providers and who names one, an agent, the research chain, its embeddings or its judge: it is one that is
 * configured (PLACE_PROVIDERS always are) and, where that lists its models, one of them. Takes the settings as they were read, so
 * that these are told together with mistakes of shape.
 */
export function providerReferenceIssues(settings: unknown): readonly Issue[] {
  const providers = memberOf(settings, 'providers')
  const known = [...new Set([...PLACE_PROVIDERS, ...keysOf(providers)])]
  const agents = memberOf(settings, 'agents')
  const asking = [
    ...keysOf(agents).map((name) => [`agents.${name}`, memberOf(agents, name)] as const),
    ['research', memberOf(settings, 'research')] as const,
    [EMBEDDINGS, memberOf(memberOf(settings, 'research'), 'embeddings')] as const,
    ['research.judge', memberOf(memberOf(settings, 'research'), 'judge')] as const,
  ]
  return asking.flatMap(([path, agent]) => {
    const provider = memberOf(agent, 'provider')
    if (typeof provider !== 'string') return []
    if (known.includes(provider)) {
      const configured = memberOf(providers, provider)
      return [...modelIssues(path, agent, configured), ...embeddingIssues(path, provider, configured)]
    }
    return [refusedName(`${path}.provider`, 'No such provider', provider, known)]
  })
}

const EMBEDDINGS = 'research.embeddings'

function embeddingIssues(path: string, name: string, provider: unknown): readonly Issue[] {
  const type = memberOf(provider, 'type') ?? name
  if (path !== EMBEDDINGS || typeof type !== 'string' || EMBEDDING_TYPES.includes(type)) return []
  const message = `Providers of type "${type}" have no embeddings; those of ${listed(EMBEDDING_TYPES)} have`
  return [{ path: `${path}.provider`, message }]
}

function modelIssues(path: string, agent: unknown, provider: unknown): readonly Issue[] {
  const models = memberOf(provider, 'models')
  const model = memberOf(agent, 'model')
  if (!Array.isArray(models) || typeof model !== 'string' || models.includes(model)) return []
  const texts = models.filter((text) => typeof text === 'string')
  return [refusedName(`${path}.model`, 'Not one of the models its provider lists', model, texts)]
}

function refusedName(path: string, message: string, seen: string, allowed: readonly string[]): Issue {
  const hint = didYouMean(suggest(seen, allowed))
  return { path, message: `${message}; allowed: ${listed(allowed)}`, ...(hint === undefined ? {} : { hint }) }
}

function keysOf(value: unknown): readonly string[] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : []
}

function memberOf(value: unknown, key: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
  // Checked above: an object with this own key.
  return (value as Readonly<Record<string, unknown>>)[key]
}

/** Who is put into a tenant by the settings, and which tenants there are. */
type Placing = Pick<Settings, 'tenants' | 'slack' | 'webhooks' | 'buses' | 'triggers' | 'spending' | 'iam_tenants'>

/** Names of tenants that are not in the list of them, by where they stand. */
export function tenantIssues({
  tenants,
  slack,
  webhooks,
  buses,
  triggers,
  spending,
  iam_tenants = {},
}: Placing): readonly Issue[] {
  const named = [
    ...(slack === undefined ? [] : [['slack.tenant', slack.tenant] as const]),
    ...webhooks.map(({ tenant }, i) => [`webhooks.${i}.tenant`, tenant] as const),
    ...buses.map(({ tenant }, i) => [`buses.${i}.tenant`, tenant] as const),
    ['triggers.tenant', triggers.tenant] as const,
    ...spending.flatMap(({ tenant }, i) => (tenant === undefined ? [] : [[`spending.${i}.tenant`, tenant] as const])),
    ...Object.entries(iam_tenants).map(([role, tenant]) => [`auth.tenants.${role}`, tenant] as const),
  ]
  return named
    .filter(([, tenant]) => !tenants.includes(tenant))
    .map(([path, tenant]) => refusedTenant(path, tenant, tenants))
}

function refusedTenant(path: string, seen: string, tenants: readonly string[]): Issue {
  const hint = didYouMean(suggest(seen, tenants))
  const message = `"${seen}" is not in the list of tenants; allowed: ${listed(tenants)}, or add it to that list`
  return { path, message, ...(hint === undefined ? {} : { hint }) }
}

/** Webhooks and buses are told by one list of what a run owes: a name stands for one of them. */
function endpointIssues({ webhooks, buses }: Pick<Settings, 'webhooks' | 'buses'>): readonly Issue[] {
  const hooks = new Set(webhooks.map(({ name }) => name))
  const twice = buses.flatMap(({ name }, i) =>
    hooks.has(name)
      ? [{ path: `buses.${i}.name`, message: 'a webhook has this name too; give the bus another one' }]
      : [],
  )
  const all = webhooks.length + buses.length
  if (all <= MOST_ENDPOINTS) return twice
  const message = `with webhooks there are ${all}; allowed: ${MOST_ENDPOINTS} together. Put events on one bus, and let its rules hand them out`
  return [...twice, { path: 'buses', message }]
}

/** Hosts that settings have asked and do not allow to be asked: told when they are read, not by the first run. */
function egressIssues(settings: Settings): readonly Issue[] {
  return namedUrls(settings).flatMap(([path, url]) => {
    const problem = url === undefined ? undefined : egressProblem(new URL(url).hostname, settings.egress)
    return problem === undefined ? [] : [{ path, message: `${problem}. Add it there, or take this out` }]
  })
}

/** What settings have this product ask over HTTP, by where they name it. Calls of AWS's own client are none of them. */
function namedUrls(settings: Omit<Settings, 'egress'>): readonly (readonly [path: string, url: string | undefined])[] {
  const { providers, services, mcp_servers, webhooks, slack, telemetry, research } = settings
  return [
    ...Object.entries(providers).map(([name, provider]) => [`providers.${name}.url`, urlOf(provider)] as const),
    ...Object.entries(services).map(([name, { url }]) => [`services.${name}.url`, url] as const),
    ...Object.entries(mcp_servers).map(([name, { url }]) => [`mcp_servers.${name}.url`, url] as const),
    ...webhooks.map(({ url }, i) => [`webhooks.${i}.url`, url] as const),
    ['slack.api_url', slack?.api_url],
    ['telemetry.otlp.endpoint', telemetry?.otlp.endpoint],
    ['research.webhook', research.webhook],
  ]
}

function urlOf(provider: Settings['providers'][string]): string | undefined {
  return 'url' in provider ? provider.url : undefined
}
