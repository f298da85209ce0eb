import { canonicalJson } from '../../shared/canonical.ts'
import { type KeptCall, keptCall } from '../../shared/kept-call.ts'
import type { Provider } from '../../shared/provider.ts'
import type { BlockCall } from './block-call.ts'

/** The same provider, whose answers are also put into `calls`, as they came, with what was asked. */
export function recordingProvider(
  name: string,
  provider: Provider | undefined,
  calls: KeptCall[],
): Provider | undefined {
  if (provider === undefined) return undefined
  return {
    async dispatch(request) {
      const answer = await provider.dispatch(request)
      calls.push(keptCall(name, request, answer))
      return answer
    },
  }
}

/** Stores the answers as one object, whose ref goes into the event that tells of them: what a recording is made of. */
export async function keepAnswers(
  { world, run }: Pick<BlockCall, 'world' | 'run'>,
  calls: readonly KeptCall[],
): Promise<{ readonly raw_ref?: string }> {
  if (calls.length === 0) return {}
  const { ref } = await world.objects.put(run.tenant, Buffer.from(canonicalJson({ v: 1, calls })))
  return { raw_ref: ref }
}
