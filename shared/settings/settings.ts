import * as z from 'zod'
import { ApprovalSettingsSchema, NamedPeopleSchema } from '../approvals/settings.ts'
import { type Principal, principalName } from '../auth/principal.ts'
import { AuthSettingsSchema, TenantSchema, TenantsSchema } from '../auth/settings.ts'
import { PipelineSettingsSchema, TaskGateSettingsSchema } from '../dag/task-gate-settings.ts'
import { EgressSettingsSchema } from '../egress/settings.ts'
import { HttpGateSettingsSchema, ShellGateSettingsSchema } from '../gates/settings.ts'
import { GraphSettingsSchema } from '../graph/settings.ts'
import { PriceSettingsSchema } from '../providers/model-prices.ts'
import { AgentSettingsSchema, ProviderSettingsSchema } from '../providers/settings.ts'
import { ResearchSettingsSchema } from '../research/settings.ts'
import { LabelsSchema } from '../runs/labels-schema.ts'
import { SafetySchema } from '../runs/safety-settings.ts'
import { ServicesSettingsSchema } from '../services/settings.ts'
import { SlackSettingsSchema } from '../slack/settings.ts'
import { SpendingSettingsSchema } from '../spending/settings.ts'
import type { DescribedStep } from '../steps/described-step.ts'
import {
  ContainersSettingsSchema,
  FunctionsSettingsSchema,
  IntegrationsSettingsSchema,
} from '../steps/native-settings.ts'
import { ProgramsSettingsSchema, StepsSettingsSchema } from '../steps/settings.ts'
import { TelemetrySettingsSchema } from '../telemetry/settings.ts'
import { McpServersSettingsSchema } from '../tools/settings.ts'
import { TriggerSettingsSchema } from '../triggers/settings.ts'
import { BusSettingsSchema, WebhookSettingsSchema } from '../webhooks/settings.ts'

/** sluice.yaml (docs/operate.md, "Settings"): everything optional, unknown keys refused. */
const name = z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/)

