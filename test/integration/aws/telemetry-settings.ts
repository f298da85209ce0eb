import { type TelemetrySettings, TelemetrySettingsSchema } from '../../../shared/telemetry/settings.ts'

const TELEMETRY_SECRET = 'arn:aws:secretsmanager:eu-central-1:111122223333:secret:sluice/otlp-AbCdEf'

/** A collector that wants a header which is a secret. */
export function telemetrySettings(more: object = {}): TelemetrySettings {
  const headers = { authorization: { secret: TELEMETRY_SECRET } }
  return TelemetrySettingsSchema.parse({ otlp: { endpoint: 'https://otlp.example.com', headers, ...more } })
}
