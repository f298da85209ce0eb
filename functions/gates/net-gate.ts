import * as z from 'zod'
import type { Json } from '../../shared/canonical.ts'
import { functionHandler } from '../handler.ts'
import { guardedRequest } from './guarded-request.ts'

const RequestSchema = z.strictObject({
  method: z.enum(['GET', 'HEAD', 'POST']),
  url: z.string(),
  timeout_ms: z.int().min(1),
  follow: z.literal(false).exactOptional(),
  body: z.custom<Json>(() => true).exactOptional(),
})

/** The function of http and webhook gates: it has no right but to log, and reaches nothing the operator did not allow. */
export const handler = functionHandler({
  name: 'net-gate',
  input: RequestSchema,
  run: (request, { settings }, { signal }) =>
    guardedRequest(request, { policy: { ...settings.http_gates, own_port: settings.port }, signal }),
})
