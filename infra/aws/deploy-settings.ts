import * as z from 'zod'
import { AuthSettingsSchema, TenantSchema, TenantsSchema } from '../../shared/auth/settings.ts'
import { Fault } from '../../shared/errors.ts'
import {
  type ApiDoor,
  DomainSchema,
  doorConflicts,
  MutualTlsSchema,
  type Network,
  NetworkSchema,
  PrivateApiSchema,
  ThrottleSchema,
} from './network-settings.ts'
import { LOG_DAYS } from './stage-wide.ts'

/** What a deployment may choose. Everything else is the same in each. */
export interface DeploySettings extends ApiDoor {
  /** Part of every name: two stages live side by side in one account. */
  readonly stage: string
  /** How callers of the API prove who they are: `iam` = SigV4, else a bearer credential (docs/tokens.md). */
  readonly auth: z.output<typeof AuthSchema>
  /** Whose runs are kept apart, over the settings' own list (stage-settings.ts). */
  readonly tenants?: readonly string[] | undefined
  /** Who is told of an alarm; without it alarms are only shown. */
  readonly alarm_email?: string | undefined
  /** File of the settings, when it is not the usual one (stage-settings.ts). */
  readonly settings?: string | undefined
  /** Values of the safety policy that win over the file's (stage-settings.ts). */
  readonly safety?: Readonly<Record<string, unknown>> | undefined
  /** Model of the research chain, over the file's (stage-settings.ts). */
  readonly research?: Readonly<Record<string, unknown>> | undefined
  /** ARN of the customer-managed KMS key that data at rest is under, or `aws`: keys of AWS's own. */
  readonly key: string
  /** Web ACL before the API: `none`, `managed` (web-acl.ts), or the ARN of one of the account's. */
  readonly waf: string
  /** Subnets that functions are in; absent = none of anybody's. */
  readonly network?: Network | undefined
  /** Stacks that share the machines of documents; 0 = they are with the functions. Never another number of a living stage. */
  readonly document_stacks: number
  /** `gradual`: what machines call is published with each deployment, and runs are shifted to it by command (release.ts). */
  readonly release: 'at_once' | 'gradual'
  /** Table and bucket that are there already, for a stage whose own data was lost (docs/operate.md, "Restoring"). */
  readonly restore_from?: RestoredData | undefined
  /** Put on everything that takes tags, machines of inline documents among it. */
  readonly tags: Readonly<Record<string, string>>
  /** How long CloudWatch keeps every log group. */
  readonly log_retention_days: number
  /** Objects end this long (and 30 days) after they were last written. Execution names need 91 days of records. */
  readonly retention_days: number
}

/** What a restore made; the bucket is the stage's own where none is named. */
export interface RestoredData {
  readonly table: string
  readonly bucket?: string | undefined
}

/**
 * The only reader of what a deployment is told: the `sluice:*` keys of the CDK context (`context` in cdk.json, or
 * `cdk deploy -c sluice:stage=prod`). Fault InvalidInput bad_settings names the key, what was seen, what is allowed.
 */
export function readDeploySettings(context: (key: string) => unknown): DeploySettings {
  const given = Object.entries(SettingsSchema.shape).map(([key]) => [key, context(`sluice:${key}`)] as const)
  const parsed = SettingsSchema.safeParse(Object.fromEntries(given.filter(([, value]) => value !== undefined)))
  const conflicts = parsed.success ? doorConflicts(parsed.data) : []
  if (parsed.success && conflicts.length === 0) return parsed.data
  const lines = (parsed.error?.issues ?? []).map(({ path, message }) => {
    const key = String(path[0])
    const seen = context(`sluice:${key}`)
    const what = seen === undefined ? 'is missing' : `is ${JSON.stringify(seen).slice(0, 100)}`
    return `"sluice:${key}" ${what}; allowed: ${message}`
  })
  const fix = 'Set it under "context" in cdk.json, or pass -c sluice:KEY=VALUE.'
  throw new Fault('InvalidInput', 'bad_settings', `cdk.json: context ${[...lines, ...conflicts].join('. ')}. ${fix}`)
}

const STAGE = 'a letter, then small letters and digits, 12 at most'

const KEY = 'aws, or the whole ARN of a KMS key (not of an alias)'

const WAF = 'none, managed, or the whole ARN of a regional web ACL'

const SAFETY = 'an object of safety values, as in sluice.yaml'
const RESEARCH = 'an object of provider and model, as research in sluice.yaml'

