import assert from 'node:assert/strict'
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
/** In the place: what was called since it was last asked is written down, and counting begins anew. */
const COUNT_ON_SIGNAL = `data:text/javascript,import { takeCoverage } from 'node:v8'; process.on('SIGUSR2', takeCoverage)`

/** A block that anything answers, and the same with a person before it. */
const block = (approval: object) => ({
  name: 'house',
  inputs: { text: { type: 'string', default: 'done' } },
  blocks: [
    {
      id: 'only',
      mode: 'deterministic',
      deterministic: { handler: 'pass' },
      inputs: { text: 'string' },
      outputs: { text: { type: 'string' } },
      ...approval,
    },
  ],
})

interface Counted {
  readonly url: string
  /** Files of the product in which a function was called since the last time. */
  take(): Promise<number>
  close(): Promise<void>
}

/** Starts the place and asks it one thing after the other: how many of its files had a part in the answer. */
export async function enteredFiles(): Promise<ReadonlyMap<string, number>> {
  const place = await startPlace()
  try {
    const counts = new Map<string, number>()
    const count = async (request: string, work: () => Promise<unknown>) => {
      await place.take()
      await work()
      counts.set(request, await place.take())
    }
    const asked = block({ approval: { required: true, prompt: 'Go on?' } })
    await count('nothing, for a second', () => pause(1_000))
    await count('validate', () => call(place, '/api/dag/validate', { dag: asked }))
    await count('a run of one block', async () =>
      ended(place, (await call(place, '/api/dag/run', { dag: block({}) })).run_id),
    )
    const { run_id } = await call(place, '/api/dag/run', { dag: asked })
    const { approvals } = await until(
      place,
      '/api/dag/approvals',
      ({ approvals: list }) => list !== undefined && list.length > 0,
    )
    await count('an approval, to the end of its run', async () => {
      const { approval_id, digest } = approvals?.[0] ?? {}
      await call(place, `/api/dag/runs/${run_id}/approvals`, { approval_id, digest, decision: 'approve' })
      await ended(place, run_id)
    })
    await count('a research question', async () => {
      const started = await call(place, '/api/research', { topic: 'Who borders Nepal?' })
      await until(
        place,
        `/api/research/${started.run_id}`,
        ({ status }) => status !== 'pending' && status !== 'running',
      )
    })
    return counts
  } finally {
    await place.close()
  }
}

interface Answer {
  readonly run_id?: string
  readonly status?: string
  readonly approvals?: readonly { readonly approval_id: string; readonly digest: string }[]
}

async function call({ url }: Counted, path: string, body?: object): Promise<Answer> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  const answer = await fetch(`${url}${path}`, body === undefined ? {} : init)
  const said = (await answer.json()) as Answer
  if (!answer.ok) process.stderr.write(`${path}: ${answer.status} ${JSON.stringify(said)}\n`)
  return said
}

async function until(place: Counted, path: string, holds: (answer: Answer) => boolean): Promise<Answer> {
  for (;;) {
    const answer = await call(place, path)
    if (holds(answer)) return answer
    await pause(50)
  }
}

function ended(place: Counted, id: string | undefined): Promise<Answer> {
  return until(
    place,
    `/api/dag/runs/${id}`,
    ({ status }) => status !== 'pending' && status !== 'running' && status !== 'paused',
  )
}

async function startPlace(): Promise<Counted> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-house-'))
  const coverage = join(folder, 'coverage')
  mkdirSync(coverage)
  const main = join(ROOT, 'scripts', 'house', 'quiet-place.ts')
  const args = ['--import', COUNT_ON_SIGNAL, main, '--port', '0', '--data-dir', join(folder, 'data'), '--example']
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, NODE_V8_COVERAGE: coverage },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const { url } = await firstLine(child)
  let taken = 0
  return {
    url,
    async take() {
      child.kill('SIGUSR2')
      while (reports(coverage).length === taken) await pause(20)
      await pause(200)
      const written = reports(coverage).slice(taken)
      taken += written.length
      return filesIn(written.map((file) => join(coverage, file)))
    },
    async close() {
      child.kill()
      await once(child, 'exit')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function firstLine(child: ChildProcessByStdio<null, Readable, null>): Promise<{ readonly url: string }> {
  for await (const line of createInterface({ input: child.stdout })) return JSON.parse(line) as { url: string }
  assert.fail('the place ended before it served')
}

/** Node numbers them in the order they are written. */
function reports(folder: string): readonly string[] {
  const number = (name: string) => Number(/-(\d+)\.json$/.exec(name)?.[1])
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .toSorted((a, b) => number(a) - number(b))
}

function filesIn(written: readonly string[]): number {
  const home = pathToFileURL(`${ROOT}/`).href
  const entered = new Set<string>()
  for (const file of written) {
    const { result } = JSON.parse(readFileSync(file, 'utf8')) as Coverage
    for (const { url, functions } of result) {
      if (!url.startsWith(home) || url.includes('/node_modules/')) continue
      // The first one is the module itself.
      if (functions.slice(1).some(({ ranges }) => (ranges[0]?.count ?? 0) > 0)) entered.add(url)
    }
  }
  return entered.size
}

interface Coverage {
  readonly result: readonly {
    readonly url: string
    readonly functions: readonly { readonly ranges: readonly { readonly count: number }[] }[]
  }[]
}
