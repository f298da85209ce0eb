import { readStageSettings } from '../../../infra/aws/stage-settings.ts'
import { type Settings, SettingsSchema } from '../../../shared/settings/settings.ts'
import { ROOT } from './assembly.ts'

/** Those Slack calls, and what works for them. */
export const SLACK_FUNCTIONS = ['slack-interactions', 'slack-work']

const arn = (name: string) => `arn:aws:secretsmanager:eu-central-1:111122223333:secret:sluice/${name}-AbCdEf`

export const SLACK_SECRETS = {
  token: arn('slack-token'),
  signing: [arn('slack-signing'), arn('slack-signing-old')],
} as const

/** The settings of a stage that talks to a workspace, whose signing secret is being rotated. */
export function slackSettings(more: object = {}): Settings {
  return SettingsSchema.parse({
    ...readStageSettings(ROOT, { stage: 'dev' }),
    slack: {
      team_id: 'T0TEAM',
      app_id: 'A0APP',
      channel: 'C0CHAN',
      token: { secret: SLACK_SECRETS.token },
      signing_secret: SLACK_SECRETS.signing.map((secret) => ({ secret })),
      ...more,
    },
  })
}
