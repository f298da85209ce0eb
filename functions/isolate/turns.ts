import type { IsolateCaller } from '../../shared/isolate.ts'

/** So many may work at once; the others wait, and tenants take turns. */
export interface Turns {
  /** Resolves with true when it is the caller's turn; with false when its signal aborted before: then it has none. */
  take(caller: IsolateCaller): Promise<boolean>
  /** Ends a turn that was taken. */
  give(): void
}

/**
 * Round robin over tenants, first come first served within one: whoever has few jobs waits for one of each other tenant,
 * not for all of theirs. Tenants without a job are forgotten.
 */
export function createTurns(most: number): Turns {
  /** By tenant, the one whose turn is next first. */
  const waiting = new Map<string, Waiting[]>()
  let taken = 0
  const next = (): void => {
    while (taken < most) {
      const [first] = waiting
      if (first === undefined) return
      const [tenant, jobs] = first
      const job = jobs.shift()
      // To the end of the line, or out of it.
      waiting.delete(tenant)
      if (jobs.length > 0) waiting.set(tenant, jobs)
      if (job === undefined) continue
      taken += 1
      job.begin()
    }
  }
  return {
    take({ tenant, signal }) {
      if (signal?.aborted === true) return Promise.resolve(false)
      return new Promise((resolve) => {
        const leave = (): void => {
          const left = waiting.get(tenant)?.filter((other) => other !== job) ?? []
          if (left.length > 0) waiting.set(tenant, left)
          else waiting.delete(tenant)
          resolve(false)
        }
        const job: Waiting = {
          begin: () => {
            signal?.removeEventListener('abort', leave)
            resolve(true)
          },
        }
        signal?.addEventListener('abort', leave, { once: true })
        waiting.set(tenant, [...(waiting.get(tenant) ?? []), job])
        next()
      })
    },
    give() {
      taken -= 1
      next()
    },
  }
}

interface Waiting {
  begin(): void
}
