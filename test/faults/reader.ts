import type { RunEvent } from '../../shared/runs/event.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { callRoute } from './call-route.ts'
import type { System } from './system.ts'

/** Somebody who follows the log of a run from a cursor of theirs, by pages or by a stream. */
export interface Reader {
  readonly run: RunKey
  readonly since: number
  /** Events in the order they came. */
  readonly seen: readonly RunEvent[]
  /** Pages of `limit` events until there is nothing new. */
  replay(since: number, limit: number): Promise<void>
  /** A stream that drops after so long, and is taken up again once with Last-Event-ID. */
  stream(since: number, ms: number): Promise<void>
}

/** 3: a reader resuming from any cursor sees each event once, in order; it says so as soon as one does not. */
export function createReader(system: System, run: RunKey): Reader {
  const seen: RunEvent[] = []
  const state = { since: 0 }
  const take = (event: RunEvent) => {
    const wanted = state.since + seen.length + 1
    if (event.seq !== wanted) {
      system.sim.violate(3, `a reader of ${run.run_id} from ${state.since} got event ${event.seq}, not ${wanted}`)
    }
    seen.push(event)
  }
  const params = { run_id: run.run_id }
  const { tenant } = run
  return {
    run,
    seen,
    get since() {
      return state.since
    },
    async replay(since, limit) {
      state.since = since
      for (let cursor = since; ; ) {
        const query = { since: String(cursor), limit: String(limit) }
        const reply = await callRoute(system, 'replay-run', { tenant, params, query })
        const events = reply !== undefined && reply.status < 300 ? (reply.json.events as readonly RunEvent[]) : []
        for (const event of events) take(event)
        if (events.length === 0) return
        cursor = Number(reply?.json.next_since)
      }
    },
    async stream(since, ms) {
      state.since = since
      for (const patience of [ms, ms]) {
        const query = { since: String(since + seen.length) }
        const until = system.sim.scheduler.now() + patience
        // When the function dies its client hears no more of it, whatever a zombie still writes.
        const line = { open: true }
        const read_body = (answer: unknown) =>
          readStream(answer, () => line.open && system.sim.scheduler.now() < until, take)
        await callRoute(system, 'stream-events', { tenant, params, query, read_body })
        line.open = false
      }
    },
  }
}

async function readStream(answer: unknown, listens: () => boolean, take: (event: RunEvent) => void): Promise<void> {
  const { body } = answer as { readonly body: string | AsyncIterable<string> }
  if (typeof body === 'string') return
  for await (const text of body) {
    if (!listens()) return
    for (const [, data = ''] of text.matchAll(/^data: (.*)$/gm)) take(JSON.parse(data) as RunEvent)
  }
}
