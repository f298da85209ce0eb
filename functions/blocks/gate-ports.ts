import { sha256 } from '../../shared/canonical.ts'
import { Fault } from '../../shared/errors.ts'
import type { GatePorts } from '../../shared/gates/gate-ports.ts'
import { isolateFor } from '../../shared/isolate.ts'
import type { KeptCall } from '../../shared/kept-call.ts'
import type { BlockCall } from './block-call.ts'
import { recordingProvider } from './keep-answers.ts'
import { meteredProvider } from './metered-provider.ts'
import { leasedProvider } from './provider-lease.ts'

/**
 * What the checks of a block may touch: providers by name, and the objects of the run's own tenant. Answers of judges
 * are also put into `calls`. What an isolate computes for them ends with `signal`.
 */
export function gatePorts(call: BlockCall, signal: AbortSignal, calls: KeptCall[] = []): GatePorts {
  const { world, run } = call
  return {
    isolate: isolateFor(world.isolate, { tenant: run.tenant, signal }),
    http: world.http,
    shell: world.shell,
    provider: (name) => recordingProvider(name, leasedProvider(call, name, meteredProvider(call, name)), calls),
    objectFacts: (ref) => objectFacts(world.objects.get(run.tenant, ref)),
  }
}

/** The store has verified what it gives; what is damaged throws, and the gate is `error`. */
async function objectFacts(reading: Promise<Uint8Array>) {
  try {
    const body = await reading
    return { sha256: sha256(body), bytes: body.byteLength }
  } catch (error) {
    if (error instanceof Fault && ['object_missing', 'bad_object_ref'].includes(error.code)) return undefined
    throw error
  }
}
