import { reachedObjects, textsOfRun } from '../../functions/erasure/run-texts.ts'
import type { RunMark } from '../../shared/runs/erasure.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import { chance, upTo } from '../integration/random-runs.ts'
import { callRoute, type Reply } from './call-route.ts'
import type { StoredText } from './emptied-store.ts'
import { type Random, randomFrom } from './rng.ts'
import type { System } from './system.ts'

/** The document of runs that people erase and hold: what it is given goes through a kept result, an output and an artifact. */
const TELLING = {
  name: 'telling',
  inputs: { topic: { type: 'string', search: true } },
  blocks: [
    {
      id: 'say',
      mode: 'deterministic',
      inputs: { topic: 'string' },
      outputs: { topic: { type: 'string', search: true } },
      deterministic: { handler: 'pass' },
      cache: { max_age_sec: 3_600 },
    },
    {
      id: 'keep',
      mode: 'deterministic',
      inputs: { body: { from: 'say.topic' } },
      outputs: { note: 'artifact' },
      deterministic: { handler: 'write-artifact', config: { name: 'note.md' } },
    },
  ],
}

const TENANT = 'main'
const RUNS = 4
const SPREAD_MS = 60_000
const PAUSE_MS = 20_000
/** A run may come to its end so long after it was started, and be asked to go for so long. */
const PATIENCE = 60
/** An erasure waits a quarter of an hour for those that were at work, and again for those that came meanwhile. */
const LATE_MS = 4 * 3_600_000

/** Whether people erase and hold runs in this seed. */
export function hasErasures(seed: number): boolean {
  return chance(randomFrom(seed * 137), 0.3)
}

interface Erasures {
  /** Everybody had their say, and what was asked for is done. */
  areOver(): Promise<boolean>
  check(): Promise<void>
}

/** One run: what it was told, and what people were answered about it. */
interface Told {
  readonly secret: string
  key?: RunKey
  /** Somebody holds it: they were told so, and did not lift it. */
  held: boolean
}

/**
 * Runs that are each told a word nobody else knows; the last two share theirs, so their bodies are one. When they are over,
 * people erase them, twice at once too, hold them, try to erase what is held, and lift it.
 */
export function startErasures(system: System, seed: number): Erasures {
  const { sim, raw } = system
  const random = randomFrom(seed * 139)
  let left = RUNS
  const all = Array.from({ length: RUNS }, (_, n): Told => {
    return { secret: `zuckerwatte${seed}x${Math.min(n, RUNS - 2)}`, held: false }
  })
  for (const [n, told] of all.entries()) {
    const act = drawAct(random)
    const dice = randomFrom(seed * 149 + n)
    sim.scheduler.after(1_000 + upTo(random, SPREAD_MS), () => {
      void live(system, told, { n, act, dice }).finally(() => {
        left -= 1
      })
    })
  }
  return {
    async areOver() {
      if (left > 0) return false
      const open: string[] = []
      for (const { key } of all) if (key !== undefined) open.push(...stillToDo(key, await raw.mark(key)))
      if (open.length > 0 && sim.scheduler.now() > sim.calm_at + LATE_MS)
        sim.violate('erasure', `left half done: ${open.join(', ')}`)
      return open.length === 0
    },
    async check() {
      const marks = await Promise.all(all.map(({ key }) => (key === undefined ? undefined : raw.mark(key))))
      const texts = await system.texts()
      for (const [n, told] of all.entries()) {
        if (told.key === undefined) continue
        if (marks[n]?.erasure === undefined) await checkThere(system, told.key, told, marks[n])
        else await checkGone(system, told.key, told, texts)
      }
      checkUnread(system, all, marks, texts)
    },
  }
}

/** Of an erasure that was asked for; else nothing. */
function stillToDo({ run_id }: RunKey, mark: RunMark | undefined): readonly string[] {
  const { step = 'erased', untold = [] } = mark?.erasure ?? {}
  return [
    ...(step === 'erased' ? [] : [`${run_id} is at ${step}`]),
    ...(untold.length === 0 ? [] : [`${untold.join(', ')} is not told of ${run_id}`]),
  ]
}

const ACTS = [
  'erase',
  'erase',
  'erase',
  'erase_twice',
  'hold',
  'hold_then_erase',
  'hold_lift_erase',
  'at_once',
] as const
type Act = (typeof ACTS)[number]

function drawAct(random: Random): Act {
  return ACTS[upTo(random, ACTS.length - 1)] ?? 'erase'
}

interface Life {
  readonly n: number
  readonly act: Act
  readonly dice: Random
}

async function live(system: System, told: Told, { n, act, dice }: Life): Promise<void> {
  const inputs = { topic: `${told.secret} ${'and more '.repeat(upTo(dice, 2_000))}` }
  const body = { dag: TELLING, inputs, labels: { about: told.secret } }
  const started = await again(system, () =>
    callRoute(system, 'start-run', { tenant: TENANT, params: {}, body, key: `telling-${n}` }),
  )
  if (started?.status === 400)
    system.sim.violate('erasure', `a start was refused: ${JSON.stringify(started.json).slice(0, 400)}`)
  if (started?.status !== 201) return
  const key = { tenant: TENANT, run_id: String(started.json.run_id) }
  told.key = key
  for (let left = PATIENCE; left > 0 && (await system.raw.head(key, []))?.state === 'running'; left -= 1)
    await system.sim.scheduler.delay(PAUSE_MS)
  if (chance(dice, 0.5)) await note(system, key, told.secret)
  await ACT[act](system, key, told)
}

