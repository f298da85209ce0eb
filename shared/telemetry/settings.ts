import * as z from 'zod'
import { encryptedUrl, KeySchema } from '../ports/secrets.ts'

/** Without a query, which may hold a key that then stands in errors and the configuration. */
const endpoint = encryptedUrl.refine((url) => !url.includes('?'), 'a URL without ?: keys belong into headers')

/** Written by the exporter itself, or by HTTP. */
const RESERVED = /^(content-type|content-length|content-encoding|host|connection|transfer-encoding)$/i

const headerName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/, 'the name of a header')
  .refine((name) => !RESERVED.test(name), 'a header that is not written by the exporter itself')

/** `telemetry` in sluice.yaml: where spans are sent (docs/observability.md). Absent = nowhere, and nothing is loaded for it. */
export const TelemetrySettingsSchema = z.strictObject({
  /** A collector, or a service, that takes OTLP over HTTP as JSON. */
  otlp: z.strictObject({
    /** Without the path of a signal: /v1/traces is added. */
    endpoint,
    /** Values by reference: each is the whole value of its header, such as `Bearer ..`. */
    headers: z
      .record(headerName, KeySchema)
      .refine((all) => Object.keys(all).length <= 10, 'at most 10 headers')
      .default({}),
    /** Also what models were asked and what they answered. */
    capture_content: z.boolean().default(false),
  }),
})
export type TelemetrySettings = z.infer<typeof TelemetrySettingsSchema>
