import type { Provider } from '../../shared/provider.ts'
import type { Asked, CallPlace } from '../../shared/telemetry/telemetry-port.ts'
import type { World } from '../../shared/world.ts'

/** The same provider, whose calls are told to the place's telemetry when they are over; without one it is itself. */
export function tracedProvider(
  { telemetry, clock }: Pick<World, 'telemetry' | 'clock'>,
  name: string,
  provider: Provider | undefined,
  place: () => CallPlace,
): Provider | undefined {
  if (provider === undefined || telemetry === undefined) return provider
  const traced = async <A>(ask: () => Promise<A>, asked: (answer?: A) => Asked): Promise<A> => {
    const began = clock.now()
    const told = { at: place(), provider: name, began }
    try {
      const answer = await ask()
      telemetry.called({ ...told, asked: asked(answer), ended: clock.now() })
      return answer
    } catch (error) {
      telemetry.called({ ...told, asked: asked(), error, ended: clock.now() })
      throw error
    }
  }
  const { embed } = provider
  return {
    dispatch: (request) =>
      traced(
        () => provider.dispatch(request),
        (answer) => ({ operation: 'chat', request, ...(answer === undefined ? {} : { answer }) }),
      ),
    ...(embed === undefined
      ? {}
      : {
          embed: (request) =>
            traced(
              () => embed(request),
              (answer) => ({ operation: 'embeddings', request, ...(answer === undefined ? {} : { answer }) }),
            ),
        }),
  }
}
