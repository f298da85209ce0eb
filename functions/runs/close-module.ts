import * as z from 'zod'
import type { BounceModule } from '../../shared/dag/bounce-modules.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { signalJoins } from '../blocks/signal-joins.ts'
import { functionHandler } from '../handler.ts'
import { openStorage } from '../storage.ts'
import { dueBounces } from './due-bounces.ts'
import { MachineInputSchema, runOf } from './machine-input.ts'
import { readPinned } from './read-pinned.ts'
import { type Bouncing, reroute } from './reroute.ts'
import { skippedAgain } from './skipped-again.ts'

const InputSchema = z.strictObject({
  in: MachineInputSchema,
  module: z.int().min(0),
  e: z.int().min(0),
  joins: z.array(z.string()).max(1_000).default([]),
})

/**
 * `_close_<k>`, the one exit of a bounce module: sends it back once more while a bounce is due, else lets the machine go
 * on and signals the joins outside for the module's sinks. HEAD decides, so a repeated call answers as the first did.
 */
export const handler = functionHandler({
  name: 'close-module',
  input: InputSchema,
  async run({ in: input, module: key, e, joins }, world) {
    const run = runOf(input)
    const pinned = await readPinned(world, run)
    const module = [...pinned.moduleOf.values()].find((one) => one.key === key)
    const head = await world.runs.head(run)
    if (module === undefined || head?.state !== 'running') return leave(world, run, module, joins)
    const epoch = head.modules[String(key)]?.epoch ?? 0
    if (epoch !== e) return { again: true, e: epoch }
    const due = await dueBounces(world, run, pinned, head, module)
    if (due.length === 0) return leave(world, run, module, joins)
    const also = skippedAgain(pinned, head, module, new Set(due.flatMap(({ rule }) => rule.hull)))
    const bouncing = { module, index: pinned.index, fired: head.modules[String(key)], due, also, epoch: epoch + 1 }
    return (await sendBack(world, run, bouncing)) ? { again: true, e: epoch + 1 } : { again: false }
  },
})

/** False when the run has ended meanwhile. That another call was faster is no matter: it wrote the same. */
async function sendBack(world: World, run: RunKey, bouncing: Bouncing): Promise<boolean> {
  const done = await reroute(openStorage(world, run).world, run, bouncing)
  return done.ok || done.because === 'already'
}

async function leave(world: World, run: RunKey, module: BounceModule | undefined, joins: readonly string[]) {
  for (const source of module?.sinks ?? []) await signalJoins({ world, run, source }, joins)
  return { again: false }
}
