import type { Dag } from '../../shared/dag/dag.ts'
import { Fault } from '../../shared/errors.ts'
import { loopEntityId } from '../../shared/research/loop-entity.ts'
import type { ErasedRun } from '../../shared/runs/erasure.ts'
import { hashAfter } from '../../shared/runs/hash-chain.ts'
import type { Meta, RunKey } from '../../shared/runs/run-store.ts'
import type { EventTopic } from '../../shared/runs/wait-store.ts'
import { sha256 } from '../../shared/text/hash.ts'
import { canonicalJson } from '../../shared/text/json.ts'
import type { Firing } from '../../shared/triggers/trigger-store.ts'
import type { World } from '../../shared/world.ts'
import { recordingOf } from '../api/record-run.ts'
import { keptAs } from '../attempts/reuse.ts'
import { allEvents } from '../record/run-log.ts'
import { reachedObjects, textsOfRun } from './run-texts.ts'

/** What an erasure is about to remove. */
interface Collected {
  /** Hashes of every body the runs name, and those that are made of them. */
  readonly bodies: readonly string[]
}

/** Reads a run, and those below it, before they go. Nothing is changed: broken off, it begins again. */
export async function collectRun(world: World, run: RunKey, children: readonly string[]): Promise<Collected> {
  const bodies = new Set<string>()
  const kept = new Set<string>()
  for (const one of family(run, children)) {
    await reachedObjects(world, run.tenant, await textsOfRun(world, one), { known: bodies })
    const meta = await world.runs.meta(one)
    if (meta === undefined) continue
    for (const hash of await recordings(world, meta)) bodies.add(hash)
    for (const { values } of await findFirings(world, meta)) if (values !== undefined) bodies.add(values.sha256)
    for (const hash of await keptEvents(world, one)) kept.add(hash)
  }
  return { bodies: [...bodies].filter((hash) => !kept.has(hash)) }
}

function family(run: RunKey, children: readonly string[]): readonly RunKey[] {
  return [...children, run.run_id].map((run_id) => ({ tenant: run.tenant, run_id }))
}

/**
 * Takes away what lies with others: kept results, the inputs of the firings that led to it, what research wrote of itself into
 * the graph, messages in Slack. Answers how many of those Slack was told to delete.
 */
export async function eraseElsewhere(world: World, run: RunKey, children: readonly string[]): Promise<number> {
  let messages = 0
  for (const one of family(run, children)) {
    const meta = await world.runs.meta(one)
    if (meta === undefined) continue
    await dropCached(world, meta)
    // They keep their ids, so that they start nothing again.
    for (const firing of await findFirings(world, meta)) await world.triggers.forgetInputs(firing, firing.id)
    if (meta.kind === 'research') await world.graph.delete(run.tenant, [loopEntityId(run.tenant, one.run_id)])
    messages += await deleteMessages(world, one)
  }
  return messages
}

/** Ids, times and hashes: what stays of a run. Its chain is closed here to its end, where whoever ended it did not. */
export async function factsOf({ runs, clock }: World, run: RunKey): Promise<ErasedRun> {
  const [meta, head, sealed] = [await runs.meta(run), await runs.head(run, []), await runs.sealed(run)]
  if (meta === undefined || head === undefined || sealed === undefined) {
    throw new Fault('Bug', 'item_corrupt', `Cannot erase run "${run.run_id}": its HEAD or META is not there.`)
  }
  return {
    dag_name: meta.dag_name,
    dag_hash: meta.dag_hash,
    state: head.state,
    created_at: meta.created_at,
    ...(head.ended === undefined ? {} : { ended_at: head.ended.at }),
    seq: head.seq,
    hash: hashAfter((await allEvents({ runs, clock }, run)).slice(sealed.seq, head.seq), sealed.hash),
    ...(meta.parent === undefined ? {} : { parent: meta.parent.run_id }),
  }
}

async function readDag({ objects }: World, { tenant, dag_ref }: Meta): Promise<Dag | undefined> {
  const body = await objects.get(tenant, dag_ref).catch(unlessAway)
  // Verified against its hash: it is the document start-run wrote. A research run's has no blocks.
  return body === undefined ? undefined : (JSON.parse(Buffer.from(body).toString('utf8')) as Dag)
}

/** `sluice run record` stores what it makes of a run, and names it nowhere: made again, it has the same hash. */
async function recordings(world: World, meta: Meta): Promise<readonly string[]> {
  try {
    return [sha256(canonicalJson(await recordingOf(world, meta)))]
  } catch (error) {
    unlessAway(error)
    return []
  }
}

function unlessAway(error: unknown): undefined {
  if (error instanceof Fault && error.name === 'Unavailable') throw error
  return undefined
}

async function dropCached(world: World, meta: Meta): Promise<void> {
  const dag = await readDag(world, meta)
  const blocks = new Map((dag?.blocks ?? []).map((block) => [block.id, block]))
  const dropped = new Set<string>()
  for (const event of await allEvents(world, meta)) {
    if (event.type !== 'block:started' || event.block_id === undefined) continue
    const block = blocks.get(event.block_id)
    const { inputs_hash } = event.data
    if (block?.cache === undefined || dropped.has(`${block.id} ${inputs_hash}`)) continue
    dropped.add(`${block.id} ${inputs_hash}`)
    await world.runs.dropCached(meta, keptAs({ block, meta }), inputs_hash)
  }
}

const TRIGGER = 'trigger:'
const FIRINGS = 100

/** The firing that started it, and those it stands for: they were joined with it (`debounce`), and have inputs of their own. */
export async function findFirings({ triggers }: World, meta: Meta): Promise<readonly Firing[]> {
  if (!meta.starter.startsWith(TRIGGER)) return []
  const trigger = { tenant: meta.tenant, document: meta.dag_name, trigger: meta.starter.slice(TRIGGER.length) }
  const found: Firing[] = []
  let after: string | undefined
  do {
    const page = await triggers.firings(trigger, { limit: FIRINGS, after })
    found.push(...page.firings.filter((firing) => firing.run_id === meta.run_id || isJoinedWith(firing, meta)))
    after = page.next
  } while (after !== undefined)
  return found
}

/** What it was joined with stands in its words alone (functions/triggers/pace.ts). */
function isJoinedWith({ reason }: Firing, { run_id }: Meta): boolean {
  return reason?.code === 'trigger_joined' && reason.message.includes(run_id)
}

/** An event of outside is nobody's alone: while it is kept for whoever waits for it, its body stays. */
async function keptEvents(world: World, run: RunKey): Promise<readonly string[]> {
  const topics = new Map<string, EventTopic>()
  for (const event of await allEvents(world, run)) {
    if (event.type !== 'block:waiting' || event.data.name === undefined) continue
    const { name, key } = event.data
    topics.set(`${name} ${key ?? ''}`, { tenant: run.tenant, name, key })
  }
  const now = new Date(world.clock.now()).toISOString()
  const kept: string[] = []
  for (const topic of topics.values()) {
    let after: string | undefined
    do {
      const page = await world.waits.keptEvents(topic, { limit: FIRINGS, after, now })
      kept.push(...page.events.map(({ payload }) => payload.sha256))
      after = page.next
    } while (after !== undefined)
  }
  return kept
}

async function deleteMessages({ runs, outbox, settings }: World, run: RunKey): Promise<number> {
  if (settings.slack?.tenant !== run.tenant) return 0
  const messages = (await runs.approvals(run)).flatMap(({ slack }) => slack ?? [])
  for (const { channel, ts } of messages) await outbox.slackWork({ erased: { channel, ts } })
  return messages.length
}
