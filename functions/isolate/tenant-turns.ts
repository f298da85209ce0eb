import type { IsolateCaller } from '../../shared/ports/isolate.ts'

/**
 * What becomes free goes to the waiting tenant that holds least, those that hold as much take turns, first come first
 * served within one. So no tenant takes the last slot while one waits that has none, and whoever has few jobs waits for
 * one of another's at most: each job has a limit. Alone, a tenant may have all places. Tenants without a job are forgotten.
 */
export function createTurns(most: number): Turns {
  /** By tenant, the one whose turn is next first. */
  const waiting = new Map<string, Waiting[]>()
  const held = new Map<string, number>()
  let taken = 0
  const heldBy = (tenant: string) => held.get(tenant) ?? 0
  const next = (): void => {
    while (taken < most) {
      const least = Math.min(...[...waiting.keys()].map(heldBy))
      const turn = [...waiting].find(([tenant]) => heldBy(tenant) === least)
      if (turn === undefined) return
      const [tenant, jobs] = turn
      const job = jobs.shift()
      // To the end of the line, or out of it.
      waiting.delete(tenant)
      if (jobs.length > 0) waiting.set(tenant, jobs)
      if (job === undefined) continue
      taken += 1
      held.set(tenant, heldBy(tenant) + 1)
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
    give(tenant) {
      taken -= 1
      if (heldBy(tenant) > 1) held.set(tenant, heldBy(tenant) - 1)
      else held.delete(tenant)
      next()
    },
  }
}

interface Waiting {
  begin(): void
}

/** So many may work at once; the others wait, and tenants take turns. */
export interface Turns {
  /** Resolves with true when it is the caller's turn; with false when its signal aborted before: then it has none. */
  take(caller: IsolateCaller): Promise<boolean>
  /** Ends a turn that was taken for this tenant. */
  give(tenant: string): void
}
