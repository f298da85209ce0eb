import { functionHandler } from '../handler.ts'
import { deliverOnce } from './deliver.ts'
import { tellEndpoint, WorkSchema } from './tell-endpoint.ts'

/** What one webhook is owed of one run. */
export const handler = functionHandler({
  name: 'send-webhooks',
  input: WorkSchema,
  run: (work, world) =>
    tellEndpoint(world, work, {
      endpoints: world.settings.webhooks,
      timeoutMs: ({ timeout_ms }) => timeout_ms,
      deliver: (endpoint, message) => deliverOnce(world, endpoint, message),
    }),
})