/** Scheme, host and path of the API, without an end: `https://sluice.example.com`, or an API Gateway's with its stage. */
const PublicUrlSchema = z
  .url({ protocol: /^https?$/, error: 'it must be an http or https URL' })
  .max(500)
  .refine((url) => !/[?#\s]/.test(url) && !/@/.test(url), 'it must have no query, fragment or user')
  .transform((url) => url.replace(/\/+$/, ''))

/** A rule of EventBridge: its bus, by name or ARN, and its pattern as EventBridge has it. */
const EventSettingsSchema = z.strictObject({
  bus: z.string().min(1).max(1_600).default('default'),
  pattern: z
    .record(z.string(), z.json())
    .refine((pattern) => Object.keys(pattern).length > 0, 'name a source at least'),
  tenant: TenantSchema.optional(),
})

/** Where the record of a run is kept from whoever runs the place (docs/adr/0067). Only a stage on AWS has such a where. */
const AuditSettingsSchema = z.strictObject({
  /** `s3-object-lock`: the end of each run's hash chain is put into a bucket that gives nothing back before its time. */
  anchor: z.enum(['none', 's3-object-lock']).default('none'),
  /** How long S3 locks an anchor; not less than the record itself is kept. */
  retention_days: z.int().min(91).max(3_650).default(365),
})

/**
 * `normal`: what was written survives the end of the process, however it comes. `full`: and of the machine; each commit
 * and each object waits for the disk.
 */
const DURABILITIES = ['normal', 'full'] as const
export type Durability = (typeof DURABILITIES)[number]

export const SettingsSchema = z.strictObject({
  version: z.literal(1).default(1),
  port: z.int().min(0).max(65_535).default(4040),
  /** Where others reach this place: addresses of callbacks begin so (docs/dag.md, "Wait"). */
  public_url: PublicUrlSchema.optional(),
  data_dir: z.string().min(1).default('.sluice'),
  /** What the local place promises when the machine loses power (docs/operate.md, "What is durable"). */
  durability: z.enum(DURABILITIES).default('normal'),
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
  /** By which way requests leave, and whom they may go to (docs/operate.md, "Egress"). */
  egress: EgressSettingsSchema.prefault({}),
  /** Whom blocks of the handler `http` may ask (docs/operate.md, "Services"). */
  services: ServicesSettingsSchema.default({}),
  /** Whose tools agents may be given, by servers of the Model Context Protocol (docs/agents.md, "Tool sources"). */
  mcp_servers: McpServersSettingsSchema.default({}),
  /** Commands that blocks may name as their handler, and what steps of the project are given (docs/steps.md). */
  programs: ProgramsSettingsSchema.default({}),
  steps: StepsSettingsSchema.default({}),
  /** What blocks may have AWS do: functions, containers, and on what other calls work (docs/native-calls.md). */
  functions: FunctionsSettingsSchema.default({}),
  integrations: IntegrationsSettingsSchema.default({}),
  containers: ContainersSettingsSchema.default({}),
  /** The command of this machine that runs containers; without it the first of docker and podman that answers. */
  container_engine: z.string().min(1).max(500).optional(),
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
  /** On which buses of EventBridge events are put (docs/webhooks.md, "EventBridge"); the local place writes them to files. */
  buses: BusSettingsSchema.default([]),
  /** Whose runs documents start by themselves, and by what webhooks are believed (docs/triggers.md). */
  triggers: TriggerSettingsSchema.prefault({}),
  /** Of a deployment: which events of EventBridge are taken as events of outside (docs/operate.md, "Events"); absent = none. */
  events: EventSettingsSchema.optional(),
  /** Where spans of runs and of calls of models are sent (docs/observability.md). */
  telemetry: TelemetrySettingsSchema.optional(),
  /** What is made of the knowledge graph when it is put (docs/research.md, "Mentions"). */
  graph: GraphSettingsSchema.prefault({}),
  /** Who answers the stages of the research chain (docs/research.md). */
  research: ResearchSettingsSchema.prefault({}),
  safety: SafetySchema.prefault({}),
  /** What calls of models may use in a day or a month (docs/limits-and-costs.md, "Spending"). */
  spending: SpendingSettingsSchema.default([]),
  /** Of every run that is started here, under those of its document and its start (docs/runs.md, "Labels"). */
  labels: LabelsSchema.default({}),
  /** Of a deployment: where the ends of hash chains are written besides (docs/security.md). */
  audit: AuditSettingsSchema.prefault({}),
  /** Of a deployment: whether what models say is told while they say it (docs/agents.md); a local place always does. */
  live_text: z.boolean().default(false),
  /** Of a deployment: whether executions are kept free for the sweep, decisions and stops (docs/deploy.md). */
  reserved_concurrency: z.boolean().default(true),
  /** Which values of `safety` a deployment was told instead (infra/aws/stage-settings.ts); in no file. */
  safety_context: z.array(z.string()).optional(),
  /** Tenants by name of IAM principal, as a deployment was told (infra/aws/stage-settings.ts); in no file. */
  iam_tenants: z.record(z.string(), TenantSchema).optional(),
  /** How many days a deployment keeps bodies (infra/aws/build-app.ts); in no file. */
  body_days: z.int().min(1).optional(),
  /** Of a deployment: tags of the machines it makes (infra/aws/stage-settings.ts); in no file. */
  tags: z.record(z.string(), z.string()).optional(),
  /** Of a deployment in mode `iam`: roles whose sessions are named after persons (infra/aws/stage-settings.ts); in no file. */
  iam_people: z.array(z.string()).optional(),
  /** Of a deployment: its steps, as they were deployed (infra/aws/deployed-steps.ts); in no file. */
  described_steps: z.record(z.string(), z.custom<DescribedStep>()).optional(),
  /** Of which runs the ends are told to triggers: of all, or of those of these DAGs (infra/local/place.ts, infra/aws/deployed-dags.ts); absent = of none; in no file. */
  told_ends: z.union([z.literal('all'), z.array(z.string())]).optional(),
  /** Of a local place: the folder of its sluice.yaml, below which its steps are; in no file. */
  project_dir: z.string().optional(),
  /** Of a local place without login: the one person there, as `user:NAME` (shared/settings/settings.ts); in no file. */
  local_person: z.string().optional(),
})
/** What a sluice.yaml may hold. */
export const FileSettingsSchema = SettingsSchema.omit({
  safety_context: true,
  iam_tenants: true,
  body_days: true,
  iam_people: true,
  tags: true,
  project_dir: true,
  described_steps: true,
  told_ends: true,
  local_person: true,
})
export type Settings = z.infer<typeof SettingsSchema>
/**
 * The people of a place on one machine: `owner`, whom documents of other tools ask, is whoever runs it, unless the
 * settings say somebody else. Without login nobody else can come but by Slack.
 */
export function withLocalPeople(settings: Settings, user: Pick<Principal, 'kind' | 'id'>): Settings {
  const me = principalName(user)
  const people = { owner: [me], ...settings.people }
  return settings.auth === undefined ? { ...settings, people, local_person: me } : { ...settings, people }
}
