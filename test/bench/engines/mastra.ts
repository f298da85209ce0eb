import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { layersOf, type Shape } from '../shapes.ts'
import { load, type OpenEngine } from './engine.ts'
import { serveLibrary } from './library-server.ts'

/** The parts used of Mastra and its store. */
interface Result {
  readonly status: string
  readonly steps: Readonly<Record<string, { readonly status: string }>>
}
interface Run {
  readonly runId: string
  start(input: object): Promise<Result>
}
interface Workflow {
  then(step: object): Workflow
  parallel(steps: readonly object[]): Workflow
  commit(): Workflow
  createRun(): Promise<Run>
}
interface Workflows {
  createWorkflow(options: object): Workflow
  createStep(options: object): object
}
interface Mastra {
  getWorkflow(name: string): Workflow
}
interface Client {
  execute(
    sql: string | { sql: string; args: unknown[] },
  ): Promise<{ readonly rows: readonly Record<string, unknown>[] }>
  transaction(mode: 'deferred'): Promise<{ rollback(): Promise<void> }>
}
interface Store {
  readonly client: Client
  init(): Promise<void>
}

/** Mastra with its libSQL store in a file: a workflow a shape, its layers as `parallel`. */
export const open: OpenEngine = async ({ durability, folder, shapes }) => {
  process.env.MASTRA_TELEMETRY_DISABLED = '1'
  const { Mastra } = await load<{ readonly Mastra: new (options: object) => Mastra }>('@mastra/core')
  const { LibSQLStore } = await load<{ readonly LibSQLStore: new (options: object) => Store }>('@mastra/libsql')
  const made = await load<Workflows>('@mastra/core/workflows')
  const file = join(folder, 'mastra.db')
  const storage = new LibSQLStore({ id: 'bench', url: `file:${file}` })
  const workflows = Object.fromEntries(shapes.map((shape) => [shape.name, workflow(made, shape)]))
  const mastra = new Mastra({ workflows, storage, logger: false })
  await storage.init()
  const durable = await onEveryConnection(storage.client, async () => {
    await storage.client.execute(`PRAGMA synchronous = ${durability === 'full' ? 'FULL' : 'NORMAL'}`)
    return `SQLite synchronous ${await pragma(storage.client, 'synchronous')}, journal ${await pragma(storage.client, 'journal_mode')}`
  })
  const running = new Map<string, Promise<number>>()
  const { calls, close } = await serveLibrary(shapes, {
    async run({ name }) {
      const run = await mastra.getWorkflow(name).createRun()
      return succeeded(await run.start({ inputData: {} }))
    },
    // What createRun() wrote is what is durable of a start.
    async start({ name }) {
      const run = await mastra.getWorkflow(name).createRun()
      running.set(run.runId, run.start({ inputData: {} }).then(succeeded))
      return run.runId
    },
    async end(id) {
      const blocks = await running.get(id)
      running.delete(id)
      return blocks ?? 0
    },
    async kept({ name, n }) {
      const steps = `SELECT count(*) FROM json_each(json(snapshot), '$.context') WHERE json_extract(value, '$.status') = 'success'`
      const sql = `SELECT count(*) AS runs FROM mastra_workflow_snapshot WHERE workflow_name = ?
        AND json_extract(json(snapshot), '$.status') = 'success' AND (${steps}) >= ?`
      const { rows } = await storage.client.execute({ sql, args: [name, n] })
      return Number(rows[0]?.runs)
    },
  })
  return {
    served: {
      version: `Mastra ${versionOf('core')} with libsql ${versionOf('libsql')}`,
      durable: `${durable}, on each of ${POOL} connections`,
      ...calls,
    },
    close,
  }
}

function workflow({ createWorkflow, createStep }: Workflows, shape: Shape): Workflow {
  const any = { inputSchema: z.any(), outputSchema: z.any() }
  let made = createWorkflow({ id: shape.name, ...any })
  for (const layer of layersOf(shape)) {
    const steps = layer.map((block) => createStep({ id: `b${block}`, ...any, execute: async () => ({}) }))
    const [first] = steps
    made = steps.length === 1 && first !== undefined ? made.then(first) : made.parallel(steps)
  }
  return made.commit()
}

function succeeded({ status, steps }: Result): number {
  return status === 'success' ? Object.values(steps).filter((step) => step.status === 'success').length : 0
}

/** As many as its client opens. It sets the pragma on the first it happens to have; the others would be as SQLite is: FULL. */
const POOL = 20

/** What `work` answers on every connection of the pool: those before are held by transactions that do nothing. */
async function onEveryConnection(client: Client, work: () => Promise<string>): Promise<string> {
  const held: { rollback(): Promise<void> }[] = []
  const answers = new Set<string>()
  while (held.length < POOL) {
    answers.add(await work())
    held.push(await client.transaction('deferred'))
  }
  for (const one of held) await one.rollback()
  return [...answers].join('; ')
}

async function pragma(client: Client, name: string): Promise<unknown> {
  const { rows } = await client.execute(`PRAGMA ${name}`)
  return Object.values(rows[0] ?? {})[0]
}

function versionOf(name: string): string {
  return JSON.parse(readFileSync(join(import.meta.dirname, 'node_modules/@mastra', name, 'package.json'), 'utf8'))
    .version
}