function jsonOf(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

/** A mode alone may be a word. */
function modeOf(value: unknown): unknown {
  return typeof value === 'string' ? { mode: value } : value
}

const AUTH =
  'iam, token, or {"mode": "jwt", "jwt": {"issuer", "audience"}}, or {"mode": "iam", "people": [ROLE], "tenants": {ROLE: TENANT}}'

/** As `iam:` is written before it: a role, `user/<name>`, `federated-user/<name>`, `root`; of another account with its number in front. */
const RoleSchema = z.string().regex(/^(\d{12}\/)?((federated-)?user\/)?[\w+=,.@-]{1,64}$/)
const IamSchema = z.strictObject({
  mode: z.literal('iam'),
  /** Whom this does not name is of the main tenant. */
  tenants: z.record(RoleSchema, TenantSchema).optional(),
  /** Roles whose sessions are named after persons; `*` at the end stands for any rest. */
  people: z
    .array(z.string().regex(/^(\d{12}\/)?[\w+=,.@-]{1,64}\*?$/))
    .max(50)
    .optional(),
})
const AuthSchema = z.union([IamSchema, AuthSettingsSchema], AUTH)

/** Names with commas between, or a list. */
function listOf(value: unknown): unknown {
  return typeof value === 'string' ? value.split(',').map((name) => name.trim()) : value
}

const RESTORED = 'the name of a table, or an object of table and bucket by name'
const RestoreSchema = z.strictObject({
  table: z.string(RESTORED).regex(/^[\w.-]{3,255}$/, RESTORED),
  bucket: z
    .string(RESTORED)
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, RESTORED)
    .optional(),
})

/** A table alone may be a word. */
function tableOf(value: unknown): unknown {
  return typeof value === 'string' ? { table: value } : value
}

const TAGS =
  'an object of at most 40 tags: keys of 1 to 128 characters that do not begin with aws:, values of at most 256; letters, digits, spaces and _.:/=+-@'
const TagsSchema = z
  .record(
    z.string(TAGS).regex(/^(?!aws:)[\p{L}\p{N} _.:/=+@-]{1,128}$/iu, TAGS),
    z.string(TAGS).regex(/^[\p{L}\p{N} _.:/=+@-]{0,256}$/u, TAGS),
    TAGS,
  )
  .refine((tags) => Object.keys(tags).length <= 40, TAGS)

const DAYS = `one of ${LOG_DAYS.join(', ')}`

const SettingsSchema = z.object({
  stage: z.string(STAGE).regex(/^[a-z][a-z0-9]{0,11}$/, STAGE),
  auth: z.preprocess((value) => modeOf(jsonOf(value)), AuthSchema),
  tenants: z.preprocess((value) => listOf(jsonOf(value)), TenantsSchema.unwrap()).optional(),
  alarm_email: z.email('an e-mail address').optional(),
  settings: z.string('the path of a file').min(1, 'the path of a file').optional(),
  safety: z.preprocess(jsonOf, z.record(z.string(), z.unknown(), SAFETY)).optional(),
  research: z.preprocess(jsonOf, z.record(z.string(), z.unknown(), RESEARCH)).optional(),
  key: z
    .string(KEY)
    .regex(/^(aws|arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key\/[A-Za-z0-9-]+)$/, KEY)
    .default('aws'),
  waf: z
    .string(WAF)
    .regex(/^(none|managed|arn:aws[a-z-]*:wafv2:[a-z0-9-]+:\d{12}:regional\/webacl\/[\w-]+\/[a-f0-9-]+)$/, WAF)
    .default('none'),
  network: z.preprocess(jsonOf, NetworkSchema).optional(),
  private_api: z.preprocess(jsonOf, PrivateApiSchema).optional(),
  domain: z.preprocess(jsonOf, DomainSchema).optional(),
  mutual_tls: z.preprocess(jsonOf, MutualTlsSchema).optional(),
  default_endpoint: z.enum(['on', 'off'], 'on or off').default('on'),
  throttle: z.preprocess(jsonOf, ThrottleSchema).prefault({}),
  release: z.enum(['at_once', 'gradual'], 'at_once or gradual').default('at_once'),
  restore_from: z.preprocess((value) => tableOf(jsonOf(value)), RestoreSchema).optional(),
  tags: z.preprocess(jsonOf, TagsSchema).default({}),
  log_retention_days: z.coerce
    .number(DAYS)
    .refine((days) => LOG_DAYS.some((one) => one === days), DAYS)
    .default(30),
  // Command-line context is text.
  document_stacks: z.coerce.number('0 to 20').int('0 to 20').min(0, '0 to 20').max(20, '0 to 20').default(0),
  retention_days: z.coerce
    .number('91 to 3650')
    .int('91 to 3650')
    .min(91, '91 to 3650')
    .max(3650, '91 to 3650')
    .default(365),
})
