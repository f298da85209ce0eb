import { functionHandler } from '../handler.ts'
import { putOnce } from './deliver.ts'
import { tellEndpoint, WorkSchema } from './tell-endpoint.ts'

/** Three tries of the SDK. */
const PUT_MS = 30_000

/** What one bus is owed of one run. */
export const handler = functionHandler({
  name: 'send-bus-events',
  input: WorkSchema,
  run: (work, world) =>
    tellEndpoint(world, work, {
      endpoints: world.settings.buses,
      timeoutMs: () => PUT_MS,
      deliver: (bus, message, { type, at }) => putOnce(world, bus, { type, at, message }),
    }),
})
