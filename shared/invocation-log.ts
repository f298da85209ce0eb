import type { Log } from './world.ts'

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
