import { Fault } from '../../shared/errors.ts'
import { keepWatch } from '../blocks/keep-watch.ts'
import { superseded } from './recorded-stage.ts'
import type { StageCall } from './stage-call.ts'

/** Runs one call of a model until it answers, `ms` are over, its run is stopped or the host gives up. */
export async function watchCall<T>(
  { world, run, signal: host }: StageCall,
  ms: number,
  dispatch: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  host?.throwIfAborted()
  const over = new AbortController()
  const aborted = Promise.withResolvers<never>()
  const giveUp = (why: unknown) => {
    over.abort(why)
    aborted.reject(why)
  }
  const hostGivesUp = () => giveUp(host?.reason)
  host?.addEventListener('abort', hostGivesUp, { once: true })
  const due = world.clock.now() + ms
  const leave = keepWatch(world.clock, {
    due,
    async look(now) {
      if (now >= due) return giveUp(tooSlow(ms))
      // A store that cannot be read for a moment is no reason to throw an answer away.
      if (await world.runs.stopped(run).catch(() => false)) giveUp(superseded(run))
    },
  })
  try {
    return await Promise.race([dispatch(over.signal), aborted.promise])
  } finally {
    host?.removeEventListener('abort', hostGivesUp)
    leave()
    aborted.promise.catch(() => undefined)
  }
}

function tooSlow(ms: number): Fault {
  return new Fault('Unavailable', 'provider_timeout', `The model did not answer within ${ms} ms.`)
}
