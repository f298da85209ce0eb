import { rmSync } from 'node:fs'
import { ENGINE_SHAPES } from '../shapes.ts'
import type { OpenEngine, Opened, Told } from './engine.ts'

/**
 * The process of one engine, forked by test/bench/engines.ts: `serve.ts NAME normal|full FOLDER`. It tells how it is called,
 * or why it is not there, and ends with SIGTERM or with its parent; what it started ends with it.
 */
const OPEN: Readonly<Record<string, () => Promise<{ readonly open: OpenEngine }>>> = {
  sluice: () => import('./sluice.ts'),
  langgraph: () => import('./langgraph.ts'),
  mastra: () => import('./mastra.ts'),
  restate: () => import('./restate.ts'),
  dbos: () => import('./dbos.ts'),
}

const [name = '', durability, folder = ''] = process.argv.slice(2)
let opening: Promise<Opened> | undefined

async function main(): Promise<void> {
  for (const signal of ['SIGTERM', 'disconnect'] as const) process.once(signal, () => void stop())
  try {
    const { open } = (await OPEN[name]?.()) ?? {}
    if (open === undefined) throw new Error(`no engine is called "${name}"`)
    opening = open({ durability: durability === 'full' ? 'full' : 'normal', folder, shapes: ENGINE_SHAPES })
    const { served } = await opening
    tell({ served })
  } catch (error) {
    tell({ failed: error instanceof Error ? error.message : String(error) })
  }
}

function tell(told: Told): void {
  if (process.connected) process.send?.(told)
}

async function stop(): Promise<void> {
  // What does not close in time is ended with the group of this process.
  const opened = await opening?.catch(() => undefined)
  await opened?.close().catch(() => undefined)
  rmSync(folder, { recursive: true, force: true })
  process.exit()
}

await main()
