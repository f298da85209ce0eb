import { assembled } from './assembled.ts'
import type { Assembly } from './assembly.ts'
import { slackSettings } from './slack-settings.ts'
import { telemetrySettings } from './telemetry-settings.ts'
import { webhookSettings } from './webhook-settings.ts'

/** With everything that brings rights of its own: bearer tokens, a workspace, a webhook, a collector of spans. */
export function assembledWithAll(): Promise<Assembly> {
  const settings = { ...slackSettings(), webhooks: [webhookSettings()], telemetry: telemetrySettings() }
  return assembled({ 'sluice:auth': 'token' }, settings)
}
