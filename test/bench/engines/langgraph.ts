import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSaver } from '../alternatives.ts'
import { buildLangGraph } from '../build-langgraph.ts'
import { type Shape, sourcesOf } from '../shapes.ts'
import type { OpenEngine } from './engine.ts'
import { serveLibrary } from './library-server.ts'

/** LangGraph.js with its SQLite saver, a thread a run; `sync`: a step is kept before the next one starts. */
export const open: OpenEngine = async ({ durability, folder, shapes }) => {
  const { saver, db } = await openSaver(join(folder, 'langgraph.db'), durability)
  const compiled = new Map<string, { invoke(input: object, options: object): Promise<unknown> }>()
  for (const shape of shapes) {
    compiled.set(shape.name, (await buildLangGraph(sourcesOf(shape))).compile({ checkpointer: saver }))
  }
  const { calls, close } = await serveLibrary(shapes, {
    async run({ name, n }) {
      const configurable = { thread_id: `${name}-${randomUUID()}` }
      await compiled.get(name)?.invoke({}, { recursionLimit: n * 2, configurable, durability: 'sync' })
      return n
    },
    // Every block is a task that wrote something.
    kept({ name, n }: Shape) {
      const sql = `SELECT count(*) AS runs FROM (SELECT count(DISTINCT task_id) AS tasks FROM writes
        WHERE thread_id LIKE ? GROUP BY thread_id) WHERE tasks >= ?`
      return Number(db.prepare(sql).get(`${name}-%`, n)?.runs)
    },
  })
  await compiled.get('diamond')?.invoke({}, { configurable: { thread_id: 'first' } })
  const { synchronous } = db.prepare('PRAGMA synchronous').get() ?? {}
  const { journal_mode } = db.prepare('PRAGMA journal_mode').get() ?? {}
  return {
    served: {
      version: `LangGraph.js ${versionOf('langgraph')} + SqliteSaver ${versionOf('langgraph-checkpoint-sqlite')} on node:sqlite`,
      durable: `SQLite synchronous ${synchronous}, journal ${journal_mode}; durability "sync"`,
      ...calls,
    },
    async close() {
      await close()
      db.close()
    },
  }
}

function versionOf(name: string): string {
  const file = join(import.meta.dirname, '../node_modules/@langchain', name, 'package.json')
  return JSON.parse(readFileSync(file, 'utf8')).version
}
