import { ServicesSettingsSchema } from '../../../shared/services/settings.ts'
import type { SpendingCap } from '../../../shared/spending/settings.ts'
import { ContainersSettingsSchema } from '../../../shared/steps/native-settings.ts'
import { StepsSettingsSchema } from '../../../shared/steps/settings.ts'
import { McpServersSettingsSchema } from '../../../shared/tools/settings.ts'
import { TriggerSettingsSchema } from '../../../shared/triggers/settings.ts'
import { BusSettingsSchema } from '../../../shared/webhooks/settings.ts'
import { assembled } from './assembled.ts'
import type { Assembly } from './assembly.ts'
import { slackSettings } from './slack-settings.ts'
import { telemetrySettings } from './telemetry-settings.ts'
import { webhookSettings } from './webhook-settings.ts'

/** With everything that brings rights of its own: bearer tokens, a workspace, a webhook, a bus, a service, an MCP server, a collector of spans, anchors, a step, a container, events of EventBridge, a cap of spending, triggers of every kind, gradual releases. */
export function assembledWithAll(): Promise<Assembly> {
  const audit = { anchor: 's3-object-lock', retention_days: 365 } as const
  const secret = 'arn:aws:secretsmanager:eu-central-1:111122223333:secret:sluice/crm-AbCdEf'
  const services = ServicesSettingsSchema.parse({ crm: { url: 'https://crm.example/api', key: { secret } } })
  const mcp_servers = McpServersSettingsSchema.parse({
    desk: { url: 'https://desk.example/mcp', key: { secret: secret.replace('crm', 'desk') }, tools: ['find'] },
  })
  const grants = [{ actions: ['sqs:SendMessage'], resources: ['arn:aws:sqs:eu-central-1:111122223333:notices'] }]
  const settings = {
    ...slackSettings(),
    services,
    mcp_servers,
    webhooks: [webhookSettings()],
    buses: BusSettingsSchema.parse([
      { name: 'company', bus: 'arn:aws:events:eu-central-1:111122223333:event-bus/company', events: 'all' },
    ]),
    telemetry: telemetrySettings(),
    audit,
    steps: StepsSettingsSchema.parse({ './steps/notify.js': { grants } }),
    containers: ContainersSettingsSchema.parse({
      indexer: {
        image: 'acme/indexer:1',
        aws: { cluster: 'arn:aws:ecs:eu-central-1:111122223333:cluster/main', subnets: ['subnet-0123456789abcdef0'] },
      },
    }),
    spending: [{ name: 'daily', per: 'day', usd: 50 }] satisfies SpendingCap[],
    triggers: TriggerSettingsSchema.parse({ secrets: { crm_hook: { secret: secret.replace('crm', 'hook') } } }),
    events: { bus: 'default', pattern: { source: ['com.example.orders'] } },
  }
  return assembled({ 'sluice:auth': 'token', 'sluice:release': 'gradual' }, settings, PROJECT)
}

const PROJECT = {
  'steps/notify.js': `import { defineStep } from 'sluice'
import * as z from 'zod'
export default defineStep({ inputs: z.object({}), outputs: z.object({ done: z.boolean() }), run: () => ({ done: true }) })
`,
  'dags/indexes.yaml': `name: indexes
blocks: [{ id: index, mode: deterministic, deterministic: { handler: container, config: { container: indexer } } }]
`,
  'dags/nightly.yaml': `name: nightly
inputs: { day: json }
blocks: [{ id: a, mode: deterministic, deterministic: { handler: transform, config: { expression: '1' } }, outputs: { n: number } }]
triggers:
  - { name: early, schedule: { cron: '0 6 1 * 1-5', timezone: Europe/Berlin }, inputs: { day: '{% $now() %}' } }
  - { name: hook, webhook: { verify: { hmac: { header: x-signature, secret: crm_hook } }, map: { day: body.day } } }
  - { name: dropped, object: { prefix: inbox/, map: { day: object.name } } }
`,
  'dags/notifies.yaml': `name: notifies
blocks: [{ id: notify, mode: deterministic, deterministic: { handler: ./steps/notify.js } }]
`,
}
