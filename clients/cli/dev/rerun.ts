import { setTimeout as delay } from 'node:timers/promises'
import * as z from 'zod'
import { startAndWatch } from '../run/start-and-watch.ts'
import { type Ask, callApi, type Target } from '../server/api.ts'
import { fetchRun } from '../server/fetch-run.ts'
import { Refused, reasonLines } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { oneLine } from '../terminal/text.ts'
import type { CheckedProject } from './check-project.ts'

/** Starts the last run again where its document, or code that it names, is another than before. */
export interface Rerun {
  /** Shows nothing of a run it follows until `take`: the run goes on. */
  pause(): Promise<void>
  take(documents: CheckedProject['documents']): Promise<void>
  close(): Promise<void>
}

interface RerunParts {
  readonly session: Session
  readonly target: Target
  /** Of each document, by its name. */
  readonly versions: Map<string, string>
  /** Ctrl-C while the person is asked something. */
  left(): void
}

export function openRerun({ session, target, versions, left }: RerunParts): Rerun {
  let following: { readonly control: AbortController; readonly ended: Promise<void> } | undefined
  const pause = async () => {
    following?.control.abort(new Refused({ code: 'interrupted', detail: 'Something was saved.' }))
    await following?.ended
    following = undefined
  }
  const follow = (request: Ask) => {
    const control = new AbortController()
    const how = { request, json: false, yes: false, signal: control.signal }
    const ended = startAndWatch(session, target, how).then(
      () => {},
      (error: unknown) => {
        if (control.signal.aborted) return
        if (error instanceof Refused && error.reason.code === 'interrupted') return left()
        sayError(session, error)
      },
    )
    following = { control, ended }
  }
  return {
    pause,
    async take(documents) {
      const changed = documents.filter(({ name, valid, version }) => {
        const before = versions.get(name)
        if (valid) versions.set(name, version)
        return valid && before !== undefined && before !== version
      })
      if (changed.length === 0) return
      try {
        const last = await lastRun(target)
        const document = changed.find(({ name }) => name === last?.dag_name)
        if (last === undefined || document === undefined) return
        await endRun(session, target, last)
        session.say(oneLine(`Again, from what changed: run ${last.run_id} of ${last.dag_name}`))
        const params = { path: { run_id: last.run_id } }
        follow((api) => api.POST('/api/dag/runs/{run_id}/retry', { params, body: { dag: document.text } }))
      } catch (error) {
        sayError(session, error)
      }
    },
    close: pause,
  }
}

/** What goes wrong with one save is told; the next may be better. */
function sayError(session: Session, error: unknown): void {
  if (!(error instanceof Refused)) throw error
  for (const line of reasonLines(error.reason, session.settings.command)) session.warn(line)
}

const ListSchema = z.looseObject({
  runs: z.array(z.looseObject({ run_id: z.string(), dag_name: z.string(), state: z.string() })),
})
type Listed = z.infer<typeof ListSchema>['runs'][number]

/** Whoever started it, and however it stands: the newest that no other run started. */
async function lastRun(target: Target): Promise<Listed | undefined> {
  const query = { role: 'root', limit: 1 } as const
  const { runs } = await callApi(target, ListSchema, (api) => api.GET('/api/dag/runs', { params: { query } }))
  return runs[0]
}

const ENDED: ReadonlySet<string> = new Set(['completed', 'partial', 'blocked', 'failed', 'cancelled', 'iterated'])
/** A stop is recorded at once; what is under way gets so long to see it. */
const END_TRIES = 100
const END_PAUSE_MS = 100

/** A run that is still on its way is stopped: what it has completed is taken over like that of any other. */
async function endRun(session: Session, target: Target, { run_id, state }: Listed): Promise<void> {
  if (ENDED.has(state)) return
  session.say(`Run ${run_id} has not ended: it is stopped, and what it has completed is taken over.`)
  const reason = 'Another version of it was saved (sluice dev --rerun).'
  await callApi(target, z.looseObject({}), (api) =>
    api.POST('/api/dag/runs/{run_id}/stop', { params: { path: { run_id } }, body: { reason } }),
  ).catch((error: unknown) => {
    // It ended by itself meanwhile.
    if (!(error instanceof Refused) || error.status !== 409) throw error
  })
  for (let tries = 0; tries < END_TRIES; tries += 1) {
    if (ENDED.has((await fetchRun(target, run_id)).run.state)) return
    await delay(END_PAUSE_MS)
  }
}
