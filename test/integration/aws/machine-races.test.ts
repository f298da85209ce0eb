import { SFNClient, type SFNClientConfig } from '@aws-sdk/client-sfn'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Fault } from '../../../shared/errors.ts'
import type { Machine } from '../../../shared/runs/machine.ts'
import { type StepFunctionsEmulator, startStepFunctions } from '../../emulators/step-functions.ts'
import { firstDaily } from '../../how-much.ts'
import { startMachinesPlaces } from './machines-place.ts'

/**
 * A start and the removal of the machine it is to run on, call by call in every order. The emulator ends what runs on a
 * machine that is deleted, as AWS does, so the law is: whoever started runs in the end, on a machine that is there.
 */
const DAY_MS = 86_400_000
const TEXT = JSON.stringify({
  QueryLanguage: 'JSONata',
  StartAt: 'a',
  States: { a: { Type: 'Wait', Seconds: 1_000_000, End: true } },
})
const HASH = 'ab'.repeat(32)
const RUN = 'run_a'

let places: Awaited<ReturnType<typeof startMachinesPlaces>>
let states: StepFunctionsEmulator
beforeAll(async () => {
  places = await startMachinesPlaces()
})
afterAll(() => places.close())

type Handler = NonNullable<SFNClientConfig['requestHandler']>

/** One at a time: each of `actors` stops before every call, and the next to call is chosen by `choices`, else the first. */
function createTurns(choices: readonly number[], crashAt: number | undefined) {
  const waiting = new Map<string, () => void>()
  const living = new Set<string>()
  const made: { readonly options: number }[] = []
  let calls = 0
  const inner = new SFNClient(states.aws).config.requestHandler
  return {
    made,
    gate(actor: string): Handler {
      const handle: typeof inner.handle = async (request, options) => {
        await new Promise<void>((resolve) => waiting.set(actor, resolve))
        if (actor === 'clear' && calls++ === crashAt) return new Promise(() => undefined)
        return inner.handle(request, options)
      }
      // The other members of a handler are optional.
      return { handle } as Handler
    },
    /** Runs it until it ends, or until it died in the middle of a call. */
    live(actor: string, whole: Promise<unknown>) {
      living.add(actor)
      void whole.catch(() => undefined).finally(() => living.delete(actor))
    },
    async drive() {
      for (;;) {
        const idle = () => [...living].every((actor) => waiting.has(actor) || (actor === 'clear' && isDead()))
        while (!idle()) await new Promise((resolve) => setImmediate(resolve))
        const ready = [...waiting.keys()].sort()
        if (ready.length === 0) return
        const actor = ready[choices[made.length] ?? 0] ?? ''
        made.push({ options: ready.length })
        const go = waiting.get(actor)
        waiting.delete(actor)
        go?.()
      }
    },
  }
  function isDead() {
    return crashAt !== undefined && calls > crashAt
  }
}

/** As functions/runs/start-run.ts does it; what is Unavailable stays owed. */
async function startRun(machine: Machine, id: string): Promise<'started' | 'owed'> {
  const order = { machine: id, name: RUN, input: { v: 1, tenant: 'main', run_id: RUN } } as const
  try {
    await machine.start(order).catch(async (error: unknown) => {
      if (!(error instanceof Fault && error.code === 'machine_unknown')) throw error
      await machine.ensure(TEXT, HASH)
      await machine.start(order)
    })
    return 'started'
  } catch (error) {
    if (error instanceof Fault && error.name === 'Unavailable') return 'owed'
    throw error
  }
}

async function race(choices: readonly number[], crashAt?: number) {
  let now = 0
  const place = await places.open({ now: () => now, delay: async () => undefined })
  const plain = place.machine(states.aws)
  const limits = () => ({ unused_since: now - 7 * DAY_MS, most: 1_000, crowded_since: now })
  const id = await plain.ensure(TEXT, HASH)
  now = 8 * DAY_MS
  const turns = createTurns(choices, crashAt)
  const starter = place.gated(states.aws, turns.gate('start'))
  const cleaner = place.gated(states.aws, turns.gate('clear'))
  const started = startRun(starter, id)
  turns.live('start', started)
  turns.live('clear', cleaner.clear(limits()))
  await turns.drive()
  const first = await started
  // The sweep repeats what is owed, after the next removal has finished what was begun.
  now += 3_600_000
  await plain.clear(limits())
  if (first === 'owed') expect(await startRun(place.machine(states.aws), id)).toBe('started')
  const order = turns.made.map((_, i) => choices[i] ?? 0).join('')
  const seen = await plain.describe(id, RUN)
  await plain.stop(id, RUN, 'the race is over')
  return { made: turns.made, order, first, seen }
}

/** Every order in which the calls can come, each once. */
async function everyOrder(crashAt?: number) {
  const outcomes: { readonly order: string; readonly first: string }[] = []
  let choices: readonly number[] = []
  for (;;) {
    states = await startStepFunctions({ invoke: async () => null })
    const { made, order, first, seen } = await race(choices, crashAt).finally(() => states.close())
    expect(seen, `the run after the order ${order}`).toEqual({ status: 'RUNNING' })
    outcomes.push({ order, first })
    const taken = made.map((_, i) => choices[i] ?? 0)
    const last = made.findLastIndex(({ options }, i) => (taken[i] ?? 0) + 1 < options)
    if (last < 0) return outcomes
    choices = [...taken.slice(0, last), (taken[last] ?? 0) + 1]
  }
}

test('a start is never lost to a removal, in whatever order their calls come', async () => {
  const outcomes = await everyOrder()
  expect(outcomes.length).toBeGreaterThan(10)
  // Both happened: the start was faster, and it was told to come again.
  expect(new Set(outcomes.map(({ first }) => first))).toEqual(new Set(['started', 'owed']))
}, 120_000)

for (const { tags, rows } of firstDaily(2, [0, 1, 2, 3, 4])) {
  test.each(rows)('nor to one that dies in its call %i', { tags, timeout: 120_000 }, async (call) => {
    expect((await everyOrder(call)).length).toBeGreaterThan(0)
  })
}
