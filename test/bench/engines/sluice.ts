import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openDatabase } from '../../../infra/local/database.ts'
import type { Durability } from '../../../shared/settings/settings.ts'
import type { Shape } from '../shapes.ts'
import type { OpenEngine } from './engine.ts'
import { serveKept } from './library-server.ts'

const ROOT = dirname(dirname(dirname(import.meta.dirname)))

/** The local place in the process `sluice start` runs, with documents by name and limits that let the bench through. */
export const open: OpenEngine = async ({ durability, folder, shapes }) => {
  mkdirSync(join(folder, 'dags'))
  for (const shape of shapes) writeFileSync(join(folder, 'dags', `${shape.name}.yaml`), JSON.stringify(document(shape)))
  const safety = { max_parallel: 0, max_runs: 1_000, max_requests_per_min: 100_000 }
  const streams = { max_streams: 1_000, max_streams_per_caller: 1_000 }
  const settings = { dags: ['dags'], durability, safety: { ...safety, ...streams } }
  writeFileSync(join(folder, 'sluice.yaml'), JSON.stringify(settings))
  const child = spawn(process.execPath, [join(ROOT, 'infra/local/main.ts'), '--port', '0'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const url = await readyUrl(child)
  const { kept, close } = await serveKept(shapes, (shape) => keptRuns(url, shape))
  const body = { headers: { 'content-type': 'application/json' }, body: '{"name":"{shape}"}' }
  return {
    served: {
      version: `the local place, Node ${process.version}`,
      durable: `${readBack(folder, durability)}, by a file opened as the place opens its own`,
      run: { method: 'POST', url: `${url}/api/dag/run?wait=20`, ...body, must: '"state":"completed"' },
      start: { method: 'POST', url: `${url}/api/dag/run`, ...body, must: '"blocks":{blocks},', id: 'run_id' },
      // The stream of events ends with the run.
      end: { method: 'GET', url: `${url}/api/dag/runs/{id}/events`, must: 'run:completed' },
      kept,
    },
    async close() {
      await close()
      await ended(child)
    },
  }
}

function document({ name, n, edges }: Shape) {
  const blocks = Array.from({ length: n }, (_, i) => ({
    id: `b${i}`,
    mode: 'deterministic',
    deterministic: { handler: 'pass' },
  }))
  return { name, blocks, edges: edges.map(([from, to]) => ({ from: `b${from}`, to: `b${to}` })) }
}

async function readyUrl(child: ChildProcess): Promise<string> {
  let text = ''
  for await (const chunk of child.stdout ?? []) {
    text += chunk
    if (text.includes('\n')) break
  }
  const line: unknown = JSON.parse(text || '{"ready":false}')
  const url = typeof line === 'object' && line !== null && 'url' in line ? line.url : undefined
  if (typeof url !== 'string') throw new Error(`the place did not start: ${text}`)
  return url
}

/** The place holds its file alone: what its settings come to is read from another one. */
function readBack(folder: string, durability: Durability): string {
  const db = openDatabase(join(folder, 'other'), durability)
  const { synchronous } = db.prepare('PRAGMA synchronous').get() ?? {}
  const { journal_mode } = db.prepare('PRAGMA journal_mode').get() ?? {}
  db.close()
  return `SQLite synchronous ${synchronous}, journal ${journal_mode}`
}

/** A block writes two events at least, the run two more. */
async function keptRuns(url: string, { name, n }: Shape): Promise<number> {
  let runs = 0
  for (let cursor: string | null = ''; cursor !== null; ) {
    const after = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const answer = await fetch(`${url}/api/dag/runs?status=completed&dag=${name}&limit=500${after}`)
    const page = (await answer.json()) as { runs: { last_seq: number }[]; next_cursor: string | null }
    runs += page.runs.filter(({ last_seq }) => last_seq >= 2 * n + 2).length
    cursor = page.next_cursor
  }
  return runs
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await new Promise((resolve) => child.once('exit', resolve))
}
