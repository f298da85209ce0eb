import { canonicalJson } from '../../shared/canonical.ts'
import type { Provider } from '../../shared/provider.ts'
import { type RecordedCall, recordedCall } from '../../shared/recording.ts'
import type { BlockCall } from './block-call.ts'

/** The same provider, whose answers are also put into `calls`, as they came. */
export function recordingProvider(
  name: string,
  provider: Provider | undefined,
  calls: RecordedCall[],
): Provider | undefined {
  if (provider === undefined) return undefined
  return {
    async dispatch(request) {
      const answer = await provider.dispatch(request)
      calls.push(recordedCall(name, request, answer))
      return answer
    },
  }
}

/** Stores the answers as one object, whose ref goes into the event that tells of them: what a recording is made of. */
export async function keepAnswers(
  { world, run }: Pick<BlockCall, 'world' | 'run'>,
  calls: readonly RecordedCall[],
): Promise<{ readonly raw_ref?: string }> {
  if (calls.length === 0) return {}
  const { ref } = await world.objects.put(run.tenant, Buffer.from(canonicalJson({ v: 1, calls })))
  return { raw_ref: ref }
}
