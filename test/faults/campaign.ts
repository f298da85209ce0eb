import { fork } from 'node:child_process'
import { addCounts, type Counts, kindsIn, uncovered } from './coverage.ts'
import type { SeedRange } from './run-seeds.ts'
import type { Told, Work } from './worker.ts'

export interface Campaign {
  /** What each process does, one range after the other. */
  readonly shares: readonly (readonly SeedRange[])[]
  readonly mutant?: string
  /** The table lies in an emulator. */
  readonly over_wire: boolean
  readonly print: (line: string) => void
}

export interface CampaignEnd {
  readonly failed: readonly Told[]
  readonly uncovered: readonly string[]
}

const EVERY_MS = 15_000

/** Runs seeds, each share in a process of its own, and says how it goes. */
export async function runCampaign({ shares, mutant, over_wire, print }: Campaign): Promise<CampaignEnd> {
  const began = Date.now()
  const counts: Counts = { reached: {}, struck: {} }
  const failed: Told[] = []
  const ends: Record<string, number> = {}
  const sum = { seeds: 0, steps: 0, events: 0 }
  const take = (told: Told) => {
    sum.seeds += 1
    sum.steps += told.steps
    sum.events += told.events
    addCounts(counts, { reached: told.reached as [string, number][], struck: told.struck as [string, number][] })
    for (const end of told.ends) ends[end] = (ends[end] ?? 0) + 1
    if (told.violations.length === 0) return
    failed.push(told)
    print(`FAILED: seed ${told.seed} on ${told.store}, ${told.profile}\n  ${told.violations[0]}`)
  }
  const progress = () => print(`${sum.seeds} seeds, ${failed.length} failed, ${seconds(began)} s`)
  const timer = setInterval(progress, EVERY_MS)
  try {
    await Promise.all(
      shares.map((share) => runWorker({ share, over_wire, ...(mutant === undefined ? {} : { mutant }) }, take, print)),
    )
  } finally {
    clearInterval(timer)
  }
  progress()
  const { seeds, steps, events } = sum
  print(
    `${Math.round((Date.now() - began) / seeds)} ms, ${Math.round(steps / seeds)} steps, ${Math.round(events / seeds)} events a seed`,
  )
  print(`runs ended ${listed(ends)}`)
  print(`faults ${listed(kindsIn(counts))}`)
  return { failed, uncovered: uncovered(counts) }
}

function runWorker(work: Work, take: (told: Told) => void, print: (line: string) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    // A seed leaves much behind that died young: fewer collections, since each looks at what is alive.
    const worker = fork(new URL('./worker.ts', import.meta.url), { execArgv: ['--max-semi-space-size=32'] })
    let last = 'before its first seed'
    worker.on('message', (message) => {
      const told = message as Told
      last = `after seed ${told.seed} on ${told.store}`
      take(told)
    })
    worker.on('error', reject)
    worker.on('exit', (code, signal) => {
      if (code === 0) return resolve()
      print(`FAILED: a worker of the simulation\n  it ended with ${code ?? signal} ${last}`)
      reject(new Error(`a worker ended with ${code ?? signal} ${last}`))
    })
    worker.send(work)
  })
}

function seconds(since: number): number {
  return Math.round((Date.now() - since) / 1_000)
}

function listed(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, n]) => `${name} ${n}`)
    .join(', ')
}
