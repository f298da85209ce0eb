import * as z from 'zod'
import type { Json } from '../../shared/canonical.ts'
import { functionHandler } from '../handler.ts'
import { guardedRequest } from './guarded-request.ts'

/** What may stand in a header: printable ASCII on one line. */
const header = z.string().regex(/^[\x20-\x7e]{1,500}$/)

const RequestSchema = z.strictObject({
  method: z.enum(['GET', 'HEAD', 'POST']),
  url: z.string(),
  timeout_ms: z.int().min(1),
  follow: z.literal(false).exactOptional(),
  body: z.custom<Json>(() => true).exactOptional(),
  signed: z
    .strictObject({
      id: header,
      timestamp: z.int().min(0),
      signature: header,
      text: z.string().max(1_048_576),
    })
    .exactOptional(),
})

/** The function of http and webhook gates, and of webhooks: it has no right but to log, and reaches nothing the operator did not allow. */
export const handler = functionHandler({
  name: 'net-gate',
  input: RequestSchema,
  run: (request, { settings }, { signal }) =>
    guardedRequest(request, { policy: { ...settings.http_gates, own_port: settings.port }, signal }),
})
