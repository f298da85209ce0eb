import * as z from 'zod'
import { ApprovalSettingsSchema, NamedPeopleSchema } from '../approvals/settings.ts'
import { type Principal, principalName } from '../auth/principal.ts'
import { AuthSettingsSchema, TenantSchema, TenantsSchema } from '../auth/settings.ts'
import { PipelineSettingsSchema, TaskGateSettingsSchema } from '../dag/task-gate.ts'
import { HttpGateSettingsSchema, ShellGateSettingsSchema } from '../gates/settings.ts'
import { PriceSettingsSchema } from '../providers/prices.ts'
import { ProviderSettingsSchema } from '../providers/settings.ts'
import { ResearchSettingsSchema } from '../research/settings.ts'
import { SlackSettingsSchema } from '../slack/settings.ts'
import { TelemetrySettingsSchema } from '../telemetry/settings.ts'
import { WebhookSettingsSchema } from '../webhooks/settings.ts'

/** sluice.yaml (docs/operate.md, "Settings"): everything optional, unknown keys refused. */
const name = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/)

const AgentSettingsSchema = z.strictObject({
  role: z.enum(['worker', 'reviewer', 'manager', 'specialist']),
  provider: name,
  model: z.string().min(1).max(200),
  capabilities: z.array(z.string().min(1).max(100)).max(100).optional(),
  /** Sent before the prompt of blocks that have no `system` of their own; as it stands, it is no template. */
  system: z
    .string()
    .min(1)
    .max(20_000)
    .refine((text) => !text.includes('{{'), 'a text without {{ }}: it is sent as it is, placeholders are for blocks')
    .optional(),
})

/** 64 TiB. */
const MOST_BYTES = 2 ** 46

/** Safety policy (docs/limits-and-costs.md, "Caps an operator sets"). */
export const SafetySchema = z.strictObject({
  max_run_sec: z.int().min(1).max(31_536_000).default(604_800),
  max_block_ms: z.int().min(1).max(840_000).default(840_000),
  max_attempts: z.int().min(1).max(100).default(5),
  max_parallel: z.int().min(0).max(1_000).default(50),
  max_body_bytes: z.int().min(1_024).max(10_485_760).default(1_048_576),
  /** Active runs of a tenant; children of a run are not counted. Over it a start is refused, or waits with `queue`. */
  max_runs: z.int().min(1).max(1_000).default(20),
  queue: z.boolean().default(false),
  /** Without progress and nothing to wait for, a run is cancelled after this long. */
  stall_sec: z.int().min(60).max(86_400).default(300),
  /** What providers may use; absent = no cap. */
  max_run_tokens: z.int().min(1).optional(),
  max_run_usd: z.number().positive().optional(),
  max_block_tokens: z.int().min(1).optional(),
  max_block_usd: z.number().positive().optional(),
  /** Bytes of bodies: of a run, and of a tenant's runs and uploads as long as they are kept; absent = no quota. */
  max_run_bytes: z.int().min(1_048_576).max(MOST_BYTES).default(268_435_456),
  max_tenant_bytes: z.int().min(1_048_576).max(MOST_BYTES).optional(),
  /** Requests of one caller that start, change or check something. */
  max_requests_per_min: z.int().min(1).max(100_000).default(120),
  /** Streams of events that are open at once: of a caller, and of all callers of a tenant together. */
  max_streams_per_caller: z.int().min(1).max(1_000).default(10),
  max_streams: z.int().min(1).max(1_000).default(100),
  /** false: whoever started a run may not decide in it, whatever its document says. */
  self_approval: z.boolean().default(true),
  /** How long an ended run and its bodies are kept. */
  retention_days: z.int().min(1).max(3_650).default(90),
})
export type Safety = z.infer<typeof SafetySchema>

/** Where the record of a run is kept from whoever runs the place (docs/adr/0067). Only a stage on AWS has such a where. */
const AuditSettingsSchema = z.strictObject({
  /** `s3-object-lock`: the end of each run's hash chain is put into a bucket that gives nothing back before its time. */
  anchor: z.enum(['none', 's3-object-lock']).default('none'),
  /** How long S3 locks an anchor; not less than the record itself is kept. */
  retention_days: z.int().min(91).max(3_650).default(365),
})

