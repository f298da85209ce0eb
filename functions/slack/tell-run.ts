import { Fault } from '../../shared/errors.ts'
import type { RunKey } from '../../shared/runs/run-store.ts'
import type { World } from '../../shared/world.ts'
import { type Note, tellEntry } from './tell-entry.ts'

/** Longest time that one worker has the run's thread to itself without saying so again. */
const TURN_MS = 60_000
/** What came in while this worker told the rest. */
const ROUNDS = 20

/**
 * Tells Slack what a run owes it, in order and by one worker at a time, so that a run has one thread and nobody is told
 * twice; an entry leaves the outbox when it is told. What cannot be told now stays for the sweeper.
 */
export async function tellRun(world: World, run: RunKey): Promise<{ readonly told: number }> {
  const by = Buffer.from(world.ids.random(9)).toString('base64url')
  let told = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    if (!(await owes(world, run)) || !(await takeTurn(world, run, by))) return { told }
    const done = await tellAll(world, run, by).finally(() => world.runs.endTurn(turnOf(run), by))
    told += done.told
    if (done.stuck) return { told }
    // Whoever came for a later entry met this turn and went away: one more look, now that it is over.
  }
  return { told }
}

async function owes({ runs }: World, run: RunKey): Promise<boolean> {
  const head = await runs.head(run, [])
  return head?.outbox.some(({ kind }) => kind === 'notify') === true
}

function takeTurn({ runs, clock }: World, run: RunKey, by: string): Promise<boolean> {
  const now = clock.now()
  return runs.takeTurn(turnOf(run), by, new Date(now).toISOString(), new Date(now + TURN_MS).toISOString())
}

function turnOf({ tenant, run_id }: RunKey) {
  return { tenant, name: `slack/${run_id}` }
}

async function tellAll(world: World, run: RunKey, by: string) {
  const head = await world.runs.head(run, [])
  const notes = (head?.outbox ?? []).filter((entry): entry is Note => entry.kind === 'notify')
  let told = 0
  for (const note of notes) {
    if (head === undefined || !(await takeTurn(world, run, by))) return { told, stuck: true }
    const failed = await tryToTell(world, run, note)
    if (failed !== undefined) {
      world.log.error('Slack not told', {
        run_id: run.run_id,
        entry: note.id,
        code: failed.code,
        error: failed.message,
      })
      return { told, stuck: true }
    }
    await world.runs.settleOutbox(run, [note.id])
    told += 1
  }
  return { told, stuck: false }
}

/** Longer pauses that Slack asks for are the sweeper's. */
const LONGEST_PAUSE_MS = 5_000
const TRIES = 3

async function tryToTell(world: World, run: RunKey, note: Note): Promise<Fault | undefined> {
  for (let tries = 1; ; tries += 1) {
    try {
      await tellEntry(world, run, note)
      return undefined
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      const pause = Number(error.facts.retry_after_ms ?? Number.NaN)
      if (tries === TRIES || !(pause <= LONGEST_PAUSE_MS)) return error
      await world.clock.delay(pause)
    }
  }
}
