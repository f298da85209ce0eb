import { setTimeout } from 'node:timers/promises'
import { Refused } from './refused.ts'

/** Of a server that is not there, or not just now: 1, 2, 4, 8 and 16 s apart. */
const TRIES = 6
/** Of a rate limit: its windows are a minute. */
const WINDOWS = 60

interface Patience {
  readonly signal?: AbortSignal
  /** Told before each wait. */
  note(why: string, ms: number): void
}

/** A call that may be made twice: after 429 it waits as long as the server says, after 502 to 504 and no answer a little. */
export async function patientCall<T>(call: () => Promise<T>, patience: Patience): Promise<T> {
  const made = { tries: 1, windows: 1 }
  for (;;) {
    const done = await call().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    )
    if ('value' in done) return done.value
    await pause(done.error, made, patience)
  }
}

/** Throws the error where trying again is no use. */
async function pause(error: unknown, made: Made, { signal, note }: Patience): Promise<void> {
  const ms = error instanceof Refused ? waitAfter(error, made) : undefined
  if (!(error instanceof Refused) || ms === undefined) throw error
  note(error.reason.detail, ms)
  await setTimeout(ms, undefined, signal && { signal })
}

interface Made {
  tries: number
  windows: number
}

/** Milliseconds to wait before the next try; undefined: there is none. */
function waitAfter({ status, reason }: Refused, made: Made): number | undefined {
  if (status === 429) {
    made.windows += 1
    const ms = reason.facts?.retry_after_ms
    return made.windows > WINDOWS ? undefined : typeof ms === 'number' && ms >= 0 ? ms : 5_000
  }
  const mayPass = reason.code === 'no_server' || status === 502 || status === 503 || status === 504
  made.tries += 1
  return mayPass && made.tries <= TRIES ? 1_000 * 2 ** (made.tries - 2) : undefined
}
