import { ServicesSettingsSchema } from '../../../shared/services/settings.ts'
import { ContainersSettingsSchema } from '../../../shared/steps/native-settings.ts'
import { StepsSettingsSchema } from '../../../shared/steps/settings.ts'
import { McpServersSettingsSchema } from '../../../shared/tools/settings.ts'
import { assembled } from './assembled.ts'
import type { Assembly } from './assembly.ts'
import { slackSettings } from './slack-settings.ts'
import { telemetrySettings } from './telemetry-settings.ts'
import { webhookSettings } from './webhook-settings.ts'

/** With everything that brings rights of its own: bearer tokens, a workspace, a webhook, a service, an MCP server, a collector of spans, anchors, a step, a container, events of EventBridge. */
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
    telemetry: telemetrySettings(),
    audit,
    steps: StepsSettingsSchema.parse({ './steps/notify.js': { grants } }),
    containers: ContainersSettingsSchema.parse({
      indexer: {
        image: 'acme/indexer:1',
        aws: { cluster: 'arn:aws:ecs:eu-central-1:111122223333:cluster/main', subnets: ['subnet-0123456789abcdef0'] },
      },
    }),
    events: { bus: 'default', pattern: { source: ['com.example.orders'] } },
  }
  return assembled({ 'sluice:auth': 'token' }, settings, PROJECT)
}

const PROJECT = {
  'steps/notify.js': `import { defineStep } from 'sluice'
import * as z from 'zod'
export default defineStep({ inputs: z.object({}), outputs: z.object({ done: z.boolean() }), run: () => ({ done: true }) })
`,
  'dags/indexes.yaml': `name: indexes
blocks: [{ id: index, mode: deterministic, deterministic: { handler: container, config: { container: indexer } } }]
`,
  'dags/notifies.yaml': `name: notifies
blocks: [{ id: notify, mode: deterministic, deterministic: { handler: ./steps/notify.js } }]
`,
}
