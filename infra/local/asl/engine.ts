import type { Json } from '../../../shared/canonical.ts'
import type { Clock, Ids } from '../../../shared/world.ts'
import { createAlarms } from './alarms.ts'
import type { Journal } from './journal.ts'
import type { Engine } from './live-execution.ts'
import { createTokens } from './tokens.ts'

interface EngineDeps extends Pick<Engine, 'openChild'> {
  invoke(functionName: string, payload: Json, signal: AbortSignal): Promise<Json>
  readonly clock: Clock
  readonly ids: Ids
  readonly journal: Journal
}

/** State changes between two pauses for the event loop: a commit and a turn of I/O cost less than one of them. */
const STEPS_A_BREATH = 64

/** Between two tries to commit, ms. */
const RETRY_COMMIT_MS = 500

/** What the executions of one machine share, and the way to end it: abort every invocation, wait at most `ms`. */
export function createEngine(deps: EngineDeps): Engine & { close(ms: number): Promise<void> } {
  const { clock, ids, journal } = deps
  const alarms = createAlarms(clock)
  const invocations: Engine['invocations'] = new Map()
  let steps = 0
  let closed = false
  return {
    invoke: (functionName, payload, signal) => deps.invoke(functionName, payload, signal),
    openChild: deps.openChild,
    clock,
    ids,
    journal,
    alarms,
    tokens: createTokens(),
    invocations,
    breathe() {
      steps += 1
      return steps % STEPS_A_BREATH === 0 ? new Promise((resolve) => void setImmediate(resolve)) : undefined
    },
    async persisted() {
      while (!(await isDurable(journal)) && !closed) await clock.delay(RETRY_COMMIT_MS)
    },
    async close(ms) {
      closed = true
      alarms.clear()
      for (const controller of invocations.values()) controller.abort()
      const patience = new AbortController()
      const over = clock.delay(ms, patience.signal).catch(() => undefined)
      await Promise.race([Promise.allSettled(invocations.keys()), over])
      patience.abort()
    },
  }
}

async function isDurable(journal: Journal): Promise<boolean> {
  try {
    await journal.durable()
    return true
  } catch {
    return false
  }
}
