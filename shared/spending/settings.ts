import * as z from 'zod'
import { TenantSchema } from '../auth/settings.ts'
import { LABEL_KEY, LABEL_LIMITS, LABEL_VALUE } from '../runs/labels.ts'

/** What a cap counts over: the calendar day or month, in UTC. */
export const SPENDING_PERIODS = ['day', 'month'] as const
export type SpendingPeriod = (typeof SPENDING_PERIODS)[number]

/** One of `spending` in sluice.yaml: what calls of models may use in a day or a month (docs/limits-and-costs.md, "Spending"). */
const SpendingCapSchema = z
  .strictObject({
    /** How people and the API call it; its counts lie under this name. */
    name: z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, 'lower-case letters, digits and dashes, 40 at most'),
    per: z.enum(SPENDING_PERIODS),
    usd: z.number().positive().max(100_000_000).optional(),
    tokens: z.int().min(1).optional(),
    /** Only runs of this tenant; absent = all tenants together. */
    tenant: TenantSchema.optional(),
    /** Only runs of the document of this name; absent = all documents. */
    dag: z.string().min(1).max(100).optional(),
    /** Only runs that were started with all of these labels; absent = whatever theirs are. */
    labels: z
      .record(z.string().regex(LABEL_KEY, 'no key of a label'), z.string().regex(LABEL_VALUE, 'no value of a label'))
      .refine((all) => isFew(Object.keys(all).length), `1 to ${LABEL_LIMITS.labels} labels`)
      .optional(),
  })
  .refine(({ usd, tokens }) => usd !== undefined || tokens !== undefined, 'set usd, tokens, or both')
function isFew(count: number): boolean {
  return count >= 1 && count <= LABEL_LIMITS.labels
}

export type SpendingCap = z.infer<typeof SpendingCapSchema>

/** Every cap that counts a call is asked before it. */
const MOST_CAPS = 20

export const SpendingSettingsSchema = z
  .array(SpendingCapSchema)
  .max(MOST_CAPS)
  .refine((caps) => new Set(caps.map(({ name }) => name)).size === caps.length, 'two caps have the same name')