const ACT: Readonly<Record<Act, (system: System, key: RunKey, told: Told) => Promise<unknown>>> = {
  erase,
  erase_twice: (system, key) => Promise.all([erase(system, key), erase(system, key)]),
  hold,
  async hold_then_erase(system, key, told) {
    await hold(system, key, told)
    await erase(system, key)
  },
  async hold_lift_erase(system, key, told) {
    await hold(system, key, told)
    await lift(system, key, told)
    await erase(system, key)
  },
  at_once: (system, key, told) => Promise.all([hold(system, key, told), erase(system, key)]),
}

function ask(system: System, name: string, { tenant, run_id }: RunKey, body: object): Promise<Reply | undefined> {
  return callRoute(system, name, { tenant, params: { run_id }, body })
}

async function note(system: System, key: RunKey, secret: string): Promise<void> {
  await again(system, () => ask(system, 'add-note', key, { text: `${secret} said` }))
}

/** Until it is taken, or refused for good: the end of a run is a while on its way to others. */
async function erase(system: System, key: RunKey): Promise<void> {
  const reason = 'They asked for it'
  await again(system, () => ask(system, 'erase-run', key, { reason }), ['run_not_ended', 'run_at_work'])
}

async function hold(system: System, key: RunKey, told: Told): Promise<void> {
  const reply = await again(system, () => ask(system, 'hold-run', key, { reason: 'An audit' }))
  told.held = reply?.status === 200
}

async function lift(system: System, key: RunKey, told: Told): Promise<void> {
  await again(system, () => ask(system, 'release-hold', key, { reason: 'It is over' }))
  told.held = false
}

/** Whoever is answered nothing, or that it may come right later, asks again. */
async function again(
  { sim }: System,
  call: () => Promise<Reply | undefined>,
  later: readonly string[] = [],
): Promise<Reply | undefined> {
  for (let left = PATIENCE; left > 0; left -= 1) {
    const reply = await call()
    const isOver = reply !== undefined && reply.status < 500 && reply.status !== 429
    if (isOver && !later.includes(String(reply.json.code))) return reply
    await sim.scheduler.delay(PAUSE_MS)
  }
  return undefined
}

/** Of a run that nobody erased, nothing is missing; of one that is held neither, and it is held. */
async function checkThere(system: System, key: RunKey, { held }: Told, mark: RunMark | undefined): Promise<void> {
  const { raw, objects, sim } = system
  if (held && mark?.hold === undefined) sim.violate('erasure', `${key.run_id} was held, and is not`)
  if ((await raw.head(key, [])) === undefined) return sim.violate('erasure', `${key.run_id} is gone, unasked`)
  const world = { runs: raw, objects, clock: sim.scheduler }
  for (const hash of await reachedObjects(world, TENANT, await textsOfRun(world, key))) {
    if (!(await objects.has(TENANT, `objstore://${TENANT}/${hash}`)))
      sim.violate('erasure', `${key.run_id} stays, and its body ${hash} is gone`)
  }
}

/** Nothing of it is left but its record, which verifies: no list leads to it, no kept result is one of its. */
async function checkGone(system: System, key: RunKey, { held }: Told, texts: readonly StoredText[]): Promise<void> {
  const { sim } = system
  if (held) sim.violate('erasure', `${key.run_id} is held, and was erased`)
  const left = texts.filter(({ of, text }) => !MARKS.has(of) && text.includes(key.run_id))
  if (left.length > 0) sim.violate('erasure', `${key.run_id} was erased, and is named in ${left[0]?.of}`)
  const verified = await callRoute(system, 'verify-run', { tenant: TENANT, params: { run_id: key.run_id } })
  if (verified?.json.ok !== true)
    sim.violate(
      'erasure',
      `the record of ${key.run_id} does not verify: ${JSON.stringify(verified?.json).slice(0, 300)}`,
    )
  const proof = (await callRoute(system, 'get-erasure', { tenant: TENANT, params: { run_id: key.run_id } }))?.json
  if (!JSON.stringify(proof).includes('"proof"')) sim.violate('erasure', `${key.run_id} has no proof of its erasure`)
}

/** What may name an erased run: its record, and that no run of its id is made again. */
const MARKS: ReadonlySet<string> = new Set(['MARK', 'CTX', 'run_marks'])

/** A word that was told to erased runs alone stands in no item, row or body. */
function checkUnread(
  { sim, objects }: System,
  all: readonly Told[],
  marks: readonly (RunMark | undefined)[],
  texts: readonly StoredText[],
): void {
  const kept = new Set(all.flatMap(({ secret }, n) => (marks[n]?.erasure === undefined ? [secret] : [])))
  const bodies = objects.keys().map((of) => ({ of, text: Buffer.from(objects.body(of)).toString('latin1') }))
  for (const { secret } of all) {
    if (kept.has(secret)) continue
    const found = [...texts, ...bodies].find(({ text }) => text.toLowerCase().includes(secret))
    if (found !== undefined) sim.violate('erasure', `what an erased run was told is readable in ${found.of}`)
  }
}
