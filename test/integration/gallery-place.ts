import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { openPlace } from '../../infra/local/place.ts'
import type { RunEvent } from '../../shared/runs/event.ts'
import { isRunEnd } from '../../shared/runs/event-types.ts'
import { SettingsSchema } from '../../shared/settings/settings.ts'

export const DAGS = join(import.meta.dirname, '../../dags')

/** A run of a shipped document that came to its end. */
export interface EndedRun {
  readonly id: string
  readonly events: readonly RunEvent[]
  readonly end: RunEvent
  /** Lines `block gate`, of gates that did not hold. */
  readonly refused: readonly string[]
  /** Why it ended so. */
  readonly reason: string
  artifact(name: string): Promise<string>
}

export type GalleryPlace = Awaited<ReturnType<typeof openGallery>>

/**
 * A local place with the shipped documents, and a person who approves what they ask unless a test says otherwise; its
 * settings are every place's own but for `more`.
 */
export async function openGallery(more: object = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'sluice-gallery-'))
  const own = { port: 0, data_dir: join(dir, 'data'), dags: [DAGS], inputs_dir: dir }
  const settings = SettingsSchema.parse({ ...own, ...more })
  const place = await openPlace(settings, { listen: true })
  const { runs, objects } = place.world

  const call = async (path: string, body: unknown) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
    return JSON.parse(await (await fetch(`${place.url}${path}`, init)).text())
  }
  const keyOf = (run_id: string) => ({ tenant: 'main', run_id })
  const eventsOf = async (id: string): Promise<readonly RunEvent[]> => runs.events(keyOf(id), 0, 1_000)
  /** Of a shipped document, or of one that is given as it is. */
  const start = async (document: string | { readonly dag: string }, inputs: object = {}): Promise<string> => {
    const named = typeof document === 'string' ? { name: document } : document
    const { run_id, ...refused } = await call('/api/dag/run', { ...named, inputs })
    if (run_id === undefined) throw new Error(JSON.stringify(refused))
    return run_id
  }
  const decide = async (id: string, decision: 'approve' | 'reject'): Promise<void> => {
    for (const asked of await runs.approvals(keyOf(id))) {
      const path = `/api/dag/runs/${id}/approvals`
      const words = decision === 'approve' ? { digest: asked.digest } : { feedback: 'not so' }
      const { code } = await call(path, { approval_id: asked.id, decision, ...words })
      // The yes to gates that failed has a name and a reason of its own.
      const waiver = { decision: 'waive', digest: asked.digest, feedback: 'as it is' }
      if (code === 'waive_expected') await call(path, { approval_id: asked.id, ...waiver })
    }
  }
  /** Decides every question of the run until it has ended. */
  const toEnd = async (id: string, decision: 'approve' | 'reject' | 'nobody' = 'approve'): Promise<EndedRun> => {
    for (;;) {
      const events = await eventsOf(id)
      const end = events.find(({ type }) => isRunEnd(type))
      if (end !== undefined) return ended(id, events, end)
      if (decision !== 'nobody') await decide(id, decision)
      await setTimeout(20)
    }
  }
  const ended = (id: string, events: readonly RunEvent[], end: RunEvent): EndedRun => ({
    id,
    events,
    end,
    refused: events.flatMap((event) =>
      event.type === 'block:gate' && event.data.status !== 'passed' ? [`${event.block_id} ${event.data.gate}`] : [],
    ),
    reason: String((end.data as { readonly reason?: string }).reason),
    artifact: async (name) => {
      const found = (await runs.artifacts(keyOf(id))).find((one) => one.name === name)
      return Buffer.from(await objects.get('main', found?.ref ?? '')).toString('utf8')
    },
  })
  return {
    place,
    /** Where documents read files from. */
    dir,
    call,
    start,
    toEnd,
    eventsOf,
    /** An event of outside. */
    send: (event: object) => call('/api/events', event),
    run: async (name: string, inputs: object = {}, decision: 'approve' | 'reject' = 'approve') =>
      toEnd(await start(name, inputs), decision),
    close: async () => {
      await place.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** The text a document brings along as the default of an input. */
export function defaultOf(name: string, input: string): string {
  const text = readFileSync(join(DAGS, `${name}.yaml`), 'utf8')
  const lines = text.split('\n')
  const at = lines.indexOf(`  ${input}:`)
  const from = lines.findIndex((line, i) => i > at && line === '    default: |')
  const rest = lines.slice(from + 1)
  const end = rest.findIndex((line) => line.trim() !== '' && !line.startsWith('      '))
  return `${rest
    .slice(0, end)
    .map((line) => line.slice(6))
    .join('\n')
    .trimEnd()}\n`
}
