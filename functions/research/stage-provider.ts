import type { Provider } from '../../shared/provider.ts'
import type { CallPlace } from '../../shared/telemetry/telemetry-port.ts'
import { leasedProvider } from '../blocks/provider-lease.ts'
import { tracedProvider } from '../blocks/traced-provider.ts'
import type { StageCall } from './stage-call.ts'

/** The only way of a stage to a provider: each call waits for its place there, and is told when it is over. */
export function stageProvider(call: StageCall, name: string): Provider | undefined {
  const { world, run, stage } = call
  const place: CallPlace = { run, stage }
  return leasedProvider(
    call,
    name,
    tracedProvider(world, name, world.providers.get(name), () => place),
  )
}