export const SettingsSchema = z.strictObject({
  version: z.literal(1).default(1),
  port: z.int().min(0).max(65_535).default(4040),
  data_dir: z.string().min(1).default('.sluice'),
  dags: z.array(z.string().min(1)).default(['dags']),
  inputs_dir: z.string().min(1).default('inputs'),
  providers: z.record(name, ProviderSettingsSchema).default({}),
  /** Of models whose price no table knows, or another one (docs/providers.md, "Prices"). */
  prices: PriceSettingsSchema.default({}),
  agents: z.record(name, AgentSettingsSchema).default({}),
  /** Gates before the moves of a task, and which DAG's task each stands before (docs/task-gates.md). */
  gates: z.array(TaskGateSettingsSchema).max(100).default([]),
  pipelines: z.record(name, PipelineSettingsSchema).default({}),
  /** What http, webhook and shell gates may reach and run (docs/operate.md, "Gates"). */
  http_gates: HttpGateSettingsSchema.prefault({}),
  shell_gates: ShellGateSettingsSchema.prefault({}),
  /** Who `group:NAME` is, and who decides where a document names nobody (docs/approvals.md). */
  approvals: ApprovalSettingsSchema.prefault({}),
  /** Who is meant by a name in documents: `owner: ["user:ana"]` (docs/approvals.md). */
  people: NamedPeopleSchema.default({}),
  /** Whether runs may bring documents, overrides and context of their own (docs/tokens.md, "Authoring"). */
  authoring: z.enum(['open', 'deployed_only']).default('open'),
  /** Whose runs are kept apart; a deployment may be told by `sluice:tenants` instead (docs/tokens.md, "Tenants"). */
  tenants: TenantsSchema,
  /** How callers prove who they are (docs/tokens.md); in a deployment the context key `sluice:auth` says it instead. */
  auth: AuthSettingsSchema.optional(),
  /** Where people are asked besides API and CLI (docs/slack.md). */
  slack: SlackSettingsSchema.optional(),
  /** Who is told of events over HTTP (docs/webhooks.md). */
  webhooks: WebhookSettingsSchema.default([]),
  /** Where spans of runs and of calls of models are sent (docs/observability.md). */
  telemetry: TelemetrySettingsSchema.optional(),
  /** Who answers the stages of the research chain (docs/research.md). */
  research: ResearchSettingsSchema.prefault({}),
  safety: SafetySchema.prefault({}),
  /** Of a deployment: where the ends of hash chains are written besides (docs/security.md). */
  audit: AuditSettingsSchema.prefault({}),
  /** Of a deployment: whether executions are kept free for the sweep, decisions and stops (docs/deploy.md). */
  reserved_concurrency: z.boolean().default(true),
  /** Which values of `safety` a deployment was told instead (infra/aws/stage-settings.ts); in no file. */
  safety_context: z.array(z.string()).optional(),
  /** Tenants by name of IAM principal, as a deployment was told (infra/aws/stage-settings.ts); in no file. */
  iam_tenants: z.record(z.string(), TenantSchema).optional(),
  /** How many days a deployment keeps bodies (infra/aws/build-app.ts); in no file. */
  body_days: z.int().min(1).optional(),
  /** Of a deployment in mode `iam`: roles whose sessions are named after persons (infra/aws/stage-settings.ts); in no file. */
  iam_people: z.array(z.string()).optional(),
  /** Of a local place without login: the one person there, as `user:NAME` (shared/settings/settings.ts); in no file. */
  local_person: z.string().optional(),
})
/** What a sluice.yaml may hold. */
export const FileSettingsSchema = SettingsSchema.omit({
  safety_context: true,
  iam_tenants: true,
  body_days: true,
  iam_people: true,
  local_person: true,
})
export type Settings = z.infer<typeof SettingsSchema>
/** What routing and binding need of a place (shared/document/agents.ts), and whether it runs commands (warnings). */
export type Routing = Pick<Settings, 'agents' | 'providers'> &
  Partial<
    Pick<
      Settings,
      | 'shell_gates'
      | 'http_gates'
      | 'prices'
      | 'safety'
      | 'approvals'
      | 'people'
      | 'research'
      | 'auth'
      | 'iam_people'
      | 'local_person'
      | 'slack'
    >
  >

/**
 * The people of a place on one machine: `owner`, whom documents of other tools ask, is whoever runs it, unless the
 * settings say somebody else. Without login nobody else can come but by Slack.
 */
export function withLocalPeople(settings: Settings, user: Pick<Principal, 'kind' | 'id'>): Settings {
  const me = principalName(user)
  const people = { owner: [me], ...settings.people }
  return settings.auth === undefined ? { ...settings, people, local_person: me } : { ...settings, people }
}
