import { keyQueueName, type WaitingTurn } from '../../shared/runs/key-queue.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { chance, upTo } from '../integration/random-runs.ts'
import { callRoute } from './call-route.ts'
import { randomFrom } from './rng.ts'
import type { System } from './system.ts'
import type { HeadChange } from './until-head.ts'

/** Runs of one document that take turns, started at random times, what becomes of one more drawn by the seed. */
const TURNS = {
  name: 'turns',
  blocks: [
    {
      id: 't0',
      mode: 'deterministic',
      inputs: { note: { type: 'string', required: false, default: 'x' } },
      outputs: { note: 'string' },
      deterministic: { handler: 'pass' },
    },
    { id: 't1', mode: 'wait', wait: { for: 20 } },
  ],
}

const QUEUE = { tenant: 'main', queue: keyQueueName(TURNS.name, undefined) }
const STARTS = 6
const SPREAD_MS = 150_000

/** Whether runs of this seed take turns. */
export function hasTurns(seed: number): boolean {
  return chance(randomFrom(seed * 127), 0.3)
}

interface Turns {
  /** Who was started has ended, or never was; and nobody stands in the queue. */
  areOver(): Promise<boolean>
  watch(): Promise<void>
}

/** Starts them, and looks after every step at who goes on and who waits. */
export function startTurns(system: System, seed: number): Turns {
  const { sim, lookers, raw } = system
  const random = randomFrom(seed * 131)
  const limit = 1 + Number(chance(random, 0.3))
  const on_conflict =
    ['queue', 'queue', 'queue', 'skip', 'cancel_running', 'replace_queued'][upTo(random, 5)] ?? 'queue'
  const document = { ...TURNS, concurrency: { limit, on_conflict } }
  let left = STARTS
  for (let n = 0; n < STARTS; n += 1) {
    const call = { tenant: QUEUE.tenant, params: {}, body: { dag: document }, key: `turn-${n}` }
    sim.scheduler.after(1_000 + upTo(random, SPREAD_MS), () => {
      void callRoute(system, 'start-run', call).finally(() => {
        left -= 1
      })
    })
  }
  const seen = new Standing()
  const changed: HeadChange[] = []
  lookers.add((change) => void changed.push(change))
  return {
    async watch() {
      seen.note((await raw.keyQueue(QUEUE)).waiting)
      for (const change of changed.splice(0)) {
        if (await isOurs(system, change.run_id)) look(system, seen, change, limit)
      }
    },
    async areOver() {
      const { running, waiting } = await raw.keyQueue(QUEUE)
      return left === 0 && running.length + waiting.length === 0
    },
  }
}

function look(system: System, seen: Standing, { run_id, was, head }: HeadChange, limit: number): void {
  const { going } = seen
  if (head.state !== 'running') going.delete(run_id)
  else if (was?.queued === true && head.queued !== true) {
    going.add(run_id)
    const passed = limit === 1 ? seen.before(run_id).find((other) => isWaiting(system, other)) : undefined
    if (going.size > limit) system.sim.violate('turn', `${[...going].join(', ')} go on, and the limit is ${limit}`)
    else if (passed !== undefined) {
      system.sim.violate('turn', `${run_id} begins before ${passed}, which came before it`)
    }
  }
}

async function isOurs({ raw }: System, run_id: string): Promise<boolean> {
  const key: RunKey = { tenant: QUEUE.tenant, run_id }
  return (await raw.meta(key))?.turn?.queue === QUEUE.queue
}

function isWaiting({ heads }: System, run_id: string): boolean {
  const head = heads.get(run_id)
  return head?.state === 'running' && head.queued === true
}

/** Who goes on, and in which order runs came to the queue, as far as they are not to end for others. */
class Standing {
  readonly going = new Set<string>()
  private readonly came: string[] = []
  private readonly ending = new Set<string>()

  note(waiting: readonly WaitingTurn[]): void {
    for (const { run_id, ends } of waiting.toSorted((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)))) {
      if (!this.came.includes(run_id)) this.came.push(run_id)
      if (ends !== undefined) this.ending.add(run_id)
    }
  }

  before(run_id: string): readonly string[] {
    const index = this.came.indexOf(run_id)
    return index === -1 ? [] : this.came.slice(0, index).filter((other) => !this.ending.has(other))
  }
}
