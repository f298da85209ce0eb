import type { Head } from '../../shared/runs/head.ts'
import { type EndpointEntry, isDue, wants } from '../../shared/webhooks/endpoint-entry.ts'
import { entryAfter } from '../../shared/webhooks/entry-after.ts'
import type { WebhookWork } from '../../shared/webhooks/webhooks-port.ts'
import { type TellWorld, tellEvent } from './tell-event.ts'

/** One worker goes on so long; what is left then is the sweeper's. */
const WORK_MS = 60_000
const LONGER_MS = 10_000
/** What came in while this worker told the rest. */
const ROUNDS = 20
/** Steps of one turn, should HEAD change each time. */
const MOST_STEPS = 10_000
const PAGE = 100

/**
 * Tells one endpoint what it is owed of a run, in the order of the log and by one worker at a time. How far it came stands
 * in HEAD after each message, so that one is sent again only where a worker died in between.
 */
export async function tellEndpoint(world: TellWorld, work: WebhookWork): Promise<{ readonly told: number }> {
  const turn = turnOf(world, work)
  const until = world.clock.now() + WORK_MS
  let told = 0
  for (let round = 0; round < ROUNDS && world.clock.now() < until; round += 1) {
    const now = await owed(world, work)
    if (now === undefined) return { told }
    if (!(await turn.take())) {
      await lookAgain(world, work, now)
      return { told }
    }
    told += await tellAll(world, work, { turn, until }).finally(turn.end)
    // Whoever came for a later event met this turn and went away: one more look, now that it is over.
  }
  return { told }
}

/** Whoever has the turn tells this too, or has died: the sweep comes when the turn is over. */
async function lookAgain({ runs, clock, settings }: TellWorld, { run, endpoint }: WebhookWork, { head }: Owed) {
  const over = new Date(clock.now() + turnMs(settings, endpoint)).toISOString()
  if (head.check_at !== undefined && head.check_at > over) await runs.moveCheck(run, head.check_at, over)
}

/** A turn outlasts the request it is taken for by ten seconds; who died keeps the others waiting no longer. */
function turnMs({ webhooks }: TellWorld['settings'], endpoint: string): number {
  return LONGER_MS + (webhooks.find(({ name }) => name === endpoint)?.timeout_ms ?? 0)
}

interface Turn {
  /** Enough of it for one request: it is taken again when there is not. */
  take(): Promise<boolean>
  end(): Promise<void>
}

function turnOf({ runs, clock, ids, settings }: TellWorld, { run, endpoint }: WebhookWork): Turn {
  const by = Buffer.from(ids.random(9)).toString('base64url')
  const name = { tenant: run.tenant, name: `webhook/${run.run_id}/${endpoint}` }
  const ms = turnMs(settings, endpoint)
  let over = 0
  return {
    async take() {
      const now = clock.now()
      if (over - now > ms - LONGER_MS / 2) return true
      over = now + ms
      return runs.takeTurn(name, by, new Date(now).toISOString(), new Date(over).toISOString())
    },
    async end() {
      over = 0
      await runs.endTurn(name, by)
    },
  }
}

async function tellAll(
  world: TellWorld,
  work: WebhookWork,
  { turn, until }: { readonly turn: Turn; readonly until: number },
): Promise<number> {
  let told = 0
  for (let steps = 0; steps < MOST_STEPS && world.clock.now() < until; steps += 1) {
    const now = await owed(world, work)
    if (now === undefined || !(await turn.take())) return told
    if (await step(world, work, now)) told += 1
  }
  return told
}

interface Owed {
  readonly head: Head
  readonly entry: EndpointEntry
}

async function owed({ runs, clock }: TellWorld, { run, endpoint }: WebhookWork): Promise<Owed | undefined> {
  const head = await runs.head(run, [])
  const { outbox: entries = [] } = head ?? {}
  const entry = entries.find((one): one is EndpointEntry => one.kind === 'endpoint' && one.endpoint === endpoint)
  if (head === undefined || entry === undefined || !isDue(head, entry, clock.now())) return undefined
  return { head, entry }
}

/** The next wanted event is told, or those that nobody wants are passed over. Whether one was told. */
async function step(world: TellWorld, work: WebhookWork, { head, entry }: Owed): Promise<boolean> {
  const { runs, settings, log } = world
  const { run } = work
  const endpoint = settings.webhooks.find(({ name, tenant }) => name === work.endpoint && tenant === run.tenant)
  if (endpoint === undefined) {
    log.info('a webhook the settings do not name any more is owed nothing', {
      run_id: run.run_id,
      endpoint: work.endpoint,
    })
    await runs.moveEntry(run, entry, undefined)
    return false
  }
  const events = await runs.events(run, entry.from_seq - 1, PAGE)
  const event = events.find(({ type }) => wants(endpoint, type))
  if (event !== undefined) return tellEvent(world, run, { endpoint, entry, head, event })
  const passed = events.at(-1)?.seq ?? entry.from_seq - 1
  await runs.moveEntry(run, entry, entryAfter(head, entry, passed, entry.failing_since))
  return false
}
