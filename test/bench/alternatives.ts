import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import type { Durability } from '../../shared/settings/settings.ts'
import { buildLangGraph, type Work } from './build-langgraph.ts'
import { type Shape, sourcesOf } from './shapes.ts'

/** Runs one graph to its end; compiling or building is not part of `run`. Without `work` its blocks do nothing. */
export interface Alternative {
  readonly name: string
  prepare(shape: Shape, folder: string, work?: Work): Promise<() => Promise<void>>
  /** The same, as durable as is said; absent: it keeps nothing. */
  durable?(shape: Shape, folder: string, durability: Durability): Promise<() => Promise<void>>
}

/** Packages of test/bench/package.json; they are absent until `npm ci --prefix test/bench`, so no static imports. */
export const ALTERNATIVES: readonly Alternative[] = [
  { name: 'langgraph', prepare: (shape, _folder, work) => langgraph(shape, work) },
  {
    name: 'langgraph + SQLite saver',
    prepare: (shape, folder, work) => langgraph(shape, work, join(folder, `lg-${shape.name}.db`)),
    durable: (shape, folder, durability) =>
      langgraph(shape, undefined, join(folder, `lg-${shape.name}.db`), durability),
  },
  { name: 'p-graph', prepare: (shape, _folder, work) => pGraph(shape, work) },
]

async function langgraph(
  shape: Shape,
  work?: Work,
  file?: string,
  durability: Durability = 'normal',
): Promise<() => Promise<void>> {
  const graph = await buildLangGraph(sourcesOf(shape), work)
  const saver = file === undefined ? {} : { checkpointer: (await openSaver(file, durability)).saver }
  const compiled = graph.compile(saver)
  let thread = 0
  return async () => {
    thread += 1
    await compiled.invoke({}, { recursionLimit: shape.n * 2, configurable: { thread_id: String(thread) } })
  }
}

/** LangGraph's own saver on Node's SQLite (its better-sqlite3 needs a build), and as durable as ours: its default is FULL. */
export async function openSaver(file: string, durability: Durability) {
  const { SqliteSaver } = await load<SaverModule>('@langchain/langgraph-checkpoint-sqlite')
  rmSync(file, { force: true })
  const db = new DatabaseSync(file)
  db.exec(`PRAGMA synchronous = ${durability === 'full' ? 'FULL' : 'NORMAL'}`)
  const saver = new SqliteSaver({
    pragma: (text: string) => db.exec(`PRAGMA ${text}`),
    exec: (text: string) => db.exec(text),
    prepare: (text: string) => {
      const statement = db.prepare(text)
      return {
        run: (...values: Bound[]) => statement.run(...values.map(bound)),
        get: (...values: Bound[]) => statement.get(...values.map(bound)),
        all: (...values: Bound[]) => statement.all(...values.map(bound)),
      }
    },
    transaction:
      (work: (...values: unknown[]) => unknown) =>
      (...values: unknown[]) => {
        db.exec('BEGIN')
        const result = work(...values)
        db.exec('COMMIT')
        return result
      },
  })
  return { saver, db }
}

type Bound = SQLInputValue | undefined

function bound(value: Bound): SQLInputValue {
  return value ?? null
}

async function pGraph(shape: Shape, work: Work = async () => undefined): Promise<() => Promise<void>> {
  const { PGraph } = await load<PGraphModule>('p-graph')
  const nodes = Object.fromEntries(Array.from({ length: shape.n }, (_, i) => [`b${i}`, { run: () => work(i) }]))
  const edges = shape.edges.map(([from, to]) => [`b${from}`, `b${to}`])
  return async () => {
    await new PGraph(nodes, edges).run()
  }
}

/** The packages' own types are not there when this file is type-checked on a fresh clone: these are the parts used. */
interface SaverModule {
  readonly SqliteSaver: new (db: object) => object
}
interface PGraphModule {
  readonly PGraph: new (nodes: object, edges: readonly (readonly string[])[]) => { run(): Promise<unknown> }
}

async function load<T>(name: string): Promise<T> {
  return (await import(name)) as T
}
