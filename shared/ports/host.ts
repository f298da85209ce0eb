type Facts = Readonly<Record<string, unknown>>

/** The log of one invocation: every line also says `facts`, and what was noted since. What a line says itself wins. */
export function invocationLog(log: Log, facts: Facts): Required<Log> {
  let known = facts
  return {
    info: (message, own) => log.info(message, { ...known, ...own }),
    error: (message, own) => log.error(message, { ...known, ...own }),
    note(more) {
      known = { ...known, ...more }
    },
  }
}

export interface Clock {
  /** Milliseconds since 1970 UTC. */
  now(): number
  /** Resolves after ms, rejects with the signal's reason when aborted. */
  delay(ms: number, signal?: AbortSignal): Promise<void>
  /**
   * Resolves when others who wait for this thread have had it: requests, timers, commits. Whoever works for more than some
   * milliseconds at a time asks for it. Absent where a call has a process of its own.
   */
  turn?(): Promise<void>
}

export interface Ids {
  random(bytes: number): Uint8Array
  /** This process: changes with every boot; part of a lease's holder. */
  readonly boot: string
}

export interface Log {
  info(message: string, facts?: Readonly<Record<string, unknown>>): void
  error(message: string, facts?: Readonly<Record<string, unknown>>): void
  /** Facts that every later line of this invocation says too; absent outside one. */
  note?(facts: Readonly<Record<string, unknown>>): void
}
