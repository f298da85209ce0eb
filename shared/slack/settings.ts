import * as z from 'zod'
import { MAIN_TENANT } from '../auth/principal.ts'
import { TenantSchema } from '../auth/settings.ts'
import { httpUrl, KeySchema } from '../ports/secrets.ts'

const id = (letters: string, what: string) => z.string().regex(new RegExp(`^[${letters}][A-Z0-9]{2,20}$`), what)

/** `slack` in sluice.yaml (docs/slack.md). Secrets are named, never written down: `env` locally, `secret` on AWS. */
export const SlackSettingsSchema = z.strictObject({
  /** Whoever signs for another workspace is refused. */
  team_id: id('T', 'the id of the workspace, such as T012AB3CD'),
  /** Of the app, pinned the same way. */
  app_id: id('A', 'the id of the app, such as A012AB3CD').optional(),
  channel: id('CG', 'the id of a channel, such as C012AB3CD (a name can be given to another channel)'),
  /** Whose runs are told there, and whose approvals are decided from there: of no other tenant. */
  tenant: TenantSchema.default(MAIN_TENANT),
  /** The bot's token, xoxb-.. */
  token: KeySchema,
  /** The app's signing secret; two while it is rotated, either is taken. */
  signing_secret: z.union([KeySchema, z.tuple([KeySchema, KeySchema])], {
    error: 'give {env: NAME} or {secret: ARN}, or a list of two while it is rotated',
  }),
  /** Who a member of the workspace is elsewhere: both names are one person. */
  users: z
    .record(
      id('UW', 'the id of a member, such as U012AB3CD'),
      z.string().regex(/^(user|iam|token):\S{1,200}$/, 'a principal, such as user:ana@example.com'),
    )
    .default({}),
  /** Where Slack reaches this deployment: its /api/slack/interactions is the app's request URL. */
  url: httpUrl.optional(),
  /** What the button Open opens; `{run_id}` stands for the run. Absent = GET run below `url`. */
  open_url: httpUrl
    .refine((address) => address.includes('{run_id}'), 'a URL with {run_id} where the run stands')
    .optional(),
  /** Slack's Web API, or a stand-in of it. */
  api_url: httpUrl
    .refine(
      (address) => /^(https:|http:\/\/127\.0\.0\.1[:/])/.test(address),
      'https, or http on 127.0.0.1: the token travels there',
    )
    .default('https://slack.com/api/'),
})
export type SlackSettings = z.infer<typeof SlackSettingsSchema>
