import * as z from 'zod'
import { MAIN_TENANT } from '../auth/principal.ts'
import { TenantSchema } from '../auth/settings.ts'
import { KeySchema } from '../ports/secrets.ts'

const MOST_SECRETS = 50

const secretName = z
  .string()
  .regex(/^[A-Za-z][A-Za-z0-9_-]{0,63}$/, 'a letter, then letters, digits, "_" and "-", 64 at most')

/** `triggers` in sluice.yaml: whose runs documents start by themselves, and by what webhooks are believed (docs/triggers.md). */
export const TriggerSettingsSchema = z.strictObject({
  tenant: TenantSchema.default(MAIN_TENANT),
  secrets: z
    .record(
      secretName,
      z.union([KeySchema, z.tuple([KeySchema, KeySchema])], {
        error: 'give {env: NAME} or {secret: ARN}, or a list of two while it is rotated',
      }),
    )
    .refine((all) => Object.keys(all).length <= MOST_SECRETS, `at most ${MOST_SECRETS} secrets`)
    .default({}),
})
export type TriggerSettings = z.infer<typeof TriggerSettingsSchema>
