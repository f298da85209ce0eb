import { assembled } from './assembled.ts'
import type { Assembly } from './assembly.ts'
import { slackSettings } from './slack-settings.ts'
import { telemetrySettings } from './telemetry-settings.ts'
import { webhookSettings } from './webhook-settings.ts'

/** With everything that brings rights of its own: bearer tokens, a workspace, a webhook, a collector of spans, anchors. */
export function assembledWithAll(): Promise<Assembly> {
  const audit = { anchor: 's3-object-lock', retention_days: 365 } as const
  const settings = { ...slackSettings(), webhooks: [webhookSettings()], telemetry: telemetrySettings(), audit }
  return assembled({ 'sluice:auth': 'token' }, settings)
}
