import * as z from 'zod'
import { functionHandler } from '../handler.ts'
import { tellEndpoint } from './tell-endpoint.ts'

const text = z.string().min(1)

/** What one endpoint is owed of one run: a call of its own, so that nobody waits for an endpoint but it. */
export const handler = functionHandler({
  name: 'send-webhooks',
  input: z.strictObject({ run: z.strictObject({ tenant: text, run_id: text }), endpoint: text }),
  run: (work, world) => tellEndpoint(world, work),
})
