import * as z from 'zod'
import { Fault } from '../../shared/errors.ts'

/** What a deployment may choose. Everything else is the same in each. */
export interface DeploySettings {
  /** Part of every name: two stages live side by side in one account. */
  readonly stage: string
  /** How callers of the API prove who they are: `iam` = SigV4. */
  readonly auth: 'iam'
  /** Who is told of an alarm; without it alarms are only shown. */
  readonly alarm_email?: string | undefined
  /** File of the settings, when it is not the usual one (stage-settings.ts). */
  readonly settings?: string | undefined
  /** Values of the safety policy that win over the file's (context-safety.ts). */
  readonly safety?: Readonly<Record<string, unknown>> | undefined
  /** Model of the research chain, over the file's (context-research.ts). */
  readonly research?: Readonly<Record<string, unknown>> | undefined
  /** Objects end this long (and 30 days) after they were last written. Execution names need 91 days of records. */
  readonly retention_days: number
}

/**
 * The only reader of what a deployment is told: the `sluice:*` keys of the CDK context (`context` in cdk.json, or
 * `cdk deploy -c sluice:stage=prod`). Fault InvalidInput bad_settings names the key, what was seen, what is allowed.
 */
export function readDeploySettings(context: (key: string) => unknown): DeploySettings {
  const given = Object.entries(SettingsSchema.shape).map(([key]) => [key, context(`sluice:${key}`)] as const)
  const parsed = SettingsSchema.safeParse(Object.fromEntries(given.filter(([, value]) => value !== undefined)))
  if (parsed.success) return parsed.data
  const lines = parsed.error.issues.map(({ path, message }) => {
    const key = String(path[0])
    const seen = context(`sluice:${key}`)
    const what = seen === undefined ? 'is missing' : `is ${JSON.stringify(seen).slice(0, 100)}`
    return `"sluice:${key}" ${what}; allowed: ${message}`
  })
  const fix = 'Set it under "context" in cdk.json, or pass -c sluice:KEY=VALUE.'
  throw new Fault('InvalidInput', 'bad_settings', `cdk.json: context ${lines.join('. ')}. ${fix}`)
}

const STAGE = 'a letter, then small letters and digits, 12 at most'

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

const SettingsSchema = z.object({
  stage: z.string(STAGE).regex(/^[a-z][a-z0-9]{0,11}$/, STAGE),
  auth: z.enum(['iam'], 'iam'),
  alarm_email: z.email('an e-mail address').optional(),
  settings: z.string('the path of a file').min(1, 'the path of a file').optional(),
  safety: z.preprocess(jsonOf, z.record(z.string(), z.unknown(), SAFETY)).optional(),
  research: z.preprocess(jsonOf, z.record(z.string(), z.unknown(), RESEARCH)).optional(),
  // Command-line context is text.
  retention_days: z.coerce
    .number('91 to 3650')
    .int('91 to 3650')
    .min(91, '91 to 3650')
    .max(3650, '91 to 3650')
    .default(365),
})
